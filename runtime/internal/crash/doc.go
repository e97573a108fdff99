// Package crash runs a program against a store that it can stop at any numbered
// point: before and after each write of the ledger, which is also before and
// after each call of an effect, since the ledger writes on both sides of it.
//
// It is the engine of package idemtest, and of the runtime's own tests.
package crash
