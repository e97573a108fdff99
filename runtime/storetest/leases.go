package storetest

import (
	"context"
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func leaseTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"RenewedWorkIsNotTakenOver", renewedWork[Tx]},
		{"RenewalSaysForEachLeaseWhetherItHolds", renewEach[Tx]},
		{"ALeaseTwiceInOneRenewalCountsOnce", renewTwice[Tx]},
		{"RenewalNeverShortensALease", renewNeverShortens[Tx]},
		{"ALeaseThatIsOverAndNotTakenIsRenewed", renewLate[Tx]},
		{"ManyLeasesAreRenewedTogether", renewMany[Tx]},
	}
}

func renewedWork[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	for range 5 {
		h.clock.advance(lease - time.Microsecond)
		h.wantSame("renewal", h.renew(idem.Lease{Fence: c.Fence, For: lease}), []idem.Renewal{idem.Renewed})
		h.mustNotWin(claimOf("a"), idem.StateRunning)
	}
	h.end(done(c.Fence))
}

func renewEach[Tx any](h *harness[Tx]) {
	live, ended, never, stolen := claimOf("live"), claimOf("ended"), claimOf("never"), claimOf("live")
	h.mustWin(live)
	h.mustWin(ended)
	h.end(done(ended.Fence))
	got := h.renew(
		idem.Lease{Fence: ended.Fence, For: lease}, idem.Lease{Fence: live.Fence, For: 2 * lease},
		idem.Lease{Fence: never.Fence, For: lease}, idem.Lease{Fence: stolen.Fence, For: 3 * lease})
	h.wantSame("renewals", got, []idem.Renewal{idem.LeaseLost, idem.Renewed, idem.LeaseLost, idem.LeaseLost})
	h.wantTime("lease", h.lookup(live.ID).LockedUntil, h.clock.Now().Add(2*lease))
	h.wantSame("no lease at all", len(h.renew()), 0)
}

func renewTwice[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	got := h.renew(idem.Lease{Fence: c.Fence, For: 3 * lease}, idem.Lease{Fence: c.Fence, For: 2 * lease})
	h.wantSame("renewals", got, []idem.Renewal{idem.Renewed, idem.Renewed})
	h.wantTime("lease", h.lookup(c.ID).LockedUntil, h.clock.Now().Add(3*lease))
}

func renewNeverShortens[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.renew(idem.Lease{Fence: c.Fence, For: time.Second})
	h.wantTime("lease", h.lookup(c.ID).LockedUntil, h.clock.Now().Add(lease))
}

func renewLate[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	h.clock.advance(2 * lease)
	h.wantSame("renewal", h.renew(idem.Lease{Fence: c.Fence, For: lease}), []idem.Renewal{idem.Renewed})
	h.mustNotWin(claimOf("a"), idem.StateRunning)
}

func renewMany[Tx any](h *harness[Tx]) {
	const n = 2000
	leases := make([]idem.Lease, n)
	want := make([]idem.Renewal, n)
	err := h.store.InTx(h.ctx, func(ctx context.Context, s idem.Session[Tx]) error {
		for i := range leases {
			c := claimOf(fmt.Sprint(i))
			leases[i], want[i] = idem.Lease{Fence: c.Fence, For: 2 * lease}, idem.Renewed
			if i%3 == 0 { // somebody else's
				leases[i].Token[0] ^= 1
				want[i] = idem.LeaseLost
			}
			if _, err := s.Claim(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.Fatal(err)
	}
	h.wantSame("renewals", h.renew(leases...), want)
	h.wantTime("a renewed lease", h.lookup(leases[1].ID).LockedUntil, h.clock.Now().Add(2*lease))
	h.wantTime("another's lease", h.lookup(leases[0].ID).LockedUntil, h.clock.Now().Add(lease))
}
