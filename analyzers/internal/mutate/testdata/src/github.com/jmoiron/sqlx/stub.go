// Package sqlx stands for the library.
package sqlx

import (
	"context"
	"database/sql"
)

type DB struct{ *sql.DB }

func (db *DB) Get(dest any, query string, args ...any) error { return nil }
func (db *DB) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	return nil
}
func (db *DB) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	return nil
}
func (db *DB) NamedExecContext(ctx context.Context, query string, arg any) (sql.Result, error) {
	return nil, nil
}
