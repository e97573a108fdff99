package cycle

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
	"github.com/idemgen/idem/runtime/sqlite"
)

func appendOrder(dst []byte, o order) ([]byte, error) {
	dst = append(dst, `{"amount":`...)
	dst = canon.AppendInt(dst, o.Amount)
	dst = append(dst, `,"id":`...)
	dst, err := canon.AppendString(dst, o.ID)
	return append(dst, '}'), err
}

func orderID(o order) (idem.WorkID, error) {
	var buf [128]byte
	b, err := canon.AppendText(append(buf[:0], "order:v1:"...), o.ID)
	return idem.HashWorkID(b), err
}

func define(ledger *idem.Ledger[*sql.Tx], charge func(context.Context, string) (receipt, error)) idem.Contract[order, receipt] {
	g := idem.IdempotencyKey(idem.Effect[order, receipt]{
		Name: "charge", Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder}, ExternalRef: func(r receipt) string { return r.Ref },
		Call: func(ctx context.Context, call idem.Call, in order) (receipt, error) { return charge(ctx, call.Key()) },
	}, 24*time.Hour)
	return idem.Define(ledger, idem.Spec[order, receipt]{
		Kind: "order", Version: 1, Module: "example.com/shop", Digest: "1", ID: orderID, Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder},
		Window:   idem.For(90 * 24 * time.Hour),
		Response: idem.Response{WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningError, OtherPayload: idem.OtherPayloadError},
		Retry:    idem.Retry{MaxAttempts: 5, Initial: time.Second, Max: time.Minute, Multiplier: 2},
		Lease:    2 * time.Minute, Timeout: 10 * time.Minute,
		Handle: func(ctx context.Context, run *idem.Run, in order) (receipt, error) { return g.Do(ctx, run, in) },
	})
}

func charge(context.Context, string) (receipt, error) { return receipt{Ref: "pi_1"}, nil }

func migrated(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "ledger.db")
	if err := sqlite.Migrate(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	return path
}

func openIdem(b *testing.B, path string) idem.Contract[order, receipt] {
	store, err := sqlite.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	ledger := idem.NewLedger(store)
	b.Cleanup(func() {
		if err := ledger.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return define(ledger, charge)
}

// BenchmarkCycle interleaves the two ways, order by order, so that both meet the
// same disk and the same neighbours; it reports the ratio of their total times.
func BenchmarkCycle(b *testing.B) {
	contract := openIdem(b, migrated(b))
	hand, err := openByHand(b.Context(), migrated(b))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := hand.close(); err != nil {
			b.Error(err)
		}
	}()
	ctx := b.Context()
	var withIdem, byHand time.Duration
	n := 0
	for b.Loop() {
		in := order{ID: strconv.Itoa(n), Amount: 4200}
		n++
		start := time.Now()
		if _, err := contract.Do(ctx, in); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := hand.do(ctx, in, charge); err != nil {
			b.Fatal(err)
		}
		withIdem += middle.Sub(start)
		byHand += time.Since(middle)
	}
	b.ReportMetric(float64(withIdem.Microseconds())/float64(n), "idem-µs/op")
	b.ReportMetric(float64(byHand.Microseconds())/float64(n), "hand-µs/op")
	b.ReportMetric(float64(withIdem)/float64(byHand), "idem/hand")
}

// BenchmarkDuplicate answers a duplicate of done work.
func BenchmarkDuplicate(b *testing.B) {
	contract := openIdem(b, migrated(b))
	in := order{ID: "1", Amount: 4200}
	if _, err := contract.Do(b.Context(), in); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := contract.Do(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
