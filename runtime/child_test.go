package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
)

// childSpec is a contract that other work has for a child.
func childSpec(handle func(ctx context.Context, run *idem.Run, in order) (receipt, error)) idem.Spec[order, receipt] {
	s := spec(handle)
	s.Kind = "child"
	s.ID = func(in order) (idem.WorkID, error) { return idem.HashWorkID([]byte("child:v1:" + in.ID)), nil }
	return s
}

// family is a parent whose one effect is a child, and the child's row ID for an
// order.
func family(l *idem.Ledger[*sql.Tx], s idem.Spec[order, receipt]) idem.Contract[order, receipt] {
	return idem.Define(l, spec(one(idem.Child("ship", idem.Define(l, s)))))
}

func (w *world) wantRows(want int, query string, args ...any) {
	w.t.Helper()
	if got := w.rows(query, args...); got != want {
		w.t.Errorf("%d rows, want %d: %s", got, want, query)
	}
}

func TestChildDoesItsWorkOnceAndAnswersItsParent(t *testing.T) {
	w := newWorld(t)
	parent := family(w.ledger, childSpec(one(idem.Repeatable(w.effect("send")))))
	first, err := parent.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil || first.Value.Ref != "ref-1" || first.ExternalRef != "ref-1" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := parent.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil || !again.Replayed || again.Value != first.Value {
		t.Errorf("%+v, %v", again, err)
	}
	w.wantCalls(1)
	w.wantRows(1, `select count(*) from work_log c join effect_log e on e.effect_key = c.work_id
		where c.kind = 'child' and c.state = 'done' and c.expires_at is null and e.guard = 'work' and e.state = 'done' and e.input is null`)
}

// The child's ID is the effect's key: another program can derive it.
func TestChildIsNamedAfterItsParentAndItself(t *testing.T) {
	w := newWorld(t)
	child := childSpec(func(context.Context, *idem.Run, order) (receipt, error) { return receipt{}, nil })
	parent := family(w.ledger, child)
	if _, err := parent.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	parentID, err := parent.ID(order{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	own, err := child.ID(order{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	id := idem.HashWorkID([]byte(parentID.String() + `:ship:["` + own.String() + `"]`))
	w.wantRows(1, `select count(*) from work_log where kind = 'child' and work_id = ?`, id.String())
}

// While the child waits, its parent's attempts are not used up: the child's count.
func TestParentWaitsForItsChildWithoutUsingAttempts(t *testing.T) {
	w := newWorld(t)
	boom := errors.New("boom")
	s := childSpec(one(idem.Repeatable(w.failing("send", idem.NotApplied(boom), idem.NotApplied(boom), idem.NotApplied(boom), nil))))
	child := idem.Define(w.ledger, s)
	p := spec(one(idem.Child("ship", child)))
	p.Retry.MaxAttempts = 2
	p.Retry.Permanent = []idem.ErrorMatch{idem.MatchValue("boom", boom)} // of the parent's own effects
	parent := idem.Define(w.ledger, p)
	for range 3 {
		_, err := parent.Do(t.Context(), order{ID: "1"})
		if !errors.Is(err, boom) {
			t.Errorf("the cause is lost: %v", err)
		}
		w.wantRows(1, `select count(*) from work_log p, work_log c where p.kind = 'order' and c.kind = 'child'
			and p.state = 'failed' and c.state = 'failed' and p.budget_left = 2 and abs(p.next_attempt_at - c.next_attempt_at) < 1000000`)
		w.due(err)
	}
	result, err := parent.Do(t.Context(), order{ID: "1"})
	if err != nil || result.Value.Ref == "" {
		t.Fatalf("%+v, %v", result, err)
	}
	w.wantCalls(4)
}

func TestParentComesBackWhenTheOtherOwnerOfItsChildIsGone(t *testing.T) {
	w := newWorld(t)
	handled := 0
	child := childSpec(func(context.Context, *idem.Run, order) (receipt, error) { handled++; return receipt{Ref: "r"}, nil })
	parent := family(w.ledger, child)
	if _, err := parent.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	// As if the process had died inside the child, and its parent's lease were over.
	until := w.clock.now().Add(40 * time.Second).UnixMicro()
	w.exec(`update work_log set state = 'running', attempt_ended_at = null, outcome = null, claim_token = randomblob(16), done_at = null, result = null, result_codec = '', locked_until = ? where kind = 'child'`, until)
	w.exec(`update work_log set state = 'failed', next_attempt_at = 0, done_at = null, expires_at = null where kind = 'order'`)
	w.exec(`update effect_log set state = 'started', done_at = null, result = null, result_codec = ''`)
	_, err := parent.Do(t.Context(), order{ID: "1"})
	e := wantIs(t, err, idem.ErrRetryLater)
	if !errors.Is(err, idem.ErrRunning) || handled != 1 {
		t.Errorf("%v after %d runs", err, handled)
	}
	if late := e.RetryAt.UnixMicro() - until; late < 0 || late > 1_000_000 {
		t.Errorf("due %d µs after the child's lease", late)
	}
	w.due(err)
	if _, err := parent.Do(t.Context(), order{ID: "1"}); err != nil || handled != 2 {
		t.Errorf("%v after %d runs", err, handled)
	}
}

// Nobody can resolve the parent's effect but by resolving the child: the parent
// stays due, so that it goes on at its next delivery once a person has decided.
func TestParentGoesOnOnceAPersonHasDecidedAboutItsChild(t *testing.T) {
	w := newWorld(t)
	parent := family(w.ledger, childSpec(one(idem.Once(w.failing("send", idem.Unknown(errors.New("cut off"))), idem.Ask))))
	for range 8 { // more often than it has attempts
		_, err := parent.Do(t.Context(), order{ID: "1"})
		if !errors.Is(err, idem.ErrOutcomeUnknown) {
			t.Fatalf("%v does not say that the outcome is unknown", err)
		}
		w.due(err)
	}
	w.wantCalls(1)
	w.wantRows(1, `select count(*) from work_log where state = 'unknown'`)
	// The person: it has happened.
	w.exec(`update effect_log set state = 'done', result = cast('{"ref":"found"}' as blob), result_codec = 'json', done_at = 0 where effect = 'send'`)
	w.exec(`update work_log set state = 'failed', next_attempt_at = 0 where kind = 'child'`)
	result, err := parent.Do(t.Context(), order{ID: "1"})
	if err != nil || result.Value.Ref != "found" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(1)
}

// A dead child is a permanent error of the effect, until a person has it replayed.
func TestDeadChildBuriesItsParentAndAReplayedOneGoesOn(t *testing.T) {
	w := newWorld(t)
	parent := family(w.ledger, childSpec(one(idem.Repeatable(w.failing("send", idem.Permanent(errors.New("no such street")))))))
	_, err := parent.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	if !errors.Is(err, idem.ErrEffectRefused) || !strings.Contains(err.Error(), "no such street") {
		t.Error(err)
	}
	replay := `update work_log set state = 'failed', next_attempt_at = 0, done_at = null, expires_at = null, budget_left = 5 where kind = ?`
	w.exec(replay, "order")
	_, err = parent.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	w.wantCalls(1) // a dead child is not run again by its parent's replay
	w.exec(replay, "order")
	w.exec(replay, "child")
	w.exec(`delete from effect_log where effect = 'send'`)
	if result, err := parent.Do(t.Context(), order{ID: "1"}); err != nil || result.Value.Ref == "" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(2)
}

// A handler may swallow what its child says; its work does not complete without it.
func TestParentDoesNotCompleteWithoutItsChild(t *testing.T) {
	w := newWorld(t)
	ship := idem.Child("ship", idem.Define(w.ledger, childSpec(one(idem.Repeatable(w.failing("send", idem.NotApplied(errors.New("boom"))))))))
	parent := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, _ = ship.Do(ctx, run, in)
		return receipt{Ref: "swallowed"}, nil
	}))
	_, err := parent.Do(t.Context(), order{ID: "1"})
	w.due(err)
	w.wantRows(1, `select count(*) from work_log where kind = 'order' and state = 'failed' and budget_left = 5`)
	if _, err := parent.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Error(err)
	}
}

// An attempt in which something else has failed too is counted.
func TestOnlyWaitingIsGivenBack(t *testing.T) {
	for name, test := range map[string]struct {
		fail func(waits error) error
		left int
	}{
		"wrapped":      {func(waits error) error { return fmt.Errorf("ship it: %w", waits) }, 5},
		"with another": {func(waits error) error { return errors.Join(waits, errors.New("disk full")) }, 4},
		"two waits":    {func(waits error) error { return errors.Join(waits, waits) }, 5},
		"a sentinel":   {func(waits error) error { return fmt.Errorf("%w: %w", sql.ErrNoRows, waits) }, 5},
		"instead":      {func(waits error) error { return errors.New("something else") }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ship := idem.Child("ship", idem.Define(w.ledger, childSpec(func(context.Context, *idem.Run, order) (receipt, error) {
				return receipt{}, errors.New("boom")
			})))
			parent := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
				_, err := ship.Do(ctx, run, in)
				return receipt{}, test.fail(err)
			}))
			_, err := parent.Do(t.Context(), order{ID: "1"})
			wantIs(t, err, idem.ErrRetryLater)
			w.wantRows(1, `select count(*) from work_log where kind = 'order' and budget_left = ?`, test.left)
		})
	}
}

func TestChildrenOfOneEffectAreToldApartByWhatTheyAre(t *testing.T) {
	w := newWorld(t)
	ship := idem.Child("ship", idem.Define(w.ledger, childSpec(one(idem.Repeatable(w.effect("send"))))))
	parent := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		var refs []string
		for _, id := range []string{"a", "b", "a"} {
			out, err := ship.Do(ctx, run, order{ID: id})
			if err != nil {
				return receipt{}, err
			}
			refs = append(refs, out.Ref)
		}
		return receipt{Ref: strings.Join(refs, " ")}, nil
	}))
	for _, id := range []string{"1", "2"} { // of two parents each has its own
		result, err := parent.Do(t.Context(), order{ID: id})
		refs := strings.Fields(result.Value.Ref)
		if err != nil || len(refs) != 3 || refs[0] != refs[2] || len(slices.Compact(refs)) != 3 {
			t.Errorf("%+v, %v", result, err)
		}
	}
	w.wantCalls(4)
}

func TestChildWithAnotherInputStopsItsParent(t *testing.T) {
	w := newWorld(t)
	amount := int64(0)
	define := func(other idem.OtherPayload) idem.Contract[order, receipt] {
		s := childSpec(one(idem.Repeatable(w.effect("send"))))
		s.Response.OtherPayload = other
		ship := idem.Child("ship", idem.Define(w.ledger, s))
		return idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
			amount++
			if out, err := ship.Do(ctx, run, order{ID: in.ID, Amount: amount}); err != nil || amount > 1 {
				return out, err
			}
			return receipt{}, errors.New("not yet")
		}))
	}
	for other, want := range map[idem.OtherPayload]error{idem.OtherPayloadError: idem.ErrEffectDiverged, idem.OtherPayloadReturnOriginal: nil} {
		amount = 0
		in := order{ID: fmt.Sprint(other)}
		_, err := define(other).Do(t.Context(), in)
		w.due(err)
		if _, err = define(other).Do(t.Context(), in); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", other, err, want)
		}
	}
}

// A forgotten parent is new work, and so are its children and theirs.
func TestForgottenParentTakesItsChildrenAlong(t *testing.T) {
	w := newWorld(t)
	leaf := childSpec(one(idem.Repeatable(w.effect("send"))))
	leaf.Kind = "leaf"
	middle := childSpec(one(idem.Child("deeper", idem.Define(w.ledger, leaf))))
	parent := family(w.ledger, middle)
	for life := range 2 {
		result, err := parent.Do(t.Context(), order{ID: "1"})
		if err != nil || result.Replayed {
			t.Fatalf("%+v, %v", result, err)
		}
		w.wantCalls(int64(life + 1))
		w.wantRows(3, `select count(*) from work_log where state = 'done'`)
		w.wantRows(3, `select count(*) from effect_log`)
		w.wantRows(3, `select count(*) from attempt_log`)
		w.clock.advance(25 * time.Hour)
	}
}

func TestChildOverAnotherLedgerIsRefused(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	elsewhere := idem.Define(other.ledger, childSpec(one(idem.Repeatable(w.effect("send")))))
	_, err := idem.Define(w.ledger, spec(one(idem.Child("ship", elsewhere)))).Do(t.Context(), order{ID: "1"})
	if !errors.Is(err, idem.ErrContract) {
		t.Error(err)
	}
	w.wantCalls(0)
	_, err = idem.Define(w.ledger, spec(one(idem.Child[order, receipt]("ship", nil)))).Do(t.Context(), order{ID: "2"})
	if !errors.Is(err, idem.ErrContract) {
		t.Error(err)
	}
}

// TestFamiliesKeepTheirPromisesWhereverTheProcessDies crashes a parent with an
// effect of its own and a child with another at every point in turn.
func TestFamiliesKeepTheirPromisesWhereverTheProcessDies(t *testing.T) {
	type effect = idem.Effect[order, receipt]
	type guarded = *idem.Guarded[order, receipt]
	for name, test := range map[string]struct {
		oneTx   bool
		guard   func(l *idem.Ledger[*sql.Tx], e effect) guarded
		promise idemtest.Effect
	}{
		"a child with a key": {
			guard:   func(_ *idem.Ledger[*sql.Tx], e effect) guarded { return idem.IdempotencyKey(e, 24*time.Hour) },
			promise: idemtest.Effect{Guard: idem.GuardIdempotencyKey, RemembersFor: 24 * time.Hour},
		},
		"a child that asks": {
			guard:   func(_ *idem.Ledger[*sql.Tx], e effect) guarded { return idem.Once(e, idem.Ask) },
			promise: idemtest.Effect{Guard: idem.GuardOnce, IfUnknown: idem.Ask},
		},
		"a child in one transaction": {
			oneTx: true,
			guard: func(l *idem.Ledger[*sql.Tx], e effect) guarded {
				return idem.Transaction(l, e, inserting("drafts"))
			},
			promise: idemtest.Effect{Guard: idem.GuardTransaction},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.promise.Name = "child.send"
			idemtest.CrashEverywhere(t, func(t *testing.T, w *idemtest.World) idemtest.Program[order, receipt, *sql.Tx] {
				p := &provider{keys: map[string]string{}, happens: func() { w.Happened("send") }}
				if test.promise.Guard == idem.GuardOnce {
					p.keys = nil
				}
				program := programOf(t, w, func(ledger *idem.Ledger[*sql.Tx]) idem.Spec[order, receipt] {
					send := effect{Name: "send", Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder}}
					book := send
					book.Name = "book"
					send.Call = func(_ context.Context, call idem.Call, _ order) (receipt, error) { return p.apply(call) }
					child := childSpec(one(test.guard(ledger, send)))
					child.OneTransaction = test.oneTx
					ship, booked := idem.Child("ship", idem.Define(ledger, child)), idem.Transaction(ledger, book, inserting("booked"))
					return spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
						out, err := ship.Do(ctx, run, in)
						if err != nil {
							return receipt{}, err
						}
						_, err = booked.Do(ctx, run, in)
						return out, err
					})
				})
				w.Count("book", rowsOf(t, program.Store, `select count(*) from booked`))
				w.Count("works of the child", rowsOf(t, program.Store, `select count(*) from work_log where kind = 'child'`))
				w.Count("works that are done", rowsOf(t, program.Store, `select count(*) from work_log where state = 'done'`))
				w.Count("children that their parents know to be done", rowsOf(t, program.Store,
					`select count(*) from effect_log e join work_log c on c.work_id = e.effect_key where e.guard = 'work' and e.state = 'done'`))
				if test.oneTx {
					w.Count("send", rowsOf(t, program.Store, `select count(*) from drafts`))
				}
				return program
			}, idemtest.Effect{Name: "ship", Guard: idem.GuardWork}, idemtest.Effect{Name: "book", Guard: idem.GuardTransaction}, test.promise)
		})
	}
}

// secondVersion is the child's contract with another identity, which honours the
// first one's.
func secondVersion(handle func(ctx context.Context, run *idem.Run, in order) (receipt, error)) idem.Spec[order, receipt] {
	s := childSpec(handle)
	first := s.ID
	s.Version, s.Honors = 2, []idem.Honored[order]{{Version: 1, ID: first}}
	s.ID = func(in order) (idem.WorkID, error) { return idem.HashWorkID([]byte("child:v2:" + in.ID)), nil }
	return s
}

// A deploy raises the child's version while a parent waits for its child.
func TestBegunChildGoesOnUnderTheVersionThatHonoursIt(t *testing.T) {
	w := newWorld(t)
	send := idem.Repeatable(w.failing("send", idem.NotApplied(errors.New("boom")), nil))
	_, err := family(w.ledger, childSpec(one(send))).Do(t.Context(), order{ID: "1"})
	w.due(err)
	deployed := family(w.ledger, secondVersion(one(send)))
	if result, err := deployed.Do(t.Context(), order{ID: "1"}); err != nil || result.Value.Ref == "" {
		t.Fatalf("%+v, %v", result, err)
	}
	w.wantRows(1, `select count(*) from work_log where kind = 'child' and attempt = 2 and state = 'done'`)
	w.wantRows(1, `select count(*) from work_log where kind = 'child'`)
	// Begun by the new version, the old one's binaries find the same child.
	if _, err := deployed.Do(t.Context(), order{ID: "2"}); err != nil {
		t.Fatal(err)
	}
	w.wantRows(2, `select count(*) from work_log where kind = 'child'`)
	w.wantCalls(3)
}

// In a rolling deploy an old binary takes a parent over that a new one began: it
// asks for the child by its old name. It must not do it again, nor take what the new
// one has begun for something else.
func TestBinariesOfTwoVersionsTakeOneAnothersParentsOver(t *testing.T) {
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		first  []error // what the child's effect gives
		killed string  // what the first attempt is as if it had not come to
		calls  int64
	}{
		"once the child is done":               {calls: 1},
		"while the child waits":                {first: []error{idem.NotApplied(boom)}, calls: 2},
		"once the child has been done, unseen": {killed: `update effect_log set state = 'started', done_at = null, result = null, result_codec = '' where guard = 'work'`, calls: 1},
		"before the child has begun": {calls: 2, killed: `update effect_log set state = 'started', done_at = null, result = null, result_codec = '', effect_key = substr(effect_key, 2) || '0' where guard = 'work';
			delete from work_log where kind = 'child'; delete from work_alias; delete from attempt_history where work_id not in (select work_id from work_log);
			delete from effect_log where work_id not in (select work_id from work_log)`},
	} {
		for which, newFirst := range map[string]bool{"new first": true, "old first": false} {
			t.Run(name+", "+which, func(t *testing.T) {
				w := newWorld(t)
				send := idem.Repeatable(w.failing("send", test.first...))
				fail := true
				define := func(s idem.Spec[order, receipt]) idem.Contract[order, receipt] {
					ship := idem.Child("ship", idem.Define(w.ledger, s))
					return idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
						out, err := ship.Do(ctx, run, in)
						if fail {
							err = errors.Join(err, errors.New("killed here"))
						}
						return out, err
					}))
				}
				binaries := []idem.Contract[order, receipt]{define(secondVersion(one(send))), define(childSpec(one(send)))}
				if !newFirst {
					slices.Reverse(binaries)
				}
				_, err := binaries[0].Do(t.Context(), order{ID: "1"})
				w.due(err)
				w.clock.advance(time.Minute) // the child may be due later
				if test.killed != "" {
					w.exec(test.killed)
				}
				_, err = binaries[1].Do(t.Context(), order{ID: "1"}) // killed as well
				w.due(err)
				w.clock.advance(time.Minute)
				fail = false
				if result, err := binaries[0].Do(t.Context(), order{ID: "1"}); err != nil || result.Replayed {
					t.Errorf("%+v, %v", result, err)
				}
				w.wantCalls(test.calls)
				w.wantRows(1, `select count(*) from work_log where kind = 'child'`)
				w.wantRows(0, `select count(*) from effect_log where state = 'started'`)
			})
		}
	}
}

// A child that an earlier attempt began and that this one does not ask for by any
// name is another choice of the handler.
func TestParentThatChoosesAnotherChildStops(t *testing.T) {
	w := newWorld(t)
	ship := idem.Child("ship", idem.Define(w.ledger, childSpec(one(idem.Repeatable(w.effect("send"))))))
	chosen, fail := "a", errors.New("killed here")
	parent := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := ship.Do(ctx, run, order{ID: chosen})
		return out, errors.Join(err, fail)
	}))
	_, err := parent.Do(t.Context(), order{ID: "1"})
	w.due(err)
	chosen, fail = "b", nil
	_, err = parent.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrEffectDiverged)
}
