package contracts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Contracts are made at random, written down in one of several styles and read
// again: what is read must be what was meant, with every place inside the file.
func TestWhatAContractSaysIsWhatIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []*Contract
		for _, kind := range rapid.SliceOfNDistinct(names(), 1, 4, rapid.ID).Draw(t, "kinds") {
			want = append(want, drawContract(t, kind))
		}
		src := write(want, rapid.Bool().Draw(t, "flow"), rapid.Bool().Draw(t, "quotes"))
		f, ds := Parse("f", []byte(src))
		if len(ds) > 0 {
			t.Fatalf("refused:\n%s\n%s", ds.Text(), src)
		}
		if diff := cmp.Diff(want, f.Contracts, cmpopts.IgnoreTypes(Pos{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got)\n%s\n%s", diff, src)
		}
		checkNoSlip(t, src)
	})
}

// checkNoSlip makes sure that what looks for slips in broken YAML finds none
// where YAML finds none: it would point at the wrong line of a longer file.
func checkNoSlip(t rapid.TB, src string) {
	s := slipFinder{lines: strings.Split(src, "\n")}
	if s.find(); s.found != "" {
		t.Errorf("%+v: %s, in\n%s", s.at, s.found, src)
	}
}

func set[T any](v T) Value[T] { return Value[T]{V: v, Set: true} }

func names() *rapid.Generator[string] {
	return rapid.StringMatching(`[a-z][a-z0-9_]{2,10}x`)
}

func functions() *rapid.Generator[string] {
	return rapid.StringMatching(`(mailx\.|example\.com/[a-z0-9-]{1,5}(/[a-z~_+-][a-z._~+-]{0,3}x)?\.)?[A-Za-zé_][a-z0-9_]{0,5}x`)
}

func fields() *rapid.Generator[string] {
	return rapid.StringMatching(`[A-Z][A-Za-z0-9_]{0,8}X(\.[A-Zß][A-Za-z0-9]{0,5}X){0,2}`)
}

func durations(low, high time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		d := time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, "ns"))
		if rounded := d.Round(time.Hour); rounded >= low && rounded <= high && rapid.Bool().Draw(t, "round") {
			return rounded
		}
		return d
	})
}

// maybe draws an answer, or leaves the default.
func maybe[T any](t *rapid.T, label string, dst *Value[T], g *rapid.Generator[T]) {
	if rapid.Bool().Draw(t, "has "+label) {
		*dst = set(g.Draw(t, label))
	}
}

func fieldList(t *rapid.T, label string, low int) []Value[string] {
	var list []Value[string]
	for _, f := range rapid.SliceOfNDistinct(fields(), low, 4, rapid.ID).Draw(t, label) {
		list = append(list, set(f))
	}
	return list
}

func drawContract(t *rapid.T, kind string) *Contract {
	c := &Contract{Kind: set(kind)}
	c.defaults()
	c.Version = set(rapid.IntRange(1, 1<<31-1).Draw(t, "version"))
	if c.Version.V > 1 && rapid.Bool().Draw(t, "has supersedes") {
		c.Supersedes = Supersedes{
			Set: true, Version: set(rapid.IntRange(1, c.Version.V-1).Draw(t, "superseded")),
			Because: set(rapid.StringMatching(`[A-Z][a-z: ]{0,20}[a-z.]`).Draw(t, "because")),
			OldWork: set(rapid.SampledFrom(oldWorks).Draw(t, "old_work")),
		}
	}
	c.Statement = set(rapid.StringMatching(`[A-Z]([a-z:#{}\[\]"'\\ ,&*!%@é日-]{0,40}[a-z.])`).Draw(t, "statement"))
	c.Handler = set(rapid.SampledFrom([]string{"F", "(*T).M", "(T).M"}).Draw(t, "handler"))
	c.Window = Window{Set: true, Forever: rapid.Bool().Draw(t, "forever")}
	if !c.Window.Forever {
		c.Window.Duration = durations(1, MaxDuration).Draw(t, "window")
		maybe(t, "until_success_of", &c.Window.Until, names().Filter(func(s string) bool { return s != kind }))
	}
	drawIdentity(t, &c.Identity)
	drawLatest(t, c)
	c.Response.Set = true
	c.Response.WhenDone = set(rapid.SampledFrom(whenDone).Draw(t, "when_done"))
	c.Response.WhileRunning = set(rapid.SampledFrom([]WhileRunning{WhileRunningWait, WhileRunningError, WhileRunningNoOp}).Draw(t, "while_running"))
	if c.Response.WhileRunning.V == WhileRunningWait {
		c.Response.Wait = set(durations(1, MaxDuration).Draw(t, "wait"))
	}
	c.Response.OtherPayload = set(rapid.SampledFrom(otherPayload).Draw(t, "other_payload"))
	defer drawDelivery(t, c)
	maybe(t, "release", &c.Release, rapid.StringMatching(`v[0-9]{1,3}\.[0-9]`))
	maybe(t, "lease", &c.Lease, durations(time.Second, 24*time.Hour))
	maybe(t, "timeout", &c.Timeout, durations(time.Second, 24*time.Hour))
	if rapid.Bool().Draw(t, "has retry") {
		drawRetry(t, &c.Retry)
	}
	for _, name := range rapid.SliceOfNDistinct(names(), 0, 6, MethodName).Draw(t, "effects") {
		if len(c.Effects) > 0 && rapid.IntRange(0, 4).Draw(t, "is removed") == 0 {
			c.Removed = append(c.Removed, Removed{Name: set(name), Why: set(rapid.StringMatching(`[A-Z][a-z:#{} ]{0,30}[a-z.]`).Draw(t, "why"))})
			continue
		}
		e := drawEffect(t, c, name)
		maybe(t, "was", &e.Was, rapid.Just("first_"+name[:min(len(name), 57)]+"x"))
		c.Effects = append(c.Effects, e)
	}
	return c
}

// drawLatest draws an order that fits the identity, or none.
func drawLatest(t *rapid.T, c *Contract) {
	of, by := fieldList(t, "latest.of", 0), fields().Draw(t, "latest.by")
	about := setOf(of)
	if len(of) == 0 || about[by] {
		return
	}
	about[c.Identity.Scope.V] = true
	parts := append(slices.Clone(c.Identity.Key), c.Identity.Fields...)
	if len(parts) == 0 || slices.ContainsFunc(parts, func(v Value[string]) bool { return !about[v.V] }) {
		c.Latest = Latest{Set: true, Of: of, By: set(by)}
	}
}

// drawDelivery draws what fits the window and the answer to duplicates.
func drawDelivery(t *rapid.T, c *Contract) {
	room := MaxDuration
	if !c.Window.Forever {
		room = c.Window.Duration - c.RetrySchedule()
	}
	if room <= 0 || c.Response.WhileRunning.V == WhileRunningNoOp || !rapid.Bool().Draw(t, "has delivered_by") {
		return
	}
	d := &c.Delivery
	d.Set = true
	if room > 3*24*time.Hour && rapid.Bool().Draw(t, "stripe") {
		d.System, d.RedeliversFor.V, d.Keeps = set("stripe"), 3*24*time.Hour, 3*24*time.Hour
		return
	}
	d.RedeliversFor = set(durations(1, room).Draw(t, "redelivers_for"))
	d.Keeps = d.RedeliversFor.V
	sends := slices.ContainsFunc(c.Effects, func(e *Effect) bool { return e.Message.Set })
	if d.Keeps > c.RetrySchedule() && !sends { // else there is a warning
		maybe(t, "payload", &c.Payload, rapid.SampledFrom(payloads))
		if c.Payload.V == KeepPayload && c.Identity.Strategy == ByKey && rapid.Bool().Draw(t, "redacts") {
			c.Redact = redacted(t)
		}
	}
	if rapid.Bool().Draw(t, "has ack_within") {
		d.AckWithin = set(durations(max(c.Response.Wait.V, 1), MaxDuration).Draw(t, "ack_within"))
	}
}

// redacted draws fields that no generator above has: none is part of an identity, or
// of another.
func redacted(t *rapid.T) []Value[string] {
	var list []Value[string]
	for _, f := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z][a-z]{1,4}Y(\.[A-Z][a-z]{1,4}Y)?`), 1, 3, func(s string) string {
		first, _, _ := strings.Cut(s, ".")
		return first
	}).Draw(t, "redact") {
		list = append(list, set(f))
	}
	return list
}

func drawIdentity(t *rapid.T, id *Identity) {
	id.Set = true
	var parts []Value[string]
	switch rapid.IntRange(0, 5).Draw(t, "strategy") {
	case 0:
		id.Strategy, id.Key = ByKey, fieldList(t, "key", 1)[:1]
	case 1:
		id.Strategy, id.KeyList, id.Key = ByKey, true, fieldList(t, "key", 1)
	case 2:
		id.Strategy, id.Fields = ByHash, fieldList(t, "fields", 1)
	case 3:
		id.Strategy, id.Except = ByHash, fieldList(t, "except", 1)
	case 4:
		id.Strategy = ByHash
	case 5:
		id.Strategy, id.Key = ByCallerKey, fieldList(t, "caller_key", 1)[:1]
	}
	maybe(t, "scope", &id.Scope, fields())
	if id.Strategy == ByCallerKey && !id.Scope.Set {
		id.Scope = set("Caller") // else there is a warning
	}
	parts = append(append(parts, id.Key...), id.Fields...)
	maybe(t, "keyed", &id.Keyed, rapid.Bool())
	for i, f := range parts {
		if id.KeyList && i > 0 && rapid.Bool().Draw(t, "may be empty") {
			id.AllowEmpty = append(id.AllowEmpty, f)
		}
		if rapid.Bool().Draw(t, "looks volatile") {
			why := rapid.StringMatching(`[A-Z]([a-z:#{}\[\]"'\\ ,&*!%@é日-]{0,40}[a-z.])`).Draw(t, "why")
			id.AllowVolatile = append(id.AllowVolatile, Excuse{Field: f, Why: set(why)})
		}
	}
	for _, f := range parts {
		if rapid.Bool().Draw(t, "normalized") {
			id.Normalize = append(id.Normalize, Normalize{Field: f, Steps: drawSteps(t)})
		}
	}
}

// drawSteps draws steps in an order in which they may stand.
func drawSteps(t *rapid.T) []Value[Normalizer] {
	if rapid.IntRange(0, 4).Draw(t, "a time") == 0 {
		return []Value[Normalizer]{set(Normalizer{Name: rapid.SampledFrom([]NormalizerName{Second, Millisecond, Microsecond, Nanosecond}).Draw(t, "precision")})}
	}
	var steps []Value[Normalizer]
	add := func(n Normalizer) { steps = append(steps, set(n)) }
	texts := []NormalizerName{Exact, Trim, Lower, CollapseSpace, Digits}
	switch rapid.SampledFrom([]NormalizerName{Email, URL, Digits}).Draw(t, "form") {
	case Email:
		add(Normalizer{Name: Email})
	case URL:
		add(Normalizer{Name: URL})
		if params := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zü_\[\]+:"'$]{1,5}x`), 0, 3, rapid.ID).Draw(t, "params"); len(params) > 0 {
			drop := Normalizer{Name: DropParams}
			for _, name := range params {
				drop.Params = append(drop.Params, set(name))
			}
			add(drop)
		}
	}
	for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom(texts), 1, 5, rapid.ID).Draw(t, "steps") {
		add(Normalizer{Name: n})
	}
	if rapid.Bool().Draw(t, "an amount") {
		add(Normalizer{Name: MinorUnits, Digits: rapid.IntRange(0, 18).Draw(t, "digits")})
	}
	return steps
}

func drawRetry(t *rapid.T, r *Retry) {
	r.Set = true
	maybe(t, "by", &r.By, rapid.Just(ByRedelivery))
	maybe(t, "max_attempts", &r.MaxAttempts, rapid.IntRange(1, 1000))
	if rapid.Bool().Draw(t, "has backoff") {
		r.Backoff.Initial = set(durations(1, time.Hour).Draw(t, "initial"))
		r.Backoff.Max = set(durations(r.Backoff.Initial.V, MaxDuration).Draw(t, "max"))
		maybe(t, "multiplier", &r.Backoff.Multiplier, rapid.SampledFrom([]float64{1, 1.5, 2, 10}))
	}
	errs := rapid.SliceOfNDistinct(rapid.StringMatching(`\*?([a-z]{1,4}x\.)?Err[A-Z][a-z]{0,5}`), 0, 6, rapid.ID).Draw(t, "errors")
	for i, e := range errs {
		if i%2 == 0 {
			r.Permanent = append(r.Permanent, set(e))
		} else {
			r.Transient = append(r.Transient, set(e))
		}
	}
}

func drawEffect(t *rapid.T, c *Contract, name string) *Effect {
	e := &Effect{Name: set(name), Header: Value[string]{V: DefaultHeader}, IfUnknown: Value[IfUnknown]{V: Ask}, KeyPlace: KeyInHeader, KeyFormat: Value[KeyFormat]{V: KeyHex}}
	if rapid.IntRange(0, 9).Draw(t, "is a child") == 0 {
		e.Work, e.Guard = set(names().Draw(t, "work")), set(ChildWork)
		return e
	}
	e.Guard = set(rapid.SampledFrom(guards).Draw(t, "guard"))
	if e.Guard.V == IdempotencyKey && c.RetrySchedule() >= MaxDuration {
		e.Guard.V = Read // no memory would be long enough
	}
	maybe(t, "call", &e.Call, functions())
	maybe(t, "external_ref", &e.ExternalRef, fields())
	e.OncePer = fieldList(t, "once_per", 0)
	if e.Guard.V != Transaction && e.Guard.V != Read {
		maybe(t, "calls", &e.MaxAttempts, rapid.IntRange(1, c.Retry.MaxAttempts.V))
	}
	if rapid.Bool().Draw(t, "effect redacts") {
		e.Redact = redacted(t)
	}
	if (e.Guard.V == Once || e.Guard.V.SendsKey()) && rapid.Bool().Draw(t, "has message") {
		drawMessage(t, c, &e.Message)
	}
	if e.Guard.V.SendsKey() {
		maybe(t, "key_format", &e.KeyFormat, rapid.SampledFrom([]KeyFormat{KeyHex, KeyUUID, "base62:22", "base62:43"}))
	}
	switch e.Guard.V {
	case FindFirst:
		e.Find = set(functions().Draw(t, "find"))
		e.VisibleAfter = set(durations(1, MaxDuration).Draw(t, "visible_after"))
	case IdempotencyKey:
		e.RemembersFor = set(durations(c.RetrySchedule()+1, MaxDuration).Draw(t, "remembers_for"))
		if rapid.Bool().Draw(t, "at dropbox_sign") { // which takes hex keys of any length in the usual header
			e.Provider = set("dropbox_sign")
			if day := 24 * time.Hour; c.RetrySchedule() < day && rapid.Bool().Draw(t, "by its memory") {
				e.RemembersFor = Value[time.Duration]{V: day}
			}
		}
		maybe(t, "header", &e.Header, rapid.StringMatching(`X-[A-Za-z-]{1,9}`))
	case Once:
		maybe(t, "visible_after", &e.VisibleAfter, durations(1, MaxDuration))
		maybe(t, "if_unknown", &e.IfUnknown, rapid.SampledFrom(ifUnknowns))
	}
	return e
}

func drawMessage(t *rapid.T, c *Contract, m *Message) {
	m.Set = true
	m.Channel, m.To = set(names().Draw(t, "channel")), set(fields().Draw(t, "to"))
	m.Body = fieldList(t, "body", 1)
	if m.BodyList = rapid.Bool().Draw(t, "body is a list"); !m.BodyList {
		m.Body = m.Body[:1]
	}
	m.TTL = set(durations(c.Timeout.V+1, MaxDuration).Draw(t, "ttl"))
}

// writer writes contracts down, in block or flow style, with or without quotes
// where they are optional.
type writer struct {
	strings.Builder
	flow, quotes bool
}

func write(contracts []*Contract, flow, quotes bool) string {
	w := &writer{flow: flow, quotes: quotes}
	w.WriteString("contracts:\n")
	for _, c := range contracts {
		w.mapping("  ", c.Kind.V, func(indent string) { w.contract(indent, c) })
	}
	return w.String()
}

// mapping writes a mapping of at least one entry; below an entry that is
// written in flow style everything is.
func (w *writer) mapping(indent, name string, entries func(indent string)) {
	if w.flow || indent == "" {
		fmt.Fprintf(w, "%s%s: {\n", indent, name)
		flow := w.flow
		w.flow = true
		entries(indent + "  ")
		w.flow = flow
		fmt.Fprintf(w, "%s}%s\n", indent, w.comma(indent))
		return
	}
	fmt.Fprintf(w, "%s%s:\n", indent, name)
	entries(indent + "  ")
}

// comma ends an entry in flow style; the contracts themselves stand in a block.
func (w *writer) comma(indent string) string {
	if w.flow && len(indent) > 2 {
		return ","
	}
	return ""
}

func (w *writer) entry(indent, name, value string) {
	fmt.Fprintf(w, "%s%s: %s%s # %s\n", indent, name, value, w.comma(indent), "a comment: with {, } and \"")
}

func (w *writer) text(s string) string {
	switch {
	case isTruth(s) || strings.HasPrefix(s, "*") || strings.ContainsAny(s, ":#{}[]\"'\\,&*!%@-") || w.quotes:
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

func entryIf[T any](w *writer, indent, name string, v Value[T], text func(T) string) {
	if v.Set {
		w.entry(indent, name, text(v.V))
	}
}

func wordOf[T ~string](w *writer) func(T) string {
	return func(s T) string { return w.text(string(s)) }
}

func (w *writer) list(values []Value[string]) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, w.text(v.V))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func (w *writer) listIf(indent, name string, values []Value[string]) {
	if len(values) > 0 {
		w.entry(indent, name, w.list(values))
	}
}

func (w *writer) contract(in string, c *Contract) {
	w.entry(in, "version", fmt.Sprint(c.Version.V))
	if s := c.Supersedes; s.Set {
		w.mapping(in, "supersedes", func(in string) {
			w.entry(in, "version", fmt.Sprint(s.Version.V))
			w.entry(in, "because", w.text(s.Because.V))
			w.entry(in, "old_work", string(s.OldWork.V))
		})
	}
	w.entry(in, "statement", w.text(c.Statement.V))
	w.entry(in, "handler", w.text(c.Handler.V))
	switch d := c.Delivery; {
	case d.System.Set:
		w.entry(in, "delivered_by", w.text(d.System.V))
	case d.Set:
		w.mapping(in, "delivered_by", func(in string) {
			w.entry(in, "redelivers_for", w.text(FormatDuration(d.RedeliversFor.V)))
			entryIf(w, in, "ack_within", d.AckWithin, FormatDuration)
		})
	}
	w.mapping(in, "identity", func(in string) { w.identity(in, &c.Identity) })
	if l := c.Latest; l.Set {
		w.mapping(in, "latest", func(in string) {
			w.entry(in, "of", w.list(l.Of))
			w.entry(in, "by", w.text(l.By.V))
		})
	}
	switch until := c.Window.Until; {
	case c.Window.Forever:
		w.entry(in, "window", w.text("forever"))
	case until.Set:
		w.mapping(in, "window", func(in string) {
			w.entry(in, "until_success_of", w.text(until.V))
			w.entry(in, "at_least", w.text(FormatDuration(c.Window.Duration)))
		})
	default:
		w.entry(in, "window", w.text(FormatDuration(c.Window.Duration)))
	}
	w.mapping(in, "response", func(in string) {
		w.entry(in, "when_done", w.text(string(c.Response.WhenDone.V)))
		if c.Response.Wait.Set {
			w.entry(in, "while_running", "{wait: "+FormatDuration(c.Response.Wait.V)+"}")
		} else {
			w.entry(in, "while_running", w.text(string(c.Response.WhileRunning.V)))
		}
		w.entry(in, "other_payload", w.text(string(c.Response.OtherPayload.V)))
	})
	entryIf(w, in, "release", c.Release, w.text)
	entryIf(w, in, "payload", c.Payload, wordOf[Payload](w))
	w.listIf(in, "redact", c.Redact)
	entryIf(w, in, "lease", c.Lease, FormatDuration)
	entryIf(w, in, "timeout", c.Timeout, FormatDuration)
	if c.Retry.Set {
		w.retry(in, &c.Retry)
	}
	if len(c.Effects) > 0 {
		w.mapping(in, "effects", func(in string) {
			for _, e := range c.Effects {
				w.mapping(in, e.Name.V, func(in string) { w.effect(in, e) })
			}
			for _, r := range c.Removed {
				w.mapping(in, r.Name.V, func(in string) { w.entry(in, "removed", w.text(r.Why.V)) })
			}
		})
	}
}

func (w *writer) identity(in string, id *Identity) {
	switch {
	case id.KeyList:
		w.entry(in, "key", w.list(id.Key))
	case id.Strategy == ByKey:
		w.entry(in, "key", w.text(id.Key[0].V))
	case id.Strategy == ByCallerKey:
		w.entry(in, "caller_key", w.text(id.Key[0].V))
	case len(id.Fields) > 0:
		w.entry(in, "hash", "{fields: "+w.list(id.Fields)+"}")
	case len(id.Except) > 0:
		w.entry(in, "hash", "{except: "+w.list(id.Except)+"}")
	default:
		w.entry(in, "hash", "{}")
	}
	entryIf(w, in, "scope", id.Scope, w.text)
	entryIf(w, in, "keyed", id.Keyed, func(keyed bool) string { return fmt.Sprint(keyed) })
	w.listIf(in, "allow_empty", id.AllowEmpty)
	if len(id.AllowVolatile) > 0 {
		w.mapping(in, "allow_volatile", func(in string) {
			for _, e := range id.AllowVolatile {
				w.entry(in, e.Field.V, w.text(e.Why.V))
			}
		})
	}
	if len(id.Normalize) == 0 {
		return
	}
	w.mapping(in, "normalize", func(in string) {
		for _, n := range id.Normalize {
			var steps []string
			for _, s := range n.Steps {
				step := string(s.V.Name)
				switch s.V.Name {
				case MinorUnits:
					step = fmt.Sprintf("{minor_units: %d}", s.V.Digits)
				case DropParams:
					step = "{drop_params: " + w.list(s.V.Params) + "}"
				}
				steps = append(steps, step)
			}
			w.entry(in, n.Field.V, "["+strings.Join(steps, ", ")+"]")
		}
	})
}

func (w *writer) retry(in string, r *Retry) {
	if !r.By.Set && !r.MaxAttempts.Set && !r.Backoff.Initial.Set && len(r.Permanent) == 0 {
		w.entry(in, "retry", "{}")
		return
	}
	w.mapping(in, "retry", func(in string) {
		entryIf(w, in, "by", r.By, wordOf[RetryBy](w))
		entryIf(w, in, "max_attempts", r.MaxAttempts, func(n int) string { return fmt.Sprint(n) })
		if r.Backoff.Initial.Set {
			w.mapping(in, "backoff", func(in string) {
				entryIf(w, in, "initial", r.Backoff.Initial, FormatDuration)
				entryIf(w, in, "max", r.Backoff.Max, FormatDuration)
				entryIf(w, in, "multiplier", r.Backoff.Multiplier, func(m float64) string { return fmt.Sprint(m) })
			})
		}
		w.listIf(in, "permanent", r.Permanent)
		w.listIf(in, "transient", r.Transient)
	})
}

func (w *writer) effect(in string, e *Effect) {
	if e.Work.Set {
		w.entry(in, "work", w.text(e.Work.V))
		entryIf(w, in, "was", e.Was, w.text)
		return
	}
	w.entry(in, "guard", w.text(string(e.Guard.V)))
	entryIf(w, in, "was", e.Was, w.text)
	entryIf(w, in, "call", e.Call, w.text)
	entryIf(w, in, "external_ref", e.ExternalRef, w.text)
	w.listIf(in, "once_per", e.OncePer)
	if e.MaxAttempts.Set {
		w.mapping(in, "retry", func(in string) { w.entry(in, "max_attempts", fmt.Sprint(e.MaxAttempts.V)) })
	}
	if e.Message.Set {
		w.mapping(in, "message", func(in string) { w.message(in, &e.Message) })
	}
	w.listIf(in, "redact", e.Redact)
	entryIf(w, in, "find", e.Find, w.text)
	entryIf(w, in, "visible_after", e.VisibleAfter, FormatDuration)
	entryIf(w, in, "remembers_for", e.RemembersFor, FormatDuration)
	entryIf(w, in, "header", e.Header, w.text)
	entryIf(w, in, "provider", e.Provider, w.text)
	entryIf(w, in, "key_format", e.KeyFormat, wordOf[KeyFormat](w))
	entryIf(w, in, "if_unknown", e.IfUnknown, wordOf[IfUnknown](w))
}

func (w *writer) message(in string, m *Message) {
	w.entry(in, "channel", w.text(m.Channel.V))
	w.entry(in, "to", w.text(m.To.V))
	if m.BodyList {
		w.entry(in, "body", w.list(m.Body))
	} else {
		w.entry(in, "body", w.text(m.Body[0].V))
	}
	w.entry(in, "ttl", w.text(FormatDuration(m.TTL.V)))
}
