// Package model is what stands between reading and writing: the contracts of
// one Go package with every name resolved. Package resolve makes it from
// contracts and Go types, package emit turns it into files.
//
// It holds data only, and neither go/types nor positions: what is wrong with a
// contract has been reported before a model exists, so that emit has no errors
// to report and can be tested without the go command.
//
//   - model.go: packages, files, contracts, effects
//   - types.go: Go types as generated code has to write them
//   - form.go: how a value is written in canonical form
//   - shape.go: the digest of a form
package model
