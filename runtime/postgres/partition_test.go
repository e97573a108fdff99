package postgres_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
	"github.com/idemgen/idem/runtime/storetest"
)

// Some statements take only whole tables: none of them is used. Without -long the
// suite runs on partitions over database/sql.
func TestStoreConformsOnPartitionedTables(t *testing.T) {
	if !*long {
		t.Skip("asked for with -long")
	}
	pool := newPool(t)
	storetest.Run(t, func(t *testing.T, clock func() time.Time) idem.Store[pgx.Tx] {
		return openClocked(t, pool, clock, postgres.WithPartitions(3))
	})
}

func TestMigrateMakesPartitions(t *testing.T) {
	pool := newPool(t)
	schema := newSchema(t, pool)
	store := openStore(t, pool, postgres.WithSchema(schema), postgres.WithPartitions(4))
	for i := range 40 {
		mustWin(t, store, claimOf(string(rune('a'+i)), 1))
	}
	rows, err := pool.Query(t.Context(), `
		SELECT parent.relname || ' ' || count(*) FROM pg_inherits JOIN pg_class AS parent ON parent.oid = inhparent
		WHERE parent.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND parent.relkind = 'p' GROUP BY parent.relname ORDER BY 1`, schema)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := []string{"attempt_history 4", "effect_log 4", "work_log 4"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("partitions are %v, %v, want %v", got, err, want)
	}
	quoted := pgx.Identifier{schema}.Sanitize()
	if used := scalar[int](t, pool, `SELECT count(DISTINCT tableoid) FROM `+quoted+`.work_log`); used != 4 {
		t.Errorf("40 works are in %d partitions of 4", used)
	}
	openStore(t, pool, postgres.WithSchema(schema)) // who does not know of them opens them as well
}
