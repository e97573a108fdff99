package idem_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// inDoubt is work with one effect that was cut off, and the contract that goes on.
func (w *world) inDoubt(guard func(idem.Effect[order, receipt]) *idem.Guarded[order, receipt], change ...func(*idem.Effect[order, receipt])) (idem.Contract[order, receipt], idem.WorkID) {
	w.t.Helper()
	e := w.failing("charge", errReset)
	for _, c := range change {
		c(&e)
	}
	g := guard(e)
	s := spec(one(g))
	s.Effects = []idem.Declared{g}
	c := idem.Define(w.ledger, s)
	return c, w.mustBeUnknown(c, order{ID: "1", Amount: 5})
}

func (w *world) mustBeUnknown(c idem.Contract[order, receipt], in order) idem.WorkID {
	w.t.Helper()
	_, err := c.Do(w.t.Context(), in)
	e := wantIs(w.t, err, idem.ErrOutcomeUnknown)
	return e.ID
}

func (w *world) inspect(id idem.WorkID) idem.Inspection {
	w.t.Helper()
	seen, err := w.ledger.Inspect(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return seen
}

// decision is one that was made a moment ago.
func (w *world) decision(id idem.WorkID) idem.Decision {
	w.t.Helper()
	return idem.Decision{ID: id, Seen: w.inspect(id).Revision(), Who: "ann@example.com", Why: "looked into the books"}
}

func applied(effect, result string) idem.Outcome {
	return idem.Outcome{Effect: effect, Verdict: idem.VerdictApplied, Result: []byte(result), ExternalRef: "theirs"}
}

func notApplied(effect string) idem.Outcome {
	return idem.Outcome{Effect: effect, Verdict: idem.VerdictNotApplied}
}

func TestWhatAPersonSaysOfAnEffectIsWhatTheNextAttemptGoesOnWith(t *testing.T) {
	for name, test := range map[string]struct {
		outcome idem.Outcome
		ref     string
		calls   int64
	}{
		"it happened":       {applied("charge", `{"ref":"theirs"}`), "theirs", 1},
		"it did not happen": {notApplied("charge"), "ref-2", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c, id := w.inDoubt(never)
			r, err := w.ledger.Resolve(t.Context(), w.decision(id), test.outcome)
			if err != nil || r.State != idem.StateFailed || len(r.Left) != 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			result, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
			if err != nil || result.Value.Ref != test.ref || result.ExternalRef != test.ref || result.Attempt != 2 {
				t.Errorf("%+v, %v", result, err)
			}
			w.wantCalls(test.calls)
		})
	}
}

func TestADecisionSaysWhoAndWhyAndWhatItWasBefore(t *testing.T) {
	w := newWorld(t)
	_, id := w.inDoubt(never)
	key := w.inspect(id).Effects[0].Key
	if _, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", `{"ref":"x"}`)); err != nil {
		t.Fatal(err)
	}
	audits := w.inspect(id).Audits
	want := []string{
		`resolve {"effect":"charge","state":"unknown","key":"` + key + `"} {"effect":"charge","state":"done","external_ref":"theirs"}`,
		`resolve {"state":"unknown","attempt":1,"budget_left":4} {"state":"failed","budget_left":4}`,
	}
	if len(audits) != len(want) {
		t.Fatalf("%d audits: %+v", len(audits), audits)
	}
	for i, a := range audits {
		if got := a.Verb + " " + a.Before + " " + a.After; got != want[i] || a.Who != "ann@example.com" || a.Reason != "looked into the books" || a.At.IsZero() {
			t.Errorf("audit %d: %+v, want %s", i, a, want[i])
		}
	}
}

// An attempt that was the last one leaves the work without a budget: what a person
// has found out is not lost to that.
func TestResolvedWorkHasAnAttemptToMake(t *testing.T) {
	w := newWorld(t)
	s := spec(one(idem.Once(w.failing("charge", errReset), idem.Ask)))
	s.Retry.MaxAttempts = 1
	c := idem.Define(w.ledger, s)
	id := w.mustBeUnknown(c, order{ID: "1"})
	if _, err := w.ledger.Resolve(t.Context(), w.decision(id), notApplied("charge")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Error(err)
	}
}

func TestWorkWaitsUntilEachOfItsEffectsIsDecided(t *testing.T) {
	w := newWorld(t)
	var together sync.WaitGroup // none is over before all have begun
	together.Add(3)
	cutOff := func(name string) idem.Effect[order, receipt] {
		e := w.failing(name, errReset)
		call := e.Call
		e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
			together.Done()
			together.Wait()
			return call(ctx, c, in)
		}
		return e
	}
	charge, mail := idem.Once(cutOff("charge"), idem.Ask), idem.Once(cutOff("mail"), idem.Ask)
	note := idem.FindFirst(cutOff("note"), found("noted"), 0)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		errs := make(chan error)
		for _, g := range []*idem.Guarded[order, receipt]{charge, mail, note} {
			go func() {
				_, err := g.Do(ctx, run, in)
				errs <- err
			}()
		}
		return receipt{Ref: "all"}, errors.Join(<-errs, <-errs, <-errs)
	}))
	id := w.mustBeUnknown(c, order{ID: "1"})
	before := w.inspect(id)
	if len(before.Open()) != 3 || len(before.Undecided()) != 2 {
		t.Fatalf("%+v", before.Effects)
	}
	if _, err := w.ledger.Resolve(t.Context(), w.decision(id)); !errors.Is(err, idem.ErrDecision) || !strings.Contains(err.Error(), "to be decided") {
		t.Errorf("without a word about them: %v", err)
	}
	r, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("mail", `{}`))
	if err != nil || r.State != idem.StateUnknown || len(r.Left) != 1 || r.Left[0].Name != "charge" {
		t.Fatalf("%+v, %v", r, err)
	}
	wantIs(t, func() error { _, err := c.Do(t.Context(), order{ID: "1"}); return err }(), idem.ErrOutcomeUnknown)
	first, second := w.decision(id), w.decision(id) // two see that its result is wrong
	if _, err := w.ledger.Resolve(t.Context(), first, applied("mail", `{"ref":"m-1"}`)); err != nil {
		t.Fatal(err)
	}
	_, err = w.ledger.Resolve(t.Context(), second, applied("mail", `{"ref":"m-2"}`))
	wantIs(t, err, idem.ErrChanged)
	r, err = w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", `{}`))
	if err != nil || r.State != idem.StateFailed {
		t.Fatalf("%+v, %v", r, err)
	}
	if result, err := c.Do(t.Context(), order{ID: "1"}); err != nil || result.Value.Ref != "all" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(3)
}

// What was seen is what is decided about: another person, or a delivery, may have
// been faster.
func TestADecisionAboutWhatHasChangedIsRefused(t *testing.T) {
	w := newWorld(t)
	c, id := w.inDoubt(never)
	first, second := w.decision(id), w.decision(id)
	if first.Seen != second.Seen {
		t.Fatal("looking changes what is seen")
	}
	if _, err := w.ledger.Resolve(t.Context(), first, notApplied("charge")); err != nil {
		t.Fatal(err)
	}
	_, err := w.ledger.Resolve(t.Context(), second, applied("charge", `{}`))
	if e := wantIs(t, err, idem.ErrChanged); e.State != idem.StateFailed || e.Kind != "order" {
		t.Errorf("%+v", e)
	}
	if _, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	_, err = w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", `{}`))
	if e := wantIs(t, err, idem.ErrDecision); e.State != idem.StateDone || !strings.Contains(e.Error(), "only unknown work is resolved") {
		t.Error(e)
	}
}

func TestAnIncompleteOrImpossibleDecisionSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	_, id := w.inDoubt(never)
	good := w.decision(id)
	with := func(change func(d *idem.Decision)) idem.Decision {
		d := good
		change(&d)
		return d
	}
	tests := map[string]struct {
		decision idem.Decision
		outcomes []idem.Outcome
		reason   error
		want     string
	}{
		"nobody":        {with(func(d *idem.Decision) { d.Who = " " }), []idem.Outcome{notApplied("charge")}, idem.ErrDecision, "it does not say who decides"},
		"no reason":     {with(func(d *idem.Decision) { d.Why = "" }), []idem.Outcome{notApplied("charge")}, idem.ErrDecision, "it does not say why"},
		"nothing seen":  {with(func(d *idem.Decision) { d.Seen = "" }), []idem.Outcome{notApplied("charge")}, idem.ErrDecision, "it does not say what was seen"},
		"no work":       {with(func(d *idem.Decision) { d.ID = idem.WorkID{} }), []idem.Outcome{notApplied("charge")}, idem.ErrDecision, "it has no work ID"},
		"other work":    {with(func(d *idem.Decision) { d.ID = idem.HashWorkID([]byte("other")) }), []idem.Outcome{notApplied("charge")}, idem.ErrNoWork, "there is no such work"},
		"other effect":  {good, []idem.Outcome{notApplied("refund")}, idem.ErrDecision, "refund: the decision does not fit: its outcome is not unknown; it is that of charge"},
		"twice":         {good, []idem.Outcome{notApplied("charge"), notApplied("charge")}, idem.ErrDecision, "charge: the decision does not fit: there are two outcomes of it"},
		"no verdict":    {good, []idem.Outcome{{Effect: "charge"}}, idem.ErrDecision, "its outcome has no verdict"},
		"no result":     {good, []idem.Outcome{{Effect: "charge", Verdict: idem.VerdictApplied}}, idem.ErrDecision, "its result is missing"},
		"a result":      {good, []idem.Outcome{{Effect: "charge", Verdict: idem.VerdictNotApplied, Result: []byte(`{}`)}}, idem.ErrDecision, "has neither a result nor a reference"},
		"no JSON":       {good, []idem.Outcome{applied("charge", "{\n  \"ref\": 'x'\n}")}, idem.ErrDecision, "the result is not JSON: line 2, column 10: invalid character '\\'' looking for beginning of value"},
		"half":          {good, []idem.Outcome{applied("charge", `{"ref":`)}, idem.ErrDecision, "the result is no idem_test.receipt: line 1, column 7: it ends too early"},
		"too much":      {good, []idem.Outcome{applied("charge", `{} {}`)}, idem.ErrDecision, "the result goes on after its end: line 1, column 4"},
		"another type":  {good, []idem.Outcome{applied("charge", `{"ref": 7}`)}, idem.ErrDecision, "the result is no idem_test.receipt: line 1, column 9: ref: want string, got a JSON number"},
		"a list":        {good, []idem.Outcome{applied("charge", `[]`)}, idem.ErrDecision, "the result is no idem_test.receipt: line 1, column 1: want idem_test.receipt, got a JSON array"},
		"another field": {good, []idem.Outcome{applied("charge", `{"reff": "x"}`)}, idem.ErrDecision, `unknown field "reff"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := w.ledger.Resolve(t.Context(), test.decision, test.outcomes...)
			wantIs(t, err, test.reason)
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if seen := w.inspect(id); seen.Revision() != good.Seen || len(seen.Audits) != 0 {
		t.Error("a refused decision has changed something")
	}
	if _, err := w.ledger.Resolve(t.Context(), good, applied("charge", "null")); err != nil {
		t.Errorf("null is a value: %v", err)
	}
}

func TestAResultThatIsTooLargeIsRefused(t *testing.T) {
	w := newWorld(t, idem.WithResultCap(10))
	_, id := w.inDoubt(never)
	_, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", `{"ref":"a long one"}`))
	wantIs(t, err, idem.ErrDecision)
	if !strings.Contains(err.Error(), "over the limit of 10") {
		t.Error(err)
	}
}

// What has happened is not made again, and without its result the handler cannot go
// on: a person can look it up.
func TestAPersonCanSayWhatAResultWasThatWasNotKept(t *testing.T) {
	w := newWorld(t, idem.WithResultCap(20))
	g := idem.Once(w.effect("charge"), idem.Ask)
	e := w.effect("print")
	call := e.Call
	e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		_, err := call(ctx, c, in)
		return receipt{Ref: strings.Repeat("x", 100)}, err
	}
	long := idem.Once(e, idem.Ask)
	attempt := 0
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		attempt++
		out, err := g.Do(ctx, run, in)
		if err == nil {
			out, err = long.Do(ctx, run, in)
		}
		if err == nil && attempt == 1 {
			err = errBoom
		}
		return out, err
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	id := w.mustBeUnknown(c, order{ID: "1"})
	if left := w.inspect(id).Undecided(); len(left) != 1 || left[0].Name != "print" {
		t.Fatalf("%+v", left)
	}
	_, err = w.ledger.Resolve(t.Context(), w.decision(id), notApplied("print"))
	wantIs(t, err, idem.ErrDecision)
	if r, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("print", `{"ref":"short"}`)); err != nil || r.State != idem.StateFailed {
		t.Fatalf("%+v, %v", r, err)
	}
	if result, err := c.Do(t.Context(), order{ID: "1"}); err != nil || result.Value.Ref != "short" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(2)
}

// What a person gives is stored as all else is, and read by nobody without the key.
func TestAResultOfAPersonIsEncrypted(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
	c, id := w.inDoubt(never)
	if _, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", `{"ref":"theirs"}`)); err != nil {
		t.Fatal(err)
	}
	if body := w.inspect(id).Effects[0].Result; strings.Contains(string(body.Data), "theirs") || body.Codec == idem.CodecJSON {
		t.Errorf("the result is stored as %s: %s", body.Codec, body.Data)
	}
	if result, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil || result.Value.Ref != "theirs" {
		t.Errorf("%+v, %v", result, err)
	}
}

// A tool for people has a store and no contracts.
func TestDecisionsNeedNoContract(t *testing.T) {
	w := newWorld(t)
	c, id := w.inDoubt(never)
	tool := w.open()
	seen, err := tool.Inspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	d := idem.Decision{ID: id, Seen: seen.Revision(), Who: "ann", Why: "because"}
	if _, err := tool.Resolve(t.Context(), d, applied("charge", `{"ref":`)); !errors.Is(err, idem.ErrDecision) {
		t.Errorf("got %v of what is no JSON", err)
	}
	if _, err := tool.Resolve(t.Context(), d, applied("charge", ` { "ref" : "theirs" } `)); err != nil {
		t.Fatal(err)
	}
	if result, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil || result.Value.Ref != "theirs" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestWhetherItDidNotHappenIsNotSaidTooEarly(t *testing.T) {
	w := newWorld(t)
	_, id := w.inDoubt(never, func(e *idem.Effect[order, receipt]) { e.VisibleAfter = time.Minute })
	_, err := w.ledger.Resolve(t.Context(), w.decision(id), notApplied("charge"))
	e := wantIs(t, err, idem.ErrTooEarly)
	ended := w.inspect(id).Attempts[0].EndedAt
	if !e.RetryAt.Equal(ended.Add(time.Minute)) || e.Effect != "charge" {
		t.Errorf("%+v, want that it can be said a minute after %s", e, ended)
	}
	if !strings.Contains(e.Error(), "charge: it is too early to say that it did not happen, before "+e.RetryAt.Add(time.Second-1).Format(time.RFC3339)) {
		t.Error(e)
	}
	w.clock.advance(time.Minute)
	r, err := w.ledger.Resolve(t.Context(), w.decision(id), notApplied("charge"))
	if err != nil || len(r.Warnings) != 0 {
		t.Errorf("a minute later: %+v, %v", r, err)
	}
}

func TestThatItHappenedCanBeSaidAtOnce(t *testing.T) {
	w := newWorld(t)
	_, id := w.inDoubt(never, func(e *idem.Effect[order, receipt]) { e.VisibleAfter = time.Minute })
	if _, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", "{}")); err != nil {
		t.Error(err)
	}
}

// A process that disappeared may only be stopped, and nobody has said how long a
// call takes to show.
func TestAPersonIsToldHowTheyMayBeWrong(t *testing.T) {
	w := newWorld(t)
	block := make(chan struct{})
	e := w.effect("charge")
	calls := 0
	e.Call = func(ctx context.Context, _ idem.Call, _ order) (receipt, error) {
		calls++
		<-block // until the process goes on, whatever its context says
		return receipt{}, ctx.Err()
	}
	s := spec(one(idem.Once(e, idem.Ask)))
	stopped, other := idem.Define(w.ledger, s), idem.Define(w.open(), s)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = stopped.Do(context.Background(), order{ID: "1"})
	}()
	defer func() { close(block); <-over }()
	for w.rows(`select count(*) from effect_log`) == 0 {
		time.Sleep(time.Millisecond)
	}
	w.clock.advance(10 * time.Minute)
	id := w.mustBeUnknown(other, order{ID: "1"})
	r, err := w.ledger.Resolve(t.Context(), w.decision(id), notApplied("charge"))
	if err != nil || len(r.Warnings) != 2 {
		t.Fatalf("%q, %v", r.Warnings, err)
	}
	for i, want := range []string{"visible_after", "the process of attempt 1 disappeared"} {
		if !strings.Contains(r.Warnings[i], want) {
			t.Errorf("%q does not say %s", r.Warnings[i], want)
		}
	}
}

// Of a key that was not applied by a person's word the next call has another one:
// the old one may stand for a failure, or for another input.
func TestAKeyThatAPersonHasFoundUnusedIsNotUsedAgain(t *testing.T) {
	w := newWorld(t)
	var keys []string
	e := w.failing("charge", errReset)
	call := e.Call
	e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		keys = append(keys, c.Key())
		return call(ctx, c, in)
	}
	c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(e, time.Hour))))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	w.clock.advance(time.Hour) // by now the provider has forgotten the key
	id := w.mustBeUnknown(c, order{ID: "1"})
	if _, err := w.ledger.Resolve(t.Context(), w.decision(id), notApplied("charge")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{keyOfEpoch(id, 0), keyOfEpoch(id, 1)}; !slices.Equal(keys, want) {
		t.Errorf("the keys were %v, want %v", keys, want)
	}
}

// Only its own guard can say what became of a key that the provider still knows: it
// need not be decided together with others.
func TestNobodyHasToSayWhatAGuardCanFindOut(t *testing.T) {
	w := newWorld(t)
	charge, mail := idem.IdempotencyKey(w.failing("charge", errReset), time.Hour), idem.Once(w.failing("mail", errReset), idem.Ask)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		_, chargeErr := charge.Do(ctx, run, in)
		_, mailErr := mail.Do(ctx, run, in)
		return receipt{}, errors.Join(chargeErr, mailErr)
	}))
	id := w.mustBeUnknown(c, order{ID: "1"})
	r, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("mail", `{}`))
	if err != nil || r.State != idem.StateFailed {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Error(err)
	}
	w.wantCalls(3) // charge twice under its key, mail once
}

func TestOneOfSeveralIsToldApartByItsOncePer(t *testing.T) {
	per := func(list string) func([]byte, order) ([]byte, error) {
		return func(dst []byte, in order) ([]byte, error) {
			return append(dst, strings.ReplaceAll(list, "ID", in.ID)...), nil
		}
	}
	for name, test := range map[string]struct {
		per   string // how the contract writes it; ID is the order's
		given []string
	}{
		"a text":             {`["ID"]`, []string{"7", `"7"`, `["7"]`, ` [ "7" ] `}},
		"a number":           {`[ID]`, []string{"7", "[7]", "[7.0]"}},
		"a text and another": {`["ID","x"]`, []string{`["7","x"]`}},
	} {
		for _, given := range test.given {
			t.Run(name+" as "+given, func(t *testing.T) {
				w := newWorld(t)
				e := w.effect("charge")
				e.Per = per(test.per)
				both := make(chan struct{}, 2)
				e.Call = func(context.Context, idem.Call, order) (receipt, error) {
					both <- struct{}{}
					for len(both) < 2 {
						time.Sleep(time.Millisecond)
					}
					return receipt{}, errReset
				}
				g := idem.Once(e, idem.Ask)
				c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
					other := make(chan error)
					go func() {
						_, err := g.Do(ctx, run, order{ID: "8", Amount: 80})
						other <- err
					}()
					_, err := g.Do(ctx, run, order{ID: "7", Amount: 70})
					return receipt{}, errors.Join(err, <-other)
				}))
				id := w.mustBeUnknown(c, order{ID: "1"})
				_, err := w.ledger.Resolve(t.Context(), w.decision(id), applied("charge", `{}`))
				if wantIs(t, err, idem.ErrDecision); !strings.Contains(err.Error(), "2 effects of that name are undecided; say which by its once_per: ") || !strings.Contains(err.Error(), `"amount":70`) {
					t.Errorf("without once_per: %v", err)
				}
				o := applied("charge", `{}`)
				o.Per = "9"
				if _, err := w.ledger.Resolve(t.Context(), w.decision(id), o); !errors.Is(err, idem.ErrDecision) {
					t.Errorf("of none: %v", err)
				}
				o.Per = given
				r, err := w.ledger.Resolve(t.Context(), w.decision(id), o)
				if err != nil || len(r.Left) != 1 || !strings.Contains(string(r.Left[0].Input.Data), `80`) {
					t.Fatalf("%+v, %v", r, err)
				}
				o.Per = r.Left[0].Per
				if r, err = w.ledger.Resolve(t.Context(), w.decision(id), o); err != nil || r.State != idem.StateFailed {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	}
}

func TestDivergedWorkGoesOnOnceItsHandlerIsMended(t *testing.T) {
	w := newWorld(t)
	amount, attempt := int64(5), 0
	g := idem.Once(w.effect("charge"), idem.Ask)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		attempt++
		out, err := g.Do(ctx, run, order{ID: in.ID, Amount: amount})
		if err == nil && attempt == 1 {
			amount, err = 6, errBoom // the handler is about to change its mind
		}
		return out, err
	}))
	_, err := c.Do(t.Context(), order{ID: "1"})
	w.due(err)
	_, err = c.Do(t.Context(), order{ID: "1"})
	id := wantIs(t, err, idem.ErrEffectDiverged).ID
	amount = 5 // as if by a deployment
	r, err := w.ledger.Resolve(t.Context(), w.decision(id))
	if err != nil || r.State != idem.StateFailed {
		t.Fatalf("%+v, %v", r, err)
	}
	if result, err := c.Do(t.Context(), order{ID: "1"}); err != nil || result.Value.Ref != "ref-1" {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(1)
}

// dead is work that was refused for good.
func (w *world) dead(guard func(idem.Effect[order, receipt]) *idem.Guarded[order, receipt]) (idem.Contract[order, receipt], idem.WorkID, *[]string) {
	w.t.Helper()
	var keys []string
	e := w.failing("charge", idem.Permanent(errBoom))
	call := e.Call
	e.Call = func(ctx context.Context, c idem.Call, in order) (receipt, error) {
		keys = append(keys, c.Key())
		return call(ctx, c, in)
	}
	before := idem.Upsert(w.effect("book"))
	g := guard(e)
	c := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if _, err := before.Do(ctx, run, in); err != nil {
			return receipt{}, err
		}
		return g.Do(ctx, run, in)
	}))
	_, err := c.Do(w.t.Context(), order{ID: "1"})
	return c, wantIs(w.t, err, idem.ErrDead).ID, &keys
}

func TestReplayedWorkKeepsWhatIsDone(t *testing.T) {
	guards := map[string]func(idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
		"once": never, "upsert": idem.Upsert[order, receipt],
		"idempotency_key": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, time.Hour)
		},
		"find_first": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.FindFirst(e, notFound, 0)
		},
	}
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c, id, keys := w.dead(guard)
			if err := w.ledger.Replay(t.Context(), w.decision(id), idem.Again{}); err != nil {
				t.Fatal(err)
			}
			if work := w.inspect(id).Work; work.State != idem.StateFailed || work.BudgetLeft != 5 {
				t.Errorf("%s with %d attempts, want failed with the contract's 5", work.State, work.BudgetLeft)
			}
			_, err := c.Do(t.Context(), order{ID: "1"})
			wantIs(t, err, idem.ErrDead) // it hears the same refusal
			w.wantCalls(2)
			if err := w.ledger.Replay(t.Context(), w.decision(id), idem.Again{Attempts: 2, Refused: true}); err != nil {
				t.Fatal(err)
			}
			result, err := c.Do(t.Context(), order{ID: "1"})
			if err != nil || result.Attempt != 3 {
				t.Fatalf("%+v, %v", result, err)
			}
			w.wantCalls(3) // book is done, and stays so
			if other := (*keys)[0] != (*keys)[1]; other != (name == "idempotency_key") {
				t.Errorf("the keys were %v", *keys)
			}
			if n := w.rows(`select count(*) from audit_log where verb = 'replay' and subject = '` + id.String() + `'`); n != 3 {
				t.Errorf("%d audits, want one of each replay and one of the effect", n)
			}
		})
	}
}

func TestOnlyDeadWorkIsReplayedOrAcknowledged(t *testing.T) {
	w := newWorld(t)
	_, unknown := w.inDoubt(never)
	wantIs(t, w.ledger.Replay(t.Context(), w.decision(unknown), idem.Again{}), idem.ErrDecision)
	wantIs(t, w.ledger.Acknowledge(t.Context(), w.decision(unknown)), idem.ErrDecision)
}

func TestAcknowledgedWorkStaysDeadAndMayStillBeReplayed(t *testing.T) {
	w := newWorld(t)
	c, id, _ := w.dead(never)
	wantIs(t, w.ledger.Replay(t.Context(), w.decision(id), idem.Again{Attempts: -1}), idem.ErrDecision)
	if err := w.ledger.Acknowledge(t.Context(), w.decision(id)); err != nil {
		t.Fatal(err)
	}
	if n := w.rows(`select count(*) from work_view where state = 'dead' and acknowledged_at is not null`); n != 1 {
		t.Errorf("%d rows are acknowledged", n)
	}
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrDead)
	wantIs(t, w.ledger.Acknowledge(t.Context(), w.decision(id)), idem.ErrDecision)
	if err := w.ledger.Replay(t.Context(), w.decision(id), idem.Again{Refused: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Error(err)
	}
}

func TestAClosedLedgerDecidesNothing(t *testing.T) {
	w := newWorld(t)
	_, id := w.inDoubt(never)
	d := w.decision(id)
	if err := w.ledger.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := w.ledger.Resolve(t.Context(), d, notApplied("charge"))
	wantIs(t, err, idem.ErrClosed)
	_, err = w.ledger.Inspect(t.Context(), id)
	wantIs(t, err, idem.ErrClosed)
}
