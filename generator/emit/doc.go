// Package emit writes a resolved package as Go files. It is pure: the same
// model gives the same bytes, nothing is read and nothing can be wrong that the
// user could have caused.
//
// The code it writes is meant to be read and stepped through. Logic lives in
// package idem (folder runtime) and in runtime/canon; what is generated says
// which contract asks for what, and appends fields in an order that was worked
// out here. It uses no reflection, and a derivation of fixed shape stays on the
// stack.
//
//   - emit.go: files, their headers and imports, which jennifer writes
//   - code.go, layout.go: Go code as text, laid out as gofmt does it
//   - names.go: names that meet nobody's
//   - contract.go: Contracts, New and one constructor per contract
//   - identity.go: work IDs, scopes, once_per
//   - effects.go: the types that stand between a handler and its effects
//   - form.go, value.go: canonical forms
package emit
