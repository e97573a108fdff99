// Package transfers moves money between accounts in PostgreSQL: the smallest
// program whose effect is in the ledger's own database.
//
// The two updates, the row that says they were made and the result of the work
// commit in one transaction, so that an order that is delivered twice, or whose
// program dies at any moment, is booked once. transfers_test.go tells the story.
package transfers

//go:generate go tool idemgen
