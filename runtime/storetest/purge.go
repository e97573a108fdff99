package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func purgeTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"WorkPastItsWindowGoesWithAllThatBelongsToIt", purgedWork[Tx]},
		{"WhatIsRememberedStays", rememberedStays[Tx]},
		{"OfWhatIsListedOnlyWhatIsStillForgottenGoes", claimedSinceListed[Tx]},
		{"TheLongestForgottenIsListedFirst", longestFirst[Tx]},
		{"ChildrenGoWithTheirParent", purgedFamily[Tx]},
		{"OtherNamesGoWithTheirRow", purgedAliases[Tx]},
		{"PlacesInAnOrderGoWithTheirWork", purgedMarks[Tx]},
		{"KindsGoWithTheLastThatWaitsForThem", purgedKinds[Tx]},
		{"WorkThatWaitsForASuccessStays", purgedUntilSuccess[Tx]},
		{"MessagesGoWhenTheirTimeIsOver", purgedMessages[Tx]},
		{"AMessageInDoubtStays", doubtfulMessageStays[Tx]},
		{"APurgeIsOfNoConsequenceToClaims", purgeAgainstClaims[Tx]},
		{"SeveralPurgesShareTheWork", severalPurges[Tx]},
		{"APurgeWaitsForNobody", purgeSkipsLocked[Tx]},
	}
}

func (h *harness[Tx]) expired() []idem.WorkID {
	h.Helper()
	ids, err := h.store.Expired(h.ctx, 1000)
	if err != nil {
		h.Fatalf("expired: %v", err)
	}
	return ids
}

func (h *harness[Tx]) wantPurged(want idem.Purged, ids ...idem.WorkID) {
	h.Helper()
	got, err := h.store.Purge(h.ctx, ids)
	if err != nil {
		h.Fatalf("purge: %v", err)
	}
	h.wantSame("purged", got, want)
}

func (h *harness[Tx]) wantPurgedMessages(limit, want int) {
	h.Helper()
	got, err := h.store.PurgeMemory(h.ctx, limit)
	if err != nil {
		h.Fatalf("purge: %v", err)
	}
	h.wantSame("purged", got, idem.Purged{Messages: want})
}

// doWork brings work to its end.
func (h *harness[Tx]) doWork(c idem.Claim) {
	h.Helper()
	h.mustWin(c)
	h.end(done(c.Fence))
}

func purgedWork[Tx any](h *harness[Tx]) {
	first := claimOf("a")
	h.mustWin(first)
	h.effect(started(first.Fence, "mail"))
	h.effect(started(first.Fence, "charge"))
	h.clock.advance(lease)
	h.doWork(claimOf("a")) // a second attempt
	h.clock.advance(window)
	ids := h.expired()
	h.wantSame("expired", ids, []idem.WorkID{first.ID})
	h.wantPurged(idem.Purged{Work: 1, Effects: 2, Attempts: 2}, ids...)
	h.wantSame("expired after it", len(h.expired()), 0)
	h.wantPurged(idem.Purged{}, ids...)
	h.wantSame("purged work", h.lookup(first.ID), idem.Work{})

	again := claimOf("a")
	h.wantSame("attempt of a new life", h.mustWin(again).Work.Attempt, 1)
	h.clock.advance(lease)
	h.wantSame("effects of the former life", len(h.mustWin(claimOf("a")).Effects), 0)
}

func rememberedStays[Tx any](h *harness[Tx]) {
	var ids []idem.WorkID
	end := func(name string, e idem.End) {
		h.Helper()
		c := claimOf(name)
		h.mustWin(c)
		if e.Fence = c.Fence; e.State != "" {
			h.end(e)
		}
		ids = append(ids, c.ID)
	}
	end("running", idem.End{})
	end("failed", idem.End{State: idem.StateFailed})
	end("unknown", idem.End{State: idem.StateUnknown})
	end("dead", idem.End{State: idem.StateDead, Window: idem.For(time.Second)}) // until somebody has looked
	end("for ever", idem.End{State: idem.StateDone, Window: idem.Forever()})
	end("in its window", idem.End{State: idem.StateDone, Window: idem.For(window + 1)})
	h.clock.advance(window)
	h.wantSame("expired", len(h.expired()), 0)
	h.wantPurged(idem.Purged{}, ids...)
	for _, id := range ids {
		if h.lookup(id).State == "" {
			h.Errorf("%s is gone", id)
		}
	}
	h.wantPurged(idem.Purged{}, workID("never seen"))
}

func claimedSinceListed[Tx any](h *harness[Tx]) {
	h.doWork(claimOf("a"))
	h.doWork(claimOf("b"))
	h.clock.advance(window)
	ids := h.expired()
	h.wantSame("expired", len(ids), 2)
	c := claimOf("a")
	h.mustWin(c)
	h.effect(started(c.Fence, "mail"))
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1}, ids...)
	h.effect(started(c.Fence, "charge"))
	h.wantSame("state", h.end(done(c.Fence)).State, idem.StateDone)
}

func longestFirst[Tx any](h *harness[Tx]) {
	var want []idem.WorkID
	for i := range 5 {
		c := claimOf(fmt.Sprint(i))
		h.doWork(c)
		want = append(want, c.ID)
		h.clock.advance(time.Second)
	}
	h.clock.advance(window)
	ids, err := h.store.Expired(h.ctx, 3)
	if err != nil {
		h.Fatal(err)
	}
	h.wantSame("expired", ids, want[:3])
}

func purgedFamily[Tx any](h *harness[Tx]) {
	parent := claimOf("parent")
	h.mustWin(parent)
	child := h.child(parent.Fence, idem.GuardWork, "child")
	grandchild := h.child(child.Fence, idem.GuardWork, "grandchild")
	stranger := h.child(parent.Fence, idem.GuardOnce, "stranger")
	h.effect(started(grandchild.Fence, "mail"))
	for _, c := range []idem.Claim{grandchild, child, stranger} {
		h.doneForever(c)
	}
	h.end(done(parent.Fence))
	h.clock.advance(window)
	h.wantSame("expired", h.expired(), []idem.WorkID{parent.ID})
	h.wantPurged(idem.Purged{Work: 3, Effects: 4, Attempts: 3}, parent.ID)
	h.wantSame("child", h.lookup(child.ID), idem.Work{})
	h.wantSame("grandchild", h.lookup(grandchild.ID), idem.Work{})
	h.wantSame("work that is no child", h.lookup(stranger.ID).State, idem.StateDone)
	h.wantSame("attempt of a new life", h.mustWin(claimOf("grandchild")).Work.Attempt, 1)
}

func purgedAliases[Tx any](h *harness[Tx]) {
	old := claimOf("old")
	h.doWork(old)
	renamed := func(name string) idem.Claim {
		c := claimOf(name)
		c.Version, c.Predecessors = 2, []idem.Predecessor{{ID: old.ID, Version: 1}}
		return c
	}
	h.mustNotWin(renamed("new"), idem.StateDone)
	h.mustNotWin(renamed("another"), idem.StateDone)
	h.clock.advance(window)
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1, Aliases: 2}, old.ID)
	for _, name := range []string{"new", "another"} { // one work no more
		c := claimOf(name)
		h.wantSame("row of "+name, h.mustWin(c).Work.ID, c.ID)
	}
}

func purgedMarks[Tx any](h *harness[Tx]) {
	seven := revision("A", 7)
	h.doRevision(seven)
	h.clock.advance(time.Second)
	eight := revision("B", 8)
	h.doRevision(eight)
	h.clock.advance(window - time.Second)
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1, Marks: 1}, seven.ID, eight.ID)
	h.mustWin(revision("A", 6))
	h.wantSuperseded(revision("B", 6), eight.ID)
	plain := claimOf("A7") // without an order, it holds no place
	h.doWork(plain)
	h.mustWin(revision("A", 5))
}

func purgedKinds[Tx any](h *harness[Tx]) {
	waits := func(name, scope string) idem.Claim {
		c := claimOf(name)
		c.Scope = scope
		h.doneUntil(c)
		return c
	}
	a, b, c := waits("a", "shop"), waits("b", "shop"), waits("c", "other")
	h.clock.advance(window)
	h.succeed(syncRun("1", "")) // all of them may go
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1}, a.ID)
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1, Kinds: 1}, b.ID)
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1, Kinds: 2}, c.ID)

	late := waits("a", "shop")
	h.clock.advance(window)
	h.wantRemembered(late)
	h.succeed(syncRun("2", "shop"))
	h.wantForgotten(late)
}

func purgedUntilSuccess[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.doneUntil(c)
	h.clock.advance(100 * window)
	h.wantSame("expired", len(h.expired()), 0)
	h.wantPurged(idem.Purged{}, c.ID)
	h.wantRemembered(c)
	h.succeed(syncRun("1", "shop"))
	h.wantSame("expired", h.expired(), []idem.WorkID{c.ID})
	h.wantPurged(idem.Purged{Work: 1, Attempts: 1, Kinds: 2}, c.ID)
}

// sends begins an effect that sends a message, remembered for an hour.
func (h *harness[Tx]) sends(c idem.Claim, to string) idem.EffectWrite {
	h.Helper()
	e := started(c.Fence, "mail to "+to)
	e.Message = &idem.MessageWrite{MessageID: idem.MessageID{Channel: "mail", To: to, Content: hash("text")}, TTL: time.Hour}
	h.effect(e)
	return e
}

func purgedMessages[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	for i := range 5 {
		e := h.sends(c, fmt.Sprint(i))
		e.State, e.Live = idem.EffectDone, false
		if i == 4 {
			e.State = idem.EffectGivenUp
			h.clock.advance(time.Minute)
		}
		h.effect(e)
	}
	h.clock.advance(time.Hour - time.Minute - 1)
	h.wantPurgedMessages(10, 0)
	h.clock.advance(1)
	h.wantPurgedMessages(3, 3)
	h.wantPurgedMessages(3, 2)
	h.wantPurgedMessages(3, 0)
	again := claimOf("b")
	h.mustWin(again)
	h.sends(again, "0") // as if it had never been sent
}

func doubtfulMessageStays[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	sent, unsure := h.sends(c, "1"), h.sends(c, "2")
	unsure.State = idem.EffectUnknown
	h.effect(unsure)
	h.clock.advance(2 * time.Hour)
	h.wantPurgedMessages(10, 0)
	sent.State, sent.Live = idem.EffectDone, false // after all
	h.effect(sent)
	owner := claimOf("b")
	h.mustWin(owner)
	e := started(owner.Fence, "the same")
	e.Message = sent.Message
	written, err := h.store.WriteEffect(h.ctx, e)
	if err != nil || written.Taken == nil || written.Taken.State != idem.MessageSent {
		h.Errorf("a message that was sent late: %+v, %v, want it taken", written, err)
	}
}

// Whoever claims forgotten work begins a new life of it, and whether the old one was
// purged before, after or meanwhile makes no difference.
func purgeAgainstClaims[Tx any](h *harness[Tx]) {
	const n = 60
	for i := range n {
		c := claimOf(fmt.Sprint(i))
		h.mustWin(c)
		h.effect(started(c.Fence, "of a former life"))
		h.end(done(c.Fence))
	}
	h.clock.advance(window)
	ids := h.expired()
	h.wantSame("expired", len(ids), n)
	together(n+4, func(i int) {
		if i >= n {
			if _, err := h.store.Purge(h.ctx, ids[(i-n)*n/4:(i-n+1)*n/4]); err != nil {
				h.Errorf("purge: %v", err)
			}
			return
		}
		c := claimOf(fmt.Sprint(i))
		claimed, err := h.store.Claim(h.ctx, c)
		if err != nil || !claimed.Won || claimed.Work.Attempt != 1 {
			h.Errorf("claim of forgotten work: won %t at attempt %d, %v", claimed.Won, claimed.Work.Attempt, err)
			return
		}
		if _, err := h.store.WriteEffect(h.ctx, started(c.Fence, "of this one")); err != nil {
			h.Error(err)
		}
		if i%2 == 0 {
			if _, err := h.store.End(h.ctx, done(c.Fence)); err != nil {
				h.Error(err)
			}
		}
	})
	h.wantPurged(idem.Purged{}, ids...)
	h.clock.advance(lease)
	for i := range n {
		if i%2 == 0 {
			h.mustNotWin(claimOf(fmt.Sprint(i)), idem.StateDone)
			continue
		}
		effects := h.mustWin(claimOf(fmt.Sprint(i))).Effects
		if len(effects) != 1 || effects[0].Name != "of this one" {
			h.Errorf("work %d has the effects %+v", i, effects)
		}
	}
}

func severalPurges[Tx any](h *harness[Tx]) {
	const n, purges = 40, 4
	for i := range n {
		h.doWork(claimOf(fmt.Sprint(i)))
	}
	h.clock.advance(window)
	ids := h.expired()
	var counts [purges]int
	together(purges, func(i int) {
		mine := slices.Clone(ids)
		if i%2 == 1 {
			slices.Reverse(mine)
		}
		purged, err := h.store.Purge(h.ctx, mine)
		if err != nil {
			h.Errorf("purge: %v", err)
		}
		counts[i] = purged.Work
	})
	total := 0
	for _, c := range counts {
		total += c
	}
	h.wantSame("purged by all of them", total, n)
	h.wantSame("expired after it", len(h.expired()), 0)
}

func purgeSkipsLocked[Tx any](h *harness[Tx]) {
	if h.store.ExclusiveTx() {
		h.Skip("nothing else is written while a transaction is open")
	}
	parent := claimOf("parent")
	h.mustWin(parent)
	child := h.child(parent.Fence, idem.GuardWork, "child")
	h.doneForever(child)
	h.end(done(parent.Fence))
	h.doWork(claimOf("a"))
	h.doWork(claimOf("b"))
	h.clock.advance(window)
	ids := h.expired()
	err := h.store.InTx(h.ctx, func(ctx context.Context, s idem.Session[Tx]) error {
		if _, err := s.Claim(ctx, claimOf("a")); err != nil {
			return err
		}
		if _, err := s.Claim(ctx, claimOf("child")); err != nil { // a duplicate's claim locks it too
			return err
		}
		ctx, cancel := context.WithTimeout(h.ctx, 4*time.Second)
		defer cancel()
		purged, err := h.store.Purge(ctx, ids)
		h.wantSame("purged meanwhile", purged, idem.Purged{Work: 1, Attempts: 1})
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.wantPurged(idem.Purged{Work: 2, Effects: 1, Attempts: 2}, ids...)
}
