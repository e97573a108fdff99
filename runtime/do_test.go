package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

var errBoom = errors.New("boom")

func TestDuplicateGetsTheOriginalResult(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	first, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Do(t.Context(), order{ID: " 1 ", Amount: 5})
	if err != nil {
		t.Fatal(err)
	}
	w.wantCalls(1)
	if first.Replayed || !second.Replayed || first.Value != second.Value || first.ID != second.ID || second.ExternalRef != "ref-1" {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if _, err := c.Do(t.Context(), order{ID: "2", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(2)
}

func TestConcurrentDuplicatesRunTheHandlerOnce(t *testing.T) {
	for name, processes := range map[string]int{"one process": 1, "three processes": 3} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			effect := idem.IdempotencyKey(w.effect("charge"), time.Hour)
			contracts := []idem.Contract[order, receipt]{idem.Define(w.ledger, spec(one(effect)))}
			for range processes - 1 {
				contracts = append(contracts, idem.Define(w.open(), spec(one(effect))))
			}
			var wg sync.WaitGroup
			var fresh atomic.Int64
			for i := range 60 {
				wg.Go(func() {
					res, err := contracts[i%processes].Do(t.Context(), order{ID: "1", Amount: 5})
					if err != nil {
						t.Error(err)
					}
					if res.Value.Ref != "ref-1" {
						t.Errorf("got %+v", res)
					}
					if !res.Replayed {
						fresh.Add(1)
					}
				})
			}
			wg.Wait()
			w.wantCalls(1)
			if fresh.Load() != 1 {
				t.Errorf("%d calls say that they did the work", fresh.Load())
			}
		})
	}
}

func TestAnswersToADuplicateOfDoneWork(t *testing.T) {
	tests := map[string]struct {
		answer idem.WhenDone
		check  func(t *testing.T, res idem.Result[receipt], err error)
	}{
		"return_original": {idem.DoneReturnOriginal, func(t *testing.T, res idem.Result[receipt], err error) {
			if err != nil || res.Value.Ref != "ref-1" {
				t.Errorf("got %+v, %v", res, err)
			}
		}},
		"error": {idem.DoneError, func(t *testing.T, res idem.Result[receipt], err error) {
			wantIs(t, err, idem.ErrDone)
			if !idem.ShouldAck(err) {
				t.Error("done work must be acknowledged")
			}
		}},
		"no_op": {idem.DoneNoOp, func(t *testing.T, res idem.Result[receipt], err error) {
			if err != nil || res.Value.Ref != "" || !res.Replayed {
				t.Errorf("got %+v, %v", res, err)
			}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))
			s.Response.WhenDone = test.answer
			c := idem.Define(w.ledger, s)
			if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
				t.Fatal(err)
			}
			res, err := c.Do(t.Context(), order{ID: "1"})
			test.check(t, res, err)
			w.wantCalls(1)
		})
	}
}

func TestAnswersToADuplicateOfRunningWork(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		for name, answer := range map[string]idem.WhileRunning{"error": idem.RunningError, "no_op": idem.RunningNoOp, "wait": idem.RunningWait} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				started, release := make(chan struct{}), make(chan struct{})
				s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
					close(started)
					<-release
					return receipt{Ref: "r"}, nil
				})
				s.Response.WhileRunning, s.Response.Wait = answer, 50*time.Millisecond
				winner := idem.Define(w.ledger, s)
				var wg sync.WaitGroup
				wg.Go(func() {
					if _, err := winner.Do(t.Context(), order{ID: "1"}); err != nil {
						t.Error(err)
					}
				})
				<-started
				duplicate := winner
				if elsewhere {
					duplicate = idem.Define(w.open(), s)
				}
				res, err := duplicate.Do(t.Context(), order{ID: "1"})
				if answer == idem.RunningNoOp {
					if err != nil || res.State != idem.StateRunning {
						t.Errorf("got %+v, %v", res, err)
					}
				} else if wantIs(t, err, idem.ErrRunning); idem.ShouldAck(err) {
					t.Error("running work must not be acknowledged")
				}
				close(release)
				wg.Wait()
			})
		}
	}
}

func TestWaitingDuplicateGetsTheWinnersResult(t *testing.T) {
	for name, elsewhere := range map[string]bool{"same process": false, "other process": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			started, release := make(chan struct{}), make(chan struct{})
			s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
				close(started)
				<-release
				return receipt{Ref: "r"}, nil
			})
			winner := idem.Define(w.ledger, s)
			duplicate := winner
			if elsewhere {
				duplicate = idem.Define(w.open(), s)
			}
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = winner.Do(t.Context(), order{ID: "1"}) })
			<-started
			wg.Go(func() {
				res, err := duplicate.Do(t.Context(), order{ID: "1"})
				if err != nil || res.Value.Ref != "r" || !res.Replayed {
					t.Errorf("got %+v, %v", res, err)
				}
			})
			time.AfterFunc(30*time.Millisecond, func() { close(release) })
			wg.Wait()
		})
	}
}

func TestWaiterWhoseWinnerFailsNeverClaimsForItself(t *testing.T) {
	w := newWorld(t)
	started, release := make(chan struct{}), make(chan struct{})
	var runs atomic.Int64
	c := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		if runs.Add(1) == 1 {
			close(started)
		}
		<-release
		return receipt{}, errBoom
	}))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.Do(t.Context(), order{ID: "1"}) })
	<-started
	for range 5 {
		wg.Go(func() {
			_, err := c.Do(t.Context(), order{ID: "1"})
			wantIs(t, err, idem.ErrRetryLater)
		})
	}
	time.AfterFunc(30*time.Millisecond, func() { close(release) })
	wg.Wait()
	if runs.Load() != 1 {
		t.Errorf("the handler ran %d times", runs.Load())
	}
}

func TestOtherPayload(t *testing.T) {
	for name, test := range map[string]struct {
		answer idem.OtherPayload
		want   error
	}{
		"error":           {idem.OtherPayloadError, idem.ErrPayloadMismatch},
		"return_original": {idem.OtherPayloadReturnOriginal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))
			s.Response.OtherPayload = test.answer
			c := idem.Define(w.ledger, s)
			if _, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
				t.Fatal(err)
			}
			_, err := c.Do(t.Context(), order{ID: "1", Amount: 6})
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want != nil && idem.ShouldAck(err) {
				t.Error("a payload that is recorded nowhere must not be acknowledged")
			}
			w.wantCalls(1)
		})
	}
}

func TestPayloadsOfDifferentShapesAreNotCompared(t *testing.T) {
	w := newWorld(t)
	s := spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))
	if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	s.Payload.Shape = "order/2"
	res, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1", Amount: 6})
	if err != nil || !res.Replayed {
		t.Errorf("after a deploy that changed the shape: %+v, %v", res, err)
	}
}

func TestFailedWorkIsTriedAgainWhenDueAndBuriedAfterItsBudget(t *testing.T) {
	w := newWorld(t)
	var runs atomic.Int64
	s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
		runs.Add(1)
		return receipt{}, errBoom
	})
	s.Retry.MaxAttempts = 3
	c := idem.Define(w.ledger, s)
	in := order{ID: "1"}
	for attempt := 1; attempt < 3; attempt++ {
		_, err := c.Do(t.Context(), in)
		e := wantIs(t, err, idem.ErrRetryLater)
		if !errors.Is(err, errBoom) || e.Attempt != attempt || e.State != idem.StateFailed || idem.ShouldAck(err) {
			t.Errorf("attempt %d: %+v", attempt, e)
		}
		w.due(err)
	}
	_, err := c.Do(t.Context(), in)
	if e := wantIs(t, err, idem.ErrDead); !errors.Is(err, errBoom) || !idem.ShouldAck(err) || e.Attempt != 3 {
		t.Errorf("last attempt: %+v", e)
	}
	_, err = c.Do(t.Context(), in)
	wantIs(t, err, idem.ErrDead)
	if runs.Load() != 3 {
		t.Errorf("the handler ran %d times, want 3", runs.Load())
	}
}

func TestWorkThatIsNotDueIsNotRun(t *testing.T) {
	w := newWorld(t)
	var runs atomic.Int64
	s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
		runs.Add(1)
		return receipt{}, errBoom
	})
	s.Retry.Initial, s.Retry.Max = time.Hour, time.Hour
	c := idem.Define(w.ledger, s)
	_, _ = c.Do(t.Context(), order{ID: "1"})
	_, err := c.Do(t.Context(), order{ID: "1"})
	e := wantIs(t, err, idem.ErrRetryLater)
	if e.RetryAt.IsZero() || runs.Load() != 1 || !strings.Contains(err.Error(), "boom") {
		t.Errorf("%d runs, %v", runs.Load(), err)
	}
}

func TestPermanentErrorBuriesTheWorkAtOnce(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		return receipt{}, idem.Permanent(errBoom)
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	if !errors.Is(err, errBoom) {
		t.Errorf("the cause is gone: %v", err)
	}
}

func TestEmptyIdentityIsRefusedBeforeAnythingIsDone(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	_, err := c.Do(t.Context(), order{ID: " \u3000"})
	wantIs(t, err, idem.ErrIdentity)
	if idem.ShouldAck(err) {
		t.Error("work without identity must not be acknowledged: nothing of it is recorded")
	}
	w.wantCalls(0)
}

func TestPanicIsRecordedAndGoesOn(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, idem.WithLogger(slog.New(slog.DiscardHandler)))
			var runs atomic.Int64
			s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
				if runs.Add(1) == 1 {
					panic("ouch")
				}
				return receipt{Ref: "r"}, nil
			})
			s.OneTransaction = oneTx
			c := idem.Define(w.ledger, s)
			func() {
				defer func() {
					if v := recover(); v != "ouch" {
						t.Errorf("recovered %v", v)
					}
				}()
				_, _ = c.Do(t.Context(), order{ID: "1"})
			}()
			work, err := w.lookup(order{ID: "1"})
			if err != nil || work.State != idem.StateFailed || !strings.Contains(work.LastError, "ouch") || work.Attempt != 1 {
				t.Fatalf("recorded %+v, %v", work, err)
			}
			w.clock.advance(time.Hour)
			if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "r" {
				t.Errorf("got %+v, %v", res, err)
			}
		})
	}
}

func TestGoexitInAHandlerIsRecorded(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		runtime.Goexit()
		return receipt{}, nil
	}))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.Do(t.Context(), order{ID: "1"}) })
	wg.Wait()
	work, err := w.lookup(order{ID: "1"})
	if err != nil || work.State != idem.StateFailed {
		t.Errorf("recorded %+v, %v", work, err)
	}
}

func TestCancelledCallerLosesNoCompletion(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		cancel()
		return receipt{Ref: "r"}, nil
	}))
	if _, err := c.Do(ctx, order{ID: "1"}); err != nil {
		t.Errorf("completion: %v", err)
	}
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || !res.Replayed {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestCancelledCallerLosesNoCompletionInOneTransaction(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	g := idem.Transaction(w.ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
		_, err := call.Tx().ExecContext(ctx, `create table drafts (id text)`)
		return receipt{Ref: "draft"}, err
	})
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := g.Do(ctx, run, in)
		cancel()
		<-ctx.Done() // the handler hears of it
		return out, err
	})
	s.OneTransaction = true
	c := idem.Define(w.ledger, s)
	if _, err := c.Do(ctx, order{ID: "1"}); err != nil {
		t.Errorf("completion: %v", err)
	}
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || !res.Replayed {
		t.Errorf("got %+v, %v", res, err)
	}
	if n := w.rows(`select count(*) from sqlite_master where name = 'drafts'`); n != 1 {
		t.Error("the effect is lost")
	}
}

// A handler that does not look at its context completes when its transaction is
// over already. That is a failed attempt as any other, or it would go on for ever.
func TestHandlerTooSlowForItsOneTransactionUsesUpItsBudget(t *testing.T) {
	w := newWorld(t)
	ran := 0
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		ran++
		<-ctx.Done()
		return receipt{Ref: "late"}, nil
	})
	s.OneTransaction, s.Lease, s.Retry.MaxAttempts = true, 150*time.Millisecond, 2
	c := idem.Define(w.ledger, s)
	_, err := c.Do(t.Context(), order{ID: "1"})
	if !strings.Contains(err.Error(), "deadline") {
		t.Errorf("the reason is not told: %v", err)
	}
	w.due(err)
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	if ran != 2 {
		t.Errorf("the handler ran %d times", ran)
	}
}

// unheard loses the acknowledgement of the first commit of a transaction.
type unheard struct {
	idem.Store[*sql.Tx]
	lost bool
}

func (u *unheard) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[*sql.Tx]) error) error {
	err := u.Store.InTx(ctx, fn)
	if err == nil && !u.lost {
		u.lost = true
		return errBoom
	}
	return err
}

func TestLostAcknowledgementOfTheOneTransactionIsAnsweredFromTheLedger(t *testing.T) {
	w := newWorld(t)
	s := spec(func(context.Context, *idem.Run, order) (receipt, error) { return receipt{Ref: "r"}, nil })
	s.OneTransaction = true
	c := idem.Define(idem.NewLedger[*sql.Tx](&unheard{Store: w.store}), s)
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "r" || res.Attempt != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestCallerThatLeftRunsNothing(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Do(ctx, order{ID: "1"}); err == nil || idem.ShouldAck(err) {
		t.Errorf("got %v", err)
	}
	w.wantCalls(0)
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Errorf("the next delivery must run at once: %v", err)
	}
}

// forgetful loses the acknowledgement of the first claim.
type forgetful struct {
	idem.Store[*sql.Tx]
	err func() error
}

func (f *forgetful) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	claimed, err := f.Store.Claim(ctx, c)
	if lost := f.err(); lost != nil {
		return idem.Claimed{}, lost
	}
	return claimed, err
}

func TestLostAcknowledgementOfAClaimIsNoLostWork(t *testing.T) {
	w := newWorld(t)
	lose := 1
	store := &forgetful{w.store, func() error {
		if lose--; lose >= 0 {
			return errBoom
		}
		return nil
	}}
	c := idem.Define(idem.NewLedger[*sql.Tx](store), spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Replayed || res.Attempt != 1 {
		t.Errorf("recognised its own claim: %+v, %v", res, err)
	}
	lose = 100 // and now all of them
	_, err := c.Do(t.Context(), order{ID: "2"})
	wantIs(t, err, idem.ErrLedger)
	lose = 0
	if res, err := c.Do(t.Context(), order{ID: "2"}); err != nil || res.Replayed {
		t.Errorf("the claim was not given back: %+v, %v", res, err)
	}
	w.wantCalls(2)
}

func TestCallerThatLeavesDuringTheClaimGivesItBack(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	store := &forgetful{w.store, func() error { cancel(); return nil }}
	c := idem.Define(idem.NewLedger[*sql.Tx](store), spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	_, err := c.Do(ctx, order{ID: "1"})
	if !errors.Is(err, context.Canceled) || idem.ShouldAck(err) {
		t.Errorf("got %v", err)
	}
	w.wantCalls(0)
	work, err := w.lookup(order{ID: "1"})
	if err != nil || work.State != idem.StateFailed || work.BudgetLeft != 5 {
		t.Errorf("the work is %+v, %v", work, err)
	}
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Replayed {
		t.Errorf("the next delivery: %+v, %v", res, err)
	}
}

func TestExternalRefSurvivesARetry(t *testing.T) {
	w := newWorld(t)
	g := idem.IdempotencyKey(w.effect("charge"), time.Hour)
	attempt := 0
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := g.Do(ctx, run, in)
		if attempt++; attempt == 1 {
			return receipt{}, errBoom
		}
		return out, err
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.ExternalRef != "ref-1" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestForgottenWorkIsNewWork(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	if _, err := c.Do(t.Context(), order{ID: "1", Amount: 1}); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(23 * time.Hour)
	if res, err := c.Do(t.Context(), order{ID: "1", Amount: 1}); err != nil || !res.Replayed {
		t.Fatalf("inside the window: %+v, %v", res, err)
	}
	w.clock.advance(2 * time.Hour)
	res, err := c.Do(t.Context(), order{ID: "1", Amount: 2})
	if err != nil || res.Replayed || res.Attempt != 1 {
		t.Fatalf("after the window: %+v, %v", res, err)
	}
	w.wantCalls(2)
}

// fences remembers the fence of each claim that was won.
type fences struct {
	idem.Store[*sql.Tx]
	won []idem.Fence
}

func (s *fences) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	claimed, err := s.Store.Claim(ctx, c)
	if claimed.Won {
		s.won = append(s.won, c.Fence)
	}
	return claimed, err
}

// A name that a program has at each start, such as its host's, would let it take the
// lock of the run before it for its own.
func TestEveryClaimHasAFenceOfItsOwn(t *testing.T) {
	w := newWorld(t)
	s := &fences{Store: w.store}
	ledger := idem.NewLedger[*sql.Tx](s) // the world closes the store
	boom := errors.New("boom")
	c := idem.Define(ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) { return receipt{}, boom }))
	for range 3 {
		_, err := c.Do(t.Context(), order{ID: "1"})
		w.due(err)
	}
	tokens := make(map[idem.Token]bool)
	for _, fence := range s.won {
		tokens[fence.Token] = true
		if _, err := w.store.End(t.Context(), idem.End{Fence: fence, State: idem.StateDone, Window: idem.Forever()}); !errors.Is(err, idem.ErrLeaseLost) {
			t.Errorf("after its attempt a fence ends the work: %v", err)
		}
	}
	if len(s.won) != 3 || len(tokens) != 3 {
		t.Errorf("%d claims of one program have %d fences", len(s.won), len(tokens))
	}
}

// There is one way into the work, also for what a person takes from the dead
// letters: through the claim, past the effects that were made.
func TestDeadWorkThatIsReplayedMakesNoEffectTwice(t *testing.T) {
	w := newWorld(t)
	charge := idem.Once(w.effect("charge"), idem.Ask)
	failure := idem.Permanent(errors.New("no such account"))
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		paid, err := charge.Do(ctx, run, in)
		return paid, errors.Join(err, failure)
	})
	c := idem.Define(w.ledger, s)
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	if _, err = c.Do(t.Context(), order{ID: "1"}); !errors.Is(err, idem.ErrDead) {
		t.Errorf("a duplicate of dead work: %v", err)
	}
	failure = nil
	w.exec(`update work_log set state = 'failed', next_attempt_at = 0, done_at = null, expires_at = null, budget_left = 5`)
	for range 2 {
		result, err := c.Do(t.Context(), order{ID: "1"})
		if err != nil || result.Value.Ref != "ref-1" || result.Attempt != 2 {
			t.Errorf("replayed: %+v, %v", result, err)
		}
	}
	w.wantCalls(1)
}

func TestDroppedResultNeverRunsTheWorkAgain(t *testing.T) {
	w := newWorld(t, idem.WithResultCap(10))
	var runs atomic.Int64
	c := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		runs.Add(1)
		return receipt{Ref: strings.Repeat("x", 100)}, nil
	}))
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || len(res.Value.Ref) != 100 {
		t.Fatalf("first: %+v, %v", res, err)
	}
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrResultDropped)
	if !idem.ShouldAck(err) || runs.Load() != 1 {
		t.Errorf("%d runs, %v", runs.Load(), err)
	}
}

func TestClosedLedgerRefusesAndDrains(t *testing.T) {
	w := newWorld(t)
	ledger := w.open()
	started, release := make(chan struct{}), make(chan struct{})
	c := idem.Define(ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		close(started)
		<-release
		return receipt{}, nil
	}))
	result := make(chan error, 1)
	go func() {
		_, err := c.Do(t.Context(), order{ID: "1"})
		result <- err
	}()
	<-started
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := ledger.Close(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close with a handler under way: %v", err)
	}
	_, err := c.Do(t.Context(), order{ID: "2"})
	wantIs(t, err, idem.ErrClosed)
	close(release)
	if err := <-result; err != nil {
		t.Errorf("the running handler was disturbed: %v", err)
	}
}

func TestDrainUsesNoBudget(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := spec(nil)
			s.OneTransaction = oneTx
			s.Retry.MaxAttempts = 1
			for deploy := range 3 {
				ledger := w.open()
				ctx, cancel := context.WithCancel(t.Context())
				s.Handle = func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
					closing, stop := context.WithCancel(t.Context())
					stop()
					_ = ledger.Close(closing) // as a program does that is told to end
					cancel()
					<-ctx.Done()
					return receipt{}, ctx.Err()
				}
				_, err := idem.Define(ledger, s).Do(ctx, order{ID: "1"})
				if e := wantIs(t, err, idem.ErrRetryLater); idem.ShouldAck(err) {
					t.Errorf("deploy %d: %+v", deploy, e)
				}
			}
			s.Handle = func(context.Context, *idem.Run, order) (receipt, error) { return receipt{Ref: "r"}, nil }
			if res, err := idem.Define(w.open(), s).Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "r" {
				t.Errorf("after three deploys: %+v, %v", res, err)
			}
		})
	}
}

func TestCallerThatHangsUpUsesBudget(t *testing.T) {
	w := newWorld(t)
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		<-ctx.Done()
		return receipt{}, ctx.Err()
	})
	s.Retry.MaxAttempts = 1
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := idem.Define(w.ledger, s).Do(ctx, order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
}

func TestIncompleteSpecSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	s := spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))
	s.Window = idem.Window{}
	_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrContract)
	if !strings.Contains(err.Error(), "Window") {
		t.Errorf("got %v", err)
	}
}

func (w *world) lookup(in order) (idem.Work, error) {
	id, err := orderID(in)
	if err != nil {
		return idem.Work{}, err
	}
	return w.store.Lookup(context.Background(), id)
}
