package storetest

import (
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func endTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"StaleOwnerCannotCompleteWriteOrRenew", staleOwner[Tx]},
		{"OwnerOfAForgottenLifeCannotComplete", ownerOfAForgottenLife[Tx]},
		{"WorkEndsOnce", workEndsOnce[Tx]},
		{"DoneWorkWithoutAWindowIsRefused", doneWithoutWindow[Tx]},
		{"WorkEndsInNoStateThatOnlyAClaimReaches", noOtherEnd[Tx]},
		{"RefundGivesTheAttemptBackToTheBudget", refund[Tx]},
		{"WorkWithoutBudgetIsDeadWhenItsLeaseEnds", budgetOfOne[Tx]},
		{"TakeoversUseTheBudgetUp", takeoversUseBudget[Tx]},
		{"FailedWorkWithoutBudgetIsDeadWhenItIsDue", failedWithoutBudget[Tx]},
	}
}

func staleOwner[Tx any](h *harness[Tx]) {
	stale := claimOf("a")
	h.mustWin(stale)
	h.clock.advance(lease)
	owner := claimOf("a")
	h.mustWin(owner)
	before := h.lookup(owner.ID)

	_, err := h.store.End(h.ctx, done(stale.Fence))
	h.wantLost("end", err)
	_, err = h.store.WriteEffect(h.ctx, started(stale.Fence, "mail"))
	h.wantLost("effect", err)
	late := started(stale.Fence, "mail")
	late.Live, late.State = false, idem.EffectDone
	_, err = h.store.WriteEffect(h.ctx, late)
	h.wantLost("effect that does not ask for a live lease", err)
	h.wantSame("renewal", h.renew(idem.Lease{Fence: stale.Fence, For: lease}), []idem.Renewal{idem.LeaseLost})

	h.wantSame("work after all that", h.lookup(owner.ID), before)
	h.end(idem.End{Fence: owner.Fence, State: idem.StateFailed})
	h.wantSame("effects", len(h.mustWin(claimOf("a")).Effects), 0)
}

// The attempt counts from 1 again in a new life, so that an attempt's number
// would fence nothing.
func ownerOfAForgottenLife[Tx any](h *harness[Tx]) {
	stale := claimOf("a")
	h.mustWin(stale)
	h.clock.advance(lease)
	second := claimOf("a")
	h.mustWin(second)
	h.end(done(second.Fence))
	h.clock.advance(window)
	owner := claimOf("a")
	h.wantSame("attempt", h.mustWin(owner).Work.Attempt, 1)
	_, err := h.store.End(h.ctx, done(stale.Fence))
	h.wantLost("end", err)
	h.wantSame("owner", h.lookup(owner.ID).Token, owner.Token)
}

func workEndsOnce[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.end(done(c.Fence))
	before := h.lookup(c.ID)
	for _, e := range []idem.End{done(c.Fence), {Fence: c.Fence, State: idem.StateFailed, Error: "late"}} {
		_, err := h.store.End(h.ctx, e)
		h.wantLost("second end as "+string(e.State), err)
	}
	_, err := h.store.WriteEffect(h.ctx, started(c.Fence, "mail"))
	h.wantLost("effect after the end", err)
	h.wantSame("work", h.lookup(c.ID), before)
	h.wantSame("renewal after the end", h.renew(idem.Lease{Fence: c.Fence, For: lease}), []idem.Renewal{idem.LeaseLost})
}

func doneWithoutWindow[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	for _, state := range []idem.State{idem.StateDone, idem.StateDead} {
		for _, w := range []idem.Window{{}, idem.For(0), idem.For(-time.Hour)} {
			if _, err := h.store.End(h.ctx, idem.End{Fence: c.Fence, State: state, Window: w}); err == nil {
				h.Fatalf("work ended as %s with window %v", state, w)
			}
		}
	}
	h.wantSame("state", h.lookup(c.ID).State, idem.StateRunning)
}

func noOtherEnd[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	for _, state := range []idem.State{"", idem.StateRunning, "finished"} {
		if _, err := h.store.End(h.ctx, idem.End{Fence: c.Fence, State: state, Window: idem.Forever()}); err == nil {
			h.Fatalf("work ended as %q", state)
		}
	}
	h.wantSame("state", h.lookup(c.ID).State, idem.StateRunning)
}

func refund[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.Budget = 1
	h.mustWin(c)
	work := h.end(idem.End{Fence: c.Fence, State: idem.StateFailed, Refund: true})
	h.wantSame("budget", work.BudgetLeft, 1)
	h.wantSame("attempt", work.Attempt, 1)
	h.wantTime("next attempt", work.NextAttemptAt, h.clock.Now())
	again := h.mustWin(claimOf("a"))
	h.wantSame("budget of the next attempt", again.Work.BudgetLeft, 0)
	h.wantSame("attempt only grows", again.Work.Attempt, 2)
}

func budgetOfOne[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.Budget = 1
	h.mustWin(c)
	h.clock.advance(lease)
	work := h.mustNotWin(claimOf("a"), idem.StateDead)
	h.wantSame("attempt", work.Attempt, 1)
	h.wantTime("done", work.DoneAt, h.clock.Now())
	h.wantTime("remembered until", work.ExpiresAt, h.clock.Now().Add(window))
	h.wantSame("owner", work.Token, idem.Token{})
	if work.LastError == "" {
		h.Error("the dead work does not say why it is")
	}
	_, err := h.store.End(h.ctx, done(c.Fence))
	h.wantLost("end by the owner whose lease ended", err)
	h.wantSame("state", h.lookup(c.ID).State, idem.StateDead)
}

func takeoversUseBudget[Tx any](h *harness[Tx]) {
	for attempt := 1; attempt <= 3; attempt++ {
		work := h.mustWin(claimOf("a")).Work
		h.wantSame("attempt", work.Attempt, attempt)
		h.wantSame("budget", work.BudgetLeft, 3-attempt)
		h.clock.advance(lease)
	}
	h.mustNotWin(claimOf("a"), idem.StateDead)
}

func failedWithoutBudget[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.Budget = 1
	h.mustWin(c)
	h.end(idem.End{Fence: c.Fence, State: idem.StateFailed, RetryIn: time.Minute, Error: "no route"})
	h.mustNotWin(claimOf("a"), idem.StateFailed)
	h.clock.advance(time.Minute)
	h.mustNotWin(claimOf("a"), idem.StateDead)
}
