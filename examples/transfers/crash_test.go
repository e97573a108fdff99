package transfers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
	"github.com/idemgen/idem/runtime/postgres"
)

// Server is where the tests' databases are.
var Server = pgtest.New()

// transferWorld is a schema with two accounts and a ledger. Its clock is the
// server's, for which nobody has to wait: a transaction that holds the claim too
// leaves no lease behind when its process dies.
//
//idem:fakes kind=transfer_ordered
func transferWorld(t *testing.T, w *idemtest.World) idemtest.Program[Order, Receipt, pgx.Tx] {
	pool, schema := newSchema(t)
	if err := postgres.Migrate(t.Context(), pool, postgres.WithSchema(schema)); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), pool, postgres.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	order := Order{Order: "1", From: "savings", To: "rent", Amount: 100}
	w.Count("book", func() (balance int) {
		if err := pool.QueryRow(t.Context(), `SELECT balance FROM accounts WHERE name = 'rent'`).Scan(&balance); err != nil {
			t.Error(err)
		}
		return balance / int(order.Amount)
	})
	return idemtest.Program[Order, Receipt, pgx.Tx]{
		Store: store,
		Start: func(store idem.Store[pgx.Tx]) idem.Contract[Order, Receipt] {
			return New(idem.NewLedger(store), &Accounts{}).TransferOrdered
		},
		Input: func() Order { return order },
	}
}

// newSchema makes a schema, which is gone after the test, and a pool whose tables
// are in it.
func newSchema(t *testing.T) (*pgxpool.Pool, string) {
	config, err := pgxpool.ParseConfig(Server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("transfers_%016x", rand.Uint64())
	config.ConnConfig.RuntimeParams["search_path"] = schema
	ctx := context.WithoutCancel(t.Context()) // also after the test
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := pool.Exec(ctx, `DROP SCHEMA `+schema+` CASCADE`); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	_, err = pool.Exec(ctx, `CREATE SCHEMA `+schema+`;
		CREATE TABLE accounts (name text PRIMARY KEY, balance bigint NOT NULL);
		INSERT INTO accounts VALUES ('savings', 1000), ('rent', 0)`)
	if err != nil {
		t.Fatal(err)
	}
	return pool, schema
}
