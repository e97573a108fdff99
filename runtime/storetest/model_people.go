package storetest

import (
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	idem "github.com/idemgen/idem/runtime"
)

// begin and finish keep the record of attempts.
func (m *model) begin(c idem.Claim, number int, now time.Time) {
	m.attempts[c.ID] = append(m.attempts[c.ID], idem.Attempt{Number: number, StartedAt: now, Release: c.Release, CorrelationID: c.CorrelationID})
}

func (m *model) finish(id idem.WorkID, how idem.Attempt) {
	last := &m.attempts[id][len(m.attempts[id])-1]
	last.EndedAt, last.Outcome, last.Class, last.Error = how.EndedAt, how.Outcome, how.Class, how.Error
}

// outcomeOf is what the record of an attempt calls its end.
func outcomeOf(e idem.End) string {
	switch {
	case e.Refund:
		return "released"
	case !e.SupersededBy.IsZero():
		return "superseded"
	}
	return string(e.State)
}

// inspect mirrors Store.Inspect.
func (m *model) inspect(id idem.WorkID, now time.Time) idem.Inspection {
	w, lives := m.alive(id, now)
	if !lives {
		return idem.Inspection{}
	}
	return idem.Inspection{Work: w, Effects: slices.Clone(m.effects[w.ID]), Attempts: slices.Clone(m.attempts[w.ID]), Audits: slices.Clone(m.audits[w.ID])}
}

// amend mirrors Store.Amend, and tells whether it is allowed.
func (m *model) amend(id idem.WorkID, a idem.Amendment, now time.Time) bool {
	w, lives := m.alive(id, now)
	if !lives || w.State == idem.StateRunning || a.Acknowledge && (w.State != idem.StateDead || a.Retry) {
		return false
	}
	for _, e := range a.Effects {
		if m.row(w.ID, e.EffectID) == nil {
			return false
		}
	}
	for _, e := range a.Effects {
		m.amendEffect(w.ID, e, now)
	}
	for _, audit := range a.Audits {
		audit.At = now
		m.audits[w.ID] = append(m.audits[w.ID], audit)
	}
	switch {
	case a.Retry:
		w.State, w.NextAttemptAt, w.BudgetLeft = idem.StateFailed, now, a.Budget
		w.DoneAt, w.ExpiresAt, w.Forever, w.UntilSuccess, w.Acknowledged = time.Time{}, time.Time{}, false, "", time.Time{}
	case a.Acknowledge:
		w.Acknowledged = now
	}
	m.work[w.ID] = w
	return true
}

func (m *model) row(id idem.WorkID, effect idem.EffectID) *idem.EffectRow {
	i := slices.IndexFunc(m.effects[id], func(row idem.EffectRow) bool { return row.EffectID == effect })
	if i < 0 {
		return nil
	}
	return &m.effects[id][i]
}

func (m *model) amendEffect(id idem.WorkID, e idem.EffectAmendment, now time.Time) {
	row := m.row(id, e.EffectID)
	row.State, row.Epoch, row.Result, row.ExternalRef, row.DoneAt = e.State, e.Epoch, e.Result, e.ExternalRef, time.Time{}
	if e.State == idem.EffectDone {
		row.DoneAt = now
	}
	for name, msg := range m.messages {
		switch {
		case msg.ID != id || msg.Key != e.Key || msg.State != idem.MessageSending:
		case e.State == idem.EffectDone:
			msg.State, msg.Result, msg.ExternalRef, msg.SentAt = idem.MessageSent, e.Result, e.ExternalRef, now
			m.messages[name] = msg
		default:
			delete(m.messages, name)
		}
	}
}

// amend is what a person decides, who may be wrong about what there is.
func (r *history[Tx]) amend(t *rapid.T) {
	id := draw(t, "id", r.ids...)
	seen := r.model.inspect(id, r.h.clock.Now())
	a := idem.Amendment{Acknowledge: draw(t, "acknowledge", true, false)}
	// Nobody has done work tried again.
	a.Retry = seen.Work.State != idem.StateDone && draw(t, "retry", true, false)
	if a.Retry {
		a.Budget = draw(t, "budget", 1, 3)
	}
	for _, row := range seen.Effects {
		if draw(t, "decided", true, false) {
			a.Effects = append(a.Effects, r.decision(t, row.EffectID, row.Key))
		}
	}
	if draw(t, "no such effect", true, false, false, false) {
		a.Effects = append(a.Effects, r.decision(t, idem.EffectID{Name: "z"}, "k1"))
	}
	if draw(t, "audited", true, false) {
		a.Audits = []idem.Audit{{Who: "ann", Verb: "resolve", Before: `{}`, After: `{}`, Reason: draw(t, "reason", "seen", "heard")}}
	}
	var told idem.Inspection
	err := r.h.store.Amend(r.h.ctx, id, func(i idem.Inspection) (idem.Amendment, error) {
		told = i
		return a, nil
	})
	told.Work.Now = time.Time{}
	r.same(t, "what a decision is told", told, seen)
	if allowed := r.model.amend(id, a, r.h.clock.Now()); allowed != (err == nil) || errors.Is(err, idem.ErrLedger) {
		t.Fatalf("amend: got %v, and it is allowed: %t", err, allowed)
	}
}

func (r *history[Tx]) decision(t *rapid.T, effect idem.EffectID, key string) idem.EffectAmendment {
	e := idem.EffectAmendment{EffectID: effect, Key: key, State: draw(t, "outcome", idem.EffectDone, idem.EffectNotApplied), Epoch: draw(t, "epoch", 0, 1, 2)}
	if e.State == idem.EffectDone {
		e.Result, e.ExternalRef = body(t, "result"), draw(t, "ref", "", "ref")
	}
	return e
}
