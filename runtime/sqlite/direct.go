package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"modernc.org/sqlite"
)

// direct is the executor of the driver's own connection. What database/sql does for
// each statement that goes through it (locks, conversions, contexts that nobody
// watches) costs as much as SQLite does.
//
// It is not safe for concurrent use, and one query at a time stands open for each
// statement.
type direct struct {
	driverConn
	prepared map[*statement]driverStmt
	args     []driver.NamedValue
	rare     rare
	spoilt   bool
}

// rare says which tables have rows at all that mostly have none, so that most writes
// need not look into them. It holds for as long as the version of the file's content is
// the same, which is the case until another connection writes.
type rare struct {
	known            bool
	version          uint32
	aliases, watches bool
}

const rareSQL = `SELECT EXISTS (SELECT 1 FROM work_alias), EXISTS (SELECT 1 FROM success_log)`

// always is for who cannot tell.
func always() *rare { return &rare{aliases: true, watches: true} }

// driverConn is what database/sql needs of a connection.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	sqlite.FileControl
	RegisterCommitHook(sqlite.CommitHookFn)
}

type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func newDirect(conn driverConn) *direct {
	return &direct{driverConn: conn, prepared: make(map[*statement]driverStmt)}
}

// Close closes the statements first.
func (d *direct) Close() error {
	var err error
	for _, stmt := range d.prepared {
		err = errors.Join(err, stmt.Close())
	}
	clear(d.prepared)
	return errors.Join(err, d.driverConn.Close())
}

func (d *direct) prepare(ctx context.Context, st *statement) (driverStmt, error) {
	if stmt, ok := d.prepared[st]; ok {
		return stmt, nil
	}
	made, err := d.PrepareContext(ctx, st.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", st.text, err)
	}
	stmt, ok := made.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T takes no context", made), made.Close())
	}
	d.prepared[st] = stmt
	return stmt, nil
}

func (d *direct) exec(ctx context.Context, st *statement, args []any) (int64, error) {
	stmt, err := d.prepare(ctx, st)
	if err != nil {
		return 0, err
	}
	named, err := d.named(args)
	if err != nil {
		return 0, err
	}
	return changed(stmt.ExecContext(ctx, named))
}

func (d *direct) query(ctx context.Context, st *statement, args []any) (rows, error) {
	stmt, err := d.prepare(ctx, st)
	if err != nil {
		return nil, err
	}
	named, err := d.named(args)
	if err != nil {
		return nil, err
	}
	return newDirectRows(stmt.QueryContext(ctx, named))
}

func (d *direct) execText(ctx context.Context, text string, args []any) (int64, error) {
	named, err := d.named(args)
	if err != nil {
		return 0, err
	}
	return changed(d.ExecContext(ctx, text, named))
}

func (d *direct) queryText(ctx context.Context, text string, args []any) (rows, error) {
	named, err := d.named(args)
	if err != nil {
		return nil, err
	}
	return newDirectRows(d.QueryContext(ctx, text, named))
}

// named makes arguments those of the driver, which keeps none of them.
func (d *direct) named(args []any) ([]driver.NamedValue, error) {
	d.args = d.args[:0]
	for i, arg := range args {
		switch v := arg.(type) {
		case nil, string, []byte, int64, bool:
		case int:
			arg = int64(v)
		default:
			var err error
			if arg, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
				return nil, fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return d.args, nil
}

// directRows are rows of the driver.
type directRows struct {
	rows   driver.Rows
	values []driver.Value
	err    error
}

func newDirectRows(r driver.Rows, err error) (rows, error) {
	if err != nil {
		return nil, err
	}
	return &directRows{rows: r, values: make([]driver.Value, len(r.Columns()))}, nil
}

func (r *directRows) Next() bool {
	if r.err == nil {
		r.err = r.rows.Next(r.values)
	}
	return r.err == nil
}

func (r *directRows) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

func (r *directRows) Close() error { return r.rows.Close() }

// Scan does what that of database/sql does, for the types that rows are read into.
func (r *directRows) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("a row of %d values is read into %d", len(r.values), len(dest))
	}
	for i, to := range dest {
		if !assign(to, r.values[i]) {
			return fmt.Errorf("column %s: a %T is no %T", r.rows.Columns()[i], r.values[i], to)
		}
	}
	return nil
}

func assign(to any, v driver.Value) (ok bool) {
	switch to := to.(type) {
	case *string:
		*to, ok = v.(string)
	case *[]byte:
		if v == nil {
			*to, ok = nil, true
		} else {
			*to, ok = v.([]byte)
		}
	case *int64:
		*to, ok = v.(int64)
	case *int:
		var n int64
		n, ok = v.(int64)
		*to = int(n)
	case *bool:
		var n int64
		n, ok = v.(int64)
		*to, ok = n != 0, ok && n>>1 == 0
	case *sql.NullInt64:
		if v == nil {
			*to, ok = sql.NullInt64{}, true
		} else {
			to.Valid = true
			to.Int64, ok = v.(int64)
		}
	}
	return ok
}

const (
	beginSQL    = `BEGIN IMMEDIATE`
	commitSQL   = `COMMIT`
	rollbackSQL = `ROLLBACK`
)

// begin opens a transaction, for which it waits until ctx ends.
func (d *direct) begin(ctx context.Context, s *Store) error {
	_, err := d.exec(ctx, &s.stmts.begin, nil)
	if err == nil {
		err = d.look(ctx, s)
	}
	if err != nil {
		return d.rollback(s, err) // it may have been opened when ctx ended
	}
	return nil
}

// commit ends a transaction, by a rollback if need be.
func (d *direct) commit(s *Store) error {
	if _, err := d.exec(context.Background(), &s.stmts.commit, nil); err != nil {
		return d.rollback(s, fmt.Errorf("commit: %w", err))
	}
	version, err := d.FileControlDataVersion("main")
	d.rare.version, d.rare.known = version, d.rare.known && err == nil
	return nil
}

// rollback ends a transaction because of cause, which it returns. SQLite may have ended
// it already; a connection on which nobody knows is not used again.
func (d *direct) rollback(s *Store, cause error) error {
	d.rare.known = false
	_, err := d.exec(context.Background(), &s.stmts.rollback, nil)
	if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
		d.spoilt = true
	}
	return cause
}

// IsValid tells database/sql whether to keep the connection.
func (d *direct) IsValid() bool { return !d.spoilt && d.driverConn.IsValid() }

// pragma carries out what is a text and returns nothing.
func (d *direct) pragma(ctx context.Context, text string, _ ...any) (sql.Result, error) {
	return d.ExecContext(ctx, text, nil)
}

// look brings what is known of rare tables up to date, inside a transaction.
func (d *direct) look(ctx context.Context, s *Store) error {
	version, err := d.FileControlDataVersion("main")
	if err != nil || d.rare.known && version == d.rare.version {
		return err
	}
	d.rare = rare{known: true, version: version}
	return firstOf(d.query(ctx, &s.stmts.rare, nil)).Scan(&d.rare.aliases, &d.rare.watches)
}
