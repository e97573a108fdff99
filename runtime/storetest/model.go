package storetest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	idem "github.com/idemgen/idem/runtime"
)

// model is a ledger as simple as it can be said: the states and rules of the
// design, without a database.
type model struct {
	work    map[idem.WorkID]idem.Work
	effects map[idem.WorkID][]idem.EffectRow
	aliases map[idem.WorkID]idem.WorkID
	marks   map[idem.Hash]mark
	// messages are without Until, which follows from the work.
	messages map[idem.MessageID]idem.SentMessage
	// successes are all works that came to their end.
	successes []success
	attempts  map[idem.WorkID][]idem.Attempt
	audits    map[idem.WorkID][]idem.Audit // which outlive the work
}

// mark is the highest that was done in a series, and by which work.
type mark struct {
	by int64
	id idem.WorkID
}

type success struct {
	kind, scope string
	claimedAt   time.Time
}

func newModel() *model {
	return &model{work: map[idem.WorkID]idem.Work{}, effects: map[idem.WorkID][]idem.EffectRow{}, aliases: map[idem.WorkID]idem.WorkID{}, marks: map[idem.Hash]mark{}, messages: map[idem.MessageID]idem.SentMessage{}, attempts: map[idem.WorkID][]idem.Attempt{}, audits: map[idem.WorkID][]idem.Audit{}}
}

// forgotten tells whether a done row counts as none.
func (m *model) forgotten(w idem.Work, now time.Time) bool {
	return w.State == idem.StateDone && m.over(w, now)
}

// over tells whether the window of ended work is.
func (m *model) over(w idem.Work, now time.Time) bool {
	if w.Forever || w.ExpiresAt.After(now) {
		return false
	}
	return w.UntilSuccess == "" || slices.ContainsFunc(m.successes, func(s success) bool {
		return s.kind == w.UntilSuccess && (s.scope == "" || s.scope == w.Scope) && s.claimedAt.After(w.DoneAt)
	})
}

// newer is the newer work of a mark's series that is remembered as done.
func (m *model) newer(of idem.Mark, now time.Time) (idem.WorkID, bool) {
	high, ok := m.marks[of.Series]
	w := m.work[high.id]
	ok = ok && !of.IsZero() && high.by > of.By && w.State == idem.StateDone && !m.forgotten(w, now)
	return high.id, ok
}

// claim mirrors Store.Claim.
func (m *model) claim(c idem.Claim, now time.Time) idem.Claimed {
	own := c.ID
	row, names := m.place(c, now)
	c.ID = row
	if _, lives := m.alive(row, now); !lives {
		for name, leadsTo := range m.aliases {
			if leadsTo == row && name != own {
				delete(m.aliases, name)
			}
		}
	}
	for _, name := range names {
		maps.DeleteFunc(m.aliases, func(_, leadsTo idem.WorkID) bool { return leadsTo == name })
		m.aliases[name] = row
	}
	return m.claimLatest(c, now)
}

// alive is the row that an ID leads to, if it is remembered.
func (m *model) alive(id idem.WorkID, now time.Time) (idem.Work, bool) {
	if to, ok := m.aliases[id]; ok {
		id = to
	}
	w, exists := m.work[id]
	return w, exists && !m.forgotten(w, now)
}

// place is the row of a claim, and which names lead there from now on.
func (m *model) place(c idem.Claim, now time.Time) (row idem.WorkID, names []idem.WorkID) {
	own, lives := m.alive(c.ID, now)
	if len(c.Predecessors) == 0 {
		if to, ok := m.aliases[c.ID]; ok {
			return to, nil
		}
		return c.ID, nil
	}
	// Only names that lead nowhere are given another place.
	name := func(ids ...idem.WorkID) []idem.WorkID {
		return slices.DeleteFunc(ids, func(id idem.WorkID) bool { _, lives := m.alive(id, now); return lives })
	}
	ids := []idem.WorkID{c.ID}
	for _, p := range c.Predecessors {
		ids = append(ids, p.ID)
	}
	if lives && slices.Contains(ids, own.ID) {
		return own.ID, nil
	}
	ofOldProgram := func(direct bool) (idem.WorkID, bool) {
		for _, p := range c.Predecessors {
			_, aliased := m.aliases[p.ID]
			if w, lives := m.alive(p.ID, now); lives && aliased != direct && w.Version <= p.Version {
				return w.ID, true
			}
		}
		return idem.WorkID{}, false
	}
	if id, found := ofOldProgram(true); found {
		return id, name(c.ID)
	}
	if id, found := ofOldProgram(false); found {
		return id, name(c.ID)
	}
	if lives {
		return own.ID, nil
	}
	for i := len(ids) - 1; ; i-- {
		if _, lives := m.alive(ids[i], now); !lives {
			delete(m.aliases, ids[i])
			return ids[i], name(ids[:i]...)
		}
	}
}

// claimLatest is a claim whose ID is that of the row.
func (m *model) claimLatest(c idem.Claim, now time.Time) idem.Claimed {
	claimed := m.take(c, now)
	newer, old := m.newer(c.Mark, now)
	if !claimed.Won || !old || claimed.Doubtful() {
		return claimed
	}
	m.end(idem.End{Fence: c.Fence, State: idem.StateDone, Window: c.Window, SupersededBy: newer}, now)
	return idem.Claimed{Work: m.work[c.ID]}
}

// take is a claim of work that nothing newer has made useless.
func (m *model) take(c idem.Claim, now time.Time) idem.Claimed {
	w, exists := m.work[c.ID]
	if !exists || m.forgotten(w, now) {
		m.effects[c.ID] = nil
		m.work[c.ID] = idem.Work{
			ID: c.ID, Kind: c.Kind, Version: c.Version, Scope: c.Scope, State: idem.StateRunning, Token: c.Token,
			Attempt: 1, BudgetLeft: c.Budget - 1,
			Payload: c.Payload, PayloadHash: c.PayloadHash, PayloadShape: c.PayloadShape,
			LockedUntil: now.Add(c.Lease), CreatedAt: now,
		}
		m.attempts[c.ID] = nil
		m.begin(c, 1, now)
		return idem.Claimed{Won: true, Work: m.work[c.ID]}
	}
	if w.State == idem.StateRunning && w.Token == c.Token { // an acknowledgement was lost
		w.LockedUntil = later(w.LockedUntil, now.Add(c.Lease))
		m.work[c.ID] = w
		return idem.Claimed{Won: true, Work: w, Effects: m.left(w)}
	}
	due := w.State == idem.StateFailed && !w.NextAttemptAt.After(now)
	abandoned := w.State == idem.StateRunning && !w.LockedUntil.After(now)
	mismatch := !c.AnyPayload && w.PayloadShape == c.PayloadShape && w.PayloadHash != c.PayloadHash
	if !due && !abandoned || mismatch {
		return idem.Claimed{Work: w}
	}
	if abandoned {
		m.finish(c.ID, idem.Attempt{EndedAt: now, Outcome: "abandoned"})
	}
	if w.BudgetLeft == 0 {
		w.State, w.Token = idem.StateDead, idem.Token{}
		if abandoned {
			w.ErrorClass = ""
		}
		w.LockedUntil, w.NextAttemptAt = time.Time{}, time.Time{}
		remember(&w, c.Window, now)
		m.work[c.ID] = w
		return idem.Claimed{Work: w}
	}
	if w.PayloadShape != c.PayloadShape {
		w.Payload, w.PayloadHash, w.PayloadShape = c.Payload, c.PayloadHash, c.PayloadShape
	}
	w.State, w.Token, w.Attempt, w.BudgetLeft = idem.StateRunning, c.Token, w.Attempt+1, w.BudgetLeft-1
	w.Result, w.ExternalRef = idem.Body{}, ""
	w.LockedUntil, w.NextAttemptAt = now.Add(c.Lease), time.Time{}
	m.work[c.ID] = w
	m.begin(c, w.Attempt, now)
	return idem.Claimed{Won: true, Work: w, Effects: m.left(w)}
}

// remember sets how long done or dead work is remembered.
func remember(w *idem.Work, window idem.Window, now time.Time) {
	d, forever := window.Duration()
	w.DoneAt, w.Forever, w.UntilSuccess = now, forever, window.UntilSuccessOf()
	if !forever {
		w.ExpiresAt = now.Add(d)
	}
}

// left are the effects that a claim is told of.
func (m *model) left(w idem.Work) []idem.EffectRow {
	if w.Attempt == 1 {
		return nil
	}
	return slices.Clone(m.effects[w.ID])
}

func (m *model) holds(f idem.Fence) bool {
	w := m.work[f.ID]
	return w.State == idem.StateRunning && w.Token == f.Token
}

// writeEffect mirrors Store.WriteEffect.
func (m *model) writeEffect(e idem.EffectWrite, now time.Time) (idem.EffectWritten, error) {
	if newer, old := m.newer(e.Mark, now); old && e.Live {
		return idem.EffectWritten{}, idem.NewerWork{ID: newer}
	}
	if !m.holds(e.Fence) || e.Live && !m.work[e.ID].LockedUntil.After(now) {
		return idem.EffectWritten{}, idem.ErrLeaseLost
	}
	starts := e.Message != nil && e.State == idem.EffectStarted
	if starts {
		if taken := m.taken(e, now); taken != nil {
			return idem.EffectWritten{Taken: taken}, nil
		}
		m.messages[e.Message.MessageID] = idem.SentMessage{State: idem.MessageSending, ID: e.ID, Effect: e.Name, Per: e.Per, Key: e.Key, ExpiresAt: now.Add(e.Message.TTL)}
	}
	startedAt := m.moveEffect(e, now)
	if e.Message != nil {
		m.settleMessage(e, now)
	}
	return idem.EffectWritten{StartedAt: startedAt}, nil
}

// taken is the message that an effect wants to send if another has it.
func (m *model) taken(e idem.EffectWrite, now time.Time) *idem.SentMessage {
	msg, exists := m.messages[e.Message.MessageID]
	if !exists || !msg.ExpiresAt.After(now) || msg.State == idem.MessageSending && msg.Key == e.Key && m.hasRow(e) {
		return nil
	}
	msg.Until = msg.ExpiresAt
	switch w := m.work[msg.ID]; {
	case w.State == idem.StateRunning && w.LockedUntil.Before(msg.Until):
		msg.Until = w.LockedUntil
	case w.State == idem.StateFailed && w.NextAttemptAt.Before(msg.Until):
		msg.Until = w.NextAttemptAt
	}
	return &msg
}

func (m *model) hasRow(e idem.EffectWrite) bool {
	return slices.ContainsFunc(m.effects[e.ID], func(row idem.EffectRow) bool { return row.EffectID == e.EffectID })
}

func (m *model) settleMessage(e idem.EffectWrite, now time.Time) {
	msg, exists := m.messages[e.Message.MessageID]
	if !exists || msg.Key != e.Key {
		return
	}
	switch e.State {
	case idem.EffectDone:
		msg.State, msg.Result, msg.ExternalRef, msg.Error = idem.MessageSent, e.Result, e.ExternalRef, e.Error
		msg.SentAt, msg.ExpiresAt = now, now.Add(e.Message.TTL)
	case idem.EffectGivenUp:
		msg.State, msg.Result, msg.ExternalRef, msg.Error, msg.SentAt = idem.MessageGivenUp, idem.Body{}, "", e.Error, time.Time{}
	case idem.EffectNotApplied, idem.EffectRefused:
		if msg.State == idem.MessageSending {
			delete(m.messages, e.Message.MessageID)
		}
		return
	}
	m.messages[e.Message.MessageID] = msg
}

func (m *model) moveEffect(e idem.EffectWrite, now time.Time) time.Time {
	row := idem.EffectRow{
		EffectID: e.EffectID, Guard: e.Guard, State: e.State, Key: e.Key, Epoch: e.Epoch, PayloadHash: e.PayloadHash, PayloadShape: e.PayloadShape,
		Calls: e.Calls, VisibleAfter: e.VisibleAfter, Input: e.Input, Result: e.Result, ExternalRef: e.ExternalRef, LastError: e.Error, StartedAt: now,
	}
	if e.State == idem.EffectDone || e.State == idem.EffectRefused || e.State == idem.EffectGivenUp {
		row.DoneAt = now
	}
	for i, old := range m.effects[e.ID] {
		if old.EffectID != e.EffectID {
			continue
		}
		if !e.Restart {
			row.StartedAt = old.StartedAt
		}
		if e.Input.Codec == idem.CodecNone {
			row.Input = old.Input
		}
		m.effects[e.ID][i] = row
		return row.StartedAt
	}
	m.effects[e.ID] = append(m.effects[e.ID], row)
	return now
}

// end mirrors Store.End.
func (m *model) end(e idem.End, now time.Time) (idem.Work, bool) {
	if !m.holds(e.Fence) {
		return idem.Work{}, false
	}
	w := m.work[e.ID]
	w.State, w.Token, w.LockedUntil = e.State, idem.Token{}, time.Time{}
	w.Result, w.ExternalRef, w.ErrorClass, w.LastError = e.Result, e.ExternalRef, e.Class, e.Error
	if e.Refund {
		w.BudgetLeft++
	}
	if e.State == idem.StateFailed {
		w.NextAttemptAt = now.Add(e.RetryIn)
	}
	if e.State == idem.StateDone || e.State == idem.StateDead {
		remember(&w, e.Window, now)
	}
	w.SupersededBy = e.SupersededBy
	m.work[e.ID] = w
	m.finish(e.ID, idem.Attempt{EndedAt: now, Outcome: outcomeOf(e), Class: e.Class, Error: e.Error})
	if e.State == idem.StateDone && e.SupersededBy.IsZero() {
		m.successes = append(m.successes, success{w.Kind, w.Scope, w.CreatedAt})
		m.raise(e, now)
	}
	return w, true
}

// raise keeps the highest mark that was done and is remembered.
func (m *model) raise(e idem.End, now time.Time) {
	high, ok := m.marks[e.Mark.Series]
	w := m.work[high.id]
	if !ok || e.Mark.By >= high.by || w.State != idem.StateDone || m.forgotten(w, now) {
		m.marks[e.Mark.Series] = mark{e.Mark.By, e.ID}
	}
}

// renew mirrors Store.Renew for one lease.
func (m *model) renew(l idem.Lease, now time.Time) idem.Renewal {
	if !m.holds(l.Fence) {
		return idem.LeaseLost
	}
	w := m.work[l.ID]
	w.LockedUntil = later(w.LockedUntil, now.Add(l.For))
	m.work[l.ID] = w
	return idem.Renewed
}

// purge mirrors Store.Purge and Store.PurgeMemory.
func (m *model) purge(ids []idem.WorkID, now time.Time) {
	for _, id := range ids {
		w := m.work[id]
		if ended := w.State == idem.StateDone || !w.Acknowledged.IsZero(); !ended || !m.over(w, now) {
			continue
		}
		delete(m.work, id)
		delete(m.effects, id)
		delete(m.attempts, id)
		maps.DeleteFunc(m.aliases, func(_, leadsTo idem.WorkID) bool { return leadsTo == id })
		maps.DeleteFunc(m.marks, func(_ idem.Hash, high mark) bool { return high.id == id })
	}
	maps.DeleteFunc(m.messages, func(_ idem.MessageID, msg idem.SentMessage) bool {
		return !msg.ExpiresAt.After(now) && !(msg.State == idem.MessageSending && slices.ContainsFunc(m.effects[msg.ID], func(e idem.EffectRow) bool {
			return e.Key == msg.Key && (e.State == idem.EffectStarted || e.State == idem.EffectUnknown)
		}))
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// history is one random run of a store beside the model.
type history[Tx any] struct {
	*rapid.T
	h      *harness[Tx]
	model  *model
	number int              // of the history: its kinds and series are its own
	ids    []idem.WorkID    // of all versions
	of     [4][]idem.WorkID // by version, from 1
	tokens []idem.Token     // all that ever claimed, stale ones included
}

func testModel[Tx any](h *harness[Tx]) {
	histories := 0
	rapid.Check(h.T, func(t *rapid.T) {
		histories++ // other work in each, so that one store serves them all
		r := &history[Tx]{T: t, h: h, number: histories, model: newModel()}
		for version := 1; version <= 3; version++ {
			for i := range 2 {
				id := workID(fmt.Sprint(histories, " ", version, " ", i))
				r.ids, r.of[version] = append(r.ids, id), append(r.of[version], id)
			}
		}
		r.tokens = []idem.Token{{1}} // of somebody who never claimed
		t.Repeat(map[string]func(*rapid.T){
			"claim":   r.claim,
			"effect":  r.effect,
			"end":     r.end,
			"renew":   r.renew,
			"amend":   r.amend,
			"purge":   r.purge,
			"advance": func(t *rapid.T) { h.clock.advance(draw(t, "time", durations...)) },
			"":        r.check,
		})
	})
}

// durations make leases, delays and windows end exactly at one another.
var durations = []time.Duration{time.Microsecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

func draw[V any](t *rapid.T, label string, values ...V) V {
	return rapid.SampledFrom(values).Draw(t, label)
}

// fence is mostly the present owner's.
func (r *history[Tx]) fence(t *rapid.T) idem.Fence {
	f := idem.Fence{ID: draw(t, "id", r.ids...), Token: draw(t, "token", r.tokens...)}
	if w := r.model.work[f.ID]; w.State == idem.StateRunning && draw(t, "owner", true, true, true, false) {
		f.Token = w.Token
	}
	return f
}

// window is how long work is remembered: some of it until a kind has succeeded.
func (r *history[Tx]) window(t *rapid.T, label string) idem.Window {
	d := draw(t, label, durations...)
	return draw(t, label+" is", idem.For(d), idem.For(d), idem.Forever(), idem.UntilSuccessOf(r.kind("sync"), d))
}

func (r *history[Tx]) kind(name string) string { return fmt.Sprint(name, r.number) }

// mark is the place of work in one of two series, or in none.
func (r *history[Tx]) mark(t *rapid.T) idem.Mark {
	series := draw(t, "series", "", "1", "2")
	if series == "" {
		return idem.Mark{}
	}
	return idem.NewMark([]byte(r.kind(series)), draw(t, "by", int64(1), 2, 3))
}

func body(t *rapid.T, label string) idem.Body {
	return draw(t, label, idem.Body{}, jsonBody(`null`), jsonBody(`"x"`), idem.Body{Codec: idem.CodecDropped})
}

func (r *history[Tx]) claim(t *rapid.T) {
	c := idem.Claim{
		Kind: r.kind(draw(t, "kind", "sync", "item")), Version: draw(t, "version", 1, 2, 3), Scope: draw(t, "scope", "", "a", "b"), Mark: r.mark(t),
		Lease: draw(t, "lease", durations...), Budget: draw(t, "budget", 1, 2, 4), Window: r.window(t, "claim's window"), Payload: body(t, "payload"),
		PayloadHash: draw(t, "hash", idem.Hash{}, hash("1"), hash("1"), hash("1"), hash("2")), PayloadShape: draw(t, "shape", "a", "a", "a", "b"),
		AnyPayload: draw(t, "any payload", true, false), MayLag: draw(t, "may lag", true, false),
		Release: draw(t, "release", "", "v1"), CorrelationID: draw(t, "correlation", "", "trace"),
	}
	// Any work may have been called anything: finer and coarser identities, and
	// inputs that no old version took.
	c.ID = draw(t, "id", r.of[c.Version]...)
	for version := c.Version - 1; version > 0; version-- {
		if draw(t, "honoured", true, true, false) {
			c.Predecessors = append(c.Predecessors, idem.Predecessor{ID: draw(t, "old id", r.of[version]...), Version: version})
		}
	}
	if draw(t, "fresh token", true, true, true, false) {
		_, _ = rand.Read(c.Token[:]) // never fails
		r.tokens = append(r.tokens, c.Token)
	} else {
		c.Token = r.fence(t).Token
	}
	got, err := r.h.store.Claim(r.h.ctx, c)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	want := r.model.claim(c, r.h.clock.Now())
	r.learnError(got.Work)
	want.Work = r.model.work[want.Work.ID]
	got.Work.Now = time.Time{}
	r.same(t, "claim", got, want)
}

// learnError takes over what a store says of work that a claim made dead: the
// wording is its own.
func (r *history[Tx]) learnError(got idem.Work) {
	if w, ok := r.model.work[got.ID]; ok && got.State == idem.StateDead && got.LastError != "" {
		w.LastError = got.LastError
		r.model.work[got.ID] = w
	}
}

func (r *history[Tx]) effect(t *rapid.T) {
	e := idem.EffectWrite{
		Fence: r.fence(t), EffectID: idem.EffectID{Name: draw(t, "name", "x", "y"), Per: draw(t, "per", "", "1")},
		Guard: draw(t, "guard", idem.GuardOnce, idem.GuardFindFirst),
		State: draw(t, "state", idem.EffectStarted, idem.EffectNotApplied, idem.EffectDone, idem.EffectRefused, idem.EffectGivenUp, idem.EffectUnknown),
		Key:   draw(t, "key", "k1", "k2"), Epoch: draw(t, "epoch", 0, 1), Calls: draw(t, "calls", 0, 1, 2), VisibleAfter: draw(t, "visible after", 0, time.Second), PayloadHash: draw(t, "hash", idem.Hash{}, hash("1")), PayloadShape: draw(t, "shape", "a", "b"),
		Input: body(t, "input"), Result: body(t, "result"), ExternalRef: draw(t, "ref", "", "ref"), Error: draw(t, "error", "", "broken"),
		Live: draw(t, "live", true, false), Restart: draw(t, "restart", true, false), Mark: r.mark(t), MayLag: draw(t, "may lag", true, false),
	}
	if to := draw(t, "message to", "", "1", "1", "2"); to != "" {
		e.Message = &idem.MessageWrite{MessageID: idem.MessageID{Channel: fmt.Sprint(r.number), To: to, Content: hash("text")}, TTL: draw(t, "ttl", durations...)}
	}
	got, err := r.h.store.WriteEffect(r.h.ctx, e)
	want, refused := r.model.writeEffect(e, r.h.clock.Now())
	if e.State != idem.EffectStarted && got.StartedAt.IsZero() {
		want.StartedAt = time.Time{}
	}
	if !errors.Is(err, refused) {
		t.Fatalf("effect: got %v, want %v", err, refused)
	}
	r.same(t, "answer to the effect", got, want)
}

func (r *history[Tx]) end(t *rapid.T) {
	e := idem.End{
		Fence: r.fence(t), State: draw(t, "state", idem.StateDone, idem.StateFailed, idem.StateFailed, idem.StateFailed, idem.StateUnknown, idem.StateDead),
		Result: body(t, "result"), ExternalRef: draw(t, "ref", "", "ref"),
		Class: draw(t, "class", "", idem.ClassTransient, idem.ClassPermanent, idem.ClassNotApplied, idem.ClassUnknown),
		Error: draw(t, "error", "", "broken"), RetryIn: draw(t, "retry in", append(durations, 0)...),
		Window: r.window(t, "window"), Refund: draw(t, "refund", false, false, true), Mark: r.mark(t),
	}
	if e.State == idem.StateDone && draw(t, "superseded", false, false, false, true) {
		e.SupersededBy = draw(t, "newer", r.ids...)
	}
	got, err := r.h.store.End(r.h.ctx, e)
	want, held := r.model.end(e, r.h.clock.Now())
	r.sameFence(t, "end", err, held)
	r.same(t, "end", got, idem.Ended{NextAttemptAt: want.NextAttemptAt})
}

func (r *history[Tx]) renew(t *rapid.T) {
	leases := make([]idem.Lease, draw(t, "leases", 1, 2, 3))
	for i := range leases {
		leases[i] = idem.Lease{Fence: r.fence(t), For: draw(t, "for", durations...)}
	}
	got, err := r.h.store.Renew(r.h.ctx, leases)
	if err != nil {
		t.Fatalf("renew: %v", err)
	}
	var want []idem.Renewal
	for _, l := range leases {
		want = append(want, r.model.renew(l, r.h.clock.Now()))
	}
	r.same(t, "renew", got, want)
}

func (r *history[Tx]) purge(t *rapid.T) {
	ids := rapid.SliceOfN(rapid.SampledFrom(r.ids), 1, 4).Draw(t, "ids")
	if _, err := r.h.store.Purge(r.h.ctx, ids); err != nil {
		t.Fatalf("purge: %v", err)
	}
	if _, err := r.h.store.PurgeMemory(r.h.ctx, 1000); err != nil {
		t.Fatalf("purge: %v", err)
	}
	r.model.purge(ids, r.h.clock.Now())
}

// check looks at everything after every step.
func (r *history[Tx]) check(t *rapid.T) {
	for _, id := range r.ids {
		got, err := r.h.store.Inspect(r.h.ctx, id)
		if err != nil {
			t.Fatalf("inspect: %v", err)
		}
		got.Work.Now = time.Time{}
		r.same(t, "inspect", got, r.model.inspect(id, r.h.clock.Now()))
	}
}

func (r *history[Tx]) sameFence(t *rapid.T, what string, err error, held bool) {
	if held && err != nil || !held && !errors.Is(err, idem.ErrLeaseLost) {
		t.Fatalf("%s: got %v, and the fence holds: %t", what, err, held)
	}
}

func (r *history[Tx]) same(t *rapid.T, what string, got, want any) {
	if diff := compare(got, want); diff != "" {
		t.Fatalf("%s (-model +store):\n%s", what, diff)
	}
}
