package canon_test

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idem/runtime/canon"
)

// order is what the benchmarks derive a key from, as generated code would.
type order struct {
	Tenant, Order, Event, Region string
	Line                         int64
	At                           time.Time
}

var benchOrder = order{
	Tenant: "acme-industries", Order: "450789469", Event: "orders/paid", Region: "eu-central-1",
	Line: 1001, At: time.Date(2026, 1, 2, 3, 4, 5, 120_000_000, time.UTC),
}

//go:noinline
func deriveFive(in *order) ([32]byte, error) {
	var buf [512]byte
	dst := append(buf[:0], "invoice:v1:["...)
	dst, err := canon.AppendString(dst, in.Tenant)
	if err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	if dst, err = canon.AppendString(dst, in.Order); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	if dst, err = canon.AppendString(dst, in.Event); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	if dst, err = canon.AppendString(dst, in.Region); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	dst = canon.AppendInt(dst, in.Line)
	dst = append(dst, ']')
	return sha256.Sum256(dst), nil
}

//go:noinline
func deriveFiveAndTime(in *order) ([32]byte, error) {
	var buf [512]byte
	dst := append(buf[:0], "invoice:v1:["...)
	dst, err := canon.AppendString(dst, in.Tenant)
	if err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	if dst, err = canon.AppendString(dst, in.Order); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	if dst, err = canon.AppendString(dst, in.Event); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	if dst, err = canon.AppendString(dst, in.Region); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ',')
	dst = canon.AppendInt(dst, in.Line)
	dst = append(dst, ',')
	if dst, err = canon.AppendTime(dst, in.At, time.Millisecond); err != nil {
		return [32]byte{}, err
	}
	dst = append(dst, ']')
	return sha256.Sum256(dst), nil
}

const (
	fivePreimage        = `invoice:v1:["acme-industries","450789469","orders/paid","eu-central-1",1001]`
	fiveAndTimePreimage = `invoice:v1:["acme-industries","450789469","orders/paid","eu-central-1",1001,"2026-01-02T03:04:05.12Z"]`
)

func BenchmarkDerive(b *testing.B) {
	for _, c := range []struct {
		name     string
		derive   func(*order) ([32]byte, error)
		preimage string
	}{
		{"five fields", deriveFive, fivePreimage},
		{"five fields and a time", deriveFiveAndTime, fiveAndTimePreimage},
	} {
		preimage := []byte(c.preimage)
		if got, err := c.derive(&benchOrder); err != nil || got != sha256.Sum256(preimage) {
			b.Fatalf("%s: derived something else than the preimage (%v)", c.name, err)
		}
		b.Run(c.name, func(b *testing.B) { compareWithHash(b, c.derive, preimage) })
	}
}

// compareWithHash times derivations and bare hashes in turns, so that both see
// the same machine, and reports the median of the ratios.
func compareWithHash(b *testing.B, derive func(*order) ([32]byte, error), preimage []byte) {
	const batch = 200
	var ratios []float64
	for b.Loop() {
		start := time.Now()
		for range batch {
			if _, err := derive(&benchOrder); err != nil {
				b.Fatal(err)
			}
		}
		derived := time.Since(start)
		start = time.Now()
		for range batch {
			sink = sha256.Sum256(preimage)
		}
		ratios = append(ratios, float64(derived)/float64(time.Since(start)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-sha256")
	b.ReportMetric(0, "ns/op")
}

var sink [32]byte

func BenchmarkAppend(b *testing.B) {
	dst := make([]byte, 0, 512)
	b.Run("string", func(b *testing.B) {
		for b.Loop() {
			_, _ = canon.AppendString(dst, benchOrder.Order)
		}
	})
	b.Run("int", func(b *testing.B) {
		for b.Loop() {
			_ = canon.AppendInt(dst, benchOrder.Line)
		}
	})
	b.Run("time", func(b *testing.B) {
		for b.Loop() {
			_, _ = canon.AppendTime(dst, benchOrder.At, time.Millisecond)
		}
	})
	b.Run("float64", func(b *testing.B) {
		for b.Loop() {
			_, _ = canon.AppendFloat64(dst, 1234.56)
		}
	})
}
