package large

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

var (
	full   = flag.Bool("full", false, "a ledger of 10 million works, of which 1 million go: it takes tens of gigabytes")
	works  = flag.Int("works", 20_000, "how many works a large ledger has, of which a tenth go")
	server = pgtest.New()
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(server.Main(m))
}

// sizes are how many works a small and a large ledger have, and how many of the
// large one's are forgotten.
func sizes() (small, large, forgotten int) {
	if *full {
		return 10_000, 10_000_000, 1_000_000
	}
	return min(10_000, *works/10), *works, *works / 10
}

// A ledger is one store's.
type ledger struct {
	idem.Writer
	purge func(ctx context.Context, most int) (idem.Purged, error)
	// fill adds done works, of one effect and one attempt each.
	fill func(b *testing.B, works int, window string)
	// settle has the database do what it would have done by and by.
	settle func(b *testing.B)
	// bytes are those of each table, and of its indexes.
	bytes func(b *testing.B) map[string]int64
}

var stores = []struct {
	name string
	open func(b *testing.B) *ledger
}{{"sqlite", openSQLite}, {"postgres", openPostgres}}

// The windows of what is filled in, for SQL: one that is over, and one that is not.
const (
	over = "-"
	open = "+"
)

// BenchmarkClaimOfALargeLedger takes turns between a small ledger and a large one,
// which is filled in the order of its keys' hashes, as work comes.
func BenchmarkClaimOfALargeLedger(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			few, many, _ := sizes()
			small, large := s.open(b), s.open(b)
			small.fill(b, few, open)
			large.fill(b, many, open)
			small.settle(b)
			large.settle(b)
			for what, n := range large.bytes(b) {
				b.Logf("%s: %.0f bytes for each work", what, float64(n)/float64(many))
			}
			for range 20 { // the statements are prepared, and the connections there
				small.cycle(b, time.Now().String())
				large.cycle(b, time.Now().String())
			}
			var inSmall, inLarge time.Duration
			n := 0
			for b.Loop() {
				inSmall += small.cycle(b, time.Now().String())
				inLarge += large.cycle(b, time.Now().String())
				n++
			}
			b.ReportMetric(float64(inSmall.Microseconds())/float64(n), "small-µs/op")
			b.ReportMetric(float64(inLarge.Microseconds())/float64(n), "large-µs/op")
			b.ReportMetric(float64(inLarge)/float64(inSmall), "large/small")
		})
	}
}

// cycle claims work and ends it, and returns how long the claim took.
func (l *ledger) cycle(b *testing.B, name string) time.Duration {
	b.Helper()
	took, err := l.claim(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	return took
}

func (l *ledger) claim(ctx context.Context, name string) (time.Duration, error) {
	c := idem.Claim{
		Fence: idem.Fence{ID: idem.HashWorkID([]byte(name))}, Kind: "order", Version: 1, Lease: time.Minute, Budget: 5, Window: idem.For(24 * time.Hour),
		Payload: idem.Body{Codec: idem.CodecJSON, Data: []byte(payload)}, PayloadShape: shape, Release: "v1.2.3",
	}
	_, _ = rand.Read(c.Token[:]) // never fails
	start := time.Now()
	claimed, err := l.Claim(ctx, c)
	took := time.Since(start)
	if err == nil && !claimed.Won {
		err = fmt.Errorf("new work is %s", claimed.Work.State)
	}
	if err != nil {
		return took, err
	}
	_, err = l.End(ctx, idem.End{Fence: c.Fence, State: idem.StateDone, Window: idem.For(24 * time.Hour), Result: idem.Body{Codec: idem.CodecJSON, Data: []byte(result)}, ExternalRef: ref})
	return took, err
}

const (
	payload = `{"order_id":"A-1001-20311204","email":"ada@example.com","cents":1250,"currency":"EUR","at":"2031-05-04T03:02:01Z"}`
	result  = `{"id":"ch_3MmlLrLkdIwHu7ix0snN0B15"}`
	ref     = `ch_3MmlLrLkdIwHu7ix0snN0B15`
	shape   = `8c7dd922ad47494fc02c388e12c00eac278d24ffa0cb3b5f4f9c0d8e0b1d5c8e`
)

// BenchmarkPurge deletes the forgotten works of a large ledger, while somebody claims
// work all the time, and reports how long the claims took.
func BenchmarkPurge(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			_, many, forgotten := sizes()
			l := s.open(b)
			l.fill(b, many-forgotten, open)
			l.fill(b, forgotten, over)
			l.settle(b)
			alone := make([]time.Duration, 500)
			for i := range alone {
				alone[i] = l.cycle(b, fmt.Sprint("alone ", i))
			}
			for b.Loop() {
				purgeBeside(b, l, forgotten)
				b.StopTimer()
				l.fill(b, forgotten, over)
				l.settle(b)
				b.StartTimer()
			}
			slices.Sort(alone)
			b.ReportMetric(milliseconds(alone[len(alone)-1]), "alone-max-ms")
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func purgeBeside(b *testing.B, l *ledger, forgotten int) {
	type outcome struct {
		purged idem.Purged
		err    error
	}
	over := make(chan outcome, 1)
	start := time.Now()
	go func() {
		purged, err := l.purge(b.Context(), 0)
		over <- outcome{purged, err}
	}()
	var claims []time.Duration
	for i := 0; ; i++ {
		select {
		case o := <-over:
			took := time.Since(start)
			if o.err != nil || o.purged.Work != forgotten {
				b.Fatalf("purged %+v of %d, %v", o.purged, forgotten, o.err)
			}
			slices.Sort(claims)
			b.ReportMetric(float64(forgotten)/took.Seconds(), "purged/s")
			b.ReportMetric(milliseconds(claims[len(claims)/2]), "claim-median-ms")
			b.ReportMetric(milliseconds(claims[len(claims)*99/100]), "claim-p99-ms")
			b.ReportMetric(milliseconds(claims[len(claims)-1]), "claim-max-ms")
			return
		default:
			took, err := l.claim(b.Context(), fmt.Sprint(start.UnixNano(), i))
			if err != nil {
				b.Fatal(err)
			}
			claims = append(claims, took)
		}
	}
}
