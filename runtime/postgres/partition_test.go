package postgres_test

import (
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// Some statements take only whole tables: see that none of them is used.
func TestTablesMayBePartitionedByWork(t *testing.T) {
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	pool := newPool(t)
	store := openClocked(t, pool, func() time.Time { return now }).(*clocked)
	for _, table := range []string{"work_log", "effect_log", "attempt_log"} {
		mustExec(t, pool, fmt.Sprintf(`ALTER TABLE %[1]s.%[2]s RENAME TO %[2]s_whole`, store.schema, table))
		mustExec(t, pool, fmt.Sprintf(`CREATE TABLE %[1]s.%[2]s (LIKE %[1]s.%[2]s_whole INCLUDING ALL) PARTITION BY HASH (work_id)`, store.schema, table))
		for i := range 3 {
			mustExec(t, pool, fmt.Sprintf(`CREATE TABLE %[1]s.%[2]s_%[3]d PARTITION OF %[1]s.%[2]s FOR VALUES WITH (MODULUS 3, REMAINDER %[3]d)`, store.schema, table, i))
		}
	}
	win := func(c idem.Claim, attempt int) {
		t.Helper()
		claimed, err := store.Claim(t.Context(), c)
		if err != nil || !claimed.Won || claimed.Work.Attempt != attempt {
			t.Fatalf("won %t at attempt %d, %v, want attempt %d", claimed.Won, claimed.Work.Attempt, err, attempt)
		}
	}
	for i := range 10 {
		name := fmt.Sprint(i)
		win(claimOf(name, 1), 1)
		now = now.Add(time.Minute) // abandoned
		c := claimOf(name, 2)
		win(c, 2)
		for _, state := range []idem.EffectState{idem.EffectStarted, idem.EffectDone} {
			if _, err := store.WriteEffect(t.Context(), effectOf(c.Fence, state)); err != nil {
				t.Fatal(err)
			}
		}
		if renewals, err := store.Renew(t.Context(), []idem.Lease{{Fence: c.Fence, For: time.Hour}}); err != nil || renewals[0] != idem.Renewed {
			t.Fatalf("%v, %v", renewals, err)
		}
		if _, err := store.End(t.Context(), doneOf(c.Fence)); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour) // forgotten
		win(claimOf(name, 3), 1)
	}
	rows := scalar[int](t, pool, `SELECT count(*) FROM `+store.schema+`.work_log WHERE life = 2`)
	left := scalar[int](t, pool, `SELECT count(*) FROM `+store.schema+`.effect_log`)
	if rows != 10 || left != 0 {
		t.Errorf("%d works in their second life, with %d effects of the first", rows, left)
	}
}
