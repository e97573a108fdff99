package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
	"github.com/idemgen/idem/runtime/internal/crash"
)

const ttl = 72 * time.Hour

// message is the same for orders of the same amount, whatever their ID.
func message() *idem.Message[order] {
	return &idem.Message[order]{
		Channel: "telegram", TTL: ttl,
		To:   func(dst []byte, in order) ([]byte, error) { return append(dst, "chat 7"...), nil },
		Body: func(dst []byte, in order) ([]byte, error) { return canon.AppendInt(dst, in.Amount), nil },
	}
}

// greets is a contract whose one effect sends the message.
func (w *world) greets(guard func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt], errs ...error) idem.Contract[order, receipt] {
	e := w.failing("notify", errs...)
	e.Message = message()
	return idem.Define(w.ledger, spec(one(guard(e))))
}

func never(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
	return idem.Once(e, idem.Ask)
}

func TestTheSameMessageOfOtherWorkIsAnsweredAndNotSent(t *testing.T) {
	w := newWorld(t)
	c := w.greets(never)
	first, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil {
		t.Fatal(err)
	}
	e := w.effect("remind")
	e.Message = message()
	s := spec(one(idem.Upsert(e)))
	s.Kind, s.Version = "reminder", 2
	s.ID = func(o order) (idem.WorkID, error) { return idem.HashWorkID([]byte("reminder:v2:" + o.ID)), nil }
	for name, other := range map[string]idem.Contract[order, receipt]{"other work": c, "another handler": idem.Define(w.ledger, s)} {
		result, err := other.Do(t.Context(), order{ID: "2", Amount: 5})
		if err != nil || result.Value != first.Value || result.ExternalRef != first.ExternalRef || result.Replayed {
			t.Errorf("%s: %+v, %v; want the first one's answer", name, result, err)
		}
	}
	w.wantCalls(1)
	if n := w.rows(`select count(*) from effect_log where state = 'done' and calls = 0 and last_error like 'not sent: notify of the work ` + first.ID.String() + ` sent the same message at 20%'`); n != 2 {
		t.Errorf("%d rows say that nothing was sent, want 2", n)
	}
	if _, err := c.Do(t.Context(), order{ID: "3", Amount: 6}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(2) // another text
	w.clock.advance(ttl)
	if _, err := c.Do(t.Context(), order{ID: "4", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(3) // expired
}

// The window of the work is shorter than the memory of the message: neither the
// forgotten work itself nor a copy of it is sent again.
func TestAMessageIsRememberedLongerThanItsWork(t *testing.T) {
	w := newWorld(t)
	c := w.greets(never)
	for range 3 {
		result, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
		if err != nil || result.Value.Ref != "ref-1" || result.Replayed {
			t.Fatalf("%+v, %v", result, err)
		}
		w.clock.advance(24 * time.Hour)
	}
	w.wantCalls(1)
	if _, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	w.wantCalls(2)
}

func TestWhileAMessageIsBeingSentNobodyElseSendsIt(t *testing.T) {
	w := newWorld(t)
	e := w.effect("notify")
	e.Message = message()
	send := e.Call
	inside, goOn := make(chan struct{}), make(chan struct{})
	e.Call = func(ctx context.Context, call idem.Call, in order) (receipt, error) {
		close(inside)
		<-goOn
		return send(ctx, call, in)
	}
	c := idem.Define(w.ledger, spec(one(idem.Upsert(e))))
	sent := make(chan error)
	go func() {
		_, err := c.Do(context.WithoutCancel(t.Context()), order{ID: "1", Amount: 5})
		sent <- err
	}()
	<-inside
	before := w.clock.now()
	_, err := c.Do(t.Context(), order{ID: "2", Amount: 5})
	failed := wantIs(t, err, idem.ErrRetryLater)
	if wait := failed.RetryAt.Sub(before); wait < 30*time.Second || wait > time.Minute+time.Second {
		t.Errorf("to come back in %v, want the rest of the sender's lease", wait)
	}
	if !errors.Is(err, idem.ErrEffectFailed) || !strings.Contains(err.Error(), "is sending the same message") {
		t.Errorf("the reason is not told: %v", err)
	}
	close(goOn)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	w.due(err)
	result, err := c.Do(t.Context(), order{ID: "2", Amount: 5})
	if err != nil || result.Value.Ref != "ref-1" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(1)
}

// The attempts of work that waits for another's message are not used up: those of
// the other count.
func TestWaitingForWhoSendsTheSameMessageUsesNoAttempts(t *testing.T) {
	w := newWorld(t)
	c := w.greets(idem.Upsert[order, receipt], errReset, errReset, errReset)
	in, other := order{ID: "1", Amount: 5}, order{ID: "2", Amount: 5}
	_, first := c.Do(t.Context(), in)
	for range 3 {
		for range 5 {
			_, err := c.Do(t.Context(), other)
			w.due(err)
		}
		if errors.Is(first, idem.ErrRetryLater) {
			w.due(first)
		}
		_, first = c.Do(t.Context(), in)
	}
	if first != nil {
		t.Fatal(first)
	}
	result, err := c.Do(t.Context(), other)
	if errors.Is(err, idem.ErrRetryLater) {
		w.due(err)
		result, err = c.Do(t.Context(), other)
	}
	if err != nil || result.Value.Ref != "ref-4" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(4)
}

// TestWhatOthersHearOfAMessageThatHadAnError has one piece of work fail to send,
// and another one try the same.
func TestWhatOthersHearOfAMessageThatHadAnError(t *testing.T) {
	giveUp := func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.GiveUp) }
	tests := map[string]struct {
		guard func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]
		err   error
		other error // what the other gets; nil: it sends
		back  time.Duration
		calls int64
	}{
		"nothing was sent":              {never, errRefused, nil, 0, 2},
		"it was refused":                {never, idem.Permanent(errBoom), nil, 0, 2},
		"nobody knows, and asks":        {never, errReset, idem.ErrRetryLater, ttl, 1},
		"nobody knows, and it is tried": {idem.Upsert[order, receipt], errReset, idem.ErrRetryLater, 0, 1},
		"given up":                      {giveUp, errReset, idem.ErrGivenUp, 0, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.greets(test.guard, test.err)
			_, first := c.Do(t.Context(), order{ID: "1", Amount: 5})
			if first == nil {
				t.Fatal("the first one did not fail")
			}
			before := w.clock.now()
			_, err := c.Do(t.Context(), order{ID: "2", Amount: 5})
			w.wantCalls(test.calls)
			if test.other == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			failed := wantIs(t, err, test.other)
			if test.back > 0 {
				// The wait is counted from a reading of the ledger's clock that is a
				// little older than the write that holds it.
				wait := failed.RetryAt.Sub(before)
				if wait < test.back-2*time.Second || wait > test.back+2*time.Second {
					t.Errorf("to come back in %v, want %v", wait, test.back)
				}
				w.clock.advance(wait)
				if _, err := c.Do(t.Context(), order{ID: "2", Amount: 5}); err != nil {
					t.Errorf("after it has expired: %v", err)
				}
				w.wantCalls(test.calls + 1)
			}
		})
	}
}

// TestNoMessageIsSentTwiceWhereverTheProcessDies kills the work that sends at every
// point, and lets other work with the same message and the work itself go on in
// turn until both have ended.
func TestNoMessageIsSentTwiceWhereverTheProcessDies(t *testing.T) {
	guards := map[string]func(p *provider, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
		"idempotency_key": func(_ *provider, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, 24*time.Hour)
		},
		"upsert": func(_ *provider, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Upsert(e) },
		"find_first": func(p *provider, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.FindFirst(e, func(_ context.Context, call idem.Call, _ order) (receipt, bool, error) { return p.find(call) }, 30*time.Second)
		},
		"once": func(_ *provider, e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return never(e) },
	}
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			define := func(w *world, crash *crash.Process, p *provider) idem.Contract[order, receipt] {
				p.crash = crash
				e := w.effect("notify")
				e.Message = message()
				e.Call = func(_ context.Context, call idem.Call, _ order) (receipt, error) { return p.apply(call) }
				s := spec(one(guard(p, e)))
				s.Response.WhileRunning, s.Response.Wait = idem.RunningError, 0
				return idem.Define(w.crashing(crash), s)
			}
			points := 0
			for died := true; died; points++ {
				w, p := newWorld(t), new(provider)
				if name != "find_first" && name != "once" {
					p.keys = make(map[string]string)
				}
				first := cutOff(points)
				_, _ = define(w, first, p).Do(t.Context(), order{ID: "1", Amount: 5})
				died = isDead(first)
				c := define(w, unharmed(), p)
				ended := map[string]bool{}
				for range 5 {
					for _, id := range []string{"2", "1"} {
						_, err := c.Do(t.Context(), order{ID: id, Amount: 5})
						ended[id] = err == nil || errors.Is(err, idem.ErrOutcomeUnknown)
					}
					w.clock.advance(2 * time.Minute) // over leases and backoffs
				}
				if n := p.count(); n > 1 || n == 0 && name != "once" {
					t.Errorf("killed at point %d: sent %d times", points, n)
				}
				// Of a message that nobody knows about, the other does not hear before it has
				// expired.
				if !ended["1"] || !ended["2"] && name != "once" {
					t.Errorf("killed at point %d: ended %v", points, ended)
				}
			}
			if points < 6 {
				t.Errorf("only %d points: the harness does not see the writes", points)
			}
		})
	}
}

func TestAMessageWhoseResultWasNotKeptIsForAPerson(t *testing.T) {
	w := newWorld(t, idem.WithResultCap(5))
	c := w.greets(never)
	_, _ = c.Do(t.Context(), order{ID: "1", Amount: 5})
	_, err := c.Do(t.Context(), order{ID: "2", Amount: 5})
	wantIs(t, err, idem.ErrOutcomeUnknown)
	w.wantCalls(1)
}

func TestAMessageToNobodyOrOfNothingIsNotSent(t *testing.T) {
	text := func(s string) func([]byte, order) ([]byte, error) {
		return func(dst []byte, _ order) ([]byte, error) { return append(dst, s...), nil }
	}
	empty := func([]byte, order) ([]byte, error) { return nil, canon.At("ID", canon.ErrEmpty) }
	broken := func([]byte, order) ([]byte, error) { return nil, errBoom }
	for name, m := range map[string]*idem.Message[order]{
		"nobody":                  {To: text(""), Body: text(`"a"`)},
		"an empty recipient":      {To: empty, Body: text(`"a"`)},
		"an empty text":           {To: text("7"), Body: text(`""`)},
		"no text":                 {To: text("7"), Body: text(`null`)},
		"a list of nothing":       {To: text("7"), Body: text(`["",null,{"a":""},[]]`)},
		"an empty list":           {To: text("7"), Body: text(`[]`)},
		"a recipient that breaks": {To: broken, Body: text(`"a"`)},
		"a body that breaks":      {To: text("7"), Body: broken},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			m.Channel, m.TTL = "telegram", ttl
			e := w.effect("notify")
			e.Message = m
			_, err := idem.Define(w.ledger, spec(one(never(e)))).Do(t.Context(), order{ID: "1"})
			wantIs(t, err, idem.ErrDead)
			if !errors.Is(err, idem.ErrEffectFailed) {
				t.Errorf("%v is no ErrEffectFailed", err)
			}
			w.wantCalls(0)
			if n := w.rows(`select (select count(*) from effect_log) + (select count(*) from sent_messages)`); n != 0 {
				t.Errorf("%d rows were written", n)
			}
		})
	}
	for name, body := range map[string]string{"zero": `0`, "false": `false`, "a list with a text": `["","a"]`, "a list with zero": `[0]`} {
		w := newWorld(t)
		e := w.effect("notify")
		e.Message = &idem.Message[order]{Channel: "telegram", TTL: ttl, To: text("7"), Body: text(body)}
		if _, err := idem.Define(w.ledger, spec(one(never(e)))).Do(t.Context(), order{ID: "1"}); err != nil {
			t.Errorf("%s says something: %v", name, err)
		}
	}
}

func TestWhatCannotRememberAMessageIsNoContract(t *testing.T) {
	w := newWorld(t)
	withMessage := func(change func(m *idem.Message[order])) idem.Effect[order, receipt] {
		e := w.effect("notify")
		e.Message = message()
		change(e.Message)
		return e
	}
	as := func(*idem.Message[order]) {}
	for name, g := range map[string]*idem.Guarded[order, receipt]{
		"repeatable":   idem.Repeatable(withMessage(as)),
		"read":         idem.Read(withMessage(as)),
		"no channel":   never(withMessage(func(m *idem.Message[order]) { m.Channel = "" })),
		"no time":      never(withMessage(func(m *idem.Message[order]) { m.TTL = 0 })),
		"no recipient": never(withMessage(func(m *idem.Message[order]) { m.To = nil })),
		"no body":      never(withMessage(func(m *idem.Message[order]) { m.Body = nil })),
	} {
		_, err := idem.Define(w.ledger, spec(one(g))).Do(t.Context(), order{ID: fmt.Sprint(name)})
		if !errors.Is(err, idem.ErrContract) {
			t.Errorf("%s: %v, want ErrContract", name, err)
		}
	}
	w.wantCalls(0)
}

// The second call is refused, and the first may have sent the message. Where the
// provider takes both for one, the refusal is about both.
func TestARefusalLetsGoOfNoMessageThatAnEarlierCallMayHaveSent(t *testing.T) {
	for name, test := range map[string]struct {
		guard func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]
		sends bool
	}{
		"once":   {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.Repeat) }, false},
		"upsert": {idem.Upsert[order, receipt], false},
		"idempotency key": {func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, time.Hour)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.greets(test.guard, errReset, idem.HTTPStatus(400, errors.New("chat not found")))
			_, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
			w.due(err)
			_, err = c.Do(t.Context(), order{ID: "1", Amount: 5})
			wantIs(t, err, idem.ErrEffectRefused)
			w.wantCalls(2)
			_, err = c.Do(t.Context(), order{ID: "2", Amount: 5})
			if test.sends {
				if err != nil {
					t.Error(err)
				}
				w.wantCalls(3)
				return
			}
			w.wantCalls(2)
			w.due(err) // when the message is not remembered any more
			if _, err := c.Do(t.Context(), order{ID: "2", Amount: 5}); err != nil {
				t.Error(err)
			}
			w.wantCalls(3)
		})
	}
}
