// Package pgx stands for the library.
package pgx

import (
	"context"
	"errors"
)

var ErrNoRows = errors.New("no rows in result set")

type Row interface{ Scan(dest ...any) error }

type CommandTag struct{}

func (CommandTag) RowsAffected() int64 { return 0 }

type Tx interface {
	Exec(ctx context.Context, sql string, args ...any) (CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) Row
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
}
