package idem

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idem/runtime/canon"
)

// resolve plans what a person's outcomes change.
func (c *core) resolve(seen Inspection, outcomes []Outcome) (a Amendment, r Resolved, err error) {
	if seen.Work.State != StateUnknown {
		return a, r, cannot("only unknown work is resolved")
	}
	decided := make(map[EffectID]bool)
	for _, o := range outcomes {
		row, err := o.find(seen)
		if err != nil {
			return a, r, err
		}
		if decided[row.EffectID] {
			return a, r, cannotOf(row.Name, "there are two outcomes of it")
		}
		decided[row.EffectID] = true
		to, warnings, err := c.verdict(seen, row, o)
		if err != nil {
			return a, r, err
		}
		a.amend("resolve", row, to)
		r.Warnings = append(r.Warnings, warnings...)
	}
	r.State = StateUnknown
	r.Left = slices.DeleteFunc(seen.Undecided(), func(e EffectRow) bool { return decided[e.EffectID] })
	if len(r.Left) == 0 {
		r.State, a.Retry, a.Budget = StateFailed, true, max(seen.Work.BudgetLeft, 1)
		a.retried("resolve", seen.Work)
	} else if len(outcomes) == 0 {
		return a, r, cannot("to be decided: %s", names(r.Left))
	}
	return a, r, nil
}

// verdict is what an outcome makes of an effect.
func (c *core) verdict(seen Inspection, row EffectRow, o Outcome) (to EffectAmendment, warnings []string, err error) {
	to = EffectAmendment{EffectID: row.EffectID, Key: row.Key, Epoch: row.Epoch, ExternalRef: o.ExternalRef}
	switch o.Verdict {
	case VerdictApplied:
		if to.Result, err = c.resultOf(seen.Work, row.EffectID, o.Result); err != nil {
			return to, nil, &undecidable{reason: ErrDecision, effect: row.Name, text: err.Error()}
		}
		to.State = EffectDone
		return to, nil, nil
	case VerdictNotApplied:
		if len(o.Result) > 0 || o.ExternalRef != "" {
			return to, nil, cannotOf(row.Name, "what was not applied has neither a result nor a reference")
		}
		if at := seen.shows(row); seen.Work.Now.Before(at) {
			return to, nil, &undecidable{reason: ErrTooEarly, effect: row.Name, at: at,
				text: fmt.Sprintf("its call may take until then to show (visible_after: %s)", row.VisibleAfter)}
		}
		if to.State = EffectNotApplied; row.Guard == GuardIdempotencyKey {
			to.Epoch++ // the old key may stand for a failure, or for another input
		}
		return to, seen.warnings(row), nil
	}
	return to, nil, cannotOf(row.Name, "its outcome has no verdict")
}

// ended is when the last attempt was over. Its calls were over by then too: an owner
// that is alive waits for them before it records its end, and one that is not had a
// lease which was over when the next attempt began.
func (i Inspection) ended() (at time.Time) {
	for _, a := range i.Attempts {
		if a.EndedAt.After(at) {
			at = a.EndedAt
		}
	}
	return at
}

// shows is from when on it can be told whether the call of an effect was applied.
func (i Inspection) shows(row EffectRow) time.Time {
	from := i.ended()
	if from.Before(row.StartedAt) {
		from = row.StartedAt
	}
	return from.Add(row.VisibleAfter)
}

// warnings are how it could turn out that an effect was applied all the same.
func (i Inspection) warnings(row EffectRow) (list []string) {
	if row.VisibleAfter == 0 {
		list = append(list, row.Name+": the contract does not say how long its call may take to show (visible_after): what is not there yet may still come")
	}
	for _, a := range i.Attempts {
		// The attempt in which the call was started was never heard of again.
		if a.Outcome == "abandoned" && !a.StartedAt.After(row.StartedAt) && a.EndedAt.After(row.StartedAt) {
			list = append(list, fmt.Sprintf("%s: the process of attempt %d disappeared. If it is not dead but stopped, or its machine is, it may still make its call when it goes on", row.Name, a.Number))
		}
	}
	return list
}

// find is the row that an outcome is about.
func (o Outcome) find(seen Inspection) (EffectRow, error) {
	open := seen.Open()
	if o.Verdict == VerdictApplied {
		open = append(open, seen.done()...)
	}
	same := slices.DeleteFunc(slices.Clone(open), func(e EffectRow) bool { return e.Name != o.Effect })
	switch {
	case len(same) == 0 && len(open) == 0:
		return EffectRow{}, cannotOf(o.Effect, "its outcome is not unknown, and neither is that of another effect")
	case len(same) == 0:
		return EffectRow{}, cannotOf(o.Effect, "its outcome is not unknown; it is that of %s", names(open))
	case o.Per == "" && len(same) == 1:
		return same[0], nil
	case o.Per == "":
		return EffectRow{}, cannotOf(o.Effect, "%d effects of that name are undecided; say which by its once_per: %s", len(same), inputs(same))
	}
	hashes := o.perHashes()
	for _, e := range same {
		if slices.Contains(hashes, e.Per) {
			return e, nil
		}
	}
	return EffectRow{}, cannotOf(o.Effect, "none that is undecided is once per %s; there is %s", o.Per, inputs(same))
}

// perHashes are the hashes that Per may stand for: of a value by itself, a person
// need not know whether it is a number or a text.
func (o Outcome) perHashes() []string {
	hashes := []string{o.Per}
	add := func(list []byte, err error) {
		if err == nil && len(list) > 0 && list[0] == '[' {
			hashes = append(hashes, hexSum(list))
		}
	}
	for _, text := range []string{o.Per, "[" + o.Per + "]"} {
		add(canon.AppendJSON(nil, []byte(text)))
		add(canon.AppendJSONExact(nil, []byte(text)))
	}
	for _, appendText := range []func([]byte, string) ([]byte, error){canon.AppendString[string], canon.AppendStringExact[string]} {
		list, err := appendText([]byte("["), o.Per)
		add(append(list, ']'), err)
	}
	return hashes
}

// names lists effects for a message.
func names(rows []EffectRow) string {
	var list []string
	for _, e := range rows {
		if !slices.Contains(list, e.Name) {
			list = append(list, e.Name)
		}
	}
	return strings.Join(list, ", ")
}

// inputs tell effects of one name apart, as far as the ledger knows how.
func inputs(rows []EffectRow) string {
	var list []string
	for _, e := range rows {
		per := e.Per
		if per == "" {
			per = "the whole work"
		}
		list = append(list, fmt.Sprintf("%s (%s)", per, shown(e.Input)))
	}
	return strings.Join(list, "; ")
}

// resultOf is a result that a person has given, as the ledger keeps it.
func (c *core) resultOf(work Work, effect EffectID, result []byte) (Body, error) {
	if len(result) == 0 {
		return Body{}, errors.New("it was applied, and its result is missing: say what its function would have returned, as JSON")
	}
	check := c.known.check(work, effect.Name)
	if check == nil {
		check = checkResult[any]
	}
	if err := check(result); err != nil {
		return Body{}, err
	}
	body, why := c.encodeResult(json.RawMessage(result), Slot{Work: work.ID, Effect: effect, Part: PartResult})
	if why != "" {
		return Body{}, errors.New(why)
	}
	return body, nil
}
