package torture

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// draftsTable is the application's own. Nothing in it keeps a row from being there
// twice.
const draftsTable = `CREATE TABLE IF NOT EXISTS drafts (kind TEXT, subject TEXT, effect TEXT, effect_key TEXT, price BIGINT)`

func migrateSQLite(ctx context.Context, path string) (err error) {
	if err := sqlite.Migrate(ctx, path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, draftsTable)
	return errors.Join(err, db.Close())
}

func openSQLite(ctx context.Context, t target, c client) (*opened, error) {
	store, err := sqlite.Open(ctx, t.SQLite, sqlite.WithClock(func() time.Time { return time.Now().Add(t.Ahead) }))
	if err != nil {
		return nil, err
	}
	options, err := t.codecs()
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	ledger := idem.NewLedger(store, options...)
	works := define(ledger, c, t.RemembersFor, func(ctx context.Context, tx *sql.Tx, d draft) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO drafts VALUES (?, ?, ?, ?, ?)`, d.kind, d.subject, d.effect, d.key, d.price)
		return err
	})
	return openLedger(ledger, store, works, func() {}), nil
}

// sqliteHost has a ledger in a file, of a disk that is full now and then.
type sqliteHost struct {
	path string
	full *smallDisk // or nil
}

func newSQLiteHost(t *testing.T, r *round) host {
	h := &sqliteHost{path: filepath.Join(r.dir, "ledger.db")}
	if r.trouble == diskFull {
		h.full = mountSmallDisk(t, r.dir)
		h.path = filepath.Join(h.full.dir, "ledger.db")
	}
	return h
}

func (h *sqliteHost) target(r *round) target {
	t := target{SQLite: h.path}
	if r.trouble == clocksApart {
		t.Ahead = time.Duration(r.draw(361)-180) * time.Second
	}
	return t
}

func (h *sqliteHost) quiet(r *round) target { return target{SQLite: h.path} }

func (h *sqliteHost) database(ctx context.Context) (*sql.DB, string, error) {
	db, err := sql.Open("sqlite", "file:"+h.path+"?_pragma=busy_timeout(5000)")
	return db, "", err
}

func (h *sqliteHost) disturb(ctx context.Context, r *round) error {
	if h.full == nil {
		<-ctx.Done()
		return nil
	}
	return h.full.fillAgainAndAgain(ctx, r)
}

func (h *sqliteHost) check(ctx context.Context, db *sql.DB) error {
	var result string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("integrity check: %s", result)
	}
	return nil
}

// keep copies the file to where the round's log is, if it is elsewhere.
func (h *sqliteHost) keep(_ context.Context, r *round) error {
	if h.full == nil {
		return nil
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(h.path + suffix)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.dir, "ledger.db"+suffix), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
