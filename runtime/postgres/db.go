package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	idem "github.com/idemgen/idem/runtime"
)

// A DBStore is a ledger in a PostgreSQL database that the application reaches through
// database/sql, with pgx as its driver. It is safe for concurrent use.
type DBStore struct {
	*store
	db *sql.DB
}

// store is embedded under a name of its own, so that nobody takes its transactions
// for those of database/sql.
type store = Store

var _ idem.Store[*sql.Tx] = (*DBStore)(nil)

// OpenDB is [Open] for applications that use database/sql: transaction effects get a
// *sql.Tx. The handle has to be one of pgx's, such as sql.Open("pgx", url) with
// github.com/jackc/pgx/v5/stdlib makes. It stays the caller's to close.
func OpenDB(ctx context.Context, db *sql.DB, opts ...Option) (*DBStore, error) {
	s, err := open(ctx, handle{db}, opts)
	if err != nil {
		return nil, err
	}
	return &DBStore{s, db}, nil
}

// MigrateDB is [Migrate] for such a handle.
func MigrateDB(ctx context.Context, db *sql.DB, opts ...Option) error {
	return migrateOn(ctx, handle{db}, opts)
}

// InTx runs fn in a transaction of the handle: see [Store.InTx]. That ends with the
// ledger's call and not by itself when ctx does, and fn must not end it either: what
// it has written would be there without the effect.
func (s *DBStore) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[*sql.Tx]) error) error {
	begin := func(ctx context.Context) (pgx.Tx, error) { return s.begin(ctx) }
	return s.inTx(ctx, begin, func(ctx context.Context, session *session) error {
		return fn(ctx, &dbSession{session})
	})
}

// dbSession is a session whose transaction is one of database/sql.
type dbSession struct{ *session }

func (s *dbSession) Tx() *sql.Tx {
	tx, ok := s.w.tx.(*dbTx)
	if !ok {
		panic(fmt.Sprintf("the transaction of a handle is a %T", s.w.tx)) // begin makes no other
	}
	return tx.tx
}

// begin opens a transaction of database/sql. Were its context the caller's, the
// package would roll it back when that ends, from another goroutine and in the middle
// of whatever the ledger is about to write.
func (s *DBStore) begin(ctx context.Context) (_ *dbTx, err error) {
	lent, err := (handle{s.db}).lend(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lent.giveBack())
		}
	}()
	tx, err := lent.from.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return nil, err
	}
	if _, err := lent.Exec(ctx, durable); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return &dbTx{lentConn: lent, tx: tx}, nil
}

// dbTx is a transaction of database/sql as the ledger uses it.
type dbTx struct {
	*lentConn
	tx *sql.Tx
}

func (t *dbTx) Conn() *pgx.Conn { return t.conn }

func (t *dbTx) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

func (t *dbTx) Commit(ctx context.Context) error { return t.end(ctx, t.tx.Commit) }

func (t *dbTx) Rollback(ctx context.Context) error { return t.end(ctx, t.tx.Rollback) }

// end ends the transaction, whose own context has no end: when ctx is over the
// connection is cut.
func (t *dbTx) end(ctx context.Context, how func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = t.PgConn().Conn().Close() })
	err := how()
	stop()
	if errors.Is(err, sql.ErrTxDone) {
		err = pgx.ErrTxClosed
	}
	return errors.Join(err, t.giveBack())
}

// handle is a pool of database/sql.
type handle struct{ db *sql.DB }

// conn is embedded under a name of its own, since pgx.Tx has a method Conn.
type conn = pgx.Conn

// lentConn is a connection that belongs to the ledger until it is given back: it is
// out of the pool, and database/sql does not touch it meanwhile.
type lentConn struct {
	*conn
	from *sql.Conn
	once sync.Once
}

func (h handle) lend(ctx context.Context) (*lentConn, error) {
	from, err := h.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &lentConn{from: from}
	err = from.Raw(func(driverConn any) error {
		pgxConn, ok := driverConn.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the handle's driver is %T, and has to be that of github.com/jackc/pgx/v5/stdlib", h.db.Driver())
		}
		c.conn = pgxConn.Conn()
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return c, nil
}

// giveBack puts the connection back into the pool, or away if it is of no more use.
func (c *lentConn) giveBack() (err error) {
	c.once.Do(func() {
		if c.IsClosed() || c.PgConn().TxStatus() != 'I' {
			err = c.from.Raw(func(any) error { return driver.ErrBadConn })
			if errors.Is(err, driver.ErrBadConn) {
				err = nil
			}
		}
		err = errors.Join(err, c.from.Close())
		if errors.Is(err, sql.ErrConnDone) { // Raw has closed it
			err = nil
		}
	})
	return err
}

// ownTx is a transaction of the ledger alone.
type ownTx struct {
	pgx.Tx
	on *lentConn
}

func (h handle) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	c, err := h.lend(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := c.BeginTx(ctx, o)
	if err != nil {
		return nil, errors.Join(err, c.giveBack())
	}
	return &ownTx{tx, c}, nil
}

func (t *ownTx) Commit(ctx context.Context) error {
	return errors.Join(t.Tx.Commit(ctx), t.on.giveBack())
}

func (t *ownTx) Rollback(ctx context.Context) error {
	return errors.Join(t.Tx.Rollback(ctx), t.on.giveBack())
}

func (h handle) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	c, err := h.lend(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, text, args...)
	if err != nil {
		return nil, errors.Join(err, c.giveBack())
	}
	return &lentRows{Rows: rows, of: c}, nil
}

func (h handle) take(ctx context.Context) (*pgx.Conn, func(), error) {
	c, err := h.lend(ctx)
	if err != nil {
		return nil, nil, err
	}
	// What goes wrong with giving it back is the connection's, which is closed then.
	return c.conn, func() { _ = c.giveBack() }, nil
}

// lentRows give their connection back when they are closed.
type lentRows struct {
	pgx.Rows
	of     *lentConn
	failed error
}

func (r *lentRows) Close() {
	r.Rows.Close()
	r.failed = errors.Join(r.failed, r.of.giveBack())
}

func (r *lentRows) Err() error { return errors.Join(r.Rows.Err(), r.failed) }

func (h handle) QueryRow(ctx context.Context, text string, args ...any) pgx.Row {
	rows, err := h.Query(ctx, text, args...)
	return lentRow{rows, err}
}

type lentRow struct {
	rows pgx.Rows
	err  error
}

// Scan reads the one row.
func (r lentRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
