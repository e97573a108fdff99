package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func messageTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"WhoStartsSecondWritesNothingAndIsToldWhoIsFirst", secondIsTold[Tx]},
		{"AfterItWasSentOthersGetItsResult", othersGetResult[Tx]},
		{"ASentMessageOutlivesItsWork", sentOutlivesWork[Tx]},
		{"AnExpiredMessageIsSentAgain", expiredIsSentAgain[Tx]},
		{"ItsOwnEffectMayGoOn", ownEffectGoesOn[Tx]},
		{"WorkThatWasForgottenMeanwhileIsNotItsOwner", forgottenSender[Tx]},
		{"WhatWasNotSentIsFreeForOthers", notSentIsFree[Tx]},
		{"WhatMayHaveBeenSentIsNot", maybeSentIsTaken[Tx]},
		{"OthersComeBackWhenItsWorkCanHaveMoved", comeBack[Tx]},
		{"AStaleOwnerClaimsNoMessage", staleOwnerClaimsNothing[Tx]},
		{"ALateOutcomeLeavesTheNextOwnersMessageAlone", lateOutcomeOfOther[Tx]},
		{"AnotherChannelRecipientOrContentIsAnotherMessage", otherMessages[Tx]},
		{"ResultsThatLookLikeNothingAreKept", falsyMessages[Tx]},
		{"OfHundredsWhoSendTheSameOneDoes", oneSender[Tx]},
		{"AMessageWithoutATimeIsRefused", messageWithoutTime[Tx]},
	}
}

const ttl = 3 * time.Hour // longer than many leases

func greeting() *idem.MessageWrite {
	return &idem.MessageWrite{MessageID: idem.MessageID{Channel: "telegram", To: "42", Content: hash("hello")}, TTL: ttl}
}

// sending is the start of an effect that sends greeting, under a key of its own.
func sending(f idem.Fence, key string) idem.EffectWrite {
	e := started(f, "mail")
	e.Key, e.Message = key, greeting()
	return e
}

// sender claims the work called name and starts to send.
func (h *harness[Tx]) sender(name string) (idem.Claim, idem.EffectWrite) {
	h.Helper()
	c := claimOf(name)
	h.mustWin(c)
	e := sending(c.Fence, "key of "+name)
	h.effect(e)
	return c, e
}

// moved writes e again with another state.
func moved(e idem.EffectWrite, state idem.EffectState) idem.EffectWrite {
	e.State, e.Live = state, false
	return e
}

// mustBeTaken starts to send in the work called name, which another effect keeps
// from it.
func (h *harness[Tx]) mustBeTaken(name string) idem.SentMessage {
	h.Helper()
	c := claimOf(name)
	c.Budget = 100
	h.mustWin(c)
	written, err := h.store.WriteEffect(h.ctx, sending(c.Fence, "key of "+name))
	if err != nil || written.Taken == nil {
		h.Fatalf("the message is not taken: %v", err)
	}
	return *written.Taken
}

func secondIsTold[Tx any](h *harness[Tx]) {
	first, _ := h.sender("a")
	taken := h.mustBeTaken("b")
	h.wantSame("message", taken, idem.SentMessage{
		State: idem.MessageSending, ID: first.ID, Effect: "mail", Key: "key of a",
		ExpiresAt: h.clock.Now().Add(ttl), Until: h.clock.Now().Add(lease),
	})
	h.wantSame("effects of the second", len(effectsOf(h, "b")), 0)
}

func othersGetResult[Tx any](h *harness[Tx]) {
	first, e := h.sender("a")
	h.clock.advance(time.Second)
	e = moved(e, idem.EffectDone)
	e.Result, e.ExternalRef, e.Error = jsonBody(`{"id":7}`), "7", "slow"
	h.effect(e)
	h.wantSame("message", h.mustBeTaken("b"), idem.SentMessage{
		State: idem.MessageSent, ID: first.ID, Effect: "mail", Key: "key of a",
		Result: e.Result, ExternalRef: "7", Error: "slow",
		SentAt: h.clock.Now(), ExpiresAt: h.clock.Now().Add(ttl), Until: h.clock.Now().Add(lease - time.Second),
	})
}

func sentOutlivesWork[Tx any](h *harness[Tx]) {
	first, e := h.sender("a")
	h.effect(moved(e, idem.EffectDone))
	end := done(first.Fence)
	end.Window = idem.For(time.Minute)
	h.end(end)
	h.clock.advance(time.Hour)
	again := h.mustBeTaken("a") // forgotten, with the same key
	h.wantSame("state", again.State, idem.MessageSent)
	h.wantSame("effects", len(effectsOf(h, "a")), 0)
}

func expiredIsSentAgain[Tx any](h *harness[Tx]) {
	_, e := h.sender("a")
	h.clock.advance(time.Minute / 2)
	h.effect(moved(e, idem.EffectDone)) // from when it counts
	h.clock.advance(ttl - time.Microsecond)
	h.mustBeTaken("b")
	h.clock.advance(time.Microsecond)
	third, _ := h.sender("c")
	taken := h.mustBeTaken("d")
	h.wantSame("message", taken, idem.SentMessage{
		State: idem.MessageSending, ID: third.ID, Effect: "mail", Key: "key of c",
		ExpiresAt: h.clock.Now().Add(ttl), Until: h.clock.Now().Add(lease),
	})
}

func ownEffectGoesOn[Tx any](h *harness[Tx]) {
	_, e := h.sender("a")
	h.effect(e) // an acknowledgement was lost
	h.clock.advance(lease)
	owner := claimOf("a")
	h.mustWin(owner)
	h.effect(sending(owner.Fence, "key of a"))
	h.wantTime("its time", h.mustBeTaken("b").ExpiresAt, h.clock.Now().Add(ttl))
	h.clock.advance(ttl)
	owner = claimOf("a")
	h.mustWin(owner)
	h.effect(sending(owner.Fence, "key of a"))
	h.mustBeTaken("c")
}

// The key is the same, since it is derived from the work: what was sent under it is
// no less a message that somebody may have got.
func forgottenSender[Tx any](h *harness[Tx]) {
	c, _ := h.sender("a")
	end := done(c.Fence) // without a word on the message
	end.Window = idem.For(time.Minute)
	h.end(end)
	h.clock.advance(time.Minute)
	h.wantSame("the message's owner", h.mustBeTaken("a").Key, "key of a")
	h.wantSame("effects", len(effectsOf(h, "a")), 0)
	h.clock.advance(ttl)
	owner := claimOf("a")
	owner.Budget = 100
	h.mustWin(owner)
	h.effect(sending(owner.Fence, "key of a"))
}

func notSentIsFree[Tx any](h *harness[Tx]) {
	for _, state := range []idem.EffectState{idem.EffectNotApplied, idem.EffectRefused} {
		_, e := h.sender("first " + string(state))
		h.effect(moved(e, state))
		_, e = h.sender("second " + string(state))
		h.effect(moved(e, state))
	}
}

func maybeSentIsTaken[Tx any](h *harness[Tx]) {
	for state, want := range map[idem.EffectState]idem.MessageState{
		idem.EffectUnknown: idem.MessageSending, idem.EffectGivenUp: idem.MessageGivenUp,
	} {
		_, e := h.sender("first " + string(state))
		e = moved(e, state)
		e.Error = "cut off"
		startedAt := h.clock.Now()
		h.clock.advance(time.Second)
		h.effect(e)
		taken := h.mustBeTaken("second " + string(state))
		h.wantSame("state", taken.State, want)
		h.wantTime("its time", taken.ExpiresAt, startedAt.Add(ttl))
		if state == idem.EffectGivenUp {
			h.wantSame("error", taken.Error, "cut off")
		}
		h.clock.advance(ttl)
		_, e = h.sender("third " + string(state))
		h.effect(moved(e, idem.EffectNotApplied))
	}
}

func comeBack[Tx any](h *harness[Tx]) {
	ends := map[idem.State]time.Duration{idem.StateUnknown: ttl, idem.StateDead: ttl, idem.StateFailed: 20 * time.Minute}
	for state, want := range ends {
		c, _ := h.sender("first " + string(state))
		h.end(idem.End{Fence: c.Fence, State: state, RetryIn: 20 * time.Minute, Window: idem.For(window)})
		h.wantTime(string(state), h.mustBeTaken("second "+string(state)).Until, h.clock.Now().Add(want))
		h.clock.advance(ttl)
	}
	c, _ := h.sender("late")
	h.end(idem.End{Fence: c.Fence, State: idem.StateFailed, RetryIn: 2 * ttl})
	h.wantTime("an attempt that comes too late to matter", h.mustBeTaken("other").Until, h.clock.Now().Add(ttl))
}

func staleOwnerClaimsNothing[Tx any](h *harness[Tx]) {
	stale := claimOf("a")
	h.mustWin(stale)
	h.clock.advance(lease)
	_, err := h.store.WriteEffect(h.ctx, sending(stale.Fence, "key of a"))
	h.wantLost("start", err)
	_, e := h.sender("b")
	h.effect(moved(e, idem.EffectDone))
	_, err = h.store.WriteEffect(h.ctx, sending(stale.Fence, "key of a"))
	h.wantLost("start of what another has sent", err)
}

func lateOutcomeOfOther[Tx any](h *harness[Tx]) {
	for _, state := range []idem.EffectState{idem.EffectDone, idem.EffectNotApplied, idem.EffectRefused, idem.EffectGivenUp, idem.EffectUnknown} {
		_, late := h.sender("late " + string(state))
		h.clock.advance(ttl)
		next, _ := h.sender("next " + string(state))
		h.effect(moved(late, state))
		taken := h.mustBeTaken("third " + string(state))
		h.wantSame(string(state)+": owner", taken.ID, next.ID)
		h.wantSame(string(state)+": state", taken.State, idem.MessageSending)
		h.clock.advance(ttl)
	}
}

func otherMessages[Tx any](h *harness[Tx]) {
	h.sender("a")
	c := claimOf("b")
	h.mustWin(c)
	for i, other := range []idem.MessageID{
		{Channel: "telegram", To: "43", Content: hash("hello")},
		{Channel: "sms", To: "42", Content: hash("hello")},
		{Channel: "telegram", To: "42", Content: hash("bye")},
	} {
		e := started(c.Fence, fmt.Sprint("mail ", i))
		e.Message = &idem.MessageWrite{MessageID: other, TTL: ttl}
		h.effect(e)
	}
}

func falsyMessages[Tx any](h *harness[Tx]) {
	for name, body := range falsy {
		_, e := h.sender("first " + name)
		e = moved(e, idem.EffectDone)
		e.Result = body
		h.effect(e)
		h.wantSame(name, h.mustBeTaken("second "+name).Result, body)
		h.clock.advance(ttl)
	}
}

func oneSender[Tx any](h *harness[Tx]) {
	const n = 200
	var senders atomic.Int64
	together(n, func(i int) {
		c := claimOf(fmt.Sprint(i))
		if claimed, err := h.store.Claim(h.ctx, c); err != nil || !claimed.Won {
			h.Errorf("claim: won %t, %v", claimed.Won, err)
			return
		}
		e := sending(c.Fence, fmt.Sprint("key ", i))
		written, err := h.store.WriteEffect(h.ctx, e)
		switch {
		case err != nil:
			h.Error(err)
		case written.Taken == nil:
			senders.Add(1)
			if _, err := h.store.WriteEffect(h.ctx, moved(e, idem.EffectDone)); err != nil {
				h.Error(err)
			}
		}
	})
	h.wantSame("senders", senders.Load(), int64(1))
}

func messageWithoutTime[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	e := sending(c.Fence, "key")
	e.Message.TTL = 0
	if _, err := h.store.WriteEffect(h.ctx, e); err == nil || errors.Is(err, idem.ErrLedger) {
		h.Errorf("got %v, want a refusal that is no failure of the ledger", err)
	}
}
