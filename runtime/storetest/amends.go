package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func amendTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"AnInspectionIsAllThatTheLedgerHas", inspectsAll[Tx]},
		{"ThereIsNothingToInspectOfWorkThatIsNotRemembered", inspectsNothing[Tx]},
		{"WhatWasDecidedIsWhatTheNextAttemptFinds", decidedIsFound[Tx]},
		{"ADecisionIsRecordedWithItsTime", decisionIsRecorded[Tx]},
		{"ARefusedDecisionWritesNothing", refusedDecision[Tx]},
		{"WorkThatRunsIsNotAmended", runningIsNotAmended[Tx]},
		{"NothingIsDecidedOfAnEffectWithoutARow", effectWithoutRow[Tx]},
		{"DeadWorkThatIsTriedAgainIsNotDeadAnyMore", deadIsTriedAgain[Tx]},
		{"DeadWorkIsAcknowledged", deadIsAcknowledged[Tx]},
		{"OthersAnswerWithAMessageThatWasSentAfterAll", sentAfterAll[Tx]},
		{"AMessageThatWasNotSentAfterAllIsFree", notSentAfterAll[Tx]},
		{"AnAliasLeadsToTheRow", amendsThroughAlias[Tx]},
		{"OfManyWhoDecideAtOnceOneDoes", oneDecides[Tx]},
		{"ADecisionAndAClaimDoNotMeet", decisionAgainstClaims[Tx]},
		{"AClosedStoreIsNotAmended", closedAmends[Tx]},
	}
}

func (h *harness[Tx]) inspect(id idem.WorkID) idem.Inspection {
	h.Helper()
	seen, err := h.store.Inspect(h.ctx, id)
	if err != nil {
		h.Fatalf("inspect: %v", err)
	}
	return seen
}

// amend writes an amendment whatever there is.
func (h *harness[Tx]) amend(id idem.WorkID, a idem.Amendment) {
	h.Helper()
	if err := h.store.Amend(h.ctx, id, func(idem.Inspection) (idem.Amendment, error) { return a, nil }); err != nil {
		h.Fatalf("amend: %v", err)
	}
}

// unknown is work that an attempt has left unknown, with one effect in doubt.
func (h *harness[Tx]) unknown(name string) (idem.Claim, idem.EffectWrite) {
	h.Helper()
	c, e := h.sender(name)
	e = moved(e, idem.EffectUnknown)
	e.Error = "cut off"
	h.effect(e)
	h.end(idem.End{Fence: c.Fence, State: idem.StateUnknown, Class: idem.ClassUnknown, Error: "mail: cut off"})
	return c, e
}

// outcome is what a person knows of the effect of unknown.
func outcome(e idem.EffectWrite, state idem.EffectState) idem.EffectAmendment {
	return idem.EffectAmendment{EffectID: e.EffectID, Key: e.Key, State: state}
}

func inspectsAll[Tx any](h *harness[Tx]) {
	first := claimOf("a")
	h.mustWin(first)
	began := h.clock.Now()
	h.effect(started(first.Fence, "charge"))
	h.clock.advance(lease)
	second := claimOf("a")
	second.Release, second.CorrelationID = "v2", "other trace"
	h.mustWin(second)
	takenOver := h.clock.Now()
	h.clock.advance(time.Second)
	mail := started(second.Fence, "mail")
	mail.VisibleAfter = time.Minute
	h.effect(mail)
	h.end(idem.End{Fence: second.Fence, State: idem.StateUnknown, Class: idem.ClassUnknown, Error: "nobody knows"})
	h.amend(first.ID, idem.Amendment{Audits: []idem.Audit{{Who: "ann", Verb: "look", Before: `{}`, After: `{}`, Reason: "curious"}}})

	seen := h.inspect(first.ID)
	h.wantSame("work", seen.Work, h.lookup(first.ID))
	names := []string{}
	for _, e := range seen.Effects {
		names = append(names, e.Name)
	}
	h.wantSame("effects", names, []string{"charge", "mail"})
	h.wantSame("when the mail shows", seen.Effects[1].VisibleAfter, time.Minute)
	h.wantSame("attempts", seen.Attempts, []idem.Attempt{
		{Number: 1, StartedAt: began, EndedAt: takenOver, Outcome: "abandoned", Release: "v1.2.3", CorrelationID: "trace"},
		{Number: 2, StartedAt: takenOver, EndedAt: h.clock.Now(), Outcome: "unknown", Class: idem.ClassUnknown, Error: "nobody knows", Release: "v2", CorrelationID: "other trace"},
	})
	h.wantSame("number of audits", len(seen.Audits), 1)

	running := claimOf("b")
	h.mustWin(running)
	h.wantSame("an attempt that runs", h.inspect(running.ID).Attempts, []idem.Attempt{
		{Number: 1, StartedAt: h.clock.Now(), Release: "v1.2.3", CorrelationID: "trace"},
	})
}

func inspectsNothing[Tx any](h *harness[Tx]) {
	h.wantSame("work that never was", h.inspect(workID("a")), idem.Inspection{})
	c := claimOf("a")
	h.mustWin(c)
	h.end(done(c.Fence))
	h.wantSame("done work", h.inspect(c.ID).Work.State, idem.StateDone)
	h.clock.advance(window)
	h.wantSame("forgotten work", h.inspect(c.ID), idem.Inspection{})
	err := h.store.Amend(h.ctx, c.ID, func(seen idem.Inspection) (idem.Amendment, error) {
		h.wantSame("forgotten work, to be amended", seen, idem.Inspection{})
		return idem.Amendment{Retry: true, Budget: 1}, nil
	})
	if err == nil || errors.Is(err, idem.ErrLedger) {
		h.Errorf("amending nothing: got %v, want a refusal that is no failure of the ledger", err)
	}
}

func decidedIsFound[Tx any](h *harness[Tx]) {
	for name, body := range falsy {
		c, e := h.unknown("applied " + name)
		h.clock.advance(time.Second)
		a := outcome(e, idem.EffectDone)
		a.Result, a.ExternalRef = body, "m_1"
		h.amend(c.ID, idem.Amendment{Retry: true, Budget: 2, Effects: []idem.EffectAmendment{a}})
		work := h.lookup(c.ID)
		h.wantSame("state", work.State, idem.StateFailed)
		h.wantTime("next attempt", work.NextAttemptAt, h.clock.Now())
		h.wantSame("budget", work.BudgetLeft, 2)
		owner := claimOf("applied " + name)
		claimed := h.mustWin(owner)
		h.wantSame("attempt", claimed.Work.Attempt, 2)
		h.wantSame("budget, after the claim", claimed.Work.BudgetLeft, 1)
		want := idem.EffectRow{
			EffectID: e.EffectID, Guard: e.Guard, State: idem.EffectDone, Key: e.Key, PayloadHash: e.PayloadHash, PayloadShape: e.PayloadShape,
			Input: e.Input, Result: body, ExternalRef: "m_1", LastError: "cut off", StartedAt: claimed.Effects[0].StartedAt, DoneAt: h.clock.Now(),
		}
		h.wantSame("effects", claimed.Effects, []idem.EffectRow{want})
		h.end(done(owner.Fence))
		h.clock.advance(ttl)
	}
	c, e := h.unknown("not applied")
	a := outcome(e, idem.EffectNotApplied)
	a.Epoch = 3
	h.amend(c.ID, idem.Amendment{Retry: true, Budget: 1, Effects: []idem.EffectAmendment{a}})
	row := h.mustWin(claimOf("not applied")).Effects[0]
	h.wantSame("state", row.State, idem.EffectNotApplied)
	h.wantSame("epoch", row.Epoch, 3)
	h.wantSame("result", row.Result, idem.Body{})
	h.wantTime("end", row.DoneAt, time.Time{})
}

func decisionIsRecorded[Tx any](h *harness[Tx]) {
	c, _ := h.unknown("a")
	h.mustWin(claimOf("b"))
	before := h.lookup(c.ID)
	entries := []idem.Audit{
		{Who: "ann", Verb: "resolve", Before: `{"state":"unknown"}`, After: `{"state":"done"}`, Reason: "it's in \"the books\"\n"},
		{Who: "bob", Verb: "resolve", Before: `{}`, After: `{}`, Reason: "–"},
	}
	h.clock.advance(time.Second)
	h.amend(c.ID, idem.Amendment{Audits: entries})
	at := h.clock.Now()
	h.clock.advance(time.Second)
	h.amend(c.ID, idem.Amendment{Audits: []idem.Audit{{Who: "a\x00\xff", Verb: "v", Before: "{}", After: "{}", Reason: "\x00"}}})
	entries[0].At, entries[1].At = at, at
	entries = append(entries, idem.Audit{At: h.clock.Now(), Who: "a\uFFFD\uFFFD", Verb: "v", Before: "{}", After: "{}", Reason: "\uFFFD"})
	h.wantSame("audits", h.inspect(c.ID).Audits, entries)
	h.wantSame("audits of other work", len(h.inspect(workID("b")).Audits), 0)
	after := h.lookup(c.ID)
	before.Now, after.Now = time.Time{}, time.Time{}
	h.wantSame("the work", after, before)
}

var errRefused = errors.New("refused")

func refusedDecision[Tx any](h *harness[Tx]) {
	c, e := h.unknown("a")
	before := h.inspect(c.ID)
	err := h.store.Amend(h.ctx, c.ID, func(seen idem.Inspection) (idem.Amendment, error) {
		h.wantSame("what is seen", seen, before)
		return idem.Amendment{Retry: true, Effects: []idem.EffectAmendment{outcome(e, idem.EffectDone)}}, errRefused
	})
	if err != errRefused {
		h.Errorf("got %v, want the refusal as it is", err)
	}
	h.wantSame("after it", h.inspect(c.ID), before)
}

func runningIsNotAmended[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	for name, a := range map[string]idem.Amendment{"retry": {Retry: true, Budget: 1}, "audit": {Audits: []idem.Audit{{Who: "x"}}}} {
		err := h.store.Amend(h.ctx, c.ID, func(idem.Inspection) (idem.Amendment, error) { return a, nil })
		if err == nil || errors.Is(err, idem.ErrLedger) {
			h.Errorf("%s: got %v, want a refusal that is no failure of the ledger", name, err)
		}
	}
	h.end(done(c.Fence))
	h.wantSame("audits", len(h.inspect(c.ID).Audits), 0)
}

func effectWithoutRow[Tx any](h *harness[Tx]) {
	c, e := h.unknown("a")
	before := h.inspect(c.ID)
	other := outcome(e, idem.EffectDone)
	other.Per = "1"
	err := h.store.Amend(h.ctx, c.ID, func(idem.Inspection) (idem.Amendment, error) {
		return idem.Amendment{Retry: true, Effects: []idem.EffectAmendment{outcome(e, idem.EffectDone), other}}, nil
	})
	if err == nil || errors.Is(err, idem.ErrLedger) {
		h.Errorf("got %v, want a refusal that is no failure of the ledger", err)
	}
	h.wantSame("after it", h.inspect(c.ID), before)
}

// bury makes dead work.
func (h *harness[Tx]) bury(name string, w idem.Window) idem.Claim {
	h.Helper()
	c := claimOf(name)
	h.mustWin(c)
	h.end(idem.End{Fence: c.Fence, State: idem.StateDead, Class: idem.ClassPermanent, Error: "no", Window: w})
	return c
}

func deadIsTriedAgain[Tx any](h *harness[Tx]) {
	for name, w := range map[string]idem.Window{
		"for a time": idem.For(window), "for ever": idem.Forever(), "until a success": idem.UntilSuccessOf("sync", window),
	} {
		c := h.bury(name, w)
		h.amend(c.ID, idem.Amendment{Acknowledge: true})
		h.amend(c.ID, idem.Amendment{Retry: true, Budget: 4})
		work := h.lookup(c.ID)
		h.wantSame(name+": state", work.State, idem.StateFailed)
		h.wantSame(name+": remembered for ever", work.Forever, false)
		h.wantSame(name+": success", work.UntilSuccess, "")
		for what, at := range map[string]time.Time{"end": work.DoneAt, "expiry": work.ExpiresAt, "acknowledgement": work.Acknowledged} {
			h.wantTime(name+": "+what, at, time.Time{})
		}
		owner := claimOf(name)
		h.wantSame(name+": budget", h.mustWin(owner).Work.BudgetLeft, 3)
		h.end(done(owner.Fence))
	}
}

func deadIsAcknowledged[Tx any](h *harness[Tx]) {
	c := h.bury("a", idem.For(window))
	h.clock.advance(time.Second)
	h.amend(c.ID, idem.Amendment{Acknowledge: true})
	work := h.lookup(c.ID)
	h.wantTime("acknowledgement", work.Acknowledged, h.clock.Now())
	h.wantSame("state", work.State, idem.StateDead)
	h.mustNotWin(claimOf("a"), idem.StateDead)
	unknown, _ := h.unknown("b")
	err := h.store.Amend(h.ctx, unknown.ID, func(idem.Inspection) (idem.Amendment, error) {
		return idem.Amendment{Acknowledge: true}, nil
	})
	if err == nil || errors.Is(err, idem.ErrLedger) {
		h.Errorf("acknowledging unknown work: got %v, want a refusal", err)
	}
}

func sentAfterAll[Tx any](h *harness[Tx]) {
	c, e := h.unknown("a")
	expires := h.clock.Now().Add(ttl)
	h.clock.advance(time.Minute)
	a := outcome(e, idem.EffectDone)
	a.Result, a.ExternalRef = jsonBody(`{"id":7}`), "7"
	h.amend(c.ID, idem.Amendment{Retry: true, Budget: 1, Effects: []idem.EffectAmendment{a}})
	h.wantSame("message", h.mustBeTaken("b"), idem.SentMessage{
		State: idem.MessageSent, ID: c.ID, Effect: "mail", Key: "key of a", Result: a.Result, ExternalRef: "7",
		SentAt: h.clock.Now(), ExpiresAt: expires, Until: h.clock.Now(), // when a is due, which changes nothing
	})
}

func notSentAfterAll[Tx any](h *harness[Tx]) {
	c, e := h.unknown("a")
	h.amend(c.ID, idem.Amendment{Effects: []idem.EffectAmendment{outcome(e, idem.EffectNotApplied)}})
	next, _ := h.sender("b")
	// Whatever else is said of the former owner does not touch the next one's.
	h.amend(c.ID, idem.Amendment{Effects: []idem.EffectAmendment{outcome(e, idem.EffectDone)}})
	h.amend(c.ID, idem.Amendment{Effects: []idem.EffectAmendment{outcome(e, idem.EffectNotApplied)}})
	taken := h.mustBeTaken("c")
	h.wantSame("owner", taken.ID, next.ID)
	h.wantSame("state", taken.State, idem.MessageSending)
}

func amendsThroughAlias[Tx any](h *harness[Tx]) {
	old := claimOf("old")
	h.mustWin(old)
	h.end(idem.End{Fence: old.Fence, State: idem.StateFailed})
	c := claimOf("new")
	c.Version, c.Predecessors = 2, []idem.Predecessor{{ID: old.ID, Version: 1}}
	won := h.mustWin(c)
	h.wantSame("row", won.Work.ID, old.ID)
	h.end(idem.End{Fence: idem.Fence{ID: old.ID, Token: c.Token}, State: idem.StateUnknown})
	h.amend(c.ID, idem.Amendment{Retry: true, Budget: 1, Audits: []idem.Audit{{Who: "ann", Verb: "resolve", Before: "{}", After: "{}", Reason: "r"}}})
	for _, id := range []idem.WorkID{c.ID, old.ID} {
		seen := h.inspect(id)
		h.wantSame("state", seen.Work.State, idem.StateFailed)
		h.wantSame("row", seen.Work.ID, old.ID)
		h.wantSame("number of audits", len(seen.Audits), 1)
	}
}

func oneDecides[Tx any](h *harness[Tx]) {
	const n = 60
	c, e := h.unknown("a")
	var decided atomic.Int64
	together(n, func(i int) {
		who := fmt.Sprint(i)
		err := h.store.Amend(h.ctx, c.ID, func(seen idem.Inspection) (idem.Amendment, error) {
			if seen.Work.State != idem.StateUnknown {
				return idem.Amendment{}, errRefused
			}
			return idem.Amendment{Retry: true, Budget: 1, Effects: []idem.EffectAmendment{outcome(e, idem.EffectDone)},
				Audits: []idem.Audit{{Who: who, Verb: "resolve", Before: "{}", After: "{}", Reason: "r"}}}, nil
		})
		switch {
		case err == nil:
			decided.Add(1)
		case !errors.Is(err, errRefused):
			h.Error(err)
		}
	})
	h.wantSame("decisions", decided.Load(), int64(1))
	h.wantSame("records of them", len(h.inspect(c.ID).Audits), 1)
}

// Claimants take the work as soon as it is due; people who have looked before that
// find that it runs, and change nothing under its owner.
func decisionAgainstClaims[Tx any](h *harness[Tx]) {
	const n = 60
	c, _ := h.unknown("a")
	var decided, won atomic.Int64
	together(n, func(i int) {
		if i%2 == 0 {
			claimed, err := h.store.Claim(h.ctx, claimOf("a"))
			if err != nil {
				h.Error(err)
			}
			if claimed.Won {
				won.Add(1)
			}
			return
		}
		err := h.store.Amend(h.ctx, c.ID, func(seen idem.Inspection) (idem.Amendment, error) {
			if seen.Work.State == idem.StateRunning {
				return idem.Amendment{}, errRefused
			}
			return idem.Amendment{Retry: true, Budget: 1}, nil
		})
		switch {
		case err == nil:
			decided.Add(1)
		case !errors.Is(err, errRefused):
			h.Error(err)
		}
	})
	if decided.Load() == 0 || won.Load() > 1 {
		h.Errorf("%d decisions, %d owners", decided.Load(), won.Load())
	}
	if won.Load() == 0 {
		h.mustWin(claimOf("a"))
	}
	h.mustNotWin(claimOf("a"), idem.StateRunning)
}

func closedAmends[Tx any](h *harness[Tx]) {
	c, _ := h.unknown("a")
	if err := h.store.Close(); err != nil {
		h.Fatal(err)
	}
	_, inspectErr := h.store.Inspect(h.ctx, c.ID)
	amendErr := h.store.Amend(h.ctx, c.ID, func(idem.Inspection) (idem.Amendment, error) { return idem.Amendment{}, nil })
	for _, err := range []error{inspectErr, amendErr} {
		if !errors.Is(err, idem.ErrClosed) {
			h.Errorf("got %v, want ErrClosed", err)
		}
	}
}
