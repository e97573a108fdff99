package idem_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
)

// batch is a kind of work with many lines, and the provider that takes them: what
// it has applied is known by key, as an upsert's is.
type batch struct {
	lines   int
	applied map[int64]int
	keys    map[string]bool
	// fails is what the next calls for a line answer, before they apply anything.
	fails map[int64][]error
	// after is called when a line has been applied and before anybody knows.
	after func(line int64) error
}

func (b *batch) submit(_ context.Context, call idem.Call, in order) (receipt, error) {
	if left := b.fails[in.Amount]; len(left) > 0 {
		b.fails[in.Amount] = left[1:]
		return receipt{}, left[0]
	}
	if !b.keys[call.Key()] {
		b.keys[call.Key()] = true
		b.applied[in.Amount]++
	}
	return receipt{Ref: fmt.Sprint(in.Amount)}, b.after(in.Amount)
}

// define makes the contract: a line that is refused is left out, any other error
// fails the attempt once all lines have had their turn.
func (b *batch) define(w *world, l *idem.Ledger[*sql.Tx], maxCalls int) idem.Contract[order, receipt] {
	e := w.effect("submit_line")
	e.Per = func(dst []byte, in order) ([]byte, error) { return canon.AppendInt(dst, in.Amount), nil }
	e.MaxCalls, e.Call = maxCalls, b.submit
	line := idem.Upsert(e)
	return idem.Define(l, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		var failed []error
		refused := ""
		for n := range b.lines {
			_, err := line.Do(ctx, run, order{ID: in.ID, Amount: int64(n)})
			switch {
			case errors.Is(err, idem.ErrEffectRefused):
				refused += fmt.Sprint(" ", n)
			case err != nil:
				failed = append(failed, err)
			}
		}
		return receipt{Ref: "without" + refused}, errors.Join(failed...)
	}))
}

func TestOneBadLineOfABatchIsRefusedAndTheOthersGoOnThoughTheProcessIsKilled(t *testing.T) {
	const lines, bad, flaky, fatal, killed = 100, 13, 40, 41, 60
	w := newWorld(t)
	crash := unharmed()
	b := &batch{lines: lines, applied: map[int64]int{}, keys: map[string]bool{}, fails: map[int64][]error{
		bad:   {errRefused, errRefused, errRefused, errRefused, errRefused},
		flaky: {errRefused, status(429)},
		fatal: {status(422)},
	}}
	b.after = func(line int64) error {
		if line != killed || isDead(crash) {
			return nil
		}
		crash.Stop() // applied, and the process is gone before it can say so
		return errCrash
	}
	in := order{ID: "1"}
	if _, err := b.define(w, w.crashing(crash), 3).Do(t.Context(), in); err == nil {
		t.Fatal("a killed process completed the batch")
	}
	w.clock.advance(time.Minute) // over the lease
	c := b.define(w, w.ledger, 3)
	_, err := c.Do(t.Context(), in)
	w.due(err)
	result, err := c.Do(t.Context(), in)
	if err != nil || result.Value.Ref != "without 13 41" || result.Attempt != 3 {
		t.Fatalf("%+v, %v", result, err)
	}
	for line := range int64(lines) {
		// The last line before the kill was called twice and, being an upsert,
		// applied once.
		calls := map[int64]int{bad: 3, flaky: 3, killed: 2}[line]
		applied, state := 1, "done"
		if line == bad || line == fatal {
			applied, state = 0, "refused"
		}
		sum := sha256.Sum256(canon.AppendInt(nil, line))
		per := hex.EncodeToString(sum[:])
		if n := w.rows(`select coalesce(max(calls), 0) from effect_log where per_hash = ? and state = ?`, per, state); n != max(calls, 1) {
			t.Errorf("line %d is %s after %d calls, want %d", line, state, n, max(calls, 1))
		}
		if b.applied[line] != applied {
			t.Errorf("line %d was applied %d times, want %d", line, b.applied[line], applied)
		}
	}
}

func TestWithoutABudgetOneBadLineBuriesItsBatch(t *testing.T) {
	w := newWorld(t)
	b := &batch{lines: 3, applied: map[int64]int{}, keys: map[string]bool{}, fails: map[int64][]error{
		1: {errRefused, errRefused, errRefused, errRefused, errRefused, errRefused},
	}, after: func(int64) error { return nil }}
	c := b.define(w, w.ledger, 0)
	for range 4 {
		_, err := c.Do(t.Context(), order{ID: "1"})
		w.due(err)
	}
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
}

// TestWhatSpendsTheCallsOfAnEffect gives an effect that may have two calls one
// error after the other, until the work ends.
func TestWhatSpendsTheCallsOfAnEffect(t *testing.T) {
	type guard func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]
	var key guard = func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
		return idem.IdempotencyKey(e, 24*time.Hour)
	}
	once := func(answer idem.IfUnknown) guard {
		return func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, answer) }
	}
	var absent guard = func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
		return idem.FindFirst(e, notFound, time.Second)
	}
	tests := map[string]struct {
		guard guard
		errs  []error
		end   error // nil: done
		calls int64
	}{
		"nothing was done twice: refused":                      {key, []error{errRefused, errRefused}, idem.ErrEffectRefused, 2},
		"once, nothing was done twice: refused":                {once(idem.Ask), []error{errRefused, status(429)}, idem.ErrEffectRefused, 2},
		"repeatable, nothing was done twice: refused":          {idem.Repeatable[order, receipt], []error{errRefused, errRefused}, idem.ErrEffectRefused, 2},
		"the last call succeeds: done":                         {key, []error{errRefused, nil}, nil, 2},
		"refused before the budget is empty":                   {key, []error{status(422)}, idem.ErrEffectRefused, 1},
		"nobody knows, and it may be sent again: called again": {key, []error{errReset, errReset, errReset, nil}, nil, 4},
		"it may have been done before: called again":           {key, []error{errReset, errRefused, errRefused, nil}, nil, 4},
		"found absent: the call before it counts":              {absent, []error{errReset, errRefused}, idem.ErrEffectRefused, 2},
		"once, nobody knows: a person decides":                 {once(idem.Ask), []error{errRefused, errReset}, idem.ErrOutcomeUnknown, 2},
		"once, nobody knows: given up":                         {once(idem.GiveUp), []error{errRefused, errReset}, idem.ErrGivenUp, 2},
		"once, repeated: called again":                         {once(idem.Repeat), []error{errReset, errRefused, nil}, nil, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := w.failing("charge", test.errs...)
			e.MaxCalls = 2
			c := idem.Define(w.ledger, spec(one(test.guard(e))))
			_, err := c.Do(t.Context(), order{ID: "1"})
			for errors.Is(err, idem.ErrRetryLater) {
				w.due(err)
				_, err = c.Do(t.Context(), order{ID: "1"})
			}
			if test.end == nil && err != nil || test.end != nil && !errors.Is(err, test.end) {
				t.Errorf("ended with %v, want %v", err, test.end)
			}
			w.wantCalls(test.calls)
			if n := w.rows(`select calls from effect_log`); int64(n) != test.calls {
				t.Errorf("the row says %d calls, want %d", n, test.calls)
			}
		})
	}
}

func TestACallThatWeCutOffOurselvesIsNotTheLast(t *testing.T) {
	w := newWorld(t)
	e := w.effect("charge")
	ctx, cancel := context.WithCancel(t.Context())
	answer := e.Call
	e.MaxCalls = 1
	first := true
	e.Call = func(ctx context.Context, call idem.Call, in order) (receipt, error) {
		if first {
			first = false
			cancel()
			return receipt{}, idem.NotApplied(ctx.Err())
		}
		return answer(ctx, call, in)
	}
	c := idem.Define(w.ledger, spec(one(idem.Upsert(e))))
	_, err := c.Do(ctx, order{ID: "1"})
	w.due(err)
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if n := w.rows(`select calls from effect_log`); n != 1 {
		t.Errorf("the row says %d calls, want 1: the one that was not cut off", n)
	}
}

// The cause of a spent budget may pass later; that the effect is refused does not.
func TestASpentBudgetIsPermanentThoughItsCauseIsTransient(t *testing.T) {
	w := newWorld(t)
	e := w.failing("charge", errAddress)
	e.MaxCalls = 1
	g := idem.Upsert(e)
	var seen []error
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, err := g.Do(ctx, run, in)
		seen = append(seen, err)
		if len(seen) == 1 {
			return receipt{}, errBoom
		}
		return receipt{}, fmt.Errorf("line 1: %w", err)
	})
	s.Retry.Transient = []idem.ErrorMatch{idem.MatchValue("errAddress", errAddress)}
	c := idem.Define(w.ledger, s)
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	for i, err := range seen {
		if !errors.Is(err, idem.ErrEffectRefused) || !errors.Is(err, errAddress) {
			t.Errorf("attempt %d saw %v, want a refusal that still is errAddress", i+1, err)
		}
	}
	w.wantCalls(1)
}

func TestABudgetThatNobodyCountsIsNoContract(t *testing.T) {
	w := newWorld(t)
	e := w.effect("price")
	for maxCalls, guard := range map[int]func(idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
		1: idem.Read[order, receipt], -1: idem.Upsert[order, receipt],
	} {
		e.MaxCalls = maxCalls
		_, err := idem.Define(w.ledger, spec(one(guard(e)))).Do(t.Context(), order{ID: fmt.Sprint(maxCalls)})
		if !errors.Is(err, idem.ErrContract) {
			t.Errorf("%d calls: %v, want ErrContract", maxCalls, err)
		}
	}
	w.wantCalls(0)
}
