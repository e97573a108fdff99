package large

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// filled are the statements that add works: the IDs of a part come in order, and the
// parts one after the other, so that the trees split as they do when IDs come in any.
var filled = []string{
	`INSERT INTO work_log (work_id, kind, version, state, attempt, attempt_at, attempt_ended_at, outcome, budget_left, payload, payload_codec, payload_hash, payload_shape,
		result, result_codec, external_ref, release, created_at, updated_at, done_at, expires_at)
	WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
	SELECT printf('%013x', (i + 0.5) / ?1 * 4503599627370495) || substr(lower(hex(randomblob(26))), 1, 51), 'order', 1, 'done', 1, unixepoch() * 1000000, unixepoch() * 1000000, 'done', 4,
		CAST(?3 AS BLOB), 'json', randomblob(32), ?4, CAST(?5 AS BLOB), 'json', ?6, 'v1.2.3',
		unixepoch() * 1000000, unixepoch() * 1000000, unixepoch() * 1000000, (unixepoch() + CASE ?2 WHEN '-' THEN -1 ELSE 86400 END) * 1000000 FROM n`,
	`INSERT INTO effect_log (work_id, effect, guard, state, effect_key, calls, payload_hash, payload_shape, input, input_codec, result, result_codec, external_ref, started_at, done_at)
	SELECT work_id, 'charge', 'idempotency_key', 'done', work_id, 1, payload_hash, payload_shape, payload, 'json', result, 'json', external_ref, created_at, done_at
	FROM work_log WHERE rowid > ?1`,
}

// parts is in how many parts a ledger is filled.
const parts = 10

func openSQLite(b *testing.B) *ledger {
	path := filepath.Join(b.TempDir(), "ledger.db")
	if err := sqlite.Migrate(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	store, err := sqlite.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	l := idem.NewLedger(store)
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(off)&_pragma=ignore_check_constraints(on)&_pragma=cache_size(-2000000)&_pragma=busy_timeout(60000)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	exec := func(b *testing.B, text string, args ...any) {
		b.Helper()
		if _, err := db.ExecContext(b.Context(), text, args...); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
	}
	return &ledger{
		Writer: store, purge: l.Purge,
		fill: func(b *testing.B, works int, window string) {
			for range parts {
				var last int64
				if err := db.QueryRowContext(b.Context(), `SELECT coalesce(max(rowid), 0) FROM work_log`).Scan(&last); err != nil {
					b.Fatal(err)
				}
				exec(b, filled[0], works/parts, window, payload, shape, result, ref)
				exec(b, filled[1], last)
			}
		},
		settle: func(b *testing.B) { exec(b, `PRAGMA wal_checkpoint(TRUNCATE)`) },
		bytes: func(b *testing.B) map[string]int64 {
			rows, err := db.QueryContext(b.Context(), `
				SELECT m.tbl_name || CASE m.type WHEN 'index' THEN ', its indexes' ELSE '' END, sum(s.pgsize)
				FROM dbstat AS s JOIN sqlite_schema AS m ON m.name = s.name WHERE s.aggregate = TRUE AND m.tbl_name IN ('work_log', 'effect_log', 'attempt_history') GROUP BY 1`)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			sizes := map[string]int64{}
			for rows.Next() {
				var name string
				var n int64
				if err := rows.Scan(&name, &n); err != nil {
					b.Fatal(err)
				}
				sizes[name] = n
			}
			if err := rows.Err(); err != nil || len(sizes) == 0 {
				b.Fatal(fmt.Errorf("sizes %v: %w", sizes, err))
			}
			return sizes
		},
	}
}
