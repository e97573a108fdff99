package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/storetest"
)

// TestStoreConformsBehindAPooler has PgBouncer give each transaction another
// connection, and 16 clients share 8.
func TestStoreConformsBehindAPooler(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole suite")
	}
	pooler := server.Pooler(t)
	modes := []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol}
	if *long {
		modes = append(modes, pgx.QueryExecModeExec)
	}
	if pooler.KeepsStatements() {
		modes = append(modes, pgx.QueryExecModeCacheStatement)
	} else {
		t.Logf("prepared statements are left out: version %d.%d of PgBouncer does not keep them apart", pooler.Version[0], pooler.Version[1])
	}
	admin := newPool(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			pool := newPool(t, func(c *pgxpool.Config) {
				behind, err := pgxpool.ParseConfig(pooler.URL)
				if err != nil {
					t.Fatal(err)
				}
				behind.MaxConns, behind.ConnConfig.DefaultQueryExecMode = c.MaxConns, mode
				*c = *behind
			})
			storetest.Run(t, func(t *testing.T, clock func() time.Time) idem.Store[pgx.Tx] {
				c := newClocked[pgx.Tx](t, admin, clock)
				c.Store = openStore(t, pool, c.opts...)
				return c
			})
		})
	}
}
