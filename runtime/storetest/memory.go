package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func latestTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"OlderWorkIsSupersededByWhatIsDone", olderWork[Tx]},
		{"NewerWorkAndTheSamePlaceAreNotOlder", notOlder[Tx]},
		{"WorkWithoutAPlaceIsNeverSuperseded", withoutPlace[Tx]},
		{"OnlyDoneWorkRaisesItsSeries", onlyDoneRaises[Tx]},
		{"AnOvertakenAttemptStartsNoEffectAndKeepsThoseItHas", overtaken[Tx]},
		{"ARetryIsSupersededAndItsEffectsStay", overtakenRetry[Tx]},
		{"ARetryInDoubtIsNotSuperseded", doubtfulRetry[Tx]},
		{"TheOlderOfTwoThatRanAtOnceDoesNotLowerTheSeries", doesNotLower[Tx]},
		{"ASeriesIsForgottenWithTheWorkThatRaisedIt", forgottenSeries[Tx]},
		{"SupersededWorkIsForgottenLikeDoneWork", forgottenSuperseded[Tx]},
		{"OnlyDoneWorkIsSuperseded", onlyDoneIsSuperseded[Tx]},
		{"AClaimInATransactionIsSupersededToo", supersededInTx[Tx]},
	}
}

// revision is a claim of a revision of an invoice.
func revision(invoice string, by int64) idem.Claim {
	c := claimOf(invoice + string(rune('0'+by)))
	c.Mark = idem.NewMark([]byte("invoice:latest:"+invoice), by)
	return c
}

// doRevision brings work to its end.
func (h *harness[Tx]) doRevision(c idem.Claim) idem.Work {
	h.Helper()
	h.mustWin(c)
	e := done(c.Fence)
	e.Mark = c.Mark
	return h.end(e)
}

func (h *harness[Tx]) wantSuperseded(c idem.Claim, by idem.WorkID) idem.Work {
	h.Helper()
	work := h.mustNotWin(c, idem.StateDone)
	h.wantSame("what superseded it", work.SupersededBy, by)
	return work
}

func olderWork[Tx any](h *harness[Tx]) {
	seven := h.doRevision(revision("A", 7))
	h.clock.advance(time.Second)
	six := revision("A", 6)
	work := h.wantSuperseded(six, seven.ID)
	h.wantSame("result", work.Result, idem.Body{})
	h.wantSame("owner", work.Token, idem.Token{})
	h.wantTime("done", work.DoneAt, h.clock.Now())
	h.wantTime("end of its window", work.ExpiresAt, h.clock.Now().Add(window))
	h.wantSame("in the ledger", h.lookup(six.ID), work)
	h.wantSuperseded(revision("A", 6), seven.ID) // a duplicate
	_, err := h.store.End(h.ctx, done(six.Fence))
	h.wantLost("end of superseded work", err)
}

func notOlder[Tx any](h *harness[Tx]) {
	h.doRevision(revision("A", 7))
	same := revision("A", 7)
	same.ID = workID("another event")
	h.mustWin(same)
	h.mustWin(revision("A", 8))
	h.mustWin(revision("B", 1))
}

func withoutPlace[Tx any](h *harness[Tx]) {
	h.doRevision(revision("A", 7))
	h.mustWin(claimOf("plain"))
	zero := revision("C", 0)
	h.mustWin(zero)
	low := revision("A", 1)
	low.Mark.By = -1 << 63
	h.wantSuperseded(low, revision("A", 7).ID)
}

func onlyDoneRaises[Tx any](h *harness[Tx]) {
	for i, state := range []idem.State{idem.StateFailed, idem.StateUnknown, idem.StateDead} {
		c := revision("A", int64(9-i))
		h.mustWin(c)
		h.mustWin(revision("A", int64(2+i))) // while it runs
		h.end(idem.End{Fence: c.Fence, State: state, Window: idem.For(window), Mark: c.Mark})
	}
	h.mustWin(revision("A", 1))
}

func overtaken[Tx any](h *harness[Tx]) {
	six := revision("A", 6)
	h.mustWin(six)
	first := started(six.Fence, "first")
	first.Mark = six.Mark
	h.effect(first)
	seven := h.doRevision(revision("A", 7))

	second := started(six.Fence, "second")
	second.Mark = six.Mark
	_, err := h.store.WriteEffect(h.ctx, second)
	var newer idem.NewerWork
	if !errors.Is(err, idem.ErrSuperseded) || !errors.As(err, &newer) || newer.ID != seven.ID {
		h.Errorf("start of an effect: got %v, want a NewerWork with %s", err, seven.ID)
	}
	first.State, first.Live = idem.EffectDone, false // what was on its way is recorded
	h.effect(first)
	e := done(six.Fence)
	e.Mark, e.SupersededBy, e.Result = six.Mark, seven.ID, idem.Body{}
	h.wantSame("superseded by", h.end(e).SupersededBy, seven.ID)
	h.wantSuperseded(revision("A", 5), seven.ID) // and not by six

	h.clock.advance(window)
	again := revision("A", 6)
	h.mustWin(again)
	h.clock.advance(lease)
	h.wantSame("effects of the forgotten life", len(h.mustWin(revision("A", 6)).Effects), 0)
}

func overtakenRetry[Tx any](h *harness[Tx]) {
	six := revision("A", 6)
	h.mustWin(six)
	first := started(six.Fence, "first")
	first.State, first.Mark = idem.EffectDone, six.Mark
	h.effect(first)
	h.end(idem.End{Fence: six.Fence, State: idem.StateFailed, RetryIn: time.Second, Error: "broken", Class: idem.ClassTransient, Mark: six.Mark})
	seven := h.doRevision(revision("A", 7))
	h.mustNotWin(revision("A", 6), idem.StateFailed) // it is not due
	h.clock.advance(time.Second)
	work := h.wantSuperseded(revision("A", 6), seven.ID)
	h.wantSame("attempt", work.Attempt, 2)
	h.wantSame("error of the failed attempt", work.LastError, "")
}

func doubtfulRetry[Tx any](h *harness[Tx]) {
	six, five := revision("A", 6), revision("A", 5)
	h.mustWin(six)
	h.mustWin(five)
	h.effect(started(six.Fence, "first"))
	harmless := started(five.Fence, "first")
	harmless.Guard = idem.GuardUpsert
	h.effect(harmless)
	seven := h.doRevision(revision("A", 7))
	h.clock.advance(lease)
	h.wantSame("effects in doubt", len(h.mustWin(revision("A", 6)).Effects), 1)
	h.wantSuperseded(five, seven.ID)
}

func doesNotLower[Tx any](h *harness[Tx]) {
	six := revision("A", 6)
	h.mustWin(six)
	seven := h.doRevision(revision("A", 7))
	e := done(six.Fence)
	e.Mark = six.Mark
	work := h.end(e) // it started no effect since, and came to its end
	h.wantSame("superseded by", work.SupersededBy, idem.WorkID{})
	h.wantSame("result", work.Result, e.Result)
	h.wantSuperseded(revision("A", 5), seven.ID)
}

func forgottenSeries[Tx any](h *harness[Tx]) {
	h.doRevision(revision("A", 7))
	h.clock.advance(window - time.Microsecond)
	h.mustNotWin(revision("A", 6), idem.StateDone)
	h.clock.advance(time.Microsecond)
	five := h.doRevision(revision("A", 5))
	h.wantSuperseded(revision("A", 4), five.ID) // a lower one has taken its place
	h.mustWin(revision("A", 7))                 // forgotten, and new again
}

func forgottenSuperseded[Tx any](h *harness[Tx]) {
	seven := revision("A", 7)
	h.mustWin(seven)
	e := done(seven.Fence)
	e.Mark, e.Window = seven.Mark, idem.Forever()
	h.end(e)
	h.wantSuperseded(revision("A", 6), seven.ID)
	h.clock.advance(window)
	h.wantSame("superseded work past its window", h.lookup(revision("A", 6).ID), idem.Work{})
	h.wantSuperseded(revision("A", 6), seven.ID)
	h.clock.advance(window)
	plain := revision("A", 6)
	plain.Mark = idem.Mark{} // the contract says no longer that it has an order
	h.wantSame("superseded by", h.mustWin(plain).Work.SupersededBy, idem.WorkID{})
	h.wantSame("superseded by", h.lookup(plain.ID).SupersededBy, idem.WorkID{})
}

func onlyDoneIsSuperseded[Tx any](h *harness[Tx]) {
	c := revision("A", 6)
	h.mustWin(c)
	e := idem.End{Fence: c.Fence, State: idem.StateFailed, SupersededBy: workID("newer")}
	if _, err := h.store.End(h.ctx, e); err == nil || errors.Is(err, idem.ErrLeaseLost) {
		h.Errorf("failed and superseded: got %v, want it refused", err)
	}
	h.wantSame("state", h.lookup(c.ID).State, idem.StateRunning)
}

func supersededInTx[Tx any](h *harness[Tx]) {
	seven := h.doRevision(revision("A", 7))
	six := revision("A", 6)
	err := h.store.InTx(h.ctx, func(ctx context.Context, s idem.Session[Tx]) error {
		claimed, err := s.Claim(ctx, six)
		if err == nil && (claimed.Won || claimed.Work.SupersededBy != seven.ID) {
			h.Errorf("claim: %+v, want it superseded", claimed)
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.wantSame("in the ledger", h.lookup(six.ID).SupersededBy, seven.ID)
}

func successTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"WorkIsRememberedUntilAKindSucceededThatStartedAfterIt", untilSuccess[Tx]},
		{"WorkIsRememberedForItsTimeWhateverSucceeds", atLeast[Tx]},
		{"ASuccessThatStartedBeforeTheWorkWasDoneDoesNotCount", startedBefore[Tx]},
		{"ARetryThatSucceedsCountsFromItsFirstAttempt", countsFromFirstAttempt[Tx]},
		{"OnlySuccessesCount", onlySuccesses[Tx]},
		{"AnotherScopesSuccessDoesNotCountAndThatOfNoneDoes", scopes[Tx]},
		{"AFailureWithoutAttemptsLeftWaitsForNobody", buriedUntil[Tx]},
	}
}

// syncRun is a claim of a run of the kind that others wait for.
func syncRun(name, scope string) idem.Claim {
	c := claimOf("sync " + name)
	c.Kind, c.Scope = "nightly_sync", scope
	return c
}

// succeed starts a run now and ends it after a second.
func (h *harness[Tx]) succeed(c idem.Claim) {
	h.Helper()
	h.mustWin(c)
	h.clock.advance(time.Second)
	h.end(done(c.Fence))
}

// doneUntil is work that is done now, and waits for the kind.
func (h *harness[Tx]) doneUntil(c idem.Claim) idem.Work {
	h.Helper()
	h.mustWin(c)
	e := done(c.Fence)
	e.Window = idem.UntilSuccessOf("nightly_sync", window)
	work := h.end(e)
	h.clock.advance(time.Microsecond)
	return work
}

func (h *harness[Tx]) wantRemembered(c idem.Claim) {
	h.Helper()
	c.Token = newToken()
	h.mustNotWin(c, idem.StateDone)
	h.wantSame("state", h.lookup(c.ID).State, idem.StateDone)
}

func (h *harness[Tx]) wantForgotten(c idem.Claim) {
	h.Helper()
	h.wantSame("forgotten work", h.lookup(c.ID), idem.Work{})
	c.Token = newToken()
	h.wantSame("attempt", h.mustWin(c).Work.Attempt, 1)
}

func untilSuccess[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	work := h.doneUntil(c)
	h.wantSame("kind that it waits for", work.UntilSuccess, "nightly_sync")
	h.wantTime("end of its time", work.ExpiresAt, work.DoneAt.Add(window))
	h.clock.advance(100 * window)
	h.wantRemembered(c)
	h.succeed(syncRun("1", "shop"))
	h.wantForgotten(c)
	h.wantSame("kind that it waits for", h.lookup(c.ID).UntilSuccess, "")
}

func atLeast[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	work := h.doneUntil(c)
	h.succeed(syncRun("1", "shop"))
	h.clock.advance(work.ExpiresAt.Sub(h.clock.Now()) - time.Microsecond)
	h.wantRemembered(c)
	h.clock.advance(time.Microsecond)
	h.wantForgotten(c)
}

func startedBefore[Tx any](h *harness[Tx]) {
	run := syncRun("1", "shop")
	h.mustWin(run)
	c := claimOf("a")
	h.doneUntil(c)
	h.end(done(run.Fence))
	h.clock.advance(window)
	h.wantRemembered(c)

	h.succeed(syncRun("2", "shop"))
	late := claimOf("b") // done after that
	h.doneUntil(late)
	h.clock.advance(window)
	h.wantForgotten(c)
	h.wantRemembered(late)
}

func countsFromFirstAttempt[Tx any](h *harness[Tx]) {
	run := syncRun("1", "shop")
	h.mustWin(run)
	h.end(idem.End{Fence: run.Fence, State: idem.StateFailed})
	c := claimOf("a")
	h.doneUntil(c)
	again := syncRun("1", "shop")
	h.mustWin(again)
	h.end(done(again.Fence))
	h.clock.advance(window)
	h.wantRemembered(c)
}

func onlySuccesses[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.doneUntil(c)
	for i, state := range []idem.State{idem.StateFailed, idem.StateUnknown, idem.StateDead} {
		run := syncRun(string(state), "shop")
		h.mustWin(run)
		h.end(idem.End{Fence: run.Fence, State: state, Window: idem.For(window), RetryIn: time.Duration(i)})
	}
	superseded := syncRun("superseded", "shop")
	h.mustWin(superseded)
	e := done(superseded.Fence)
	e.SupersededBy = workID("newer")
	h.end(e)
	h.succeed(claimOf("another kind"))
	h.clock.advance(window)
	h.wantRemembered(c)
}

func scopes[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.doneUntil(c)
	h.clock.advance(window)
	h.succeed(syncRun("1", "another shop"))
	h.wantRemembered(c)
	h.succeed(syncRun("2", ""))
	h.wantForgotten(c)

	unscoped := claimOf("b")
	unscoped.Scope = ""
	h.doneUntil(unscoped)
	h.clock.advance(window)
	h.succeed(syncRun("3", "shop"))
	h.wantRemembered(unscoped)
	h.succeed(syncRun("4", ""))
	h.wantForgotten(unscoped)
}

func buriedUntil[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.Budget, c.Window = 1, idem.UntilSuccessOf("nightly_sync", window)
	h.mustWin(c)
	h.clock.advance(lease)
	again := c
	again.Token = newToken()
	work := h.mustNotWin(again, idem.StateDead)
	h.wantSame("kind that it waits for", work.UntilSuccess, "nightly_sync")
	h.clock.advance(window)
	h.succeed(syncRun("1", "shop"))
	h.wantSame("dead work, which somebody has to look at", h.lookup(c.ID).State, idem.StateDead)
}

func newToken() (t idem.Token) {
	_, _ = rand.Read(t[:]) // never fails
	return t
}
