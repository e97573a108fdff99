// Package postgres keeps a ledger in a PostgreSQL database: the application's own,
// so that its writes can commit together with the ledger's.
//
//	if err := postgres.Migrate(ctx, pool); err != nil { … }   // at deploy, or at start
//	store, err := postgres.Open(ctx, pool)                    // the application's *pgxpool.Pool
//	ledger := idem.NewLedger(store)
//
// The pool stays the application's to close. Applications that use database/sql with
// pgx as its driver call [MigrateDB] and [OpenDB].
//
// # Transactions
//
// Every write of the ledger is a transaction at read committed, with
// synchronous_commit on whatever the server's default is, so that a write that was
// acknowledged survives a crash. Two leave the disk to the next one: a claim of new
// work, and the result of an effect whose guard finds the same one again: not of a
// read, by whose answer a program that survives the server goes on. If a crash of the
// server takes one of them back, no effect has been started, or one was started and no
// more. Locks are waited for five seconds, see
// [WithLockTimeout]; a connection that is lost while it holds them is given up by
// the server. [Store.InTx] hands out a transaction of the pool, without these
// limits: its own deadline is that of its context.
//
// Writes that come at once share transactions, and readings statements: two of each
// are under way at a time, and what comes meanwhile goes together in the next one. A
// lone caller waits for nobody. Either is one round trip. What a batch cannot do plainly, such as to take work
// over or to wait for a row that somebody has locked, and all that fails in one, each
// caller then does alone.
//
// Nothing outlives a transaction, no setting, no lock and no listener, so that the
// store works through a pooler that gives each transaction another connection.
// Where the pooler cannot keep prepared statements apart, choose the mode for the
// whole pool, in its configuration or its URL: default_query_exec_mode=exec, or
// simple_protocol.
//
// # Time
//
// All times are the server's clock_timestamp(), read after a lock was waited for.
// The clocks of the programs do not matter.
//
// # Conflicts
//
// Two transactions that would wait for each other, and what the server asks to be
// tried again, are tried again: nothing of them was acknowledged. An error of a
// commit leaves open whether it has happened: it is returned, and the next try
// recognises its own row.
//
// # Tables
//
// migrations/0001_ledger.sql is the schema. It is in the PostgreSQL schema idem,
// see [WithSchema]. An operator reads the view work_view.
package postgres
