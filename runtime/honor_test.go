package idem_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
	"github.com/idemgen/idem/runtime/idemtest"
)

// byAmount is an identity that is finer than that of orderID.
func byAmount(o order) (idem.WorkID, error) {
	b, err := canon.AppendText([]byte("order:v2:"), o.ID)
	if err != nil {
		return idem.WorkID{}, idem.IdentityError("order", "ID", err)
	}
	return idem.HashWorkID(fmt.Appendf(b, ",%d", o.Amount)), nil
}

// bumped is the contract after its identity has changed and its version with it.
func bumped(s idem.Spec[order, receipt]) idem.Spec[order, receipt] {
	s.Version, s.ID = 2, byAmount
	s.Honors = []idem.Honored[order]{{Version: 1, ID: orderID}}
	return s
}

func mustID(t *testing.T, id idem.WorkID, err error) idem.WorkID {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestHonouredWorkIsAnsweredByTheVersionThatDidNotDoIt(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
				return receipt{Ref: fmt.Sprint(w.calls.Add(1))}, nil
			})
			s.OneTransaction = oneTx
			before, after := idem.Define(w.ledger, s), idem.Define(w.ledger, bumped(s))
			for in, first := range map[order]idem.Contract[order, receipt]{{ID: "old first"}: before, {ID: "new first"}: after} {
				want, err := first.Do(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // without what the first call has learned, and with it
					for name, c := range map[string]idem.Contract[order, receipt]{"before": before, "after": after} {
						got, err := c.Do(t.Context(), in)
						if err != nil || !got.Replayed || got.Value != want.Value {
							t.Errorf("%s, %s: got %+v, %v", in.ID, name, got, err)
						}
						oldID, err := orderID(in)
						if id := mustID(t, oldID, err); got.ID != id {
							t.Errorf("%s, %s: the result names %s, and the ledger %s", in.ID, name, got.ID, id)
						}
					}
				}
			}
			w.wantCalls(2)
		})
	}
}

func TestHonouredWorkGoesOnWithItsEffects(t *testing.T) {
	w := newWorld(t)
	var keys []string
	charge := w.effect("charge")
	call := charge.Call
	charge.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		keys = append(keys, c.Key())
		return call(ctx, c, in)
	}
	mail := w.failing("mail", errBoom, nil)
	first, second := idem.IdempotencyKey(charge, time.Hour), idem.IdempotencyKey(mail, time.Hour)
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if _, err := first.Do(ctx, run, in); err != nil {
			return receipt{}, err
		}
		return second.Do(ctx, run, in)
	})
	_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1", Amount: 5})
	w.due(err)
	res, err := idem.Define(w.ledger, bumped(s)).Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil || res.Attempt != 2 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if len(keys) != 1 {
		t.Errorf("the effect that was done was called again: %v", keys)
	}
	id, err := orderID(order{ID: "1"})
	if want := idem.EffectKeyForTest(mustID(t, id, err), "charge", nil, 0); keys[0] != want {
		t.Errorf("key %s, want %s", keys[0], want)
	}
}

// Each of the two pieces is done once, and neither instead of the other.
func TestFinerPiecesOfOneOldWorkAreDoneOnceEach(t *testing.T) {
	w := newWorld(t)
	after := idem.Define(w.ledger, bumped(spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))))
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, err := after.Do(t.Context(), order{ID: "1", Amount: int64(i % 2)}); err != nil {
				t.Errorf("piece %d: %v", i%2, err)
			}
		})
	}
	group.Wait()
	w.wantCalls(2)
}

// Both pieces wait in this process for the one old work, under two names.
func TestPiecesOfOneRunningOldWorkGetItsResult(t *testing.T) {
	w := newWorld(t)
	started, release := make(chan struct{}), make(chan struct{})
	s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
		w.calls.Add(1)
		close(started)
		<-release
		return receipt{Ref: "of all"}, nil
	})
	s.Response.OtherPayload = idem.OtherPayloadReturnOriginal
	before, after := idem.Define(w.open(), s), idem.Define(w.ledger, bumped(s))
	var group sync.WaitGroup
	do := func(c idem.Contract[order, receipt], amount int64) {
		group.Go(func() {
			if res, err := c.Do(t.Context(), order{ID: "1", Amount: amount}); err != nil || res.Value.Ref != "of all" {
				t.Errorf("got %+v, %v", res, err)
			}
		})
	}
	do(before, 0)
	<-started
	for amount := range int64(4) {
		do(after, amount/2)
	}
	time.Sleep(20 * time.Millisecond)
	close(release)
	group.Wait()
	w.wantCalls(1)
}

func TestInputThatNoOldVersionTookIsNewWork(t *testing.T) {
	w := newWorld(t)
	s := bumped(spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	s.Honors[0].ID = func(order) (idem.WorkID, error) {
		return idem.WorkID{}, idem.IdentityError("order", "Number", canon.ErrEmpty)
	}
	c := idem.Define(w.ledger, s)
	res, err := c.Do(t.Context(), order{ID: "1"})
	if err != nil || res.Replayed {
		t.Fatalf("got %+v, %v", res, err)
	}
	newID, err := byAmount(order{ID: "1"})
	if id := mustID(t, newID, err); res.ID != id {
		t.Errorf("the work is %s, want %s", res.ID, id)
	}
}

func TestClaimOfAnOldWorkWhoseAcknowledgementsAreLostIsGivenBack(t *testing.T) {
	w := newWorld(t)
	lose := 100
	store := &forgetful{w.store, func() error {
		if lose--; lose >= 0 {
			return errBoom
		}
		return nil
	}}
	c := idem.Define(idem.NewLedger[*sql.Tx](store), bumped(spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))))
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrLedger)
	lose = 0
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Replayed {
		t.Errorf("the claim was not given back: %+v, %v", res, err)
	}
	w.wantCalls(1)
}

func TestHonoredVersionsComeNewestFirst(t *testing.T) {
	w := newWorld(t)
	for name, honors := range map[string][]idem.Honored[order]{
		"its own version": {{Version: 3, ID: orderID}},
		"oldest first":    {{Version: 1, ID: orderID}, {Version: 2, ID: byAmount}},
		"twice":           {{Version: 2, ID: orderID}, {Version: 2, ID: byAmount}},
		"no version":      {{ID: orderID}},
		"no derivation":   {{Version: 1}},
	} {
		s := spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))
		s.Version, s.Honors = 3, honors
		if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"}); wantIs(t, err, idem.ErrContract) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	w.wantCalls(0)
}

// A rolling deployment: programs of both versions die and take over from each
// other, wherever they are in the work.
func TestVersionsTakeOverFromEachOtherWhereverAProcessDies(t *testing.T) {
	for _, test := range []struct {
		name          string
		first, second func(idem.Spec[order, receipt]) idem.Spec[order, receipt]
	}{
		{"old then new", same, bumped},
		{"new then old", bumped, same},
		{"new then new", bumped, bumped},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			idemtest.CrashEverywhere(t, func(t *testing.T, w *idemtest.World) idemtest.Program[order, receipt, *sql.Tx] {
				p := &provider{keys: map[string]string{}, happens: func() { w.Happened("charge") }}
				processes := 0
				program := programOf(t, w, func(ledger *idem.Ledger[*sql.Tx]) idem.Spec[order, receipt] {
					charge := idem.Effect[order, receipt]{Name: "charge", Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder}}
					draft := idem.Transaction(ledger, idem.Effect[order, receipt]{Name: "draft", Payload: charge.Payload}, inserting("drafts"))
					charge.Call = func(_ context.Context, call idem.Call, _ order) (receipt, error) { return p.apply(call) }
					keyed := idem.IdempotencyKey(charge, 24*time.Hour)
					version := test.first
					if processes++; processes%2 == 0 {
						version = test.second
					}
					return version(spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
						if _, err := draft.Do(ctx, run, in); err != nil {
							return receipt{}, err
						}
						return keyed.Do(ctx, run, in)
					}))
				})
				w.Count("draft", rowsOf(t, program.Store, `select count(*) from drafts`))
				w.Count("works", rowsOf(t, program.Store, `select count(*) from work_log`))
				return program
			}, idemtest.Effect{Name: "draft", Guard: idem.GuardTransaction},
				idemtest.Effect{Name: "charge", Guard: idem.GuardIdempotencyKey, RemembersFor: 24 * time.Hour})
		})
	}
}

func same(s idem.Spec[order, receipt]) idem.Spec[order, receipt] { return s }

// What runs under the new name may be another old work, whose end this one does not
// have to wait for.
func TestOldWorkIsFinishedWhileAnotherOfItsNewNameRuns(t *testing.T) {
	w := newWorld(t)
	started, release := make(chan struct{}), make(chan struct{})
	fail := true
	s := spec(func(_ context.Context, _ *idem.Run, in order) (receipt, error) {
		if fail {
			return receipt{}, errBoom
		}
		if in.Amount == 0 {
			close(started)
			<-release
		}
		return receipt{Ref: fmt.Sprint(in.Amount)}, nil
	})
	s.ID, s.Response.OtherPayload = byAmount, idem.OtherPayloadReturnOriginal
	s.Response.WhileRunning, s.Response.Wait = idem.RunningError, 0
	_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1", Amount: 1})
	w.due(err)
	fail = false
	s.Version, s.ID, s.Honors = 3, orderID, []idem.Honored[order]{{Version: 2, ID: byAmount}}
	after := idem.Define(w.ledger, s)
	first := make(chan error, 1)
	go func() {
		_, err := after.Do(t.Context(), order{ID: "1"})
		first <- err
	}()
	<-started
	if res, err := after.Do(t.Context(), order{ID: "1", Amount: 1}); err != nil || res.Value.Ref != "1" {
		t.Errorf("the old work: %+v, %v", res, err)
	}
	_, err = after.Do(t.Context(), order{ID: "1", Amount: 2})
	wantIs(t, err, idem.ErrRunning)
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// Two old works are one by the new identity. Each that was begun is finished all
// the same, and not taken for the other one.
func TestOldWorksThatACoarserIdentityMeetsInOneGoOnByThemselves(t *testing.T) {
	w := newWorld(t)
	fail := true
	s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
		if fail {
			return receipt{}, errBoom
		}
		return receipt{Ref: fmt.Sprint(w.calls.Add(1))}, nil
	})
	s.ID, s.Response.OtherPayload = byAmount, idem.OtherPayloadReturnOriginal
	before := idem.Define(w.ledger, s)
	for amount := range int64(2) {
		_, err := before.Do(t.Context(), order{ID: "1", Amount: amount})
		w.due(err)
	}
	fail = false
	s.Version, s.ID, s.Honors = 3, orderID, []idem.Honored[order]{{Version: 2, ID: byAmount}}
	after := idem.Define(w.ledger, s)
	for range 2 {
		for amount, want := range []string{"1", "2", "1"} { // the third was never begun
			res, err := after.Do(t.Context(), order{ID: "1", Amount: int64(amount)})
			if err != nil || res.Value.Ref != want {
				t.Errorf("amount %d: got %+v, %v, want %s", amount, res, err, want)
			}
		}
	}
	w.wantCalls(2)
}

// With a coarser identity the new ID leads to one of the old works, and the claim
// that nobody heard of was made on another.
func TestUnheardClaimOfHonouredWorkIsGivenBackWhateverRowItIsOn(t *testing.T) {
	w := newWorld(t)
	var lost error
	ledger := idem.NewLedger[*sql.Tx](&forgetful{w.store, func() error { return lost }})
	failing := true
	s := spec(func(context.Context, *idem.Run, order) (receipt, error) {
		if failing {
			return receipt{}, errBoom
		}
		return receipt{}, nil
	})
	s.Response.OtherPayload = idem.OtherPayloadReturnOriginal
	old := idem.Define(ledger, s)
	s.Version, s.ID = 2, func(order) (idem.WorkID, error) { return idem.HashWorkID([]byte("order:v2:all")), nil }
	s.Honors = []idem.Honored[order]{{Version: 1, ID: orderID}}
	coarser := idem.Define(ledger, s)
	for _, in := range []order{{ID: "a"}, {ID: "b"}} {
		_, err := old.Do(t.Context(), in)
		w.due(err)
	}
	failing = false
	if _, err := coarser.Do(t.Context(), order{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	lost = errDown
	_, err := coarser.Do(t.Context(), order{ID: "b"})
	wantIs(t, err, idem.ErrLedger)
	lost = nil
	w.wantRows(0, `select count(*) from work_log where state = 'running'`)
	if _, err := coarser.Do(t.Context(), order{ID: "b"}); err != nil {
		t.Error(err)
	}
	w.wantRows(2, `select count(*) from work_log where state = 'done'`)
}
