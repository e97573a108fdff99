package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func successionTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"NewWorkGoesUnderItsOldestName", newWorkOldestName[Tx]},
		{"OldWorkGoesOnUnderItsOldNameInEveryState", oldWorkGoesOn[Tx]},
		{"TheNewNameLeadsThereOnceItWasClaimed", newNameLeadsThere[Tx]},
		{"EffectsOfOldWorkAreThere", effectsOfOldWork[Tx]},
		{"OldAndNewProgramsTakeOverFromEachOther", takeoversBothWays[Tx]},
		{"AChainOfVersionsHasOneRow", chainHasOneRow[Tx]},
		{"AFinerIdentitySwallowsNoWork", finerIdentity[Tx]},
		{"AFinerIdentityRepeatsNoOldWork", finerAfterOld[Tx]},
		{"ACoarserIdentityLetsEachOldWorkGoOn", coarserIdentity[Tx]},
		{"ACoarserIdentityRepeatsNoPartOfAFinerOne", coarserAfterFiner[Tx]},
		{"ACoarserIdentityTakesNewWorkForOne", coarserNewWork[Tx]},
		{"NamesAreForgottenWithTheirWork", namesAreForgotten[Tx]},
		{"NamesOutliveTheContractThatMadeThem", namesOutlive[Tx]},
		{"ANameNeverLeadsToAName", namesAreOneStep[Tx]},
		{"ALostAcknowledgementIsRecognisedUnderAnyName", lostAcknowledgementOfSuccessor[Tx]},
		{"ARolledBackClaimLeavesNoName", rolledBackSuccessor[Tx]},
		{"PredecessorsThatCannotBeAreRefused", impossiblePredecessors[Tx]},
	}
}

// as is a claim that a program of a version makes of work, by its name and by
// what it was called before, newest first.
func as(version int, name string, before ...string) idem.Claim {
	c := claimOf(name)
	c.Version = version
	for i, b := range before {
		c.Predecessors = append(c.Predecessors, idem.Predecessor{ID: workID(b), Version: version - 1 - i})
	}
	return c
}

// mustWinAt wins a claim on that row, and gives it with the row's name.
func (h *harness[Tx]) mustWinAt(row string, c idem.Claim) idem.Claim {
	h.Helper()
	claimed := h.mustWin(c)
	h.wantSame("row", claimed.Work.ID, workID(row))
	c.ID = claimed.Work.ID // as its fence has to say
	return c
}

func (h *harness[Tx]) mustNotWinAt(row string, c idem.Claim, want idem.State) {
	h.Helper()
	h.wantSame("row", h.mustNotWin(c, want).ID, workID(row))
}

func newWorkOldestName[Tx any](h *harness[Tx]) {
	owner := h.mustWinAt("old", as(2, "new", "old"))
	h.mustNotWinAt("old", as(1, "old"), idem.StateRunning)
	h.mustNotWinAt("old", as(2, "new", "old"), idem.StateRunning)
	h.end(done(owner.Fence))
	h.mustNotWinAt("old", as(1, "old"), idem.StateDone)
	h.wantSame("work", h.lookup(workID("new")), h.lookup(workID("old")))
	h.wantSame("version", h.lookup(workID("old")).Version, 2)
}

// states leads work that was just claimed to each state.
func states[Tx any]() map[idem.State]func(h *harness[Tx], f idem.Fence) {
	end := func(e idem.End) func(h *harness[Tx], f idem.Fence) {
		return func(h *harness[Tx], f idem.Fence) {
			e.Fence = f
			h.end(e)
		}
	}
	return map[idem.State]func(h *harness[Tx], f idem.Fence){
		idem.StateRunning: func(*harness[Tx], idem.Fence) {},
		idem.StateDone:    end(idem.End{State: idem.StateDone, Result: jsonBody(`"old"`), Window: idem.For(window)}),
		idem.StateFailed:  end(idem.End{State: idem.StateFailed, RetryIn: time.Hour}),
		idem.StateUnknown: end(idem.End{State: idem.StateUnknown}),
		idem.StateDead:    end(idem.End{State: idem.StateDead, Window: idem.For(window)}),
	}
}

func oldWorkGoesOn[Tx any](h *harness[Tx]) {
	for state, lead := range states[Tx]() {
		h.Run(string(state), func(*testing.T) {
			old, name := "old "+string(state), "new "+string(state)
			c := as(1, old)
			h.mustWin(c)
			lead(h, c.Fence)
			before := h.lookup(c.ID)
			h.mustNotWinAt(old, as(2, name, old), state)
			h.wantSame("work", h.lookup(c.ID), before)
			h.wantSame("work under its new name", h.lookup(workID(name)), before)
		})
	}
}

func newNameLeadsThere[Tx any](h *harness[Tx]) {
	c := as(1, "old")
	h.mustWin(c)
	h.end(done(c.Fence))
	h.wantSame("work before any claim", h.lookup(workID("new")), idem.Work{})
	h.mustNotWinAt("old", as(2, "new", "old"), idem.StateDone)
	h.wantSame("work", h.lookup(workID("new")), h.lookup(workID("old")))
}

func effectsOfOldWork[Tx any](h *harness[Tx]) {
	c := as(1, "old")
	h.mustWin(c)
	h.effect(started(c.Fence, "mail"))
	h.end(idem.End{Fence: c.Fence, State: idem.StateFailed})
	claimed := h.mustWin(as(2, "new", "old"))
	h.wantSame("attempt", claimed.Work.Attempt, 2)
	h.wantSame("effects", len(claimed.Effects), 1)
	h.wantSame("key", claimed.Effects[0].Key, "key of mail")
	fence := idem.Fence{ID: claimed.Work.ID, Token: claimed.Work.Token}
	h.effect(started(fence, "note"))
	h.wantSame("renewal", h.renew(idem.Lease{Fence: fence, For: lease}), []idem.Renewal{idem.Renewed})
	h.end(done(fence))
}

func takeoversBothWays[Tx any](h *harness[Tx]) {
	var stale []idem.Claim
	for attempt := 1; attempt <= 4; attempt++ {
		c := as(1, "old")
		if attempt%2 == 0 {
			c = as(2, "new", "old")
		}
		c.Budget = 10
		stale = append(stale, h.mustWinAt("old", c))
		h.wantSame("attempt", h.lookup(workID("old")).Attempt, attempt)
		h.clock.advance(lease)
	}
	for _, c := range stale[:3] {
		_, err := h.store.End(h.ctx, done(c.Fence))
		h.wantLost("end of an owner that was taken over", err)
	}
	h.end(done(stale[3].Fence))
}

func chainHasOneRow[Tx any](h *harness[Tx]) {
	third := h.mustWinAt("a1", as(3, "a3", "a2", "a1"))
	h.mustNotWinAt("a1", as(2, "a2", "a1"), idem.StateRunning)
	h.mustNotWinAt("a1", as(2, "a2"), idem.StateRunning) // which has ceased to honour
	h.mustNotWinAt("a1", as(1, "a1"), idem.StateRunning)
	h.end(done(third.Fence))

	second := h.mustWinAt("b1", as(2, "b2", "b1"))
	h.mustNotWinAt("b1", as(3, "b3", "b2", "b1"), idem.StateRunning)
	h.end(done(second.Fence))
	h.mustNotWinAt("b1", as(3, "b3", "b2", "b1"), idem.StateDone)

	h.mustWinAt("c2", as(2, "c2")) // before it honoured anything
	h.mustNotWinAt("c2", as(3, "c3", "c2", "c1"), idem.StateRunning)
}

// Two pieces of what was one work: neither may be taken for the other.
func finerIdentity[Tx any](h *harness[Tx]) {
	first := h.mustWinAt("order", as(2, "line 1", "order"))
	second := h.mustWinAt("line 2", as(2, "line 2", "order"))
	h.end(done(first.Fence))
	h.end(done(second.Fence))
	h.mustNotWinAt("order", as(2, "line 1", "order"), idem.StateDone)
	h.mustNotWinAt("line 2", as(2, "line 2", "order"), idem.StateDone)

	// The same again in a chain: a third version that is finer still.
	h.mustWinAt("line 3", as(3, "piece 3.1", "line 3", "order"))
	h.mustWinAt("piece 3.2", as(3, "piece 3.2", "line 3", "order"))
}

// An old program has done all of it.
func finerAfterOld[Tx any](h *harness[Tx]) {
	c := as(1, "order")
	h.mustWin(c)
	h.end(done(c.Fence))
	h.mustNotWinAt("order", as(2, "line 1", "order"), idem.StateDone)
	h.mustNotWinAt("order", as(2, "line 2", "order"), idem.StateDone)
}

func coarserIdentity[Tx any](h *harness[Tx]) {
	for _, line := range []string{"line 1", "line 2"} {
		c := as(1, line)
		h.mustWin(c)
		h.end(idem.End{Fence: c.Fence, State: idem.StateFailed})
	}
	first := h.mustWinAt("line 1", as(2, "order", "line 1"))
	second := h.mustWinAt("line 2", as(2, "order", "line 2"))
	h.end(done(first.Fence))
	h.mustNotWinAt("line 2", as(2, "order", "line 2"), idem.StateRunning)
	h.end(done(second.Fence))
	h.mustNotWinAt("line 1", as(2, "order", "line 1"), idem.StateDone)
	h.mustNotWinAt("line 2", as(2, "order", "line 2"), idem.StateDone)
	h.wantSame("what the new name leads to", h.lookup(workID("order")).ID, workID("line 1"))
}

// coarserAfterFiner: the second version has split the work of the first, and the
// third puts parts of several together. What the second did of one part is done.
func coarserAfterFiner[Tx any](h *harness[Tx]) {
	h.end(done(h.mustWinAt("order", as(2, "line 1", "order")).Fence))
	h.mustWinAt("other order", as(3, "lines", "other line", "other order"))
	h.mustNotWinAt("order", as(3, "lines", "line 1", "order"), idem.StateDone)
	h.mustNotWinAt("other order", as(3, "lines", "line 2", "order"), idem.StateRunning)
}

func coarserNewWork[Tx any](h *harness[Tx]) {
	first := h.mustWinAt("line 1", as(2, "order", "line 1"))
	h.mustNotWinAt("line 1", as(2, "order", "line 2"), idem.StateRunning)
	h.end(done(first.Fence))
	h.mustNotWinAt("line 1", as(2, "order", "line 2"), idem.StateDone)
}

func namesAreForgotten[Tx any](h *harness[Tx]) {
	h.end(done(h.mustWinAt("order", as(2, "line 1", "order")).Fence))
	h.clock.advance(window)
	h.wantSame("work past its window", h.lookup(workID("line 1")), idem.Work{})
	// The second line gets the row, and the first no longer has part in it.
	h.end(done(h.mustWinAt("order", as(2, "line 2", "order")).Fence))
	h.wantSame("work of the first", h.lookup(workID("line 1")), idem.Work{})
	h.mustWinAt("line 1", as(2, "line 1", "order"))

	// So it is if an old program begins anew, for whom both are one.
	h.clock.advance(window)
	again := as(1, "order")
	h.mustWin(again)
	h.end(done(again.Fence))
	h.wantSame("work of the second", h.lookup(workID("line 2")), idem.Work{})
	h.mustNotWinAt("order", as(2, "line 2", "order"), idem.StateDone)
}

func namesOutlive[Tx any](h *harness[Tx]) {
	h.end(done(h.mustWinAt("old", as(2, "new", "old")).Fence))
	h.mustNotWinAt("old", as(2, "new"), idem.StateDone)
	h.clock.advance(window)
	again := h.mustWinAt("old", as(2, "new"))
	h.wantSame("attempt of the new life", h.lookup(workID("new")).Attempt, 1)
	h.clock.advance(lease)
	h.wantSame("attempt", h.mustWin(as(2, "new")).Work.Attempt, 2)
	_, err := h.store.End(h.ctx, done(again.Fence))
	h.wantLost("end by the first owner", err)
}

func namesAreOneStep[Tx any](h *harness[Tx]) {
	h.end(done(h.mustWinAt("order", as(2, "line 1", "order")).Fence))
	h.end(done(h.mustWinAt("line 2", as(3, "piece", "line 2", "order")).Fence))
	h.clock.advance(window)
	// What the piece leads to becomes a name itself, so that the piece is free.
	h.mustWinAt("order", as(2, "line 2", "order"))
	h.mustWinAt("piece", as(3, "piece"))
	h.wantSame("what the second line leads to", h.lookup(workID("line 2")).ID, workID("order"))
}

func lostAcknowledgementOfSuccessor[Tx any](h *harness[Tx]) {
	for _, before := range [][]string{{"old"}, nil} { // honouring, and no longer
		c := as(2, "new", before...)
		h.mustWinAt("old", c)
		again := h.mustWin(c)
		h.wantSame("row", again.Work.ID, workID("old"))
		fence := idem.Fence{ID: again.Work.ID, Token: c.Token}
		h.end(idem.End{Fence: fence, State: idem.StateFailed})
	}
}

func rolledBackSuccessor[Tx any](h *harness[Tx]) {
	errBack := errors.New("back")
	err := h.store.InTx(h.ctx, func(ctx context.Context, s idem.Session[Tx]) error {
		claimed, err := s.Claim(ctx, as(2, "new", "old"))
		if err != nil || !claimed.Won || claimed.Work.ID != workID("old") {
			return fmt.Errorf("won %t on %s: %w", claimed.Won, claimed.Work.ID, err)
		}
		return errBack
	})
	if !errors.Is(err, errBack) {
		h.Fatal(err)
	}
	h.mustWinAt("new", as(2, "new"))
	h.mustWinAt("old", as(1, "old"))
}

func impossiblePredecessors[Tx any](h *harness[Tx]) {
	for what, p := range map[string]idem.Predecessor{
		"no ID":            {Version: 1},
		"the claim's own":  {ID: workID("new"), Version: 1},
		"no version":       {ID: workID("old")},
		"the same version": {ID: workID("old"), Version: 2},
	} {
		c := as(2, "new")
		c.Predecessors = []idem.Predecessor{p}
		if _, err := h.store.Claim(h.ctx, c); err == nil {
			h.Errorf("%s: the claim was taken", what)
		}
	}
	h.wantSame("work", h.lookup(workID("new")), idem.Work{})
}
