package peers

import (
	"context"
	"database/sql"
	"log/slog"
	"net/url"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // for SQLite

	"github.com/idemgen/idem/runtime/sqlite"
)

// dbosOn launches it, with the workflow that Pay is.
func dbosOn(ctx context.Context, config dbos.Config, end func() error) (worker, error) {
	config.AppName, config.ApplicationVersion = "peers", "1"
	config.Logger = slog.New(slog.DiscardHandler)
	d, err := dbos.NewContext(ctx, config)
	if err != nil {
		return worker{}, err
	}
	pay := func(ctx dbos.Context, in Order) (Receipt, error) {
		return dbos.RunAsStep(ctx, func(context.Context) (Receipt, error) { return Receipt{Ref: "pi_1"}, nil }, dbos.WithStepName("charge"))
	}
	dbos.RegisterWorkflow(d, pay, dbos.WithWorkflowName("pay"))
	if err := dbos.Launch(d); err != nil {
		return worker{}, err
	}
	return worker{
		do: func(_ context.Context, in Order) error {
			handle, err := dbos.RunWorkflow(d, pay, in, dbos.WithWorkflowID(in.ID))
			if err != nil {
				return err
			}
			_, err = handle.GetResult()
			return err
		},
		close: func() error { dbos.Shutdown(d, 10*time.Second); return end() },
	}, nil
}

// dbosConnections is how many DBOS opens by itself.
const dbosConnections = 8

// dbosSQLite is a handle like the one that DBOS opens by itself, but for how many
// connections it has, and that it waits for the disk: DBOS' own does so only at
// checkpoints (synchronous NORMAL).
func dbosSQLite(ctx context.Context, path string, synchronous sqlite.Synchronous, connections int) (worker, error) {
	mode := "synchronous(FULL)"
	if synchronous == sqlite.Normal {
		mode = "synchronous(NORMAL)"
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(5000)", "foreign_keys(ON)", "journal_mode(WAL)", mode}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+query.Encode())
	if err != nil {
		return worker{}, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return dbosOn(ctx, dbos.Config{SQLiteSystemDB: db}, db.Close)
}

func dbosPostgres(ctx context.Context, at string) (worker, error) {
	pool, err := open(ctx, at)
	if err != nil {
		return worker{}, err
	}
	return dbosOn(ctx, dbos.Config{SystemDBPool: pool}, func() error { pool.Close(); return nil })
}
