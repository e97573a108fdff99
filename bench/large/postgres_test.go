package large

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// filledPostgres is filled of the SQLite ledger, with the same values.
const filledPostgres = `
WITH w AS (
	INSERT INTO idem.work_log (work_id, kind, version, state, attempt, budget_left, payload, payload_codec, payload_hash, payload_shape,
		result, result_codec, external_ref, release, created_at, updated_at, done_at, expires_at)
	SELECT encode(sha256((random()::text || i)::bytea), 'hex'), 'order', 1, 'done', 1, 4,
		convert_to($3::text, 'UTF8'), 'json', sha256(i::text::bytea), $4::text, convert_to($5::text, 'UTF8'), 'json', $6::text, 'v1.2.3',
		now(), now(), now(), now() + CASE $2::text WHEN '-' THEN -1 ELSE 86400 END * interval '1 second'
	FROM generate_series(1, $1::integer) AS i
	RETURNING *
), e AS (
	INSERT INTO idem.effect_log (work_id, effect, seq, guard, state, effect_key, calls, payload_hash, payload_shape, input, input_codec, result, result_codec, external_ref, started_at, done_at)
	SELECT work_id, 'charge', 1, 'idempotency_key', 'done', work_id, 1, payload_hash, payload_shape, payload, 'json', result, 'json', external_ref, created_at, done_at FROM w
)
INSERT INTO idem.attempt_log (work_id, attempt, started_at, ended_at, outcome, release) SELECT work_id, 1, created_at, done_at, 'done', release FROM w`

func openPostgres(b *testing.B) *ledger {
	pool, err := pgxpool.New(b.Context(), server.Database(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	if err := postgres.Migrate(b.Context(), pool); err != nil {
		b.Fatal(err)
	}
	store, err := postgres.Open(b.Context(), pool)
	if err != nil {
		b.Fatal(err)
	}
	l := idem.NewLedger(store)
	b.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	exec := func(b *testing.B, text string, args ...any) {
		b.Helper()
		if _, err := pool.Exec(b.Context(), text, args...); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
	}
	return &ledger{
		Writer: store, purge: l.Purge,
		fill: func(b *testing.B, works int, window string) {
			for range parts {
				exec(b, filledPostgres, works/parts, window, payload, shape, result, ref)
			}
		},
		settle: func(b *testing.B) {
			exec(b, `VACUUM ANALYZE`)
			exec(b, `CHECKPOINT`)
		},
		bytes: func(b *testing.B) map[string]int64 {
			rows, err := pool.Query(b.Context(), `
				SELECT t.name || s.what, s.bytes FROM unnest(ARRAY['work_log', 'effect_log', 'attempt_log']) AS t (name),
				LATERAL (VALUES ('', pg_table_size(('idem.' || t.name)::regclass)), (', its indexes', pg_indexes_size(('idem.' || t.name)::regclass))) AS s (what, bytes)`)
			if err != nil {
				b.Fatal(err)
			}
			sizes := map[string]int64{}
			var name string
			var n int64
			if _, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error { sizes[name] = n; return nil }); err != nil {
				b.Fatal(err)
			}
			return sizes
		},
	}
}
