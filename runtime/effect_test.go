package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

var (
	errReset   = &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errAddress = errors.New("no such address")
)

func found(ref string) func(context.Context, idem.Call, order) (receipt, bool, error) {
	return func(context.Context, idem.Call, order) (receipt, bool, error) { return receipt{Ref: ref}, true, nil }
}

func notFound(context.Context, idem.Call, order) (receipt, bool, error) {
	return receipt{}, false, nil
}

// TestWhatAnErrorOfAnEffectMeans runs an effect whose first call gives an error,
// then the retry, and looks at the state in between and at the number of calls.
func TestWhatAnErrorOfAnEffectMeans(t *testing.T) {
	key := func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
		return idem.IdempotencyKey(e, time.Hour)
	}
	once := func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.Ask) }
	absent := func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
		return idem.FindFirst(e, notFound, time.Second)
	}
	present := func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
		return idem.FindFirst(e, found("theirs"), time.Second)
	}
	tests := map[string]struct {
		guard func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]
		err   error
		first error  // of the first Do
		calls int64  // after the second Do
		ref   string // of the second Do; empty if it must fail as the first did
	}{
		"key, cut off: called again":                  {key, errReset, idem.ErrRetryLater, 2, "ref-2"},
		"key, not sent: called again":                 {key, errRefused, idem.ErrRetryLater, 2, "ref-2"},
		"key, 500: called again":                      {key, status(500), idem.ErrRetryLater, 2, "ref-2"},
		"key, 422: refused for good":                  {key, status(422), idem.ErrDead, 1, ""},
		"key, named permanent: refused for good":      {key, errAddress, idem.ErrDead, 1, ""},
		"find, cut off and absent: called again":      {absent, errReset, idem.ErrRetryLater, 2, "ref-2"},
		"find, cut off and present: found":            {present, errReset, idem.ErrRetryLater, 1, "theirs"},
		"find, not sent: called again without a look": {present, errRefused, idem.ErrRetryLater, 2, "ref-2"},
		"once, cut off: unknown":                      {once, errReset, idem.ErrOutcomeUnknown, 1, ""},
		"once, unclassified: unknown":                 {once, errBoom, idem.ErrOutcomeUnknown, 1, ""},
		"once, 500: unknown":                          {once, status(503), idem.ErrOutcomeUnknown, 1, ""},
		"once, deadline: unknown":                     {once, context.DeadlineExceeded, idem.ErrOutcomeUnknown, 1, ""},
		"once, 429: called again":                     {once, status(429), idem.ErrRetryLater, 2, "ref-2"},
		"once, not sent: called again":                {once, errRefused, idem.ErrRetryLater, 2, "ref-2"},
		"once, marked not applied: called again":      {once, idem.NotApplied(errBoom), idem.ErrRetryLater, 2, "ref-2"},
		"once, marked permanent: refused":             {once, idem.Permanent(errBoom), idem.ErrDead, 1, ""},
		"once, marked unknown: unknown":               {once, idem.Unknown(status(422)), idem.ErrOutcomeUnknown, 1, ""},
		"read, cut off: read again":                   {idem.Read[order, receipt], errReset, idem.ErrRetryLater, 2, "ref-2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := spec(one(test.guard(w.failing("charge", test.err))))
			s.Retry.Permanent = []idem.ErrorMatch{idem.MatchValue("errAddress", errAddress)}
			c := idem.Define(w.ledger, s)
			in := order{ID: "1", Amount: 5}
			_, err := c.Do(t.Context(), in)
			wantIs(t, err, test.first)
			if !errors.Is(err, test.err) {
				t.Errorf("the cause is gone: %v", err)
			}
			if errors.Is(err, idem.ErrRetryLater) {
				w.due(err)
			}
			res, err := c.Do(t.Context(), in)
			if test.ref == "" {
				wantIs(t, err, test.first)
			} else if err != nil || res.Value.Ref != test.ref || res.ExternalRef != test.ref {
				t.Errorf("second: %+v, %v", res, err)
			}
			w.wantCalls(test.calls)
		})
	}
}

// status is an error that carries an HTTP status, as clients' errors do.
type status int

func (s status) Error() string   { return "unexpected status" }
func (s status) StatusCode() int { return int(s) }

func TestRefusalIsAnsweredFromItsRowAndMatchesTheSameError(t *testing.T) {
	w := newWorld(t)
	g := idem.Once(w.failing("mail", errAddress), idem.Ask)
	var seen []error
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, err := g.Do(ctx, run, in)
		seen = append(seen, err)
		if len(seen) == 1 {
			return receipt{}, errBoom // and so the work is tried again
		}
		return receipt{Ref: "went on"}, nil
	})
	s.Retry.Permanent = []idem.ErrorMatch{idem.MatchValue("errAddress", errAddress)}
	c := idem.Define(w.ledger, s)
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(1)
	for i, err := range seen {
		if !errors.Is(err, idem.ErrEffectRefused) || !errors.Is(err, errAddress) {
			t.Errorf("attempt %d saw %v", i+1, err)
		}
	}
}

func TestSwallowedUnknownOutcomeStillStopsCompletion(t *testing.T) {
	w := newWorld(t)
	g := idem.Once(w.failing("mail", errReset), idem.Ask)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, _ = g.Do(ctx, run, in)
		return receipt{Ref: "all fine"}, nil
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrOutcomeUnknown)
	if idem.ShouldAck(err) {
		t.Error("work that waits for a person must come again afterwards")
	}
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrOutcomeUnknown)
	w.wantCalls(1)
}

func TestSwallowedUncertaintyOfARepeatableEffectIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	g := idem.IdempotencyKey(w.failing("charge", errReset), time.Hour)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, _ = g.Do(ctx, run, in)
		return receipt{Ref: "all fine"}, nil
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(2)
}

func TestGivenUpEffectIsNeverRepeatedNorTakenForDone(t *testing.T) {
	w := newWorld(t)
	g := idem.Once(w.failing("mail", errReset), idem.GiveUp)
	attempts := 0
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		attempts++
		if _, err := g.Do(ctx, run, in); !errors.Is(err, idem.ErrGivenUp) {
			t.Errorf("attempt %d: %v", attempts, err)
		}
		if attempts == 1 {
			return receipt{}, errBoom
		}
		return receipt{Ref: "without mail"}, nil
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "without mail" {
		t.Errorf("got %+v, %v", res, err)
	}
	w.wantCalls(1)
	if n := w.rows(`select count(*) from effect_log where state = 'given_up'`); n != 1 {
		t.Errorf("%d rows say given_up", n)
	}
}

func TestKeyIsNotTrustedBeyondTheProvidersMemory(t *testing.T) {
	w := newWorld(t)
	g := idem.IdempotencyKey(w.failing("charge", errReset, errReset), time.Hour)
	c := idem.Define(w.ledger, spec(one(g)))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	w.clock.advance(40 * time.Minute)
	_, err = c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	w.wantCalls(2)
	// The second call did not prolong the provider's memory of the first.
	w.clock.advance(25 * time.Minute)
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrOutcomeUnknown)
	w.wantCalls(2)
}

// What is found by a unique value, or is harmless, is called again however late:
// no memory ends.
func TestUpsertAndRepeatableAreCalledAgainHoweverLate(t *testing.T) {
	guards := map[string]func(idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
		"upsert": idem.Upsert[order, receipt], "repeatable": idem.Repeatable[order, receipt],
	}
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := w.failing("create", errReset, errReset)
			var keys []string
			call := e.Call
			e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
				keys = append(keys, c.Key())
				return call(ctx, c, in)
			}
			c := idem.Define(w.ledger, spec(one(guard(e))))
			for range 2 {
				_, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
				w.due(err)
				w.clock.advance(365 * 24 * time.Hour)
			}
			result, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
			if err != nil || result.Value.Ref != "ref-3" {
				t.Fatalf("%+v, %v", result, err)
			}
			w.wantCalls(3)
			if keys[0] != keys[1] || keys[1] != keys[2] {
				t.Errorf("the keys were %v", keys)
			}
			if result, err = c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil || !result.Replayed {
				t.Errorf("a duplicate got %+v, %v", result, err)
			}
			w.wantCalls(3)
		})
	}
}

// Another input under the key of what may be there would find the first one and
// be taken for it.
func TestUpsertOfAnotherInputDiverges(t *testing.T) {
	w := newWorld(t)
	amount := int64(5)
	g := idem.Upsert(w.failing("create", errReset))
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		return g.Do(ctx, run, order{ID: in.ID, Amount: amount})
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	amount = 6
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrEffectDiverged)
	w.wantCalls(1)
}

// A repeat that certainly did nothing (the provider could not be reached) says
// nothing about the call before it.
func TestRepeatThatWasNotAppliedLeavesTheFirstCallUncertain(t *testing.T) {
	t.Run("the provider's memory counts from the first call", func(t *testing.T) {
		w := newWorld(t)
		g := idem.IdempotencyKey(w.failing("charge", errReset, errRefused), time.Hour)
		c := idem.Define(w.ledger, spec(one(g)))
		_, err := c.Do(t.Context(), order{ID: "1"})
		w.due(err)
		w.clock.advance(40 * time.Minute)
		_, err = c.Do(t.Context(), order{ID: "1"})
		w.due(err)
		w.clock.advance(25 * time.Minute)
		_, err = c.Do(t.Context(), order{ID: "1"})
		wantIs(t, err, idem.ErrOutcomeUnknown)
		w.wantCalls(2)
	})
	for name, guard := range map[string]func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
		"key": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, time.Hour)
		},
		"once, repeat": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.Repeat) },
	} {
		t.Run(name+": another input under the same key is not sent", func(t *testing.T) {
			w := newWorld(t)
			g := guard(w.failing("charge", errReset, errRefused))
			attempt := 0
			c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
				if attempt++; attempt == 3 {
					in.Amount++
				}
				return g.Do(ctx, run, in)
			}))
			for range 2 {
				_, err := c.Do(t.Context(), order{ID: "1"})
				w.due(err)
			}
			_, err := c.Do(t.Context(), order{ID: "1"})
			wantIs(t, err, idem.ErrEffectDiverged)
			w.wantCalls(2)
		})
		t.Run(name+": the work does not complete without it", func(t *testing.T) {
			w := newWorld(t)
			g := guard(w.failing("charge", errReset, errRefused))
			c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
				_, _ = g.Do(ctx, run, in)
				_, _ = g.Do(ctx, run, in)
				return receipt{}, nil
			}))
			_, err := c.Do(t.Context(), order{ID: "1"})
			wantIs(t, err, idem.ErrRetryLater)
		})
	}
}

func TestIncompleteEffectIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	w := newWorld(t)
	whole := w.effect("charge")
	noCall, noName, noPayload := whole, whole, whole
	noCall.Call, noName.Name, noPayload.Payload = nil, "", idem.Payload[order]{}
	tests := map[string]*idem.Guarded[order, receipt]{
		"zero":             {},
		"no call":          idem.IdempotencyKey(noCall, time.Hour),
		"no memory":        idem.IdempotencyKey(whole, 0),
		"no name":          idem.Once(noName, idem.Ask),
		"no answer":        idem.Once(whole, 0),
		"no payload":       idem.Read(noPayload),
		"no unique call":   idem.Upsert(noCall),
		"no repeated call": idem.Repeatable(noCall),
		"no find":          idem.FindFirst(whole, nil, time.Second),
		"no tx function":   idem.Transaction(w.ledger, whole, nil),
		"no ledger for tx": idem.Transaction(nil, whole, func(context.Context, idem.TxCall[*sql.Tx], order) (receipt, error) { return receipt{}, nil }),
	}
	for name, g := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := idem.Define(w.ledger, spec(one(g))).Do(t.Context(), order{ID: name})
			wantIs(t, err, idem.ErrContract)
		})
	}
	t.Run("a call inside one transaction", func(t *testing.T) {
		s := spec(one(idem.Once(whole, idem.Ask)))
		s.OneTransaction = true
		_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "one"})
		wantIs(t, err, idem.ErrContract)
	})
	w.wantCalls(0)
	if n := w.rows(`select count(*) from effect_log`); n != 0 {
		t.Errorf("%d rows of effects", n)
	}
}

func TestFindWaitsUntilTheEffectWouldBeVisible(t *testing.T) {
	w := newWorld(t)
	var looked atomic.Int64
	g := idem.FindFirst(w.failing("note", errReset), func(context.Context, idem.Call, order) (receipt, bool, error) {
		looked.Add(1)
		return receipt{Ref: "theirs"}, true, nil
	}, 20*time.Second)
	c := idem.Define(w.ledger, spec(one(g)))
	_, err := c.Do(t.Context(), order{ID: "1"})
	e := wantIs(t, err, idem.ErrRetryLater)
	if wait := e.RetryAt.Sub(w.clock.now()); wait < 19*time.Second {
		t.Errorf("the next attempt is due in %s, before the effect would be visible", wait)
	}
	w.due(err)
	res, err := c.Do(t.Context(), order{ID: "1"})
	if err != nil || res.Value.Ref != "theirs" || looked.Load() != 1 {
		t.Errorf("looked %d times, %+v, %v", looked.Load(), res, err)
	}
	w.wantCalls(1)
}

func TestFindWaitsInsideAnAttemptThatCannotBePutOff(t *testing.T) {
	w := newWorld(t)
	const lag = 150 * time.Millisecond
	var started, looked time.Time
	e := w.failing("note", errReset)
	call := e.Call
	e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		started = time.Now()
		return call(ctx, c, in)
	}
	g := idem.FindFirst(e, func(context.Context, idem.Call, order) (receipt, bool, error) {
		looked = time.Now()
		return receipt{Ref: "theirs"}, true, nil
	}, lag)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, _ = g.Do(ctx, run, in)
		return g.Do(ctx, run, in)
	}))
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "theirs" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if d := looked.Sub(started); d < lag-20*time.Millisecond {
		t.Errorf("looked after %s, want %s", d, lag)
	}
	w.wantCalls(1)
}

func TestErrorOfFindIsNoProofOfAbsence(t *testing.T) {
	w := newWorld(t)
	looks := 0
	g := idem.FindFirst(w.failing("note", errReset), func(context.Context, idem.Call, order) (receipt, bool, error) {
		if looks++; looks == 1 {
			return receipt{}, false, errBoom
		}
		return receipt{Ref: "theirs"}, true, nil
	}, time.Second)
	c := idem.Define(w.ledger, spec(one(g)))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	_, err = c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "theirs" {
		t.Errorf("got %+v, %v", res, err)
	}
	w.wantCalls(1)
}

func TestDivergence(t *testing.T) {
	other := func(in order) order { in.Amount++; return in }
	tests := map[string]struct {
		handle func(attempt int, ctx context.Context, run *idem.Run, charge, refund *idem.Guarded[order, receipt], in order) (receipt, error)
		calls  int64
	}{
		"another input of an effect that is done": {func(attempt int, ctx context.Context, run *idem.Run, charge, _ *idem.Guarded[order, receipt], in order) (receipt, error) {
			if attempt == 2 {
				in = other(in)
			}
			if out, err := charge.Do(ctx, run, in); err != nil || attempt == 2 {
				return out, err
			}
			return receipt{}, errBoom
		}, 1},
		"another effect than the one that is done": {func(attempt int, ctx context.Context, run *idem.Run, charge, refund *idem.Guarded[order, receipt], in order) (receipt, error) {
			if attempt == 2 {
				return receipt{}, nil
			}
			_, _ = charge.Do(ctx, run, in)
			return receipt{}, errBoom
		}, 1},
		"another input in the same attempt": {func(attempt int, ctx context.Context, run *idem.Run, charge, _ *idem.Guarded[order, receipt], in order) (receipt, error) {
			if attempt == 1 {
				return receipt{}, errBoom
			}
			if _, err := charge.Do(ctx, run, in); err != nil {
				return receipt{}, err
			}
			return charge.Do(ctx, run, other(in))
		}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			charge, refund := idem.IdempotencyKey(w.effect("charge"), time.Hour), idem.IdempotencyKey(w.effect("refund"), time.Hour)
			attempt := 0
			c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
				attempt++
				return test.handle(attempt, ctx, run, charge, refund, in)
			}))
			_, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
			w.due(err)
			_, err = c.Do(t.Context(), order{ID: "1", Amount: 5})
			if e := wantIs(t, err, idem.ErrEffectDiverged); e.State != idem.StateUnknown {
				t.Errorf("the work is %q", e.State)
			}
			_, err = c.Do(t.Context(), order{ID: "1", Amount: 5})
			wantIs(t, err, idem.ErrOutcomeUnknown)
			w.wantCalls(test.calls)
		})
	}
}

func TestEffectWhoseInputGainedAFieldOnDeployDoesNotDiverge(t *testing.T) {
	w := newWorld(t)
	attempt := 0
	before, after := w.effect("charge"), w.effect("charge")
	after.Payload.Shape = "order/2"
	after.Payload.Append = func(dst []byte, in order) ([]byte, error) { return append(dst, "2"...), nil }
	old, grown := idem.IdempotencyKey(before, time.Hour), idem.IdempotencyKey(after, time.Hour)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if attempt++; attempt == 1 {
			_, _ = old.Do(ctx, run, in)
			return receipt{}, errBoom
		}
		return grown.Do(ctx, run, in)
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "ref-1" {
		t.Errorf("after the deploy: %+v, %v", res, err)
	}
	w.wantCalls(1)
}

func TestReadThatWasTooLargeToRecordIsReadAgain(t *testing.T) {
	w := newWorld(t, idem.WithResultCap(3))
	g := idem.Read(w.effect("price"))
	attempt := 0
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := g.Do(ctx, run, in)
		if attempt++; err == nil && attempt == 1 {
			err = errBoom
		}
		return out, err
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Value.Ref != "ref-2" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestEffectThatWasTooLargeToRecordIsNeverRepeated(t *testing.T) {
	w := newWorld(t, idem.WithResultCap(3))
	g := idem.IdempotencyKey(w.effect("charge"), time.Hour)
	attempt := 0
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := g.Do(ctx, run, in)
		if attempt++; err == nil && attempt == 1 {
			err = errBoom
		}
		return out, err
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	_, err = c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrOutcomeUnknown)
	w.wantCalls(1)
}

func TestTransactionIsBoundedByTheShortestLeaseOfTheLedger(t *testing.T) {
	for name, oneTx := range map[string]bool{"own transaction": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			short := spec(func(context.Context, *idem.Run, order) (receipt, error) { return receipt{}, nil })
			short.Lease = 300 * time.Millisecond
			idem.Define(w.ledger, short)
			var left time.Duration
			g := idem.Transaction(w.ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
				deadline, _ := ctx.Deadline()
				left = time.Until(deadline)
				return receipt{}, nil
			})
			s := spec(one(g))
			s.OneTransaction = oneTx
			if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"}); err != nil {
				t.Fatal(err)
			}
			if left <= 0 || left > 100*time.Millisecond {
				t.Errorf("the transaction had %s, a heartbeat is due every 100ms", left)
			}
		})
	}
}

func TestTransactionsTimeRunsFromItsTurnAndNotFromItsPlaceInTheQueue(t *testing.T) {
	for name, oneTx := range map[string]bool{"own transaction": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			const limit = 200 * time.Millisecond
			g := idem.Transaction(w.ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
				time.Sleep(limit / 4)
				return receipt{}, ctx.Err()
			})
			s := spec(one(g))
			s.OneTransaction, s.Lease = oneTx, 3*limit
			c := idem.Define(w.ledger, s)
			var wg sync.WaitGroup
			for i := range 8 { // which take twice the limit together
				wg.Go(func() {
					if _, err := c.Do(t.Context(), order{ID: string(rune('a' + i))}); err != nil && !errors.Is(err, idem.ErrLeaseLost) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestTransactionThatTakesTooLongIsRolledBackAndSaysSo(t *testing.T) {
	for name, oneTx := range map[string]bool{"own transaction": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.exec(`create table drafts (id text)`)
			g := idem.Transaction(w.ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
				_, err := call.Tx().ExecContext(ctx, `insert into drafts values (?)`, in.ID)
				time.Sleep(250 * time.Millisecond) // deaf to its context
				return receipt{}, err
			})
			s := spec(one(g))
			s.OneTransaction, s.Lease = oneTx, 300*time.Millisecond
			_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
			if err == nil || !strings.Contains(err.Error(), "a third of the lease") {
				t.Errorf("got %v", err)
			}
			if n := w.rows(`select count(*) from drafts`); n != 0 {
				t.Errorf("%d rows", n)
			}
		})
	}
}

func TestSameEffectAskedForTwiceIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	g := idem.IdempotencyKey(w.effect("charge"), time.Hour)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if out, err := g.Do(ctx, run, in); err != nil || out.Ref != "ref-1" {
					t.Errorf("got %+v, %v", out, err)
				}
			})
		}
		wg.Wait()
		return g.Do(ctx, run, in)
	}))
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(1)
}

func TestOneEffectForSeveralInputsPointsAtOncePer(t *testing.T) {
	w := newWorld(t)
	g := idem.IdempotencyKey(w.effect("notify"), time.Hour)
	var err error
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		for _, to := range []string{"ann", "bob"} {
			if _, err = g.Do(ctx, run, order{ID: to}); err != nil {
				return receipt{}, err
			}
		}
		return receipt{}, nil
	}))
	_, _ = c.Do(t.Context(), order{ID: "1"})
	if wantIs(t, err, idem.ErrEffectDiverged); !strings.Contains(err.Error(), "once_per") {
		t.Errorf("no way out in %q", err)
	}
	w.wantCalls(1)
}

func TestOncePerMakesOneEffectPerValue(t *testing.T) {
	w := newWorld(t)
	e := w.effect("notify")
	keys := map[string]bool{}
	call := e.Call
	e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		keys[c.Key()] = true
		return call(ctx, c, in)
	}
	e.Per = func(dst []byte, in order) ([]byte, error) { return append(dst, `["`+in.ID+`"]`...), nil }
	g := idem.Once(e, idem.Ask)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		for _, to := range []string{"ann", "bob", "ann"} {
			if _, err := g.Do(ctx, run, order{ID: to}); err != nil {
				return receipt{}, err
			}
		}
		return receipt{}, nil
	}))
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(2)
	if len(keys) != 2 {
		t.Errorf("%d keys for two recipients", len(keys))
	}
}

func TestEffectsOutsideTheirHandlerAreRefused(t *testing.T) {
	w := newWorld(t)
	g := idem.IdempotencyKey(w.effect("charge"), time.Hour)
	var kept *idem.Run
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		kept = run
		return receipt{}, nil
	}))
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Do(t.Context(), kept, order{ID: "1"}); !errors.Is(err, idem.ErrRunOver) {
		t.Errorf("got %v", err)
	}
	w.wantCalls(0)
}

func TestHandlerThatLeavesAnEffectBehindIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	e := w.effect("charge")
	entered := make(chan struct{})
	e.Call = func(ctx context.Context, call idem.Call, in order) (receipt, error) {
		close(entered)
		time.Sleep(30 * time.Millisecond)
		w.calls.Add(1)
		return receipt{Ref: "late"}, nil
	}
	g := idem.IdempotencyKey(e, time.Hour)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		go func() { _, _ = g.Do(ctx, run, in) }()
		<-entered
		return receipt{}, nil
	}))
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if n := w.rows(`select count(*) from effect_log where state = 'done'`); n != 1 {
		t.Error("the work completed before its effect had")
	}
}

func TestTransactionEffectRollsBackWithItsRow(t *testing.T) {
	for name, oneTx := range map[string]bool{"own transaction": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.exec(`create table drafts (id text)`)
			fail := true
			g := idem.Transaction(w.ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
				if _, err := call.Tx().ExecContext(ctx, `insert into drafts values (?)`, in.ID); err != nil {
					return receipt{}, err
				}
				if fail {
					return receipt{}, errReset // whatever it says, nothing was applied
				}
				return receipt{Ref: "draft"}, nil
			})
			s := spec(one(g))
			s.OneTransaction = oneTx
			c := idem.Define(w.ledger, s)
			_, err := c.Do(t.Context(), order{ID: "1"})
			w.due(err)
			if n := w.rows(`select count(*) from drafts`); n != 0 {
				t.Errorf("%d rows of a failed effect", n)
			}
			fail = false
			if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || res.Attempt != 2 {
				t.Errorf("got %+v, %v", res, err)
			}
			if res, err := c.Do(t.Context(), order{ID: "1"}); err != nil || !res.Replayed {
				t.Errorf("got %+v, %v", res, err)
			}
			if n := w.rows(`select count(*) from drafts`); n != 1 {
				t.Errorf("%d rows, want 1", n)
			}
		})
	}
}

func TestSwallowedFailureInOneTransactionLeavesNothingOfTheEffect(t *testing.T) {
	w := newWorld(t)
	w.exec(`create table drafts (id text)`)
	write := func(err error) func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
		return func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
			_, dberr := call.Tx().ExecContext(ctx, `insert into drafts values (?)`, call.Effect())
			return receipt{}, errors.Join(dberr, err)
		}
	}
	bad := idem.Transaction(w.ledger, w.effect("bad"), write(idem.Permanent(errBoom)))
	good := idem.Transaction(w.ledger, w.effect("good"), write(nil))
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if _, err := bad.Do(ctx, run, in); !errors.Is(err, idem.ErrEffectRefused) {
			t.Errorf("got %v", err)
		}
		return good.Do(ctx, run, in)
	})
	s.OneTransaction = true
	if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if n := w.rows(`select count(*) from drafts where id = 'good'`); n != 1 {
		t.Errorf("%d rows of the good effect", n)
	}
	if n := w.rows(`select count(*) from drafts where id = 'bad'`); n != 0 {
		t.Errorf("%d rows of the bad effect", n)
	}
}

// The deploy came between the two attempts: the call of the first knew nothing of
// what makes a repeat safe in the second.
func TestRepeatUnderAnotherGuardIsForAPersonToDecide(t *testing.T) {
	w := newWorld(t)
	e := w.failing("charge", errReset)
	before := idem.Define(w.ledger, spec(one(idem.FindFirst(e, notFound, 0))))
	after := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(e, time.Hour))))
	_, err := before.Do(t.Context(), order{ID: "1"})
	w.due(err)
	_, err = after.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrOutcomeUnknown)
	w.wantCalls(1)
	if n := w.rows(`select count(*) from effect_log where guard = 'find_first' and state = 'unknown'`); n != 1 {
		t.Error("the row does not say under which guard the call was made")
	}
	// What is done stays done, whatever the guard.
	before = idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, err := idem.Once(w.effect("mail"), idem.Ask).Do(ctx, run, in)
		return receipt{}, errors.Join(err, errBoom)
	}))
	_, err = before.Do(t.Context(), order{ID: "2"})
	w.due(err)
	if _, err := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(w.effect("mail"), time.Hour)))).Do(t.Context(), order{ID: "2"}); err != nil {
		t.Error(err)
	}
	w.wantCalls(2)
}

func TestRefusalKeepsNoMoreThanAPersonReads(t *testing.T) {
	w := newWorld(t)
	page := strings.Repeat("é\xff\x00", 1<<18)
	g := idem.Once(w.failing("mail", idem.Permanent(errors.New(page))), idem.Ask)
	_, err := idem.Define(w.ledger, spec(one(g))).Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	if n := w.rows(`select length(result) + length(last_error) from effect_log`); n < 4<<10 || n > 64<<10 {
		t.Errorf("%d bytes are kept", n)
	}
}

// With a context of its own an effect inside an effect cannot be told from one
// beside it: it waits for itself, but not for ever.
func TestEffectInsideAnEffectOfOneTransactionDoesNotHang(t *testing.T) {
	w := newWorld(t)
	var current *idem.Run
	inner := idem.Transaction(w.ledger, w.effect("inner"), func(context.Context, idem.TxCall[*sql.Tx], order) (receipt, error) {
		return receipt{}, nil
	})
	outer := idem.Transaction(w.ledger, w.effect("outer"), func(_ context.Context, _ idem.TxCall[*sql.Tx], in order) (receipt, error) {
		return inner.Do(context.Background(), current, in)
	})
	s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		current = run
		return outer.Do(ctx, run, in)
	})
	s.OneTransaction, s.Lease = true, 600*time.Millisecond
	_, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrRetryLater)
}

func TestEffectsInsideATransactionEffectAreRefused(t *testing.T) {
	w := newWorld(t)
	inner := idem.IdempotencyKey(w.effect("charge"), time.Hour)
	var run *idem.Run
	outer := idem.Transaction(w.ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
		_, err := inner.Do(ctx, run, in)
		return receipt{}, err
	})
	c := idem.Define(w.ledger, spec(func(ctx context.Context, r *idem.Run, in order) (receipt, error) {
		run = r
		return outer.Do(ctx, r, in)
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrInTransaction)
	w.wantCalls(0)
}

func TestMessagesTellAPersonWhatToDo(t *testing.T) {
	w := newWorld(t)
	c := idem.Define(w.ledger, spec(one(idem.Once(w.failing("mail", errReset), idem.Ask))))
	_, err := c.Do(t.Context(), order{ID: "1"})
	id, _ := c.ID(order{ID: "1"})
	for _, part := range []string{"order", id.String()[:12], "mail", "unknown", "connection reset"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q says nothing of %q", err, part)
		}
	}
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		w.t.Fatal(err)
	}
}

func TestAnEffectThatWasRemovedIsNotAskedForAgain(t *testing.T) {
	for name, test := range map[string]struct {
		removed []string
		first   error // of the effect in the first attempt
		want    error
	}{
		"done, and removed":         {removed: []string{"fax"}},
		"done, and forgotten":       {want: idem.ErrEffectDiverged},
		"done, another removed":     {removed: []string{"mail"}, want: idem.ErrEffectDiverged},
		"unknown, and removed":      {removed: []string{"fax"}, first: errBoom, want: idem.ErrOutcomeUnknown},
		"not applied, and removed":  {removed: []string{"fax"}, first: idem.NotApplied(errBoom)},
		"not applied and forgotten": {first: idem.NotApplied(errBoom)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fax := idem.IdempotencyKey(w.failing("fax", test.first), time.Hour)
			old := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
				if _, err := fax.Do(ctx, run, in); err != nil {
					return receipt{}, err
				}
				return receipt{}, errBoom // after the effect, so that the work is tried again
			})
			_, err := idem.Define(w.ledger, old).Do(t.Context(), order{ID: "1"})
			w.due(err)
			now := spec(succeed)
			now.Removed = test.removed
			result, err := idem.Define(w.open(), now).Do(t.Context(), order{ID: "1"})
			if test.want != nil {
				wantIs(t, err, test.want)
				return
			}
			if err != nil || result.Value.Ref != "r" {
				t.Errorf("got %+v, %v", result, err)
			}
		})
	}
}
