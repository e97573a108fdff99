package coalesce

import (
	"context"
	"database/sql"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// TestMemoryOfHandlersInFlight holds what 10,000 handlers cost that are all under way:
// their goroutines, claims and leases, and what the store needs.
func TestMemoryOfHandlersInFlight(t *testing.T) {
	const handlers, most = 10_000, 200 << 20
	path := filepath.Join(t.TempDir(), "a.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	before := inUse()
	var inside sync.WaitGroup
	inside.Add(handlers)
	leave := make(chan struct{})
	l := newLedger[*sql.Tx](store, func(context.Context, *idem.Run, job) (outcome, error) {
		inside.Done()
		<-leave
		return outcome{}, nil
	})
	var all sync.WaitGroup
	for i := range handlers {
		all.Go(func() {
			if err := l.do(t.Context(), nameOf(i)); err != nil {
				t.Error(err)
			}
		})
	}
	inside.Wait()
	used := inUse() - before
	t.Logf("%d handlers in flight: %.1f MB, %d bytes each", handlers, float64(used)/(1<<20), used/handlers)
	if used > most {
		t.Errorf("%d bytes in use, want at most %d", used, most)
	}
	close(leave)
	all.Wait()
	if err := l.close(); err != nil {
		t.Error(err)
	}
}

// inUse is what the program holds of the system's memory, without what it could give
// back.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapIdle)
}
