package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func TestHeartbeatKeepsALongHandlersWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Long enough for a busy machine to write a heartbeat in the third of it.
	const lease = 2 * time.Second
	started := make(chan struct{})
	var runs atomic.Int64
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if runs.Add(1) == 1 {
			close(started)
		}
		select {
		case <-time.After(2 * lease):
			return receipt{Ref: "r"}, nil
		case <-ctx.Done():
			return receipt{}, context.Cause(ctx)
		}
	})
	s.Lease = lease
	s.Response.WhileRunning, s.Response.Wait = idem.RunningError, 0
	other := idem.Define(w.open(), s)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"}); err != nil {
			t.Error(err)
		}
	})
	<-started
	for range 9 {
		time.Sleep(lease / 5)
		_, err := other.Do(t.Context(), order{ID: "1"})
		wantIs(t, err, idem.ErrRunning)
	}
	wg.Wait()
	if runs.Load() != 1 {
		t.Errorf("%d runs of live work", runs.Load())
	}
}

func TestShortLeaseIsRenewedBesideALongOneThatWasThereBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held, release := make(chan struct{}), make(chan struct{})
	long := spec(func(context.Context, *idem.Run, order) (receipt, error) {
		close(held)
		<-release
		return receipt{}, nil
	})
	long.Kind, long.Lease, long.Timeout = "long", time.Hour, 2*time.Hour
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := idem.Define(w.ledger, long).Do(t.Context(), order{ID: "long"}); err != nil {
			t.Error(err)
		}
	})
	<-held
	const lease = 2 * time.Second
	short := spec(func(ctx context.Context, _ *idem.Run, _ order) (receipt, error) {
		select {
		case <-time.After(lease + lease/2):
			return receipt{}, nil
		case <-ctx.Done():
			return receipt{}, context.Cause(ctx)
		}
	})
	short.Lease = lease
	if _, err := idem.Define(w.ledger, short).Do(t.Context(), order{ID: "short"}); err != nil {
		t.Errorf("the short lease: %v", err)
	}
	close(release)
	all.Wait()
}

func TestHungHandlerIsNotRenewedPastItsTimeout(t *testing.T) {
	w := newWorld(t)
	hung := make(chan struct{})
	var runs atomic.Int64
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if runs.Add(1) == 1 {
			<-hung // deaf to its context
		}
		return receipt{Ref: "second"}, nil
	})
	s.Lease, s.Timeout = 200*time.Millisecond, 100*time.Millisecond
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
		wantIs(t, err, idem.ErrLeaseLost)
		if idem.ShouldAck(err) {
			t.Error("who lost the lease does not know the outcome")
		}
	})
	other := idem.Define(w.open(), s)
	deadline := time.Now().Add(5 * time.Second)
	for {
		time.Sleep(20 * time.Millisecond)
		if runs.Load() == 0 {
			continue
		}
		res, err := other.Do(t.Context(), order{ID: "1"})
		if err == nil {
			if res.Attempt != 2 || res.Value.Ref != "second" {
				t.Errorf("got %+v", res)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the hung work was never taken over: %v", err)
		}
	}
	close(hung)
	wg.Wait()
}

func TestContextOfAHandlerEndsWithTheTimeout(t *testing.T) {
	w := newWorld(t)
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		return receipt{}, ctx.Err()
	})
	s.Timeout = 50 * time.Millisecond
	_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrRetryLater)
}

// TestLosersContextIsCancelledAndItsWritesHitNothing stops renewals, as a network
// partition would, lets another process take over, and looks at the loser.
func TestLosersContextIsCancelledAndItsWritesHitNothing(t *testing.T) {
	w := newWorld(t)
	cut := unharmed()
	loser := idem.Define(w.crashing(cut), func() idem.Spec[order, receipt] {
		s := spec(nil)
		s.Lease = 200 * time.Millisecond
		g := idem.IdempotencyKey(w.effect("charge"), time.Hour)
		s.Handle = func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
			cut.Stop()
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), idem.ErrLeaseLost) {
				t.Errorf("the cause is %v", context.Cause(ctx))
			}
			_, err := g.Do(context.WithoutCancel(ctx), run, in)
			return receipt{}, err
		}
		return s
	}())
	started := time.Now()
	_, err := loser.Do(t.Context(), order{ID: "1"})
	if err == nil || idem.ShouldAck(err) {
		t.Errorf("the loser got %v", err)
	}
	if d := time.Since(started); d > 2*time.Second {
		t.Errorf("the loser went on for %s", d)
	}
	w.wantCalls(0)
}

func TestEffectsContextEndsWithTheHandlersLease(t *testing.T) {
	w := newWorld(t)
	e := w.effect("charge")
	e.Call = func(ctx context.Context, call idem.Call, in order) (receipt, error) {
		<-ctx.Done()
		return receipt{}, ctx.Err()
	}
	g := idem.IdempotencyKey(e, time.Hour)
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		return g.Do(context.Background(), run, in) // not the handler's context
	})
	s.Timeout = 50 * time.Millisecond
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the effect outlived its handler's timeout")
	}
}

func TestAbandonedWorkUsesUpItsBudgetAndDies(t *testing.T) {
	w := newWorld(t)
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) { return receipt{}, nil })
	s.Retry.MaxAttempts = 2
	for range 2 {
		dead := cutOff(4) // dies once the claim is made, before which it registers
		_, err := idem.Define(w.crashing(dead), s).Do(t.Context(), order{ID: "1"})
		if !isDead(dead) {
			t.Fatalf("did not crash: %v", err)
		}
		w.clock.advance(2 * time.Minute)
	}
	_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
}

// deaf is a store whose heartbeats all fail, so that only what is renewed inside
// a transaction is renewed at all.
type deaf struct{ idem.Store[*sql.Tx] }

func (deaf) Renew(context.Context, []idem.Lease) ([]idem.Renewal, error) { return nil, errBoom }

func TestLongTransactionRenewsTheProcesssOtherLeases(t *testing.T) {
	w := newWorld(t)
	ledger := idem.NewLedger[*sql.Tx](deaf{w.store}, idem.WithLogger(slog.New(slog.DiscardHandler)))
	const lease = 1500 * time.Millisecond
	long := idem.Transaction(ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
		time.Sleep(lease / 5)
		return receipt{}, ctx.Err()
	})
	var wg sync.WaitGroup
	running, release := make(chan struct{}), make(chan struct{})
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		close(running)
		select {
		case <-release:
		case <-ctx.Done():
			t.Errorf("a live handler lost its lease: %v", context.Cause(ctx))
		}
		return receipt{}, nil
	})
	s.Lease = lease
	wg.Go(func() {
		if _, err := idem.Define(ledger, s).Do(t.Context(), order{ID: "short"}); err != nil {
			t.Error(err)
		}
	})
	<-running
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		if _, err := idem.Define(ledger, spec(one(long))).Do(t.Context(), order{ID: id}); err != nil {
			t.Error(err)
		}
	}
	close(release)
	wg.Wait()
}

func TestBackoffGrowsIsClampedAndNeverOverflows(t *testing.T) {
	r := idem.Retry{Initial: time.Second, Max: 5 * time.Minute, Multiplier: 2}
	for attempt, longest := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 10: 5 * time.Minute, 100000: 5 * time.Minute} {
		if d := idem.DelayForTest(r, attempt, 0.999999); d > longest || d < longest*99/100 {
			t.Errorf("after %d attempts at most %s, want %s", attempt, d, longest)
		}
		if d := idem.DelayForTest(r, attempt, 0); d != 0 {
			t.Errorf("after %d attempts at least %s, want 0: jitter is full", attempt, d)
		}
	}
}
