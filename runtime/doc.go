// Package idem runs a handler at most once per identity and each of its
// effects within the promise of the effect's guard, whatever dies in between.
//
// Sources deliver at least once. A contract (a YAML file beside the handler)
// says what is the same work, how long that is remembered and what a duplicate
// gets; idemgen turns it into Go that calls this package. What a program sees:
//
//   - A [Ledger] keeps work and effects in a database, through a [Store]
//     (package sqlite, embedded, in this module).
//   - A [Contract] is one kind of work. [Contract.Do] claims the work, runs the
//     handler, records its result, and answers duplicates from the record.
//   - A [Call] is what an effect function is handed: the key to send to the
//     provider, derived from the work and never made up.
//   - An [Error] says why a call of Do gave no result, and [ShouldAck] whether
//     the message may be acknowledged.
//
// The rest ([Spec], [Effect], [Define], [Run] and the guards' constructors) is
// called by generated code.
//
// How a handler of one's own is stopped wherever it can die, in a test, is shown by
// package idemtest.
//
// The folder is called runtime and the package idem, since a package named
// runtime could not be used beside Go's own.
package idem
