package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The application shares the file, and may have ANALYZE or PRAGMA optimize look at
// tables that are still empty or hold one row. What SQLite then takes for small it
// would read from end to end in every claim, for good.
func TestNoStatementScansATableWhateverTheStatisticsSay(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 3, 1000} {
		t.Run(fmt.Sprintf("%d rows analyzed", rows), func(t *testing.T) {
			ctx := context.Background()
			path := filepath.Join(t.TempDir(), "ledger.db")
			if err := Migrate(ctx, path); err != nil {
				t.Fatal(err)
			}
			analyzed(t, path, rows)
			store, err := Open(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = store.Close() }()
			texts := slices.Clone(amendStatements)
			for _, p := range store.preparations() {
				texts = append(texts, p.text)
			}
			for _, text := range texts {
				if text == rareSQL {
					continue // which reads one row
				}
				for _, step := range plan(t, store.readers, text) {
					if scansTable(step) {
						t.Errorf("%s\n\t%s", strings.TrimSpace(text), step)
					}
				}
			}
		})
	}
}

// scansTable tells whether a step of a plan reads a whole table that grows: not the
// one row of ledger_meta, nor a list that is an argument.
func scansTable(step string) bool {
	return strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "ledger_meta") && !strings.Contains(step, "VIRTUAL TABLE")
}

// analyzed fills a ledger and has SQLite look at it.
func analyzed(t *testing.T, path string, rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO work_log (work_id, kind, version, state, claim_token, locked_until, attempt, attempt_at, budget_left, created_at, updated_at)
		SELECT lower(hex(randomblob(32))), 'k', 1, 'running', randomblob(16), 1, 1, 1, 1, 1, 1 FROM n WHERE i <= %[1]d`, rows),
		`INSERT INTO effect_log (work_id, effect, guard, state, started_at) SELECT work_id, 'e', 'once', 'started', 1 FROM work_log`,
		`INSERT INTO attempt_history (work_id, attempt, started_at, ended_at, outcome) SELECT work_id, 1, 1, 1, 'failed' FROM work_log`,
		`INSERT INTO work_alias SELECT lower(hex(randomblob(32))), work_id, 1 FROM work_log`,
		`INSERT INTO latest_log SELECT randomblob(32), 1, work_id FROM work_log`,
		`INSERT INTO success_log SELECT DISTINCT kind, scope, 1 FROM work_log`,
		`INSERT INTO sent_messages (channel, chat_id, content_hash, state, work_id, effect, effect_key, expires_at)
		SELECT 'c', work_id, randomblob(32), 'sending', work_id, 'e', 'k', 1 FROM work_log`,
		`ANALYZE`,
	} {
		if rows == 0 && statement != `ANALYZE` {
			continue
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// plan is how SQLite would carry a statement out.
func plan(t *testing.T, db *sql.DB, text string) (steps []string) {
	t.Helper()
	args := make([]any, 32) // more than any has
	rows, err := db.Query("EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
