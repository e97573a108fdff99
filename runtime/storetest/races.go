package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	idem "github.com/idemgen/idem/runtime"
)

func raceTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"OfHundredsOfClaimantsOneWins", oneWinner[Tx]},
		{"OfHundredsWhoTakeOverOneWins", oneTakeover[Tx]},
		{"ConcurrentOwnersAllComplete", allComplete[Tx]},
		{"ConcurrentEffectsOfOneWorkAreAllKept", concurrentEffects[Tx]},
		{"TheLoserOfATakeoverCannotComplete", loserCannotComplete[Tx]},
	}
}

// together runs fn n times at once.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

func (h *harness[Tx]) countWinners(n int, want idem.State) {
	h.Helper()
	var winners atomic.Int64
	together(n, func(int) {
		claimed, err := h.store.Claim(h.ctx, claimOf("a"))
		switch {
		case err != nil:
			h.Errorf("claim: %v", err)
		case claimed.Won:
			winners.Add(1)
		case claimed.Work.State != want:
			h.Errorf("loser sees %q, want %q", claimed.Work.State, want)
		}
	})
	h.wantSame("winners", winners.Load(), int64(1))
}

func oneWinner[Tx any](h *harness[Tx]) {
	h.countWinners(400, idem.StateRunning)
	h.wantSame("attempt", h.lookup(workID("a")).Attempt, 1)
}

func oneTakeover[Tx any](h *harness[Tx]) {
	h.mustWin(claimOf("a"))
	h.clock.advance(lease)
	h.countWinners(400, idem.StateRunning)
	work := h.lookup(workID("a"))
	h.wantSame("attempt", work.Attempt, 2)
	h.wantSame("budget", work.BudgetLeft, 1)
}

func allComplete[Tx any](h *harness[Tx]) {
	const n = 100
	together(n, func(i int) {
		c := claimOf(fmt.Sprint(i))
		claimed, err := h.store.Claim(h.ctx, c)
		if err != nil || !claimed.Won {
			h.Errorf("claim: won %t, %v", claimed.Won, err)
			return
		}
		if _, err := h.store.WriteEffect(h.ctx, started(c.Fence, "mail")); err != nil {
			h.Error(err)
		}
		if _, err := h.store.Renew(h.ctx, []idem.Lease{{Fence: c.Fence, For: lease}}); err != nil {
			h.Error(err)
		}
		e := done(c.Fence)
		e.Result = jsonBody(fmt.Sprint(i))
		if _, err := h.store.End(h.ctx, e); err != nil {
			h.Error(err)
		}
	})
	for i := range n {
		work := h.lookup(workID(fmt.Sprint(i)))
		h.wantSame("state", work.State, idem.StateDone)
		h.wantSame("result", work.Result, jsonBody(fmt.Sprint(i)))
	}
}

func concurrentEffects[Tx any](h *harness[Tx]) {
	const n = 100
	c := claimOf("a")
	h.mustWin(c)
	together(2*n, func(i int) {
		if _, err := h.store.WriteEffect(h.ctx, started(c.Fence, fmt.Sprint(i%n))); err != nil {
			h.Error(err)
		}
	})
	seen := map[string]bool{}
	for _, e := range effectsOf(h, "a") {
		seen[e.Name] = true
	}
	h.wantSame("effects", len(seen), n)
}

func loserCannotComplete[Tx any](h *harness[Tx]) {
	loser := claimOf("a")
	h.mustWin(loser)
	h.clock.advance(lease)
	winner := claimOf("a")
	var won, lost atomic.Int64
	together(40, func(i int) {
		switch {
		case i == 20:
			claimed, err := h.store.Claim(h.ctx, winner)
			if err != nil {
				h.Error(err)
			}
			if claimed.Won {
				won.Add(1)
			}
		case i > 20:
			if _, err := h.store.End(h.ctx, done(loser.Fence)); errors.Is(err, idem.ErrLeaseLost) {
				lost.Add(1)
			} else if err != nil {
				h.Error(err)
			}
		}
	})
	// Either the takeover came first, and all of the loser's ends failed, or one
	// end came first, and there was nothing to take over.
	wantLost := int64(18)
	if won.Load() == 1 {
		wantLost = 19
	}
	h.wantSame("refused ends", lost.Load(), wantLost)
}
