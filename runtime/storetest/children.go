package storetest

import (
	idem "github.com/idemgen/idem/runtime"
)

func childTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"ForgottenWorkTakesItsChildrenWithIt", forgottenFamily[Tx]},
		{"ForgottenWorkTakesChildrenUnderFormerNamesWithIt", forgottenChildOfAFormerName[Tx]},
		{"WorkThatOnlyHasTheSameNameStays", strangersStay[Tx]},
	}
}

// child begins the work called name as an effect of the parent's, and does it.
func (h *harness[Tx]) child(parent idem.Fence, guard idem.Guard, name string) idem.Claim {
	h.Helper()
	c := claimOf(name)
	e := started(parent, name)
	e.Guard, e.Key, e.Input = guard, c.ID.String(), idem.Body{}
	h.effect(e)
	c.Window = idem.Forever()
	h.mustWin(c)
	return c
}

func (h *harness[Tx]) doneForever(c idem.Claim) {
	h.Helper()
	end := done(c.Fence)
	end.Window = idem.Forever()
	h.end(end)
}

func forgottenFamily[Tx any](h *harness[Tx]) {
	parent := claimOf("parent")
	h.mustWin(parent)
	child := h.child(parent.Fence, idem.GuardWork, "child")
	grandchild := h.child(child.Fence, idem.GuardWork, "grandchild")
	h.effect(started(grandchild.Fence, "mail"))
	h.doneForever(grandchild)
	h.doneForever(child)
	h.end(done(parent.Fence))
	h.clock.advance(window - 1)
	h.mustNotWin(claimOf("parent"), idem.StateDone)
	h.wantSame("child of remembered work", h.lookup(child.ID).State, idem.StateDone)
	h.clock.advance(1)
	h.mustWin(claimOf("parent"))
	for _, c := range []idem.Claim{child, grandchild} {
		h.wantSame("child of forgotten work", h.lookup(c.ID), idem.Work{})
	}
	claimed := h.mustWin(claimOf("grandchild"))
	h.wantSame("the new life's attempt", claimed.Work.Attempt, 1)
	h.wantSame("effects of the former life", len(effectsOf(h, "grandchild")), 0)
}

func forgottenChildOfAFormerName[Tx any](h *harness[Tx]) {
	parent := claimOf("parent")
	h.mustWin(parent)
	old := claimOf("old")
	h.mustWin(old)
	h.doneForever(old)
	e := started(parent.Fence, "child")
	e.Guard, e.Key = idem.GuardWork, workID("new").String()
	h.effect(e)
	renamed := claimOf("new")
	renamed.Version, renamed.Predecessors = 2, []idem.Predecessor{{ID: old.ID, Version: 1}}
	h.mustNotWin(renamed, idem.StateDone)
	h.end(done(parent.Fence))
	h.clock.advance(window)
	h.mustWin(claimOf("parent"))
	h.wantSame("the child by its former name", h.lookup(old.ID), idem.Work{})
	h.wantSame("the child by its name", h.lookup(renamed.ID), idem.Work{})
}

// An effect of another guard may have a key that happens to be an ID.
func strangersStay[Tx any](h *harness[Tx]) {
	parent := claimOf("parent")
	h.mustWin(parent)
	stranger := h.child(parent.Fence, idem.GuardOnce, "stranger")
	h.doneForever(stranger)
	h.end(done(parent.Fence))
	h.clock.advance(window)
	h.mustWin(claimOf("parent"))
	h.wantSame("work that is no child", h.lookup(stranger.ID).State, idem.StateDone)
}
