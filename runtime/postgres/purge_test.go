package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/runtime/postgres"
)

// A purge runs beside all that a ledger is for, and reads nothing from end to end.
func TestAPurgeGoesByIndexes(t *testing.T) {
	pool := newPool(t)
	schema := newSchema(t, pool)
	store := openStore(t, pool, postgres.WithSchema(schema))
	quoted := pgx.Identifier{schema}.Sanitize()
	for _, statement := range []string{
		`INSERT INTO %[1]s.work_log (work_id, kind, version, state, attempt, attempt_at, attempt_ended_at, outcome, budget_left, created_at, updated_at, done_at, expires_at, until_success_of)
		SELECT encode(sha256(i::text::bytea), 'hex'), 'k', 1, 'done', 2, now(), now(), 'done', 1, now(), now(), now(), now() + i * interval '1 second', CASE i %% 100 WHEN 0 THEN 'sync' ELSE '' END
		FROM generate_series(1, 20000) AS i`,
		`INSERT INTO %[1]s.effect_log (work_id, effect, guard, state, effect_key, started_at) SELECT work_id, 'e', 'once', 'started', 'k', now() FROM %[1]s.work_log`,
		`INSERT INTO %[1]s.attempt_history (work_id, attempt, started_at, ended_at, outcome) SELECT work_id, 1, now(), now(), 'failed' FROM %[1]s.work_log`,
		`INSERT INTO %[1]s.work_alias SELECT encode(sha256(work_id::bytea), 'hex'), work_id, now() FROM %[1]s.work_log`,
		`INSERT INTO %[1]s.latest_log SELECT sha256(work_id::bytea), 1, work_id FROM %[1]s.work_log`,
		`INSERT INTO %[1]s.success_log SELECT work_id, 'scope', now() FROM %[1]s.work_log`,
		`INSERT INTO %[1]s.sent_messages (channel, chat_id, content_hash, state, work_id, effect, effect_key, expires_at)
		SELECT 'c', work_id, sha256(work_id::bytea), 'sending', work_id, 'e', 'k', expires_at FROM %[1]s.work_log`,
		`ANALYZE %[1]s.work_log, %[1]s.effect_log, %[1]s.attempt_history, %[1]s.work_alias, %[1]s.latest_log, %[1]s.success_log, %[1]s.sent_messages`,
	} {
		mustExec(t, pool, fmt.Sprintf(statement, quoted))
	}
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = fmt.Sprintf("%064x", i)
	}
	for _, p := range store.Purging(ids) {
		rows, err := pool.Query(t.Context(), `EXPLAIN `+p.Text, p.Args...)
		if err != nil {
			t.Fatalf("%s: %v", p.Text, err)
		}
		steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", p.Text, err)
		}
		if plan := strings.Join(steps, "\n"); strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") && !strings.Contains(plan, "Index") {
			t.Errorf("%s\n%s", strings.TrimSpace(p.Text), plan)
		}
	}
}
