package storetest

import (
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func effectTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"TakeoverSeesTheEffectsOfEarlierAttempts", takeoverSeesEffects[Tx]},
		{"NothingStartsOnceTheLeaseIsOver", nothingStartsLate[Tx]},
		{"AnOutcomeIsWrittenEvenIfTheLeaseIsOver", lateOutcome[Tx]},
		{"AnEffectKeepsItsStartUnlessItIsRestarted", effectKeepsItsStart[Tx]},
		{"AnEffectKeepsItsInputUnlessGivenAnother", effectKeepsItsInput[Tx]},
		{"EffectsOfOneNameAreToldApartByPer", effectsPer[Tx]},
		{"AStartThatIsWrittenTwiceCountsOnce", startTwice[Tx]},
		{"OnlyFinalEffectsHaveATimeOfCompletion", effectDoneAt[Tx]},
		{"AnEffectOfWorkThatNobodyClaimedIsRefused", effectWithoutWork[Tx]},
	}
}

// effectsOf takes the work over to see its effects.
func effectsOf[Tx any](h *harness[Tx], name string) []idem.EffectRow {
	h.Helper()
	h.clock.advance(10 * lease)
	c := claimOf(name)
	c.Budget = 100
	return h.mustWin(c).Effects
}

func takeoverSeesEffects[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	charge := started(c.Fence, "charge")
	charge.Guard, charge.Epoch, charge.Calls, charge.VisibleAfter = idem.GuardIdempotencyKey, 2, 3, time.Minute
	startedAt := h.effect(charge)
	h.wantTime("start", startedAt, h.clock.Now())
	h.clock.advance(time.Second)
	h.effect(started(c.Fence, "mail"))
	charge.State, charge.Result, charge.ExternalRef, charge.Error = idem.EffectDone, jsonBody(`{"id":"pi_1"}`), "pi_1", "slow"
	h.effect(charge)
	doneAt := h.clock.Now()

	h.clock.advance(lease)
	owner := claimOf("a")
	effects := h.mustWin(owner).Effects
	want := []idem.EffectRow{{
		EffectID: idem.EffectID{Name: "charge"}, Guard: idem.GuardIdempotencyKey, State: idem.EffectDone,
		Key: "key of charge", Epoch: 2, Calls: 3, VisibleAfter: time.Minute, PayloadHash: hash("charge"), PayloadShape: "shape of charge", Input: charge.Input, Result: charge.Result,
		ExternalRef: "pi_1", LastError: "slow", StartedAt: startedAt, DoneAt: doneAt,
	}, {
		EffectID: idem.EffectID{Name: "mail"}, Guard: idem.GuardOnce, State: idem.EffectStarted,
		Key: "key of mail", PayloadHash: hash("mail"), PayloadShape: "shape of mail", Input: jsonBody(`{"to":"mail"}`), StartedAt: doneAt,
	}}
	h.wantSame("effects", effects, want)
}

func nothingStartsLate[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.clock.advance(lease)
	_, err := h.store.WriteEffect(h.ctx, started(c.Fence, "mail"))
	h.wantLost("start at the end of the lease", err)
	h.renew(idem.Lease{Fence: c.Fence, For: lease})
	h.effect(started(c.Fence, "mail"))
}

func lateOutcome[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.effect(started(c.Fence, "mail"))
	h.clock.advance(2 * lease)
	e := started(c.Fence, "mail")
	e.Live, e.State = false, idem.EffectDone
	h.effect(e)
	h.wantSame("state", effectsOf(h, "a")[0].State, idem.EffectDone)
}

func effectKeepsItsStart[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	first := h.effect(started(c.Fence, "mail"))
	h.clock.advance(time.Second)
	h.wantTime("start, written again", h.effect(started(c.Fence, "mail")), first)
	again := started(c.Fence, "mail")
	again.Restart = true
	h.wantTime("restart", h.effect(again), first.Add(time.Second))
	h.clock.advance(time.Second)
	again.Restart, again.State = false, idem.EffectDone
	h.wantTime("start of the done effect", h.effect(again), first.Add(time.Second))
}

func startTwice[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	e := started(c.Fence, "mail")
	e.Calls = 1
	h.effect(e)
	h.effect(e) // its acknowledgement was lost
	e.State = idem.EffectNotApplied
	h.effect(e)
	h.wantSame("calls", effectsOf(h, "a")[0].Calls, 1)
}

func effectKeepsItsInput[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	e := started(c.Fence, "mail")
	input := e.Input
	h.effect(e)
	e.Input, e.State = idem.Body{}, idem.EffectNotApplied
	h.effect(e)
	h.wantSame("input", effectsOf(h, "a")[0].Input, input)

	owner := claimOf("b")
	h.mustWin(owner)
	e = started(owner.Fence, "mail")
	h.effect(e)
	e.Input = jsonBody(`null`)
	h.effect(e)
	h.wantSame("other input", effectsOf(h, "b")[0].Input, jsonBody(`null`))
}

func effectsPer[Tx any](h *harness[Tx]) {
	const n = 25
	c := claimOf("a")
	h.mustWin(c)
	for i := n; i > 0; i-- {
		e := started(c.Fence, "line")
		e.Per, e.Key = fmt.Sprintf("%064d", i), fmt.Sprint(i)
		h.effect(e)
	}
	other := claimOf("b")
	h.mustWin(other)
	h.effect(started(other.Fence, "line"))
	effects := effectsOf(h, "a")
	h.wantSame("number of effects", len(effects), n)
	for i, e := range effects {
		h.wantSame("key, in the order of the first starts", e.Key, fmt.Sprint(n-i))
		h.wantSame("per", e.Per, fmt.Sprintf("%064d", n-i))
	}
}

func effectDoneAt[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	final := map[idem.EffectState]bool{
		idem.EffectStarted: false, idem.EffectNotApplied: false, idem.EffectUnknown: false,
		idem.EffectDone: true, idem.EffectRefused: true, idem.EffectGivenUp: true,
	}
	for state := range final {
		e := started(c.Fence, string(state))
		e.State = state
		h.effect(e)
	}
	doneAt := h.clock.Now()
	effects := effectsOf(h, "a")
	h.wantSame("number of effects", len(effects), len(final))
	for _, e := range effects {
		want := time.Time{}
		if final[e.State] {
			want = doneAt
		}
		h.wantTime(string(e.State), e.DoneAt, want)
	}
}

func effectWithoutWork[Tx any](h *harness[Tx]) {
	_, err := h.store.WriteEffect(h.ctx, started(claimOf("a").Fence, "mail"))
	h.wantLost("effect", err)
	h.mustWin(claimOf("a"))
	h.wantSame("effects", len(effectsOf(h, "a")), 0)
}
