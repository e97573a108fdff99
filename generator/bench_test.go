package generator_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/idemgen/idem/generator"
)

// BenchmarkRun generates for one contract of a module that is built already.
// golist is the share of the time that the go command takes.
func BenchmarkRun(b *testing.B) {
	dir := newModule(b)
	writeFile(b, filepath.Join(dir, "shop", "shop.idem.yaml"), `contracts:
  order_paid:
    version: 1
    statement: S.
    handler: Pay
    identity: {key: ID}
    window: forever
    response: {when_done: error, while_running: error, other_payload: error}
    effects:
      send: {guard: once}
`)
	writeFile(b, filepath.Join(dir, "shop", "shop.go"), `package shop

import (
	"context"
	"net/http"

	idem "github.com/idemgen/idem/runtime"
)

type In struct {
	ID     string
	Header http.Header
}

type Effects interface {
	Send(context.Context, In) (string, error)
}

func Pay(context.Context, Effects, In) (string, error) { return "", nil }

func send(context.Context, idem.Call, In) (string, error) { return "", nil }
`)
	options := generator.Options{Dir: dir}
	if r, err := generator.Run(b.Context(), options); err != nil || r.Diagnostics.HasErrors() {
		b.Fatal(err, r.Diagnostics.Text())
	}
	var total, goList time.Duration
	b.ReportAllocs()
	for b.Loop() {
		r, err := generator.Run(b.Context(), options)
		if err != nil {
			b.Fatal(err)
		}
		total += r.Stats.Total
		goList += r.Stats.GoList
	}
	b.ReportMetric(float64(goList)/float64(total), "golist")
}
