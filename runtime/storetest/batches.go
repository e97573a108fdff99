package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// batchTests are about writes that come at once, which a store may commit together:
// nobody may be able to tell, except by the time that it takes.
func batchTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"DuplicatesInOneBurstSeeThePayloadOfTheWinner", burstOfPayloads[Tx]},
		{"AClaimThatIsMadeTwiceInOneBurstIsOneClaim", burstOfOneClaim[Tx]},
		{"WhatOneWriteCannotStoreIsTheErrorOfThatOne", badAmongGood[Tx]},
		{"WhatIsRefusedLeavesTheOthersAsTheyAre", refusedAmongGood[Tx]},
		{"AMessageOfALostLeaseIsNotTakenFromOthers", messageOfALostLease[Tx]},
		{"CallersWhoLeaveTakeNobodyWithThem", leaversAmongStayers[Tx]},
		{"WritesAndTransactionsLetEachOtherThrough", writesAndTransactions[Tx]},
		{"EffectsOfManyWorksInOneBurstAreEachOnes", burstOfEffects[Tx]},
		{"SeveralWorksAreReadAsEachOfThem", readAll[Tx]},
		{"CloseAnswersEverybody", closeAmongWrites[Tx]},
	}
}

func burstOfPayloads[Tx any](h *harness[Tx]) {
	const n = 300
	var mu sync.Mutex
	var winner idem.Hash
	seen := make(map[idem.Hash]int)
	together(n, func(i int) {
		c := claimOf("a")
		c.PayloadHash = hash(fmt.Sprint(i))
		claimed, err := h.store.Claim(h.ctx, c)
		if err != nil {
			h.Errorf("claim: %v", err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if claimed.Won {
			winner = c.PayloadHash
		}
		seen[claimed.Work.PayloadHash]++
	})
	h.wantSame("payloads that were seen", seen, map[idem.Hash]int{winner: n})
}

func burstOfOneClaim[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	together(100, func(int) {
		claimed, err := h.store.Claim(h.ctx, c)
		if err != nil || !claimed.Won {
			h.Errorf("won %t, %v", claimed.Won, err)
		}
		h.wantSame("attempt", claimed.Work.Attempt, 1)
	})
	h.wantSame("budget", h.lookup(c.ID).BudgetLeft, c.Budget-1)
}

// owned claims n works.
func (h *harness[Tx]) owned(n int) []idem.Claim {
	h.Helper()
	claims := make([]idem.Claim, n)
	for i := range claims {
		claims[i] = claimOf(fmt.Sprint("owned ", i))
	}
	together(n, func(i int) {
		if claimed, err := h.store.Claim(h.ctx, claims[i]); err != nil || !claimed.Won {
			h.Errorf("claim: won %t, %v", claimed.Won, err)
		}
	})
	return claims
}

func badAmongGood[Tx any](h *harness[Tx]) {
	const n = 60
	owned := h.owned(n)
	bad := func(i int) bool { return i%20 == 7 }
	together(2*n, func(i int) {
		if i >= n { // new works meanwhile
			if claimed, err := h.store.Claim(h.ctx, claimOf(fmt.Sprint(i))); err != nil || !claimed.Won {
				h.Errorf("claim: won %t, %v", claimed.Won, err)
			}
			return
		}
		e := done(owned[i].Fence)
		if bad(i) {
			e.State, e.Class = idem.StateFailed, "no such class" // the tables refuse it
		}
		if _, err := h.store.End(h.ctx, e); bad(i) != (err != nil) || err != nil && !errors.Is(err, idem.ErrLedger) {
			h.Errorf("end %d: %v", i, err)
		}
	})
	for i, c := range owned {
		want := idem.StateDone
		if bad(i) {
			want = idem.StateRunning
		}
		h.wantSame("state", h.lookup(c.ID).State, want)
	}
	for i := n; i < 2*n; i++ {
		h.wantSame("state of new work", h.lookup(workID(fmt.Sprint(i))).State, idem.StateRunning)
	}
}

func refusedAmongGood[Tx any](h *harness[Tx]) {
	const n = 80
	owned := h.owned(n)
	together(n, func(i int) {
		switch i % 4 {
		case 0:
			_, err := h.store.End(h.ctx, done(owned[i].Fence))
			if err != nil {
				h.Errorf("end: %v", err)
			}
		case 1:
			stale := owned[i].Fence
			stale.Token[0]++
			_, err := h.store.End(h.ctx, done(stale))
			h.wantLost("end by a stale owner", err)
		case 2:
			stale := owned[i].Fence
			stale.Token[0]++
			_, err := h.store.WriteEffect(h.ctx, started(stale, "mail"))
			h.wantLost("effect of a stale owner", err)
		case 3:
			c := claimOf(fmt.Sprint("invalid ", i))
			c.Budget = 0
			if _, err := h.store.Claim(h.ctx, c); err == nil || errors.Is(err, idem.ErrLedger) {
				h.Errorf("invalid claim: %v, want that it is refused", err)
			}
		}
	})
	for i, c := range owned {
		want := idem.StateRunning
		if i%4 == 0 {
			want = idem.StateDone
		}
		h.wantSame("state", h.lookup(c.ID).State, want)
	}
}

func messageOfALostLease[Tx any](h *harness[Tx]) {
	stale, live := claimOf("stale"), claimOf("live")
	h.mustWin(stale)
	h.mustWin(live)
	stale.Token[0]++
	message := func(f idem.Fence, key string) idem.EffectWrite {
		e := started(f, "text")
		e.Key = key
		e.Message = &idem.MessageWrite{MessageID: idem.MessageID{Channel: "telegram", To: "chat", Content: hash("hello")}, TTL: time.Hour}
		return e
	}
	var got atomic.Int64
	together(40, func(i int) {
		if i != 20 {
			_, err := h.store.WriteEffect(h.ctx, message(stale.Fence, fmt.Sprint("stale ", i)))
			h.wantLost("message of a stale owner", err)
			return
		}
		written, err := h.store.WriteEffect(h.ctx, message(live.Fence, "live"))
		if err != nil || written.Taken != nil {
			h.Errorf("message of the owner: %+v, %v", written.Taken, err)
		}
		got.Add(1)
	})
	h.wantSame("owners who have it", got.Load(), int64(1))
}

func leaversAmongStayers[Tx any](h *harness[Tx]) {
	const n = 200
	ctx, leave := context.WithCancel(h.ctx)
	defer leave()
	var claimed sync.Map
	var started sync.WaitGroup
	started.Add(n)
	go func() {
		started.Wait()
		leave()
	}()
	together(n, func(i int) {
		started.Done()
		name := fmt.Sprint(i)
		if i%2 == 0 {
			if won, err := h.store.Claim(h.ctx, claimOf(name)); err != nil || !won.Won {
				h.Errorf("who stays: won %t, %v", won.Won, err)
			}
			claimed.Store(name, true)
			return
		}
		won, err := h.store.Claim(ctx, claimOf(name))
		switch {
		case err == nil && won.Won:
			claimed.Store(name, true)
		case !errors.Is(err, context.Canceled) || errors.Is(err, idem.ErrLedger):
			h.Errorf("who leaves: won %t, %v", won.Won, err)
		}
	})
	h.claim(claimOf("afterwards"))
	claimed.Range(func(name, _ any) bool {
		h.wantSame("state of what was claimed", h.lookup(workID(name.(string))).State, idem.StateRunning)
		return true
	})
}

func writesAndTransactions[Tx any](h *harness[Tx]) {
	const callers, each = 24, 10
	together(callers, func(i int) {
		for j := range each {
			c := claimOf(fmt.Sprint(i, " ", j))
			write := func(ctx context.Context, w idem.Writer) error {
				if claimed, err := w.Claim(ctx, c); err != nil || !claimed.Won {
					return fmt.Errorf("claim: won %t, %w", claimed.Won, err)
				}
				_, err := w.End(ctx, done(c.Fence))
				return err
			}
			err := write(h.ctx, h.store)
			if i%3 == 0 {
				c = claimOf(fmt.Sprint("tx ", i, " ", j))
				err = h.inTx(func(ctx context.Context, s idem.Session[Tx]) error { return write(ctx, s) })
			}
			if err != nil {
				h.Error(err)
			}
			h.wantSame("state", h.lookup(c.ID).State, idem.StateDone)
		}
	})
}

func burstOfEffects[Tx any](h *harness[Tx]) {
	const n, each = 40, 5
	owned := h.owned(n)
	together(n*each, func(i int) {
		e := started(owned[i%n].Fence, fmt.Sprint("effect ", i/n))
		e.Key = fmt.Sprint(i)
		if _, err := h.store.WriteEffect(h.ctx, e); err != nil {
			h.Errorf("start: %v", err)
		}
		e.State, e.Result = idem.EffectDone, jsonBody(fmt.Sprint(i))
		if _, err := h.store.WriteEffect(h.ctx, e); err != nil {
			h.Errorf("done: %v", err)
		}
	})
	for i := range n {
		results := make(map[string]string)
		for _, e := range effectsOf(h, fmt.Sprint("owned ", i)) {
			results[e.Name] = string(e.Result.Data)
		}
		want := make(map[string]string)
		for j := range each {
			want[fmt.Sprint("effect ", j)] = fmt.Sprint(i + j*n)
		}
		h.wantSame("results", results, want)
	}
}

func readAll[Tx any](h *harness[Tx]) {
	h.mustWin(claimOf("running"))
	ended := claimOf("done")
	h.mustWin(ended)
	h.end(done(ended.Fence))
	old := claimOf("forgotten")
	h.mustWin(old)
	e := done(old.Fence)
	e.Window = idem.For(time.Second)
	h.end(e)
	former := as(1, "old name")
	h.mustWin(former)
	h.end(idem.End{Fence: former.Fence, State: idem.StateFailed})
	h.mustWin(as(2, "new name", "old name"))
	h.clock.advance(time.Second)

	var ids []idem.WorkID
	for _, name := range []string{"new name", "running", "nobody's", "done", "running", "forgotten", "old name"} {
		ids = append(ids, workID(name))
	}
	works, err := h.store.LookupAll(h.ctx, ids)
	if err != nil {
		h.Fatal(err)
	}
	h.wantSame("works", len(works), len(ids))
	for i, id := range ids {
		h.wantSame("work", works[i], h.lookup(id))
	}
	none, err := h.store.LookupAll(h.ctx, nil)
	if err != nil || len(none) != 0 {
		h.Errorf("of no IDs: %v, %v", none, err)
	}
}

func closeAmongWrites[Tx any](h *harness[Tx]) {
	const n = 200
	var answered atomic.Int64
	together(n+1, func(i int) {
		if i == n/2 {
			if err := h.store.Close(); err != nil {
				h.Errorf("close: %v", err)
			}
			return
		}
		claimed, err := h.store.Claim(h.ctx, claimOf(fmt.Sprint(i)))
		if err == nil && !claimed.Won || err != nil && !errors.Is(err, idem.ErrClosed) {
			h.Errorf("won %t, %v", claimed.Won, err)
		}
		answered.Add(1)
	})
	h.wantSame("answers", answered.Load(), int64(n))
}
