package storetest

import (
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func claimTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"NewWorkIsRecordedAsItWasClaimed", newWorkIsRecorded[Tx]},
		{"RunningWorkIsNotClaimed", runningWorkIsNotClaimed[Tx]},
		{"DoneWorkStaysDoneLongAfterItsLockTime", doneWorkStaysDone[Tx]},
		{"LostAcknowledgementOfAClaimIsRecognised", lostAcknowledgement[Tx]},
		{"FailedWorkIsClaimedWhenDueAndNotBefore", failedWorkIsClaimedWhenDue[Tx]},
		{"AnotherPayloadOfTheSameShapeIsNotClaimed", anotherPayload[Tx]},
		{"AnotherShapeIsNoMismatchAndReplacesThePayload", anotherShape[Tx]},
		{"AnyPayloadTakesWorkSeenWithAnother", anyPayload[Tx]},
		{"ForgottenWorkStartsAfreshWithoutItsEffects", forgottenWork[Tx]},
		{"WorkDoneForeverIsNeverForgotten", foreverIsForever[Tx]},
		{"DeadWorkIsNotForgottenByTimeAlone", deadWorkIsKept[Tx]},
		{"WorkWhoseOutcomeIsUnknownIsNotClaimed", unknownIsNotClaimed[Tx]},
		{"ZeroIsNeverAbsentInAClaim", zeroIsRefused[Tx]},
		{"WorkWithoutAPayloadIsComparedByItsHash", noPayload[Tx]},
	}
}

func newWorkIsRecorded[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	claimed := h.mustWin(c)
	now := h.clock.Now()
	want := idem.Work{
		ID: c.ID, Kind: c.Kind, Version: c.Version, Scope: c.Scope, State: idem.StateRunning, Token: c.Token,
		Attempt: 1, BudgetLeft: c.Budget - 1, Payload: c.Payload, PayloadHash: c.PayloadHash, PayloadShape: c.PayloadShape,
		LockedUntil: now.Add(lease), CreatedAt: now, Now: now,
	}
	h.wantSame("work of the claim", claimed.Work, want)
	h.wantSame("work in the ledger", h.lookup(c.ID), want)
	h.wantSame("effects", len(claimed.Effects), 0)
	h.wantSame("work that nobody claimed", h.lookup(workID("b")), idem.Work{})
}

func noPayload[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.Payload = idem.Body{}
	claimed := h.mustWin(c)
	h.wantSame("payload of the claim", claimed.Work.Payload, idem.Body{})
	h.wantSame("hash", h.lookup(c.ID).PayloadHash, c.PayloadHash)
	h.clock.advance(lease + time.Microsecond)
	other := claimOf("a")
	other.Payload, other.PayloadHash = idem.Body{}, hash("two")
	h.mustNotWin(other, idem.StateRunning)
	again := claimOf("a")
	again.Payload = idem.Body{}
	h.wantSame("attempt", h.mustWin(again).Work.Attempt, 2)
	h.wantSame("payload in the ledger", h.lookup(c.ID).Payload, idem.Body{})
}

func runningWorkIsNotClaimed[Tx any](h *harness[Tx]) {
	owner := claimOf("a")
	h.mustWin(owner)
	h.clock.advance(lease - time.Microsecond)
	work := h.mustNotWin(claimOf("a"), idem.StateRunning)
	h.wantSame("owner", work.Token, owner.Token)
	h.wantSame("attempt", work.Attempt, 1)
}

func doneWorkStaysDone[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.end(done(c.Fence))
	for range 3 {
		h.clock.advance(window/3 - time.Microsecond) // long after the lease
		work := h.mustNotWin(claimOf("a"), idem.StateDone)
		h.wantSame("result", work.Result, jsonBody(`"ok"`))
		h.wantSame("attempt", work.Attempt, 1)
	}
}

func lostAcknowledgement[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.effect(started(c.Fence, "mail"))
	h.clock.advance(lease / 2)
	again := h.mustWin(c)
	h.wantSame("attempt", again.Work.Attempt, 1)
	h.wantSame("budget", again.Work.BudgetLeft, c.Budget-1)
	h.wantTime("lease, counted from the claim that was acknowledged", again.Work.LockedUntil, h.clock.Now().Add(lease))
	h.effect(started(c.Fence, "mail"))

	h.clock.advance(2 * lease) // over, and nobody took it
	again = h.mustWin(c)
	h.wantSame("attempt after the lease", again.Work.Attempt, 1)
	h.wantSame("budget after the lease", again.Work.BudgetLeft, c.Budget-1)
	h.end(done(c.Fence))
}

func failedWorkIsClaimedWhenDue[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	failed := h.end(idem.End{Fence: c.Fence, State: idem.StateFailed, Class: idem.ClassTransient, Error: "no route", RetryIn: time.Hour})
	h.wantTime("next attempt", failed.NextAttemptAt, h.clock.Now().Add(time.Hour))
	h.clock.advance(time.Hour - time.Microsecond)
	h.mustNotWin(claimOf("a"), idem.StateFailed)
	h.clock.advance(time.Microsecond)
	again := h.mustWin(claimOf("a"))
	h.wantSame("attempt", again.Work.Attempt, 2)
	h.wantSame("budget", again.Work.BudgetLeft, 1)
	h.wantTime("next attempt of running work", again.Work.NextAttemptAt, time.Time{})
}

func anotherPayload[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	other := claimOf("a")
	other.PayloadHash = hash("two")
	h.clock.advance(lease) // abandoned, and free for the payload that it was claimed with
	work := h.mustNotWin(other, idem.StateRunning)
	h.wantSame("hash", work.PayloadHash, c.PayloadHash)
	h.wantSame("shape", work.PayloadShape, c.PayloadShape)
	second := h.mustWin(claimOf("a"))
	h.end(idem.End{Fence: idem.Fence{ID: c.ID, Token: second.Work.Token}, State: idem.StateFailed})
	h.mustNotWin(other, idem.StateFailed)
}

func anotherShape[Tx any](h *harness[Tx]) {
	h.mustWin(claimOf("a"))
	h.clock.advance(lease)
	grown := claimOf("a")
	grown.Payload, grown.PayloadHash, grown.PayloadShape = jsonBody(`{"order":1,"note":""}`), hash("grown"), "shape 2"
	work := h.mustWin(grown).Work
	h.wantSame("payload", work.Payload, grown.Payload)
	h.wantSame("hash", work.PayloadHash, grown.PayloadHash)
	h.wantSame("shape", work.PayloadShape, grown.PayloadShape)
	h.wantSame("attempt", work.Attempt, 2)
}

func anyPayload[Tx any](h *harness[Tx]) {
	first := claimOf("a")
	h.mustWin(first)
	h.clock.advance(lease)
	other := claimOf("a")
	other.PayloadHash, other.AnyPayload = hash("two"), true
	work := h.mustWin(other).Work
	h.wantSame("hash", work.PayloadHash, first.PayloadHash)
	h.wantSame("payload", work.Payload, first.Payload)
}

func forgottenWork[Tx any](h *harness[Tx]) {
	first := claimOf("a")
	h.mustWin(first)
	h.effect(started(first.Fence, "mail"))
	ended := h.end(done(first.Fence))
	h.wantTime("end of the window, counted from completion", ended.ExpiresAt, h.clock.Now().Add(window))
	h.clock.advance(window)
	h.wantSame("work past its window", h.lookup(first.ID), idem.Work{})

	second := claimOf("a")
	second.Payload, second.PayloadHash, second.Budget = jsonBody(`2`), hash("two"), 5
	claimed := h.mustWin(second)
	now := h.clock.Now()
	h.wantSame("work", claimed.Work, idem.Work{
		ID: second.ID, Kind: second.Kind, Version: second.Version, Scope: second.Scope, State: idem.StateRunning, Token: second.Token,
		Attempt: 1, BudgetLeft: 4, Payload: second.Payload, PayloadHash: second.PayloadHash, PayloadShape: second.PayloadShape,
		LockedUntil: now.Add(lease), CreatedAt: now, Now: now,
	})
	h.clock.advance(lease)
	third := claimOf("a")
	third.PayloadHash = second.PayloadHash
	h.wantSame("effects of the forgotten life", len(h.mustWin(third).Effects), 0)
}

func foreverIsForever[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	e := done(c.Fence)
	e.Window = idem.Forever()
	work := h.end(e)
	h.wantSame("forever", work.Forever, true)
	h.wantTime("expiry", work.ExpiresAt, time.Time{})
	h.clock.advance(100 * 365 * 24 * time.Hour)
	h.mustNotWin(claimOf("a"), idem.StateDone)
	h.wantSame("state", h.lookup(c.ID).State, idem.StateDone)
}

func deadWorkIsKept[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.end(idem.End{Fence: c.Fence, State: idem.StateDead, Class: idem.ClassPermanent, Error: "no such account", Window: idem.For(window)})
	h.clock.advance(10 * window)
	work := h.mustNotWin(claimOf("a"), idem.StateDead)
	h.wantSame("error", work.LastError, "no such account")
	h.wantSame("state", h.lookup(c.ID).State, idem.StateDead)
}

func unknownIsNotClaimed[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	work := h.end(idem.End{Fence: c.Fence, State: idem.StateUnknown, Class: idem.ClassUnknown, Error: "timed out"})
	h.wantTime("done", work.DoneAt, time.Time{})
	h.clock.advance(10 * window)
	h.mustNotWin(claimOf("a"), idem.StateUnknown)
}

func zeroIsRefused[Tx any](h *harness[Tx]) {
	for what, spoil := range map[string]func(*idem.Claim){
		"lease of zero":   func(c *idem.Claim) { c.Lease = 0 },
		"negative lease":  func(c *idem.Claim) { c.Lease = -time.Second },
		"budget of zero":  func(c *idem.Claim) { c.Budget = 0 },
		"no window":       func(c *idem.Claim) { c.Window = idem.Window{} },
		"work ID of zero": func(c *idem.Claim) { c.ID = idem.WorkID{} },
	} {
		c := claimOf("a")
		spoil(&c)
		if _, err := h.store.Claim(h.ctx, c); err == nil {
			h.Errorf("%s: the claim was taken", what)
		}
		h.wantSame(what, h.lookup(workID("a")), idem.Work{})
	}
	c := claimOf("a")
	c.Lease = time.Nanosecond
	h.wantTime("lease below the clock's precision", h.mustWin(c).Work.LockedUntil, h.clock.Now().Add(time.Microsecond))
}
