package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// Dead work is what somebody has to look at: its window alone does not take it away.
func TestDeadWorkIsPurgedOnceItIsAcknowledged(t *testing.T) {
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	path := newLedger(t)
	store := openStore(t, path, sqlite.WithClock(func() time.Time { return now }))
	for i := range 2 {
		fence := idem.Fence{ID: idem.HashWorkID([]byte(fmt.Sprint(i))), Token: idem.Token{1}}
		c := idem.Claim{Fence: fence, Kind: "k", Version: 1, Lease: time.Minute, Budget: 1, Window: idem.For(time.Hour)}
		if _, err := store.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if _, err := store.End(t.Context(), idem.End{Fence: fence, State: idem.StateDead, Window: idem.For(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	acknowledged, other := idem.HashWorkID([]byte("0")), idem.HashWorkID([]byte("1"))
	mustExec(t, openApp(t, uri(path)), `UPDATE work_log SET acknowledged_at = 1 WHERE work_id = ?`, acknowledged.String())
	for _, step := range []struct {
		passed time.Duration
		want   int
	}{{time.Hour - 1, 0}, {time.Hour, 1}} {
		now = time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC).Add(step.passed)
		ids, err := store.Expired(t.Context(), 10)
		if err != nil || len(ids) != step.want {
			t.Errorf("after %s: %d works are listed, %v, want %d", step.passed, len(ids), err, step.want)
		}
		purged, err := store.Purge(t.Context(), []idem.WorkID{acknowledged, other})
		if err != nil || purged.Work != step.want {
			t.Errorf("after %s: %+v, %v, want %d works", step.passed, purged, err, step.want)
		}
	}
}
