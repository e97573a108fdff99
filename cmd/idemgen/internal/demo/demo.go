package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The range of [Options.Orders]. With fewer, half of them is not enough to kill
// the program among several orders; more take longer than anybody watches.
const (
	MinOrders = 20
	MaxOrders = 5000
)

// Options say how to run the demo.
type Options struct {
	// Orders is how many orders are billed, from MinOrders to MaxOrders.
	Orders int
	// Keep leaves the program, its ledgers and its logs in place.
	Keep bool
	// Dir is where to look for the idem module from: a checkout, or a folder of a
	// module that requires it. Empty means the working directory.
	Dir string
	// Out is where the story is told, in at most 80 columns.
	Out io.Writer
	// Color allows escape sequences in it.
	Color bool
}

// ErrBroken is what [Run] returns if the generated handler did what its contract
// rules out: charged an order twice, say, or lost one.
var ErrBroken = errors.New("the generated handler broke its contract")

// Run runs the demo. It works in a temporary folder, which is gone when it
// returns, whether it succeeded, failed or ctx ended, unless it is to be kept;
// no process that it started is left.
func Run(ctx context.Context, o Options) (err error) {
	if o.Orders < MinOrders || o.Orders > MaxOrders {
		return fmt.Errorf("%d orders: want %d to %d", o.Orders, MinOrders, MaxOrders)
	}
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	p := &printer{out: listener{o.Out, gone}, color: o.Color}
	p.title("idemgen demo: %d orders, each webhook delivered twice, one SIGKILL half-way", o.Orders)
	source, err := findIdem(ctx, o.Dir)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "idemgen-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() {
		p.breakLine()
		if o.Keep {
			p.kept(dir)
		} else if e := os.RemoveAll(dir); e != nil {
			err = errors.Join(err, fmt.Errorf("remove the temporary folder: %w", e))
		}
	}()
	m, err := prepare(ctx, p, dir, source)
	if err != nil {
		return err
	}
	orders := makeOrders(o.Orders)
	var broken error
	for _, s := range scenes {
		err := s.play(ctx, p, m, orders)
		if err != nil && !errors.Is(err, ErrBroken) {
			return err
		}
		broken = errors.Join(broken, err)
	}
	return broken
}

// prepare writes, generates and builds the program.
func prepare(ctx context.Context, p *printer, dir, source string) (*module, error) {
	p.begin("writing", "a billing program to %s", dir)
	m, files, err := writeModule(dir, source)
	if err != nil {
		return nil, err
	}
	p.end("%d files", files)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	built, began := make(chan error, 1), time.Now()
	go func() { built <- m.prebuild(ctx) }()
	p.begin("generating", "what its contracts declare, in process")
	report, err := m.generate(ctx)
	if err != nil {
		cancel()
		<-built // so that nothing writes into the folder while it is removed
		return nil, err
	}
	p.end("%s", seconds(report.Stats.Total))
	for _, f := range report.Files {
		p.line("", "%s, from %d contracts", filepath.ToSlash(f.Path), report.Contracts)
	}
	p.begin("building", "it, with SQLite (longer the first time)")
	if err := <-built; err != nil {
		return nil, err
	}
	if err := m.build(ctx); err != nil {
		return nil, err
	}
	p.end("%s", seconds(time.Since(began)))
	return m, nil
}

// scene is one provider, before which both handlers are tried.
type scene struct {
	title       string
	honoursKeys bool
	handler     string // of the program, beside the naive one
	guard       string
}

var scenes = []scene{
	{"A provider that honours idempotency keys", true, "generated", "idempotency_key"},
	{"A provider that ignores them", false, "without_keys", "once"},
}

// play tries both handlers and tells the difference. The error is ErrBroken if
// the generated one did what it must not.
func (s scene) play(ctx context.Context, p *printer, m *module, orders []order) error {
	p.title("%s (charge: {guard: %s})", s.title, s.guard)
	before, after, err := s.tryBoth(ctx, p, m, orders)
	if err != nil {
		return err
	}
	generated := after.tally()
	p.table(before.tally(), generated, len(orders))
	p.unknowns(generated.unknown)
	return after.check(s.honoursKeys)
}

// tryBoth tries the handlers at the same time, each before a provider of its own.
func (s scene) tryBoth(ctx context.Context, p *printer, m *module, orders []order) (before, after *outcome, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var both sync.WaitGroup
	try := func(handler, name string, into **outcome) {
		t := trial{module: m, handler: handler, name: name, honoursKeys: s.honoursKeys, orders: orders, print: p}
		both.Go(func() {
			out, err := t.run(ctx)
			if err != nil {
				cancel(fmt.Errorf("the %s handler: %w", name, err))
			}
			*into = out
		})
	}
	try("naive", "naive", &before)
	try(s.handler, "generated", &after)
	both.Wait()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return before, after, nil
}
