package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// A heap-only update makes no entry in any index, and is cleaned up by whoever
// comes to the page next. The first beats of many works at once find no room for
// all beside them, and move some rows once; after that few move.
func TestHeartbeatsAreHeapOnly(t *testing.T) {
	// A transaction that another test has left open keeps dead rows of its database.
	own, err := pgxpool.ParseConfig(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	pool := newPool(t, func(c *pgxpool.Config) { c.ConnConfig, c.MaxConns = own.ConnConfig, 1 })
	schema := newSchema(t, pool)
	store := openStore(t, pool, postgres.WithSchema(schema))
	const works, warm, beats = 200, 5, 40
	leases := make([]idem.Lease, works)
	for i := range leases {
		c := claimOf(fmt.Sprint(i), 1)
		c.Payload.Data = []byte(`"` + strings.Repeat("x", 300) + `"`)
		mustWin(t, store, c)
		leases[i] = idem.Lease{Fence: c.Fence, For: time.Hour}
	}
	quoted := pgx.Identifier{schema}.Sanitize()
	size := func() int64 { return scalar[int64](t, pool, `SELECT pg_table_size($1::regclass)`, quoted+".work_log") }
	beat := func(n int) {
		for range n {
			for l := range leases {
				leases[l].For += time.Second // none gets shorter
			}
			if _, err := store.Renew(t.Context(), leases); err != nil {
				t.Fatal(err)
			}
		}
	}
	// updates waits until the statistics have so many, and returns all and the
	// heap-only ones.
	updates := func(want int64) (all, heapOnly int64) {
		for deadline := time.Now().Add(20 * time.Second); all < want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("only %d updates are in the statistics", all)
			}
			err := pool.QueryRow(t.Context(), `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'work_log'`, schema).Scan(&all, &heapOnly)
			if err != nil {
				t.Fatal(err)
			}
		}
		return all, heapOnly
	}
	beat(warm)
	allBefore, heapBefore := updates(works * warm)
	sizeBefore := size()
	beat(beats)
	all, heapOnly := updates(works * (warm + beats))
	all, heapOnly = all-allBefore, heapOnly-heapBefore
	grown := size() - sizeBefore
	t.Logf("%d of %d updates were heap-only, and the table grew by %d bytes", heapOnly, all, grown)
	if heapOnly*100 < all*95 {
		t.Error("want at least 95 of 100 heap-only")
	}
}
