// Package sqlite keeps a ledger in an SQLite file: the application's own, or one
// beside it.
//
//	if err := sqlite.Migrate(ctx, "app.db"); err != nil { … }   // at deploy, or at start
//	store, err := sqlite.OpenDB(ctx, db)                        // db is the application's handle
//	ledger := idem.NewLedger(store)                             // which closes the store
//
// [Open] takes a path instead of a handle.
//
// # Durability
//
// The store owns one writer connection and a few readers. The writer runs with a
// write-ahead log, synchronous=FULL and immediate transactions, so that a write
// that was acknowledged survives a loss of power, and no transaction ever has to
// upgrade a read lock. Writes of the application that must commit together with
// an effect go in the transaction that [Store.InTx] opens, on that same
// connection.
//
// Two writes leave the disk to the next one: a claim that is won, and the result of
// an effect whose guard finds the same one again. A process that dies takes neither with
// it. After a loss of power the claim may not have been made, in which case no effect
// was started either, or the effect may be one that was started and no more.
//
// # One SQLite library per file and process
//
// POSIX locks belong to a process, and closing any descriptor of a file drops
// all of them. Two SQLite libraries in one process (this driver and one in C,
// say) therefore take away each other's locks, and acknowledged commits are
// lost. [OpenDB] refuses a handle of another driver. [Open] cannot see the other
// handle: the rule is yours to keep there.
//
// # Many writers
//
// SQLite has one writer at a time. The ledger waits its turn; so should the
// application's own handle, which by default fails at once while the ledger
// writes: open it with _pragma=busy_timeout(5000) and _txlock=immediate.
//
// Writes of the ledger that come while one is under way are committed together, and
// each caller goes on when that is durable, so that many callers share what the disk
// takes for one. A lone caller waits for nobody. What one write cannot store, or is
// refused, is the error of that one alone. A caller whose context ends goes on at
// once; a write that had begun by then may have been made. Beyond a thousand waiting
// writes callers wait for a place, in the order in which they came. A transaction of
// [Store.InTx] waits for the writes before it, at most 128 at a time, and they for it;
// heartbeats go before both.
//
// The write-ahead log grows to 16 MB before it is copied to the file, and the writer
// keeps as much of the file in memory.
//
// Several processes on one file work; a wait for another's lock ends after five
// seconds with [idem.ErrLedger]. The file must be on a local disk. Stop
// the program before you restore or replace the file: the store notices that its
// path leads to another file and refuses to write, but not what was written over
// the file itself, nor that the -wal file beside it was deleted.
//
// # Time
//
// The store's clock is the host's, made non-decreasing: within a process by the
// monotonic clock, and across processes and restarts by a high-water mark in the
// ledger, which is read when a store is opened and then read and written once a
// second by whoever writes. A process whose clock is behind follows the mark.
// After a crash, and only if the host's clock was set back as well, time may
// repeat for up to that second.
//
// # Tables
//
// migrations/0001_ledger.sql is the schema. An operator reads the views work_view and,
// for all attempts, attempt_log: the latest attempt of work is in its row, and those
// before it in attempt_history, so that most work is one row.
// A body's presence is said by its codec column, one each for payload, input and
// result: the value may be empty, and null is a value too.
package sqlite
