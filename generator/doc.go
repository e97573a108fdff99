// Package generator turns contract files into Go files: [Run] is all that
// idemgen does, flags and output aside.
//
// It is a row of stages, each of which hands the next a finished value:
//
//	parse, validate  package contracts    bytes → contracts with positions
//	resolve          generator/resolve    contracts and Go types → model
//	compare          lock.go              model and idem.lock → idem.lock
//	emit             generator/emit       model → bytes
//	write            write.go             bytes → files, if they changed
//
// All of them look at files and at the go command through one world (package
// observe), up to the moment of writing. What a run saw is remembered (memory.go), so
// that the next one need not go through the stages if it would see the same.
//
// Every error of a run is collected before anything is written, and one is
// enough to write nothing: half of a package's contracts in a new shape and half
// in an old one is worse than a message.
package generator
