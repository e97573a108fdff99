package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/survey"
)

// Bounds on one entry. What is further away is not what its owner thinks of.
const (
	maxDepth  = 25
	maxVisits = 20_000
)

// visit is a function as it is reached from an entry: by which call of which visit.
type visit struct {
	f     int
	by    *visit
	call  int // of by's function
	of    int // how many functions the call may be
	depth int
	guard *survey.Guard // the strongest on the way
	at    int           // the function that the guard is in
}

// walker follows the calls of one entry.
type walker struct {
	*program
	root    root
	stop    map[int]bool // other entries, which are not part of this one
	reach   map[int]bool
	effects map[string]found
	runs    []Runs
	harm    map[string]bool // effects that are harmless, by place
	unknown int
}

// found is an effect with the visit that it was seen in.
type found struct {
	Effect
	v    *visit
	call int
	keys []survey.Key
}

// walk looks at everything that an entry reaches, nearest first, each function at
// most twice: without and with a guard on the way.
func (w *walker) walk() {
	type state struct {
		f       int
		guarded bool
		effect  string // of a contract
	}
	seen := map[state]bool{}
	var queue []*visit
	for _, f := range w.root.funcs {
		queue = append(queue, &visit{f: f})
	}
	for n := 0; len(queue) > 0 && n < maxVisits; n++ {
		v := queue[0]
		queue = queue[1:]
		st := state{f: v.f, guarded: v.guard != nil && !v.guard.Weak}
		if g := w.ledgers(v); g != nil {
			st.effect = g.effect
		}
		if seen[st] {
			continue
		}
		seen[st] = true
		if w.funcs[v.f].Pure {
			continue
		}
		if !w.reach[v.f] {
			w.reach[v.f] = true
			w.unknown += w.funcs[v.f].Unknown
		}
		w.look(v)
		if len(w.funcs[v.f].Said) > 0 || v.depth == maxDepth {
			continue
		}
		for _, e := range w.edges[v.f] {
			c := &w.funcs[v.f].Calls[e.call]
			if w.skips(e.to, c) {
				continue
			}
			next := &visit{f: e.to, by: v, call: e.call, of: e.of, depth: v.depth + 1, guard: v.guard, at: v.at}
			if stronger(c.Guard, v.guard) {
				next.guard, next.at = c.Guard, v.f
			}
			queue = append(queue, next)
		}
	}
}

// skips tells whether a call leads to what is not part of the entry: the handler of
// a contract, whose generated code alone calls it, and for a program other entries.
func (w *walker) skips(to int, c *survey.Call) bool {
	if slices.Contains(w.root.funcs, to) {
		return false
	}
	_, effect := w.guarded[w.funcs[to].ID]
	return w.stop[to] || effect && c.Passed
}

var strengths = []string{survey.Memory, survey.Status, survey.Search, survey.Claim}

func stronger(a, b *survey.Guard) bool {
	return a != nil && (b == nil || b.Weak && !a.Weak || a.Weak == b.Weak && slices.Index(strengths, a.Kind) > slices.Index(strengths, b.Kind))
}

// look lists the effects of a function's own calls.
func (w *walker) look(v *visit) {
	f := &w.funcs[v.f]
	for _, e := range f.Said {
		w.effect(v, -1, e)
	}
	if len(f.Said) > 0 {
		return
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		if c.Ledger != "" {
			if kind := cmp.Or(w.program.runs(c.Ledger), w.root.hands); !slices.ContainsFunc(w.runs, func(r Runs) bool { return r.Contract == kind }) {
				w.runs = append(w.runs, Runs{kind, w.at(v.f, c.Line, c.Column)})
			}
		}
		if len(c.Effects) == 0 || w.leads(v.f, i) {
			continue
		}
		for _, e := range c.Effects {
			w.effect(v, i, e)
		}
	}
}

// cost is what a duplicate of an effect of a class costs.
func cost(c catalogue.Class) Cost {
	switch c {
	case catalogue.Money:
		return Money
	case catalogue.Message:
		return Inbox
	case catalogue.Queue, catalogue.ThirdParty:
		return External
	}
	return Internal
}

// effect adds one, unless it is harmless, only asks, or is known by as bad a way.
func (w *walker) effect(v *visit, call int, e survey.Effect) {
	f := &w.funcs[v.f]
	out := found{v: v, call: call}
	out.Cost, out.Class = cost(e.Class), string(e.Class)
	out.Name, out.Pos = f.Name, w.at(v.f, f.Line, f.Column)
	var c *survey.Call
	if call >= 0 {
		c = &f.Calls[call]
		out.Name, out.Pos = c.Name, w.at(v.f, c.Line, c.Column)
		if e.Table != "" {
			out.Name = e.Verb + " " + e.Table
		}
		out.keys = c.Keys
	}
	place := fmt.Sprintf("%v:%d %s %s", out.Pos, out.Pos.Column, out.Name, e.Class)
	if g := w.ledgers(v); g != nil {
		place += " " + g.effect // each has a guard of its own
	}
	switch {
	case e.Model:
		return
	case e.Safe || e.Verb == "delete":
		w.harm[place] = true
		return
	case e.Class == catalogue.Internal:
		return
	case w.asideFor(v, c): // what has failed, which is not the work
		w.harm[place] = true
		return
	case e.Request:
		reads, acts := w.names(v)
		if e.Asks || reads {
			return
		}
		if !acts {
			out.Note = "a POST: what it does on the other side is not seen"
		}
	case e.ByName:
		out.Note = "known by its name alone: no implementation of it was seen"
	}
	if e.Request || e.ByName {
		w.byNames(v, &out.Effect)
	}
	out.Way = w.way(v, out.Name, out.Pos)
	for at := v; at != nil && at.by != nil && out.Each == ""; at = at.by {
		out.Each = w.funcs[at.by.f].Calls[at.call].Loop
	}
	if c != nil && c.Loop != "" {
		out.Each = c.Loop
	}
	if out.Note == "" && v.of > 1 {
		out.Note = "one of several implementations of " + w.funcs[v.by.f].Calls[v.call].Name
	}
	out.Guard = w.guard(v, c, e)
	if old, known := w.effects[place]; !known || old.Guard.holds() && !out.Guard.holds() {
		w.effects[place] = out
	}
}

// byNames says what a request is for, as far as the names on the way to it say so.
func (w *walker) byNames(v *visit, e *Effect) {
	words := catalogue.Words(e.Name)
	for n := 0; v != nil && n < 5; v, n = v.by, n+1 {
		words = append(words, catalogue.Words(w.funcs[v.f].Name)...)
		words = append(words, catalogue.Words(w.packages[w.pkg[v.f]].Name)...)
	}
	for _, by := range []struct {
		cost  Cost
		words []string
	}{{Money, moneyWords}, {Inbox, inboxWords}} {
		if i := slices.IndexFunc(words, func(word string) bool { return slices.Contains(by.words, word) }); i >= 0 {
			e.Cost = by.cost
			note := fmt.Sprintf("taken for %s by the name %s", by.cost, words[i])
			if e.Note == "" || e.Cost != External && strings.HasPrefix(e.Note, "a POST") {
				e.Note = note
			} else {
				e.Note += "; " + note
			}
			return
		}
	}
}

var (
	moneyWords = []string{"pay", "payment", "payments", "charge", "refund", "payout", "payouts", "deposit", "withdraw", "withdrawal", "withdrawals", "disburse", "disbursement", "debit", "transfer", "transfers"}
	inboxWords = []string{"mail", "email", "mailer", "sms", "telegram", "slack", "whatsapp", "discord", "notify", "notifier", "notification", "notifications", "telephone", "chat"}
)

// asideFor tells whether a call is on the way of what puts aside work that has failed.
func (w *walker) asideFor(v *visit, c *survey.Call) bool {
	for {
		if c != nil && c.Dead != "" {
			return true
		}
		if v.by == nil {
			return false
		}
		v, c = v.by, &w.funcs[v.by.f].Calls[v.call]
	}
}

// way is the calls from the entry to an effect.
func (w *walker) way(v *visit, name string, pos Position) []Step {
	var steps []Step
	if name != w.funcs[v.f].Name { // else a directive says it of the function itself
		steps = append(steps, Step{name, pos})
	}
	for ; v.by != nil; v = v.by {
		c := w.funcs[v.by.f].Calls[v.call]
		steps = append(steps, Step{w.funcs[v.f].Name, w.at(v.by.f, c.Line, c.Column)})
	}
	f := w.funcs[v.f]
	steps = append(steps, Step{f.Name, w.at(v.f, f.Line, f.Column)})
	slices.Reverse(steps)
	return steps
}

// names tells whether the functions on the last steps to a request say that it only
// asks, or that it acts.
func (w *walker) names(v *visit) (reads, acts bool) {
	for n := 0; v != nil && n < 3; v, n = v.by, n+1 {
		typ, method, ok := strings.Cut(w.funcs[v.f].Name, ".")
		if !ok {
			typ, method = "", w.funcs[v.f].Name
		}
		if strings.HasPrefix(w.funcs[v.f].Name, "func in ") {
			continue
		}
		reads = reads || catalogue.NamesRead(method) || catalogue.NamesRead(typ)
		acts = acts || catalogue.NamesAct(method)
	}
	return reads, acts && !reads
}

// ledgers is the effect of a contract that a visit is part of: of the entry's own
// contract, if the function is an effect of several.
func (w *walker) ledgers(v *visit) *guarded {
	for ; v != nil; v = v.by {
		all := w.guarded[w.funcs[v.f].ID]
		for i, g := range all {
			if len(all) == 1 || w.root.ledger == nil || g.kind == w.root.ledger.Kind {
				return &all[i]
			}
		}
	}
	return nil
}

// guard is what makes a second call harmless.
func (w *walker) guard(v *visit, c *survey.Call, e survey.Effect) Guard {
	if g := w.ledgers(v); g != nil {
		return Guard{Kind: GuardLedger, Text: g.String()}
	}
	if c == nil {
		return w.checked(v.guard, v.at)
	}
	if len(c.Keys) > 0 {
		return w.keyed(v, c, e)
	}
	if e.Unique {
		pos := w.at(v.f, c.Line, c.Column)
		return Guard{Kind: GuardNatural, Text: "the statement says what becomes of one that is there already", Pos: &pos}
	}
	if pos, ok := w.handled(v, c); ok && e.Class == catalogue.State && e.Verb != "update" {
		return Guard{Kind: GuardNatural, Text: "the error for one that is there already is handled", Pos: &pos}
	}
	g, at := v.guard, v.at
	if stronger(c.Guard, g) {
		g, at = c.Guard, v.f
	}
	if g != nil && g.Weak && e.Class != catalogue.State {
		g = nil
	}
	return w.checked(g, at)
}

// handled tells whether a call on the way handles that what it makes is there.
func (w *walker) handled(v *visit, c *survey.Call) (Position, bool) {
	for {
		if c.Unique {
			return w.at(v.f, c.Line, c.Column), true
		}
		if v.by == nil {
			return Position{}, false
		}
		v, c = v.by, &w.funcs[v.by.f].Calls[v.call]
	}
}

func (w *walker) keyed(v *visit, c *survey.Call, e survey.Effect) Guard {
	k := c.Keys[0]
	pos := w.at(v.f, k.Line, 0)
	if way, fresh := w.fresh(v, k); fresh {
		return Guard{Kind: GuardBroken, Text: "the key " + k.Sink + " is new on every attempt: " + way, Pos: &pos}
	}
	kind := GuardNative
	if e.Class == catalogue.State {
		kind = GuardNatural
	}
	return Guard{Kind: kind, Text: cmp.Or(k.Sink, "a key") + " = " + k.Text, Pos: &pos}
}

// checked is the guard that a check on the way is.
func (w *walker) checked(g *survey.Guard, f int) Guard {
	if g == nil {
		return Guard{Kind: GuardNone, Text: "no guard seen"}
	}
	pos := w.at(f, g.Line, 0)
	out := Guard{Pos: &pos, check: g.Text, by: g.By, f: f}
	text := g.Text
	if g.By != "" {
		text += "(" + g.By + ")"
	}
	switch g.Kind {
	case survey.Claim:
		out.Kind, out.Text = GuardClaim, text+" comes first"
	case survey.Memory:
		out.Kind, out.Text = GuardMemory, text+" comes first, in the memory of the process: a restart forgets it"
	case survey.Status:
		out.Kind, out.Text = GuardSearch, text+" is looked at first: two runs at once both pass"
	default:
		out.Kind, out.Text = GuardSearch, text+" is looked up first: two runs at once both find nothing"
	}
	return out
}
