package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// revisions is a contract whose orders are revisions of one thing: the amount says
// which.
func revisions(handle func(ctx context.Context, run *idem.Run, in order) (receipt, error)) idem.Spec[order, receipt] {
	s := spec(handle)
	s.Latest = func(in order) (idem.Mark, error) {
		if in.Amount < 0 {
			return idem.Mark{}, idem.IdentityError("order", "Amount", errors.New("no revision"))
		}
		return idem.NewMark([]byte("order:latest:thing"), in.Amount), nil
	}
	return s
}

func mustDo(t *testing.T, c idem.Contract[order, receipt], in order) idem.Result[receipt] {
	t.Helper()
	res, err := c.Do(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func wantSuperseded(t *testing.T, err error, by idem.WorkID) *idem.Error {
	t.Helper()
	e := wantIs(t, err, idem.ErrSuperseded)
	if newer, ok := errors.AsType[idem.NewerWork](err); !ok || newer.ID != by {
		t.Errorf("superseded by %v, want %s", newer.ID, by)
	}
	if e.State != idem.StateDone || !idem.ShouldAck(err) || !e.RetryAt.IsZero() {
		t.Errorf("%v: state %s, acknowledge %t, again at %s; want it done and acknowledged", err, e.State, idem.ShouldAck(err), e.RetryAt)
	}
	return e
}

func TestOlderWorkIsSupersededAndStaysSo(t *testing.T) {
	for name, oneTx := range map[string]bool{"many transactions": false, "one transaction": true} {
		for answer, whenDone := range map[string]idem.WhenDone{"return_original": idem.DoneReturnOriginal, "error": idem.DoneError, "no_op": idem.DoneNoOp} {
			t.Run(name+", when_done "+answer, func(t *testing.T) {
				w := newWorld(t)
				define := func(l *idem.Ledger[*sql.Tx]) idem.Contract[order, receipt] {
					s := revisions(func(context.Context, *idem.Run, order) (receipt, error) {
						w.calls.Add(1)
						return receipt{Ref: "done"}, nil
					})
					s.OneTransaction, s.Response.WhenDone = oneTx, whenDone
					return idem.Define(l, s)
				}
				c := define(w.ledger)
				newer := mustDo(t, c, order{ID: "b", Amount: 7})
				for range 2 {
					_, err := c.Do(t.Context(), order{ID: "a", Amount: 6})
					wantSuperseded(t, err, newer.ID)
				}
				_, err := define(w.open()).Do(t.Context(), order{ID: "a", Amount: 6}) // another process
				wantSuperseded(t, err, newer.ID)
				w.wantCalls(1)
				mustDo(t, c, order{ID: "same", Amount: 7})
				mustDo(t, c, order{ID: "c", Amount: 8})
				w.wantCalls(3)
			})
		}
	}
}

func TestRetryThatWasOvertakenKeepsItsEffectsAndMakesNoMore(t *testing.T) {
	w := newWorld(t)
	first, second := idem.IdempotencyKey(w.effect("first"), time.Hour), idem.IdempotencyKey(w.failing("second", idem.NotApplied(errBoom)), time.Hour)
	c := idem.Define(w.ledger, revisions(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := first.Do(ctx, run, in)
		if err != nil || in.ID == "newer" {
			return out, err
		}
		return second.Do(ctx, run, in)
	}))
	_, err := c.Do(t.Context(), order{ID: "older", Amount: 6})
	wantIs(t, err, errBoom)
	newer := mustDo(t, c, order{ID: "newer", Amount: 7})
	w.due(err)
	_, err = c.Do(t.Context(), order{ID: "older", Amount: 6})
	wantSuperseded(t, err, newer.ID)
	w.wantCalls(3)
	id, err := c.ID(order{ID: "older"})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.query(`SELECT group_concat(effect || ' ' || state) FROM effect_log WHERE work_id = '` + id.String() + `'`); got != "first done,second not_applied" {
		t.Errorf("effects in the ledger: %s", got)
	}
	if got := w.query(`SELECT group_concat(outcome) FROM (SELECT outcome FROM attempt_log WHERE work_id = '` + id.String() + `' ORDER BY attempt)`); got != "failed,superseded" {
		t.Errorf("attempts in the ledger: %s", got)
	}
}

// query reads one text of the ledger.
func (w *world) query(q string) (text string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	if err := db.QueryRowContext(w.t.Context(), q).Scan(&text); err != nil {
		w.t.Fatal(err)
	}
	return text
}

// Two revisions run at the same moment. What the older one has begun goes on, and
// what it would begin after the newer one is done does not.
func TestOlderWorkThatIsOvertakenWhileItRunsStartsNoMoreEffects(t *testing.T) {
	for name, swallows := range map[string]bool{"the handler gives the error": false, "the handler swallows it": true} {
		for kind, guarded := range map[string]func(w *world, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
			"idempotency_key": func(_ *world, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
				return idem.IdempotencyKey(e, time.Hour)
			},
			"transaction": func(w *world, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
				call := e.Call
				e.Call = nil
				return idem.Transaction(w.ledger, e, func(ctx context.Context, c idem.TxCall[*sql.Tx], in order) (receipt, error) {
					return call(ctx, c, in)
				})
			},
		} {
			t.Run(name+", guard "+kind, func(t *testing.T) {
				w := newWorld(t)
				first, second := idem.Once(w.effect("first"), idem.Ask), guarded(w, w.effect("second"))
				running, overtaken := make(chan struct{}), make(chan struct{})
				c := idem.Define(w.ledger, revisions(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
					out, err := first.Do(ctx, run, in)
					if err != nil || in.ID == "newer" {
						return out, err
					}
					close(running)
					<-overtaken
					out, err = second.Do(ctx, run, in)
					if !errors.Is(err, idem.ErrSuperseded) {
						t.Errorf("the effect gives %v, want ErrSuperseded", err)
					}
					if swallows {
						err = nil
					}
					return out, err
				}))
				result := make(chan error)
				go func() {
					_, err := c.Do(t.Context(), order{ID: "older", Amount: 6})
					result <- err
				}()
				<-running
				newer := mustDo(t, c, order{ID: "newer", Amount: 7})
				close(overtaken)
				wantSuperseded(t, <-result, newer.ID)
				w.wantCalls(2)
				_, err := c.Do(t.Context(), order{ID: "older", Amount: 6})
				wantSuperseded(t, err, newer.ID)
			})
		}
	}
}

func TestOlderWorkThatNobodyOvertookBeforeItsLastEffectIsDone(t *testing.T) {
	w := newWorld(t)
	effect := idem.Once(w.effect("first"), idem.Ask)
	running, overtaken := make(chan struct{}), make(chan struct{})
	c := idem.Define(w.ledger, revisions(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := effect.Do(ctx, run, in)
		if in.ID == "older" {
			close(running)
			<-overtaken
		}
		return out, err
	}))
	result := make(chan error)
	go func() {
		_, err := c.Do(t.Context(), order{ID: "older", Amount: 6})
		result <- err
	}()
	<-running
	newer := mustDo(t, c, order{ID: "newer", Amount: 7})
	close(overtaken)
	if err := <-result; err != nil {
		t.Error(err)
	}
	_, err := c.Do(t.Context(), order{ID: "oldest", Amount: 5})
	wantSuperseded(t, err, newer.ID) // by the highest, not by the last
}

func TestWhatMayHaveHappenedIsAskedAboutEvenIfItIsSuperseded(t *testing.T) {
	w := newWorld(t)
	running, overtaken := make(chan struct{}), make(chan struct{})
	first := w.effect("first")
	first.Call = func(_ context.Context, _ idem.Call, in order) (receipt, error) {
		if in.ID == "older" {
			close(running)
			<-overtaken
			return receipt{}, errBoom // after the call was sent, as far as anybody knows
		}
		return receipt{}, nil
	}
	g := idem.Once(first, idem.Ask)
	c := idem.Define(w.ledger, revisions(one(g)))
	result := make(chan error)
	go func() {
		_, err := c.Do(t.Context(), order{ID: "older", Amount: 6})
		result <- err
	}()
	<-running
	mustDo(t, c, order{ID: "newer", Amount: 7})
	close(overtaken)
	wantIs(t, <-result, idem.ErrOutcomeUnknown)
	_, err := c.Do(t.Context(), order{ID: "older", Amount: 6})
	wantIs(t, err, idem.ErrOutcomeUnknown)
}

// The process of the older work died in the middle of its call. Whether that
// happened is for its guard to find out, or for a person, where it is not declared
// that nobody has to know.
func TestWhatADeadProcessMayHaveDoneIsNotHiddenByNewerWork(t *testing.T) {
	for name, c := range map[string]struct {
		guard      func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]
		superseded bool
	}{
		"once, asking": {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.Ask) }, false},
		"idempotency_key": {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, time.Hour)
		}, false},
		"find_first, not found": {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.FindFirst(e, notFound, time.Second)
		}, false},
		"upsert":     {idem.Upsert[order, receipt], true},
		"repeatable": {idem.Repeatable[order, receipt], true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			contract := idem.Define(w.ledger, revisions(one(c.guard(w.effect("put")))))
			older := mustDo(t, contract, order{ID: "older", Amount: 6})
			w.exec(`UPDATE work_log SET state = 'running', attempt_ended_at = NULL, outcome = NULL, claim_token = randomblob(16), locked_until = 1, done_at = NULL, expires_at = NULL, result = NULL, result_codec = ''`)
			w.exec(`UPDATE effect_log SET state = 'started', done_at = NULL, result = NULL, result_codec = ''`)
			w.exec(`DELETE FROM latest_log`)
			newer := mustDo(t, contract, order{ID: "newer", Amount: 7})
			_, err := contract.Do(t.Context(), order{ID: "older", Amount: 6})
			if c.superseded {
				wantSuperseded(t, err, newer.ID)
			} else if e := wantIs(t, err, idem.ErrOutcomeUnknown); e.State != idem.StateUnknown || e.ID != older.ID {
				t.Errorf("got %v in state %s", err, e.State)
			}
			w.wantCalls(2)
		})
	}
}

func TestWorkWithoutAPlaceInItsOrderIsRefused(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, revisions(one(idem.Once(w.effect("first"), idem.Ask))))
	_, err := c.Do(t.Context(), order{ID: "1", Amount: -1})
	wantIs(t, err, idem.ErrIdentity)
	w.wantCalls(0)
}

func TestRunningWorkTellsWhenItsLeaseEnds(t *testing.T) {
	w := newWorld(t)
	running, finish := make(chan struct{}), make(chan struct{})
	define := func(l *idem.Ledger[*sql.Tx]) idem.Contract[order, receipt] {
		s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
			close(running)
			<-finish
			return receipt{}, nil
		})
		s.Response.WhileRunning, s.Response.Wait = idem.RunningError, 0
		return idem.Define(l, s)
	}
	c, other := define(w.ledger), define(w.open())
	result := make(chan error)
	start := w.clock.now()
	go func() {
		_, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
		result <- err
	}()
	<-running
	for where, c := range map[string]idem.Contract[order, receipt]{"here": c, "in another process": other} {
		for _, in := range []order{{ID: "1", Amount: 5}, {ID: "1", Amount: 6}} { // the second has another payload
			_, err := c.Do(t.Context(), in)
			reason := idem.ErrRunning
			if in.Amount == 6 {
				reason = idem.ErrPayloadMismatch
			}
			e := wantIs(t, err, reason)
			if d := e.RetryAt.Sub(start); d < 50*time.Second || d > 2*time.Minute || e.Attempt != 1 {
				t.Errorf("%s: %v: attempt %d, its lease ends after %s, want the lease of a minute", where, err, e.Attempt, d)
			}
		}
	}
	close(finish)
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestWorkIsRememberedUntilAnotherKindHasSucceeded(t *testing.T) {
	w := newWorld(t)
	item := spec(one(idem.Once(w.effect("import"), idem.Ask)))
	item.Window = idem.UntilSuccessOf("nightly", time.Hour)
	imports := idem.Define(w.ledger, item)
	nightly := spec(func(_ context.Context, _ *idem.Run, in order) (receipt, error) {
		if in.Amount < 0 {
			return receipt{}, idem.Permanent(errBoom)
		}
		return receipt{}, nil
	})
	nightly.Kind = "nightly"
	nightly.ID = func(in order) (idem.WorkID, error) { return idem.HashWorkID([]byte("nightly:v1:" + in.ID)), nil }
	runs := idem.Define(w.ledger, nightly)

	mustDo(t, imports, order{ID: "1", Amount: 5})
	w.clock.advance(100 * time.Hour)
	_, err := runs.Do(t.Context(), order{ID: "monday", Amount: -1})
	wantIs(t, err, idem.ErrDead)
	if res := mustDo(t, imports, order{ID: "1", Amount: 5}); !res.Replayed {
		t.Error("the work was forgotten although no run has succeeded")
	}
	mustDo(t, runs, order{ID: "tuesday", Amount: 1})
	if res := mustDo(t, imports, order{ID: "1", Amount: 5}); res.Replayed {
		t.Error("the work is remembered although a run has succeeded")
	}
	w.wantCalls(2)
}
