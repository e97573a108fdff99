package postgres

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idem/internal/pgschema"
)

// An Option changes how a store is opened.
type Option func(*options)

type options struct {
	schema      string
	partitions  int
	partitioned bool
	lockTimeout time.Duration
	statement   time.Duration
	clock       string // an SQL expression
}

// WithSchema says in which PostgreSQL schema the ledger's tables are. The default
// is idem. Two ledgers in one database have two schemas.
func WithSchema(name string) Option {
	return func(o *options) { o.schema = name }
}

// WithPartitions has [Migrate] make the tables that have a row for each piece of work
// in n partitions, by the hash of the work's ID. It is for ledgers of many millions
// of works, on which autovacuum of one table takes hours. A ledger that is there
// keeps what it has.
func WithPartitions(n int) Option {
	return func(o *options) { o.partitions, o.partitioned = n, true }
}

// WithLockTimeout says how long a write of the ledger waits for a row that another
// transaction has locked, such as one of the application's that holds a claim. The
// default is five seconds.
func WithLockTimeout(d time.Duration) Option {
	return func(o *options) { o.lockTimeout = d }
}

// WithStatementTimeout says how long a statement of a write may take beside what it
// waits for locks, and how long its transaction may be idle: what takes longer has lost
// its program, or the server is in trouble. The default is ten seconds. It is not for
// the transactions of InTx.
func WithStatementTimeout(d time.Duration) Option {
	return func(o *options) { o.statement = d }
}

// WithClock replaces the server's clock by another SQL expression, for tests:
// clock_timestamp() and what a table says has passed, say.
func WithClock(expression string) Option {
	return func(o *options) { o.clock = expression }
}

func newOptions(opts []Option) (*options, error) {
	o := &options{schema: pgschema.Name, lockTimeout: 5 * time.Second, statement: 10 * time.Second, clock: "clock_timestamp()"}
	for _, opt := range opts {
		opt(o)
	}
	if err := pgschema.CheckName(o.schema); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if err := pgschema.CheckPartitions(o.partitions); err != nil && o.partitioned {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	switch {
	case o.lockTimeout < time.Millisecond:
		// Zero would mean to wait for ever.
		return nil, errors.New("postgres: the timeout for locks is at least a millisecond")
	case o.statement < time.Millisecond:
		return nil, errors.New("postgres: the timeout for statements is at least a millisecond")
	}
	return o, nil
}

// sql puts the schema and the clock into the text of a statement.
func (o *options) sql(text string) string {
	return strings.NewReplacer(append(pgschema.Names(o.schema), "clock_timestamp()", o.clock)...).Replace(text)
}

// script puts the schema into the text of a migration. Where it is there already,
// nobody has to have the right to make one.
func (o *options) script(text string, there bool) string {
	if there {
		text = strings.Replace(text, pgschema.CreateSchema, "", 1)
	}
	if o.partitioned {
		text = pgschema.Partitioned(text, o.partitions)
	}
	return pgschema.InSchema(text, o.schema)
}

// durable has a commit wait for the disk, whatever the server's default is.
const durable = "set local synchronous_commit = on"

// timeouts are those of the ledger's own transactions, in milliseconds.
func (o *options) timeouts() (lock, statement int64) {
	lock = o.lockTimeout.Milliseconds()
	return lock, lock + o.statement.Milliseconds()
}

// begin is the text that begins a transaction: one round trip for all of it. The
// limits are for the ledger's own transactions, in which nobody thinks; so are plans, which
// go by indexes however small the tables were when they were made.
func (o *options) begin(limited bool) string {
	text := "begin isolation level read committed read write; " + durable
	if limited {
		lock, statement := o.timeouts()
		text += fmt.Sprintf("; set local lock_timeout = %d; set local statement_timeout = %d; set local idle_in_transaction_session_timeout = %[2]d; set local jit = off; set local enable_seqscan = off", lock, statement)
	}
	return text
}
