package peers

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
	"github.com/idemgen/idem/runtime/sqlite"
)

// A worker does one order, and is closed.
type worker struct {
	do    func(ctx context.Context, in Order) error
	close func() error
}

func idemOn[Tx any](store idem.Store[Tx]) worker {
	ledger := idem.NewLedger(store, idem.WithLogger(slog.New(slog.DiscardHandler)))
	contracts := New(ledger)
	return worker{
		do:    func(ctx context.Context, in Order) error { _, err := contracts.PayOrder.Do(ctx, in); return err },
		close: func() error { return ledger.Close(context.Background()) },
	}
}

func idemSQLite(ctx context.Context, path string, synchronous sqlite.Synchronous) (worker, error) {
	if err := sqlite.Migrate(ctx, path); err != nil {
		return worker{}, err
	}
	store, err := sqlite.Open(ctx, path, sqlite.WithSynchronous(synchronous))
	if err != nil {
		return worker{}, err
	}
	return idemOn(store), nil
}

func idemPostgres(ctx context.Context, at string) (worker, error) {
	pool, err := open(ctx, at)
	if err != nil {
		return worker{}, err
	}
	store, err := postgres.Open(ctx, pool)
	if errors.Is(err, idem.ErrSchema) {
		if err := postgres.Migrate(ctx, pool); err != nil {
			return worker{}, err
		}
		store, err = postgres.Open(ctx, pool)
	}
	if err != nil {
		return worker{}, err
	}
	w := idemOn(store)
	end := w.close
	w.close = func() error { err := end(); pool.Close(); return err }
	return w, nil
}

// open is the same pool for both.
func open(ctx context.Context, at string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(at)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 20
	return pgxpool.NewWithConfig(ctx, config)
}
