package coalesce

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idem/internal/pgtest"
)

var server = pgtest.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

type entrant struct {
	name string
	open func(b *testing.B) (way, error)
}

func BenchmarkSQLite(b *testing.B) {
	file := func(b *testing.B) string { return filepath.Join(b.TempDir(), "a.db") }
	compare(b, []entrant{
		{"twoStatements", func(b *testing.B) (way, error) { return openLiteHand(b.Context(), file(b), 1) }},
		{"handBatched", func(b *testing.B) (way, error) { return openLiteBatched(b.Context(), file(b)) }},
		{"idem", func(b *testing.B) (way, error) { return openSQLite(b.Context(), file(b), bare) }},
		{"idemEffect", func(b *testing.B) (way, error) { return openSQLite(b.Context(), file(b), withEffect()) }},
		{"eightConnections", func(b *testing.B) (way, error) { return openLiteHand(b.Context(), file(b), 8) }},
	})
}

func BenchmarkPostgres(b *testing.B) {
	server.URL(b) // or skip
	compare(b, []entrant{
		{"twoStatements", func(b *testing.B) (way, error) { return openPgHand(b.Context(), server.Database(b)) }},
		{"handBatched", func(b *testing.B) (way, error) { return openPgBatched(b.Context(), server.Database(b)) }},
		{"idem", func(b *testing.B) (way, error) { return openPostgres(b.Context(), server.Database(b), bare) }},
		{"idemEffect", func(b *testing.B) (way, error) { return openPostgres(b.Context(), server.Database(b), withEffect()) }},
	})
}

// BenchmarkDuplicates answers works that are done, by two callers. It writes nothing.
func BenchmarkDuplicates(b *testing.B) {
	w, err := openSQLite(b.Context(), filepath.Join(b.TempDir(), "a.db"), bare)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			b.Error(err)
		}
	}()
	const works = 2000
	run(b, w, 64, works, 0)
	var took time.Duration
	answers := 0
	for b.Loop() {
		took += run(b, w, 2, works, 0)
		answers += works
	}
	b.ReportMetric(float64(answers)/took.Seconds(), "answers/s")
	b.ReportMetric(0, "ns/op")
}

// compare lets the ways take turns, a slice of works each, so that they meet the same
// disk and the same neighbours. It reports the works per second of each, and how many
// times as many as the first.
func compare(b *testing.B, entrants []entrant) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			ways := make([]way, len(entrants))
			for i, e := range entrants {
				w, err := e.open(b)
				if err != nil {
					b.Fatalf("%s: %v", e.name, err)
				}
				defer func() {
					if err := w.close(); err != nil {
						b.Error(err)
					}
				}()
				ways[i] = w
			}
			took, used := make([]time.Duration, len(ways)), make([]time.Duration, len(ways))
			works := 0
			for slice := 0; b.Loop(); slice++ {
				each := 8 * callers
				for i, w := range ways {
					used[i] += busy(func() { took[i] += run(b, w, callers, each, works) })
				}
				works += each
			}
			for i, e := range entrants {
				b.ReportMetric(float64(works)/took[i].Seconds(), e.name+"/s")
				b.ReportMetric(float64(used[i].Microseconds())/float64(works), e.name+"-cpu-µs")
				if i > 0 {
					b.ReportMetric(took[0].Seconds()/took[i].Seconds(), e.name+"/"+entrants[0].name)
				}
			}
			b.ReportMetric(0, "ns/op") // a slice of each says nothing
		})
	}
}

// nameOf is a name that sorts anywhere, as those of orders and messages do.
func nameOf(i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return hex.EncodeToString(sum[:12])
}

// run has n works done, and returns how long that took.
func run(b *testing.B, w way, callers, n, from int) time.Duration {
	var next atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := w.do(b.Context(), nameOf(from+int(i))); err != nil && !errors.Is(err, context.Canceled) {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return time.Since(start)
}
