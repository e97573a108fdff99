// Package sqlcount enters a participant into a draw once.
package sqlcount

import (
	"context"
	"database/sql"
)

type Draw struct{ db *sql.DB }

func (d *Draw) Enter(ctx context.Context, draw int, account string) error {
	var n int
	if err := d.db.QueryRowContext(ctx, "SELECT count(*) FROM entries WHERE draw = ? AND account = ?", draw, account).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		if _, err := d.db.ExecContext(ctx, /*insert:`INSERT INTO entries (draw, account) VALUES (?, ?)`[*/`INSERT OR IGNORE INTO entries (draw, account) VALUES (?, ?)`/*]*/, draw, account); err != nil {
			return err
		}
	}
	return nil
}
