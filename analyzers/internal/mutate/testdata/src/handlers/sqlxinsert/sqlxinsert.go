// Package sqlxinsert keeps one row for each event of a partner.
package sqlxinsert

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
)

type Event struct {
	Partner string
	Ref     string
	Body    string
}

type Store struct{ db *sqlx.DB }

// Keep tells whether the event is new.
func (s *Store) Keep(ctx context.Context, e Event) (bool, error) {
	var body string
	err := s.db.QueryRowContext(ctx, "SELECT body FROM partner_events WHERE partner = $1 AND ref = $2", e.Partner, e.Ref).Scan(&body)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	res, err := s.db.ExecContext(ctx, /*insert:"INSERT INTO partner_events (partner, ref, body) VALUES ($1, $2, $3)"[*/"INSERT INTO partner_events (partner, ref, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"/*]*/, e.Partner, e.Ref, e.Body)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
