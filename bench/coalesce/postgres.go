package coalesce

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/runtime/postgres"
)

func newPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 16 // the best for the two statements, of 4, 8, 16, 32 and 64
	return pgxpool.NewWithConfig(ctx, config)
}

// pgLedger closes its pool as well.
type pgLedger struct {
	way
	pool *pgxpool.Pool
}

func openPostgres(ctx context.Context, url string, run handler) (way, error) {
	pool, err := newPool(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, pool); err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		return nil, err
	}
	return &pgLedger{newLedger(store, run), pool}, nil
}

func (l *pgLedger) close() error {
	defer l.pool.Close()
	return l.way.close()
}

type pgHand struct{ pool *pgxpool.Pool }

func openPgHand(ctx context.Context, url string) (*pgHand, error) {
	pool, err := newPool(ctx, url)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, `CREATE TABLE keys (
		key text NOT NULL PRIMARY KEY, status text NOT NULL, payload bytea, result bytea, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL)`)
	return &pgHand{pool}, err
}

func (h *pgHand) close() error {
	h.pool.Close()
	return nil
}

func (h *pgHand) do(ctx context.Context, name string) error {
	return byHand(ctx, name,
		func(ctx context.Context, key string, body []byte) error {
			return h.exec(ctx, `INSERT INTO keys (key, status, payload, created_at, updated_at) VALUES ($1, 'running', $2, now(), now()) ON CONFLICT DO NOTHING`, key, body)
		},
		func(ctx context.Context, key string, body []byte) error {
			return h.exec(ctx, `UPDATE keys SET status = 'done', result = $2, updated_at = now() WHERE key = $1 AND status = 'running'`, key, body)
		})
}

func (h *pgHand) exec(ctx context.Context, text string, args ...any) error {
	tag, err := h.pool.Exec(ctx, text, args...)
	if err == nil && tag.RowsAffected() != 1 {
		err = errTaken
	}
	return err
}

// pgBatched makes the statements of pgHand in a loop, with as few round trips as can be:
// one for a batch.
type pgBatched struct {
	hand *pgHand
	loop *loop[statement]
}

func openPgBatched(ctx context.Context, url string) (*pgBatched, error) {
	hand, err := openPgHand(ctx, url)
	if err != nil {
		return nil, err
	}
	return &pgBatched{hand, newLoop(func(batch []statement) error {
		var claims, ends []string
		var payloads, results [][]byte
		for _, s := range batch {
			if s.claim {
				claims, payloads = append(claims, s.key), append(payloads, s.body)
			} else {
				ends, results = append(ends, s.key), append(results, s.body)
			}
		}
		var b pgx.Batch
		if len(claims) > 0 {
			b.Queue(`INSERT INTO keys (key, status, payload, created_at, updated_at)
				SELECT key, 'running', payload, now(), now() FROM unnest($1::text[], $2::bytea[]) AS c (key, payload) ON CONFLICT DO NOTHING`, claims, payloads)
		}
		if len(ends) > 0 {
			b.Queue(`UPDATE keys SET status = 'done', result = e.result, updated_at = now()
				FROM unnest($1::text[], $2::bytea[]) AS e (key, result) WHERE keys.key = e.key AND status = 'running'`, ends, results)
		}
		// A batch outside a transaction is one.
		answers := hand.pool.SendBatch(context.Background(), &b)
		var changed int64
		for range b.Len() {
			tag, err := answers.Exec()
			if err != nil {
				return errors.Join(err, answers.Close())
			}
			changed += tag.RowsAffected()
		}
		if err := answers.Close(); err != nil {
			return err
		}
		if changed != int64(len(batch)) {
			return errTaken
		}
		return nil
	})}, nil
}

func (b *pgBatched) do(ctx context.Context, name string) error {
	return byHand(ctx, name,
		func(_ context.Context, key string, body []byte) error { return b.loop.do(statement{true, key, body}) },
		func(_ context.Context, key string, body []byte) error { return b.loop.do(statement{false, key, body}) })
}

func (b *pgBatched) close() error {
	b.loop.close()
	return b.hand.close()
}
