// Package coalesce measures many callers at once: works that are claimed, handled by
// a handler which does nothing, and completed, by
//
//   - twoStatements: what people write by hand, an insert that decides and an update
//     that completes, each with a commit of its own;
//   - handBatched: the same two statements gathered by a loop that commits whatever has
//     come meanwhile, the best that this can be;
//   - idem: the ledger, for a contract without effects, which makes as many writes;
//   - idemEffect: a contract with one effect, which makes twice as many.
//
// All are as durable: SQLite with a write-ahead log and synchronous=FULL, PostgreSQL
// with fsync and synchronous_commit.
package coalesce
