// Package resolve finds out what the names in a contract mean in the Go package
// beside it. It is the only package that touches go/types, and that asks the go command.
//
// It loads as little as it can, since loading is what makes generators slow,
// and it survives what a package looks like before its code was generated:
//
//   - The package's own files are parsed and their bodies dropped, so that a
//     broken body stops nothing. Files that idemgen wrote are left out, so that
//     a missing or stale one stops nothing either.
//   - Starting from the handlers, the declarations that the contracts need are
//     followed, and only the imports that those use are asked for, in one
//     `go list -export` for all packages of a run. Export data comes from the
//     build cache; nothing is type-checked twice, and no user code is run.
//   - An import that does not compile, because a generated file is missing in
//     it, is type-checked from its source in the same way.
//   - Errors of the type checker count only where a contract needs the type.
//
// The stages, a file each:
//
//   - find.go: patterns to directories with contracts
//   - source.go: a directory to parsed files, their names and constraints
//   - needs.go: contracts to the imports that matter
//   - goenv.go, golist.go, check.go: flags and imports to types
//   - package.go, handler.go, effect.go, identity.go, errors.go: a contract
//     against the types
//   - succession.go, recall.go: identities of versions that are honoured, by what
//     idem.lock has of them
//   - paths.go: field paths; fields.go: what encoding/json calls fields;
//     forms.go: types to canonical forms; volatile.go: names that smell
//   - codec.go, results.go: what would not survive JSON
package resolve
