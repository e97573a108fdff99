package large

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// filledPostgres is filled of the SQLite ledger, with the same values: works, and their
// effects. $2 makes the keys of one filling differ from those of another.
var filledPostgres = []string{`
	INSERT INTO idem.work_log (work_id, kind, version, state, attempt, attempt_at, attempt_ended_at, outcome, budget_left,
		payload, payload_codec, payload_hash, payload_shape,
		result, result_codec, external_ref, release, created_at, updated_at, done_at, expires_at)
	SELECT encode(sha256(($2::text || i)::bytea), 'hex'), 'order', 1, 'done', 1, now(), now(), 'done', 4,
		convert_to($4::text, 'UTF8'), 'json', sha256(i::text::bytea), $5::text, convert_to($6::text, 'UTF8'), 'json', $7::text, 'v1.2.3',
		now(), now(), now(), now() + CASE $3::text WHEN '-' THEN -1 ELSE 86400 END * interval '1 second'
	FROM generate_series(1, $1::integer) AS i`, `
	INSERT INTO idem.effect_log (work_id, effect, guard, state, effect_key, calls, payload_hash, payload_shape, input, input_codec, result, result_codec, external_ref, started_at, done_at)
	SELECT work_id, 'charge', 'idempotency_key', 'done', work_id, 1, sha256(i::text::bytea), $4::text, convert_to($3::text, 'UTF8'), 'json', convert_to($5::text, 'UTF8'), 'json', $6::text, now(), now()
	FROM generate_series(1, $1::integer) AS i, LATERAL (SELECT encode(sha256(($2::text || i)::bytea), 'hex') AS work_id) AS w`}

// fillPostgres fills a ledger. Of many rows the indexes are built at last, all at once.
func fillPostgres(ctx context.Context, pool *pgxpool.Pool, works int, window string) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // if it was not committed
	if _, err := tx.Exec(ctx, `SET LOCAL maintenance_work_mem = '256MB'`); err != nil {
		return err
	}
	var rebuild []string
	if works >= 100_000 {
		if rebuild, err = dropIndexes(ctx, tx); err != nil {
			return err
		}
	}
	name := rand.Text()
	if _, err := tx.Exec(ctx, filledPostgres[0], works, name, window, payload, shape, result, ref); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, filledPostgres[1], works, name, payload, shape, result, ref); err != nil {
		return err
	}
	for _, statement := range rebuild {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return tx.Commit(ctx)
}

// dropIndexes drops those of the two tables, and returns what makes them again: keys
// as full as splitting leaves them that come in any order.
func dropIndexes(ctx context.Context, tx pgx.Tx) (rebuild []string, err error) {
	rows, err := tx.Query(ctx, `
		SELECT CASE WHEN c.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
				ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', i.indrelid::regclass, c.conname) END,
			CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
				ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s WITH (fillfactor = 70)', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) END
		FROM pg_index AS i LEFT JOIN pg_constraint AS c ON c.conindid = i.indexrelid
		WHERE i.indrelid IN ('idem.work_log'::regclass, 'idem.effect_log'::regclass)`)
	if err != nil {
		return nil, err
	}
	var drops []string
	var drop, make string
	if _, err := pgx.ForEachRow(rows, []any{&drop, &make}, func() error {
		drops, rebuild = append(drops, drop), append(rebuild, make)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, statement := range drops {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return rebuild, nil
}

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
			if err := fillPostgres(b.Context(), pool, works, window); err != nil {
				b.Fatal(err)
			}
		},
		settle: func(b *testing.B) {
			exec(b, `VACUUM ANALYZE`)
			exec(b, `CHECKPOINT`)
		},
		bytes: func(b *testing.B) map[string]int64 {
			rows, err := pool.Query(b.Context(), `
				SELECT t.name || s.what, s.bytes FROM unnest(ARRAY['work_log', 'effect_log', 'attempt_history']) AS t (name),
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
