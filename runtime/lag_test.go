package idem_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// power is a ledger's, which is lost right after the result of an effect, and with
// it what had not to be on the disk yet.
type power struct {
	idem.Store[*sql.Tx]
	lost atomic.Bool
}

func (p *power) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	if p.lost.Load() {
		return idem.EffectWritten{}, idem.ErrLeaseLost
	}
	if e.State != idem.EffectDone {
		return p.Store.WriteEffect(ctx, e)
	}
	p.lost.Store(true)
	if e.MayLag {
		return idem.EffectWritten{StartedAt: time.Now()}, nil
	}
	return p.Store.WriteEffect(ctx, e)
}

func (p *power) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	if p.lost.Load() {
		return idem.Ended{}, idem.ErrLeaseLost
	}
	return p.Store.End(ctx, e)
}

func (p *power) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	if p.lost.Load() {
		return slices.Repeat([]idem.Renewal{idem.LeaseLost}, len(leases)), nil
	}
	return p.Store.Renew(ctx, leases)
}

func TestALossOfPowerBehindAnEffectBreaksNoGuard(t *testing.T) {
	type keys = []string
	for name, test := range map[string]struct {
		guard func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]
		calls int // all with one key
	}{
		"idempotency_key": {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, 24*time.Hour)
		}, 2},
		"upsert": {idem.Upsert[order, receipt], 2},
		"find_first": {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			found := func(context.Context, idem.Call, order) (receipt, bool, error) { return receipt{Ref: "ref"}, true, nil }
			return idem.FindFirst(e, found, time.Millisecond)
		}, 1},
		"once":       {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.Ask) }, 1},
		"repeatable": {idem.Repeatable[order, receipt], 1},
		"read":       {idem.Read[order, receipt], 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var made keys
			e := w.effect("charge")
			e.Call = func(_ context.Context, call idem.Call, _ order) (receipt, error) {
				made = append(made, call.Key())
				return receipt{Ref: "ref"}, nil
			}
			do := func(store idem.Store[*sql.Tx]) (idem.Result[receipt], error) {
				return idem.Define(idem.NewLedger(store), spec(one(test.guard(e)))).Do(t.Context(), order{ID: "1"})
			}
			if _, err := do(&power{Store: w.store}); err == nil {
				t.Fatal("work is done in a ledger without power")
			}
			w.clock.advance(2 * time.Minute) // the lease is over
			res, err := do(w.store)
			if err != nil || res.Value.Ref != "ref" {
				t.Fatalf("got %+v, %v", res, err)
			}
			if len(made) != test.calls || made[0] != made[len(made)-1] {
				t.Errorf("called with %q, want %d calls with one key", made, test.calls)
			}
		})
	}
}

// watchful notes which writes may lag.
type watchful struct {
	idem.Store[*sql.Tx]
	lag []string
}

func (l *watchful) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	l.lag = append(l.lag, fmt.Sprint("claim ", c.MayLag))
	return l.Store.Claim(ctx, c)
}

func (l *watchful) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	l.lag = append(l.lag, fmt.Sprint(e.State, " ", e.MayLag))
	return l.Store.WriteEffect(ctx, e)
}

func TestWhatNobodyComesBackForDoesNotLag(t *testing.T) {
	for name, test := range map[string]struct {
		running idem.WhileRunning
		guard   func(w *world) *idem.Guarded[order, receipt]
		want    []string
	}{
		"an effect with a key": {idem.RunningError, func(w *world) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(w.effect("charge"), time.Hour)
		}, []string{"claim true", "started false", "done true"}},
		"an effect that is never repeated": {idem.RunningError, func(w *world) *idem.Guarded[order, receipt] {
			return idem.Once(w.effect("charge"), idem.Ask)
		}, []string{"claim true", "started false", "done false"}},
		"an answer that every attempt decides by": {idem.RunningError, func(w *world) *idem.Guarded[order, receipt] {
			return idem.Read(w.effect("charge"))
		}, []string{"claim true", "done false"}},
		"an effect whose second result may be another one": {idem.RunningError, func(w *world) *idem.Guarded[order, receipt] {
			return idem.Repeatable(w.effect("charge"))
		}, []string{"claim true", "started false", "done false"}},
		"duplicates are acknowledged while the work runs": {idem.RunningNoOp, func(w *world) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(w.effect("charge"), time.Hour)
		}, []string{"claim false", "started false", "done true"}},
		"an effect that is refused": {idem.RunningError, func(w *world) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(w.failing("charge", idem.Permanent(errBoom)), time.Hour)
		}, []string{"claim true", "started false", "refused false"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := &watchful{Store: w.store}
			s := spec(one(test.guard(w)))
			s.Response.WhileRunning, s.Response.Wait = test.running, 0
			_, _ = idem.Define(idem.NewLedger[*sql.Tx](store), s).Do(t.Context(), order{ID: "1"})
			if !slices.Equal(store.lag, test.want) {
				t.Errorf("got %q, want %q", store.lag, test.want)
			}
		})
	}
}
