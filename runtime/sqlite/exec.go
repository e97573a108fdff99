package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// A statement is one that a connection prepares once.
type statement struct {
	text string
	// prepared is for the transactions of InTx, which belong to database/sql.
	prepared *sql.Stmt
}

// An executor carries statements out, in a transaction that somebody else opened and
// will end.
type executor interface {
	// exec returns how many rows have changed.
	exec(ctx context.Context, st *statement, args []any) (changed int64, err error)
	query(ctx context.Context, st *statement, args []any) (rows, error)
	// execText and queryText are for what is not worth preparing.
	execText(ctx context.Context, text string, args []any) (changed int64, err error)
	queryText(ctx context.Context, text string, args []any) (rows, error)
}

// rows are those of a query, as *sql.Rows has them.
type rows interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// inSQLTx is the executor of a transaction of database/sql.
type inSQLTx struct{ *sql.Tx }

func (tx inSQLTx) exec(ctx context.Context, st *statement, args []any) (int64, error) {
	return changed(tx.StmtContext(ctx, st.prepared).ExecContext(ctx, args...))
}

func (tx inSQLTx) query(ctx context.Context, st *statement, args []any) (rows, error) {
	return tx.StmtContext(ctx, st.prepared).QueryContext(ctx, args...)
}

func (tx inSQLTx) execText(ctx context.Context, text string, args []any) (int64, error) {
	return changed(tx.ExecContext(ctx, text, args...))
}

func (tx inSQLTx) queryText(ctx context.Context, text string, args []any) (rows, error) {
	return tx.QueryContext(ctx, text, args...)
}

func changed(result driver.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// exec carries out a statement that returns no rows.
func (w *writer) exec(ctx context.Context, st *statement, args ...any) error {
	_, err := w.ex.exec(ctx, st, args)
	return err
}

// change carries out a statement that changes one row at most, and tells whether it has.
func (w *writer) change(ctx context.Context, st *statement, args ...any) (bool, error) {
	n, err := w.ex.exec(ctx, st, args)
	return n > 0, err
}

func (w *writer) execText(ctx context.Context, text string, args ...any) (changed int64, err error) {
	return w.ex.execText(ctx, text, args)
}

// row is the first row of a statement.
func (w *writer) row(ctx context.Context, st *statement, args ...any) scanner {
	return firstOf(w.ex.query(ctx, st, args))
}

func (w *writer) rowText(ctx context.Context, text string, args ...any) scanner {
	return firstOf(w.ex.queryText(ctx, text, args))
}

// each calls scan on every row of a statement.
func (w *writer) each(ctx context.Context, st *statement, scan func(scanner) error, args ...any) error {
	rows, err := w.ex.query(ctx, st, args)
	return each(rows, err, scan)
}

func each(rows rows, err error, scan func(scanner) error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// firstOf is the first of some rows; reading it gives sql.ErrNoRows if there is none.
func firstOf(rows rows, err error) scanner { return firstRow{rows, err} }

type firstRow struct {
	rows rows
	err  error
}

func (r firstRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := sql.ErrNoRows
	if r.rows.Next() {
		err = r.rows.Scan(dest...)
	} else if failed := r.rows.Err(); failed != nil {
		err = failed
	}
	if closed := r.rows.Close(); err == nil {
		err = closed
	}
	return err
}
