package idem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Decision is what every change by a person says.
type Decision struct {
	ID WorkID
	// Seen is the [Inspection.Revision] of what the person has looked at. If the work
	// has changed since, nothing is changed: [ErrChanged].
	Seen string
	// Who and Why are kept in the ledger's table audit_log. Neither may be empty.
	Who, Why string
}

// Verdict is what a person knows of an effect whose outcome was unknown. The zero
// value is invalid.
type Verdict int

// The verdicts.
const (
	VerdictApplied    Verdict = iota + 1 // it happened, and the next attempt goes on with its result
	VerdictNotApplied                    // it did not happen, and the next attempt makes it
)

// Outcome is a verdict about one effect of work.
type Outcome struct {
	// Effect is the effect's name in the contract.
	Effect string
	// Per says which, of an effect with once_per: the values as a JSON array, such as
	// ["A-17",2], the one value by itself, or [EffectID].Per. It may be left out where
	// only one effect of that name is undecided.
	Per string

	Verdict Verdict
	// Result is what the effect's function would have returned, as JSON; of an effect
	// that was applied it has to be said. Where the program has the contract it has to
	// fit the function's type.
	Result []byte
	// ExternalRef is what the other system calls the result. May be empty.
	ExternalRef string
}

// Resolved is what has become of work after [Ledger.Resolve].
type Resolved struct {
	// State is StateFailed, which is due now, or StateUnknown while other effects are
	// still to be decided.
	State State
	// Left are the effects that are still to be decided.
	Left []EffectRow
	// Warnings are for the person: how what they said could turn out wrong.
	Warnings []string
}

// Undecided are the effects of which only a person can say whether they happened
// or, of those that did and whose result was not kept, what it was. Resolve makes
// the work due when there are none left.
func (i Inspection) Undecided() []EffectRow {
	list := slices.DeleteFunc(i.Open(), func(e EffectRow) bool { return e.Guard != GuardOnce && e.Guard != GuardTransaction })
	for _, e := range i.done() {
		if e.Result.Codec == CodecDropped {
			list = append(list, e)
		}
	}
	return list
}

// done are the effects that happened. A person may say what the result was, where
// the ledger has one that nobody can read.
func (i Inspection) done() (done []EffectRow) {
	for _, e := range i.Effects {
		if e.State == EffectDone && e.Guard != GuardWork && e.Guard != GuardRead {
			done = append(done, e)
		}
	}
	return done
}

// Open are the effects that may have happened, and of which a verdict can be given.
// What their guards can they settle themselves in the next attempt, so that nobody
// has to say what they do not know: an idempotency_key that the provider has
// forgotten makes the work unknown again. A child's own row says how far it is, and
// a read has no effect.
func (i Inspection) Open() (open []EffectRow) {
	for _, e := range i.Effects {
		if (e.State == EffectStarted || e.State == EffectUnknown) && e.Guard != GuardWork && e.Guard != GuardRead {
			open = append(open, e)
		}
	}
	return open
}

// Revision changes whenever something does that a decision could rest on.
func (i Inspection) Revision() string {
	sum := sha256.New()
	w := i.Work
	fmt.Fprintf(sum, "%s %s %d %d %d %d\n", w.ID, w.State, w.Attempt, w.BudgetLeft, w.CreatedAt.UnixMicro(), w.Acknowledged.UnixMicro())
	for _, e := range i.Effects {
		// Of a result that others have given, too: what is done may be corrected.
		fmt.Fprintf(sum, "%q %q %s %q %d %d %q %q %x\n", e.Name, e.Per, e.State, e.Key, e.Epoch, e.Calls,
			e.ExternalRef, e.Result.Codec, sha256.Sum256(e.Result.Data))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Inspect reads all that the ledger has about one piece of work. [ErrNoWork] if it
// has nothing. Like the methods below it needs none of the contracts.
func (l *Ledger[Tx]) Inspect(ctx context.Context, id WorkID) (Inspection, error) {
	if err := l.enter(); err != nil {
		return Inspection{}, &Error{Reason: err, ID: id}
	}
	defer l.running.Done()
	seen, err := l.store.Inspect(ctx, id)
	switch {
	case err != nil:
		return Inspection{}, &Error{Reason: ErrLedger, ID: id, Cause: err}
	case seen.Work.State == "":
		return Inspection{}, &Error{Reason: ErrNoWork, ID: id}
	}
	return seen, nil
}

// Resolve says of effects of unknown work whether they happened. When none is left
// to be decided ([Inspection.Undecided]) the work is failed and due now, with one
// attempt at least: the next delivery goes on with it. Without outcomes it makes
// such work due, as after a handler that asked for other effects was mended.
//
// Of an effect with the guard idempotency_key that was not applied, the next call
// has another key. Nobody can say that an effect was not applied before its contract's
// visible_after has passed since the attempt's end: [ErrTooEarly], with the time in
// Error.RetryAt.
func (l *Ledger[Tx]) Resolve(ctx context.Context, d Decision, outcomes ...Outcome) (Resolved, error) {
	var r Resolved
	err := l.decide(ctx, d, func(seen Inspection) (a Amendment, err error) {
		a, r, err = l.resolve(seen, outcomes)
		return a, err
	})
	if err != nil {
		return Resolved{}, err
	}
	return r, nil
}

// Again is how dead work is tried again.
type Again struct {
	// Attempts is how many attempts it gets. Zero stands for as many as the contract
	// has or, in a program without it, five.
	Attempts int
	// Refused asks again for effects that were refused: whatever they were refused
	// for has been put right. Without it the attempts hear the same refusal.
	Refused bool
}

// Replay makes dead work failed and due now: the next delivery runs it. What is
// done stays done.
func (l *Ledger[Tx]) Replay(ctx context.Context, d Decision, again Again) error {
	return l.decide(ctx, d, func(seen Inspection) (Amendment, error) {
		switch {
		case seen.Work.State != StateDead:
			return Amendment{}, cannot("only dead work is replayed")
		case again.Attempts < 0:
			return Amendment{}, cannot("it cannot have %d attempts", again.Attempts)
		}
		budget := cmp.Or(again.Attempts, l.known.attempts(seen.Work), defaultAttempts)
		a := Amendment{Retry: true, Budget: budget}
		if again.Refused {
			for _, e := range seen.Effects {
				if e.State == EffectRefused && e.Guard != GuardWork { // a child is asked each time
					a.amend("replay", e, askAgain(e))
				}
			}
		}
		a.retried("replay", seen.Work)
		return a, nil
	})
}

// defaultAttempts is for programs that do not have the contract.
const defaultAttempts = 5

// askAgain makes a refused effect one that may be called. What was refused after a
// call that was cut off may have been applied by that one, and its guard looks; a
// provider that knows keys has given one answer for both.
func askAgain(e EffectRow) EffectAmendment {
	a := EffectAmendment{EffectID: e.EffectID, Key: e.Key, State: EffectNotApplied, Epoch: e.Epoch}
	switch e.Guard {
	case GuardIdempotencyKey:
		a.Epoch++ // under the old key it would refuse again
	case GuardFindFirst, GuardUpsert, GuardRepeatable:
		a.State = EffectUnknown
	}
	return a
}

// Acknowledge says of dead work that it may be forgotten once its window is over.
// Until then it stays dead.
func (l *Ledger[Tx]) Acknowledge(ctx context.Context, d Decision) error {
	return l.decide(ctx, d, func(seen Inspection) (Amendment, error) {
		switch {
		case seen.Work.State != StateDead:
			return Amendment{}, cannot("only dead work is acknowledged")
		case !seen.Work.Acknowledged.IsZero():
			return Amendment{}, cannot("it was acknowledged at %s", seen.Work.Acknowledged.Format(time.RFC3339))
		}
		a := Amendment{Acknowledge: true}
		a.audit("acknowledge", workStanding{State: StateDead, Attempt: seen.Work.Attempt}, workStanding{State: StateDead, Acknowledged: true})
		return a, nil
	})
}

// undecidable is why a decision was not carried out.
type undecidable struct {
	reason error
	effect string
	at     time.Time
	text   string
	work   Work // as it is
}

func (e *undecidable) Error() string { return e.text }

func cannot(format string, args ...any) error {
	return &undecidable{reason: ErrDecision, text: fmt.Sprintf(format, args...)}
}

func cannotOf(effect, format string, args ...any) error {
	return &undecidable{reason: ErrDecision, effect: effect, text: fmt.Sprintf(format, args...)}
}

// decide carries a decision out if nothing has changed since it was made.
func (l *Ledger[Tx]) decide(ctx context.Context, d Decision, plan func(Inspection) (Amendment, error)) error {
	if err := l.enter(); err != nil {
		return &Error{Reason: err, ID: d.ID}
	}
	defer l.running.Done()
	if err := d.complete(); err != nil {
		return &Error{Reason: ErrDecision, ID: d.ID, Cause: err}
	}
	// The plan may be made when this caller has left: it hands over what it finds.
	err := l.store.Amend(ctx, d.ID, func(seen Inspection) (a Amendment, err error) {
		switch {
		case seen.Work.State == "":
			err = &undecidable{reason: ErrNoWork}
		case seen.Revision() != d.Seen:
			err = &undecidable{reason: ErrChanged}
		default:
			a, err = plan(seen)
		}
		if refused, ok := errors.AsType[*undecidable](err); ok {
			refused.work = seen.Work
		}
		for i := range a.Audits {
			a.Audits[i].Who, a.Audits[i].Reason = d.Who, d.Why
		}
		return a, err
	})
	return decisionError(d.ID, err)
}

func (d Decision) complete() error {
	switch {
	case d.ID.IsZero():
		return errors.New("it has no work ID")
	case d.Seen == "":
		return errors.New("it does not say what was seen: look at the work first, and pass the Revision of its Inspection")
	case strings.TrimSpace(d.Who) == "":
		return errors.New("it does not say who decides")
	case strings.TrimSpace(d.Why) == "":
		return errors.New("it does not say why")
	}
	return nil
}

func decisionError(id WorkID, err error) error {
	refused, ok := errors.AsType[*undecidable](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return &Error{Reason: ErrLedger, ID: id, Cause: err}
	}
	e := &Error{Reason: refused.reason, ID: id, Effect: refused.effect, RetryAt: refused.at}
	if w := refused.work; !w.ID.IsZero() {
		e.Kind, e.ID, e.State, e.Attempt = w.Kind, w.ID, w.State, w.Attempt
	}
	if refused.text != "" {
		e.Cause = errors.New(refused.text)
	}
	return e
}

// effectStanding is what an audit says of an effect.
type effectStanding struct {
	Effect      string      `json:"effect"`
	Per         string      `json:"per,omitempty"`
	State       EffectState `json:"state"`
	Key         string      `json:"key,omitempty"`
	Epoch       int         `json:"epoch,omitempty"`
	ExternalRef string      `json:"external_ref,omitempty"`
}

// workStanding is what an audit says of work.
type workStanding struct {
	State        State `json:"state"`
	Attempt      int   `json:"attempt,omitempty"`
	BudgetLeft   *int  `json:"budget_left,omitempty"`
	Acknowledged bool  `json:"acknowledged,omitempty"`
}

func (a *Amendment) audit(verb string, before, after any) {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic("idem: a standing is made of texts and numbers: " + err.Error())
		}
		return string(b)
	}
	a.Audits = append(a.Audits, Audit{Verb: verb, Before: text(before), After: text(after)})
}

// amend moves an effect, and says so.
func (a *Amendment) amend(verb string, row EffectRow, to EffectAmendment) {
	a.Effects = append(a.Effects, to)
	a.audit(verb,
		effectStanding{Effect: row.Name, Per: row.Per, State: row.State, Key: row.Key, Epoch: row.Epoch},
		effectStanding{Effect: row.Name, Per: row.Per, State: to.State, Epoch: to.Epoch, ExternalRef: to.ExternalRef})
}

// retried says that the work is to be run again.
func (a *Amendment) retried(verb string, work Work) {
	a.audit(verb, workStanding{State: work.State, Attempt: work.Attempt, BudgetLeft: &work.BudgetLeft}, workStanding{State: StateFailed, BudgetLeft: &a.Budget})
}
