package postgres

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// An Option changes how a store is opened.
type Option func(*options)

type options struct {
	schema      string
	lockTimeout time.Duration
	clock       string // an SQL expression
}

// WithSchema says in which PostgreSQL schema the ledger's tables are. The default
// is idem. Two ledgers in one database have two schemas.
func WithSchema(name string) Option {
	return func(o *options) { o.schema = name }
}

// WithLockTimeout says how long a write of the ledger waits for a row that another
// transaction has locked, such as one of the application's that holds a claim. The
// default is five seconds.
func WithLockTimeout(d time.Duration) Option {
	return func(o *options) { o.lockTimeout = d }
}

// WithClock replaces the server's clock by another SQL expression, for tests:
// clock_timestamp() and what a table says has passed, say.
func WithClock(expression string) Option {
	return func(o *options) { o.clock = expression }
}

func newOptions(opts []Option) (*options, error) {
	o := &options{schema: "idem", lockTimeout: 5 * time.Second, clock: "clock_timestamp()"}
	for _, opt := range opts {
		opt(o)
	}
	switch {
	case o.schema == "" || strings.ContainsRune(o.schema, 0) || len(o.schema) > maxName:
		return nil, fmt.Errorf("postgres: a schema has a name of 1 to %d bytes, not %q", maxName, o.schema)
	case o.lockTimeout < time.Millisecond:
		// Zero would mean to wait for ever.
		return nil, errors.New("postgres: the timeout for locks is at least a millisecond")
	}
	return o, nil
}

// maxName is how much of a name PostgreSQL keeps: it would cut off the rest.
const maxName = 63

// sql puts the schema and the clock into the text of a statement.
func (o *options) sql(text string) string {
	return strings.NewReplacer("idem.", pgx.Identifier{o.schema}.Sanitize()+".", "clock_timestamp()", o.clock).Replace(text)
}

// createSchema is the statement of a migration that needs the right to make schemas.
const createSchema = "CREATE SCHEMA IF NOT EXISTS idem;\n"

// script puts the schema into the text of a migration. Where it is there already,
// nobody has to have the right to make one.
func (o *options) script(text string, there bool) string {
	create := "CREATE SCHEMA " + pgx.Identifier{o.schema}.Sanitize() + ";\n"
	if there {
		create = ""
	}
	return strings.NewReplacer(createSchema, create, "idem.", pgx.Identifier{o.schema}.Sanitize()+".").Replace(text)
}

// begin is the text that begins a transaction: one round trip for all of it. The
// limits are for the ledger's own transactions, in which nobody thinks.
func (o *options) begin(limited bool) string {
	text := "begin isolation level read committed read write; set local synchronous_commit = on"
	if limited {
		lock := o.lockTimeout.Milliseconds()
		text += fmt.Sprintf("; set local lock_timeout = %d; set local statement_timeout = %d; set local idle_in_transaction_session_timeout = %d",
			lock, lock+10_000, lock+10_000)
	}
	return text
}
