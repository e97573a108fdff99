package storetest

import (
	"context"
	"errors"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func transactionTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"ClaimEffectsAndEndCommitTogether", allTogether[Tx]},
		{"AnErrorUndoesAllAndIsReturnedAsItIs", errorUndoesAll[Tx]},
		{"APanicUndoesAllAndGoesOn", panicUndoesAll[Tx]},
		{"LeasesAreRenewedInsideATransaction", renewInside[Tx]},
		{"ASavepointUndoesItsPartAlone", savepoint[Tx]},
		{"ASavepointUndoesAPanicToo", savepointPanic[Tx]},
		{"AStaleOwnerCannotEndInATransaction", staleOwnerInTx[Tx]},
		{"AContextThatEndedIsNoFailureOfTheLedger", endedContext[Tx]},
		{"ATransactionWhoseContextEndedIsUndone", contextEndsInside[Tx]},
		{"AClosedStoreSaysSo", closedStore[Tx]},
	}
}

func (h *harness[Tx]) inTx(fn func(ctx context.Context, s idem.Session[Tx]) error) error {
	return h.store.InTx(h.ctx, fn)
}

func allTogether[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	err := h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
		claimed, err := s.Claim(ctx, c)
		if err != nil || !claimed.Won {
			h.Fatalf("claim: won %t, %v", claimed.Won, err)
		}
		h.wantSame("work as others see it", h.lookup(c.ID), idem.Work{})
		e := started(c.Fence, "draft")
		e.Guard, e.State = idem.GuardTransaction, idem.EffectDone
		if _, err := s.WriteEffect(ctx, e); err != nil {
			h.Fatal(err)
		}
		_, err = s.End(ctx, done(c.Fence))
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.wantSame("state", h.lookup(c.ID).State, idem.StateDone)
}

var errOfCaller = errors.New("the caller's own")

func errorUndoesAll[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	err := h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
		if _, err := s.Claim(ctx, c); err != nil {
			h.Fatal(err)
		}
		return errOfCaller
	})
	if err != errOfCaller { //nolint:errorlint // as it is
		h.Errorf("got %v, want the very error of the function", err)
	}
	h.wantSame("work", h.lookup(c.ID), idem.Work{})
	h.mustWin(claimOf("a"))
}

func panicUndoesAll[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	func() {
		defer func() {
			if p := recover(); p != errOfCaller {
				h.Errorf("recovered %v, want the panic of the function", p)
			}
		}()
		_ = h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
			if _, err := s.Claim(ctx, c); err != nil {
				h.Fatal(err)
			}
			panic(errOfCaller)
		})
	}()
	h.wantSame("work", h.lookup(c.ID), idem.Work{})
	h.mustWin(claimOf("a"))
}

func renewInside[Tx any](h *harness[Tx]) {
	c, other := claimOf("a"), claimOf("b")
	h.mustWin(c)
	h.mustWin(other)
	err := h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
		h.clock.advance(lease / 2)
		renewals, err := s.Renew(ctx, []idem.Lease{{Fence: c.Fence, For: lease}, {Fence: other.Fence, For: lease}})
		h.wantSame("renewals", renewals, []idem.Renewal{idem.Renewed, idem.Renewed})
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.wantTime("lease", h.lookup(other.ID).LockedUntil, h.clock.Now().Add(lease))
}

func savepoint[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	err := h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
		write := func(name string, err error) func(context.Context) error {
			return func(ctx context.Context) error {
				if _, err := s.WriteEffect(ctx, started(c.Fence, name)); err != nil {
					h.Fatal(err)
				}
				return err
			}
		}
		if err := s.Savepoint(ctx, write("kept", nil)); err != nil {
			h.Errorf("savepoint: %v", err)
		}
		if err := s.Savepoint(ctx, write("undone", errOfCaller)); err != errOfCaller { //nolint:errorlint // as it is
			h.Errorf("got %v, want the very error of the function", err)
		}
		return s.Savepoint(ctx, func(ctx context.Context) error {
			if err := s.Savepoint(ctx, write("undone inside", errOfCaller)); err == nil {
				h.Error("the inner savepoint lost its error")
			}
			return write("kept outside", nil)(ctx)
		})
	})
	if err != nil {
		h.Fatal(err)
	}
	var names []string
	for _, e := range effectsOf(h, "a") {
		names = append(names, e.Name)
	}
	h.wantSame("effects", names, []string{"kept", "kept outside"})
}

func savepointPanic[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	err := h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
		defer func() {
			if p := recover(); p != errOfCaller {
				h.Errorf("recovered %v, want the panic of the function", p)
			}
		}()
		return s.Savepoint(ctx, func(ctx context.Context) error {
			if _, err := s.WriteEffect(ctx, started(c.Fence, "mail")); err != nil {
				h.Fatal(err)
			}
			panic(errOfCaller)
		})
	})
	if err != nil {
		h.Fatal(err)
	}
	h.wantSame("effects", len(effectsOf(h, "a")), 0)
}

func staleOwnerInTx[Tx any](h *harness[Tx]) {
	stale := claimOf("a")
	h.mustWin(stale)
	h.clock.advance(lease)
	h.mustWin(claimOf("a"))
	err := h.inTx(func(ctx context.Context, s idem.Session[Tx]) error {
		_, err := s.End(ctx, done(stale.Fence))
		return err
	})
	h.wantLost("end in a transaction", err)
	h.wantSame("state", h.lookup(stale.ID).State, idem.StateRunning)
}

func endedContext[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	canceled, cancel := context.WithCancel(h.ctx)
	cancel()
	late, cancel := context.WithDeadline(h.ctx, time.Now().Add(-time.Second))
	defer cancel()
	for _, ctx := range []context.Context{canceled, late} {
		_, claimErr := h.store.Claim(ctx, claimOf("b"))
		_, effectErr := h.store.WriteEffect(ctx, started(c.Fence, "mail"))
		_, endErr := h.store.End(ctx, done(c.Fence))
		_, renewErr := h.store.Renew(ctx, []idem.Lease{{Fence: c.Fence, For: lease}})
		_, lookupErr := h.store.Lookup(ctx, c.ID)
		txErr := h.store.InTx(ctx, func(context.Context, idem.Session[Tx]) error { return nil })
		for i, err := range []error{claimErr, effectErr, endErr, renewErr, lookupErr, txErr} {
			if !errors.Is(err, ctx.Err()) || errors.Is(err, idem.ErrLedger) {
				h.Errorf("call %d: got %v, want %v and no failure of the ledger", i, err, ctx.Err())
			}
		}
	}
	h.wantSame("work that was not claimed", h.lookup(workID("b")), idem.Work{})
	h.end(done(c.Fence))
}

func contextEndsInside[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	ctx, cancel := context.WithCancel(h.ctx)
	err := h.store.InTx(ctx, func(ctx context.Context, s idem.Session[Tx]) error {
		_, err := s.Claim(ctx, c)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, idem.ErrLedger) {
		h.Errorf("got %v, want that the context was canceled", err)
	}
	h.wantSame("work", h.lookup(c.ID), idem.Work{})
	h.mustWin(claimOf("a"))
}

func closedStore[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	if err := h.store.Close(); err != nil {
		h.Fatal(err)
	}
	_, claimErr := h.store.Claim(h.ctx, claimOf("b"))
	_, effectErr := h.store.WriteEffect(h.ctx, started(c.Fence, "mail"))
	_, endErr := h.store.End(h.ctx, done(c.Fence))
	_, renewErr := h.store.Renew(h.ctx, []idem.Lease{{Fence: c.Fence, For: lease}})
	_, lookupErr := h.store.Lookup(h.ctx, c.ID)
	txErr := h.inTx(func(context.Context, idem.Session[Tx]) error { return nil })
	for i, err := range []error{claimErr, effectErr, endErr, renewErr, lookupErr, txErr} {
		if !errors.Is(err, idem.ErrClosed) {
			h.Errorf("call %d: got %v, want ErrClosed", i, err)
		}
	}
	if err := h.store.Close(); err != nil {
		h.Errorf("second Close: %v", err)
	}
}
