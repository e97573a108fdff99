package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idem/internal/pgtest"
	"github.com/idemgen/idem/runtime/sqlite"
)

var server = pgtest.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// BenchmarkOneCall lets both work in turns, a while each, and reports the ratio of
// what they get done. In both ways a caller waits until its work is done and the
// record of it durable.
func BenchmarkOneCall(b *testing.B) {
	onSQLite := func(synchronous sqlite.Synchronous, connections int) func(b *testing.B) (ours, theirs worker) {
		return func(b *testing.B) (ours, theirs worker) {
			dir := b.TempDir()
			return opened(b)(idemSQLite(b.Context(), filepath.Join(dir, "idem.db"), synchronous)),
				opened(b)(dbosSQLite(b.Context(), filepath.Join(dir, "dbos.db"), synchronous, connections))
		}
	}
	for _, on := range []struct {
		name string
		open func(b *testing.B) (ours, theirs worker)
	}{
		{"sqlite-full", onSQLite(sqlite.Full, dbosConnections)},
		{"sqlite-full-1", onSQLite(sqlite.Full, 1)},
		{"sqlite-normal", onSQLite(sqlite.Normal, dbosConnections)},
		{"postgres", func(b *testing.B) (ours, theirs worker) {
			return opened(b)(idemPostgres(b.Context(), server.Database(b))), opened(b)(dbosPostgres(b.Context(), server.Database(b)))
		}},
	} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/callers=%d", on.name, callers), func(b *testing.B) {
				ours, theirs := on.open(b)
				compare(b, ours, theirs, callers)
			})
		}
	}
}

func opened(b *testing.B) func(w worker, err error) worker {
	return func(w worker, err error) worker {
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := w.close(); err != nil {
				b.Error(err)
			}
		})
		return w
	}
}

// turn is for how long one of them works at a time.
const turn = 500 * time.Millisecond

func compare(b *testing.B, ours, theirs worker, callers int) {
	var a, z pace
	var id atomic.Int64
	for b.Loop() {
		for _, err := range []error{a.work(b.Context(), ours, callers, &id), z.work(b.Context(), theirs, callers, &id)} {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(a.perSecond(), "idem-works/s")
	b.ReportMetric(z.perSecond(), "dbos-works/s")
	b.ReportMetric(a.perSecond()/z.perSecond(), "idem/dbos")
}

// A pace is how fast one of them is.
type pace struct {
	works int64
	took  time.Duration
}

func (p *pace) perSecond() float64 { return float64(p.works) / p.took.Seconds() }

// work lets so many callers do new orders for a turn, and waits for what they have begun.
func (p *pace) work(ctx context.Context, w worker, callers int, id *atomic.Int64) error {
	start := time.Now()
	var running sync.WaitGroup
	var failed atomic.Pointer[error]
	var done atomic.Int64
	for range callers {
		running.Go(func() {
			for time.Since(start) < turn && failed.Load() == nil {
				if err := w.do(ctx, Order{ID: strconv.FormatInt(id.Add(1), 10), Amount: 4200}); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	running.Wait()
	p.works += done.Load()
	p.took += time.Since(start)
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
