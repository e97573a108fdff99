package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
	"github.com/idemgen/idem/runtime/sqlite"
)

// order is the input of the tests' one kind of work.
type order struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
}

type receipt struct {
	Ref string `json:"ref"`
}

func appendOrder(dst []byte, o order) ([]byte, error) {
	dst = append(dst, `{"amount":`...)
	dst = canon.AppendInt(dst, o.Amount)
	dst = append(dst, `,"id":`...)
	dst, err := canon.AppendString(dst, o.ID)
	return append(dst, '}'), err
}

func orderID(o order) (idem.WorkID, error) {
	b, err := canon.AppendText([]byte("order:v1:"), o.ID)
	if err != nil {
		return idem.WorkID{}, idem.IdentityError("order", "ID", err)
	}
	if len(b) == len("order:v1:") {
		return idem.WorkID{}, idem.IdentityError("order", "ID", canon.ErrEmpty)
	}
	return idem.HashWorkID(b), nil
}

// clock is a host clock that tests move.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// world is one ledger, its clock, and counters of what happened outside it.
type world struct {
	t      *testing.T
	path   string
	clock  *clock
	store  *sqlite.Store
	ledger *idem.Ledger[*sql.Tx]
	calls  atomic.Int64
}

func newWorld(t *testing.T, opts ...idem.Option) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "ledger.db"), clock: new(clock)}
	if err := sqlite.Migrate(t.Context(), w.path); err != nil {
		t.Fatal(err)
	}
	w.ledger = w.open(opts...)
	return w
}

// open opens the ledger once more, as another process would.
func (w *world) open(opts ...idem.Option) *idem.Ledger[*sql.Tx] {
	w.t.Helper()
	store, err := sqlite.Open(context.Background(), w.path, sqlite.WithClock(w.clock.now))
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
	ledger := idem.NewLedger(store, opts...)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := ledger.Close(ctx); err != nil {
			w.t.Errorf("close: %v", err)
		}
	})
	return ledger
}

// spec is a contract with nothing special about it.
func spec(handle func(ctx context.Context, run *idem.Run, in order) (receipt, error)) idem.Spec[order, receipt] {
	return idem.Spec[order, receipt]{
		Kind: "order", Version: 1, Module: "example.com/shop", Digest: "d1", ID: orderID,
		Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder},
		Window:  idem.For(24 * time.Hour),
		Response: idem.Response{
			WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningWait, Wait: 5 * time.Second,
			OtherPayload: idem.OtherPayloadError,
		},
		Retry:   idem.Retry{MaxAttempts: 5, Initial: time.Second, Max: time.Minute, Multiplier: 2},
		Lease:   time.Minute,
		Timeout: 30 * time.Second,
		Handle:  handle,
	}
}

// effect counts its calls and answers with a reference.
func (w *world) effect(name string) idem.Effect[order, receipt] {
	return idem.Effect[order, receipt]{
		Name: name, Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder},
		ExternalRef: func(out receipt) string { return out.Ref },
		Call: func(ctx context.Context, call idem.Call, in order) (receipt, error) {
			n := w.calls.Add(1)
			return receipt{Ref: "ref-" + strconv.FormatInt(n, 10)}, nil
		},
	}
}

// failing gives errs one after the other, nil meaning success.
func (w *world) failing(name string, errs ...error) idem.Effect[order, receipt] {
	e := w.effect(name)
	call := e.Call
	var mu sync.Mutex
	e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		out, _ := call(ctx, c, in)
		mu.Lock()
		defer mu.Unlock()
		if len(errs) == 0 {
			return out, nil
		}
		err := errs[0]
		errs = errs[1:]
		if err != nil {
			return receipt{}, err
		}
		return out, nil
	}
	return e
}

// one is a handler that makes one effect and returns its answer.
func one(g *idem.Guarded[order, receipt]) func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
	return func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		return g.Do(ctx, run, in)
	}
}

func (w *world) wantCalls(want int64) {
	w.t.Helper()
	if got := w.calls.Load(); got != want {
		w.t.Errorf("the effect was called %d times, want %d", got, want)
	}
}

func wantIs(t *testing.T, err, want error) *idem.Error {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
	var e *idem.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *idem.Error", err)
	}
	return e
}

// due moves the clock to where the failed work's next attempt is due.
func (w *world) due(err error) {
	w.t.Helper()
	e := wantIs(w.t, err, idem.ErrRetryLater)
	if d := e.RetryAt.Sub(w.clock.now()); d > 0 {
		w.clock.advance(d + time.Millisecond)
	}
}
