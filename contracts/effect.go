package contracts

import (
	"go/token"
	"regexp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

var (
	guards     = []Guard{Transaction, IdempotencyKey, Upsert, FindFirst, Once, Repeatable, Read}
	ifUnknowns = []IfUnknown{Ask, GiveUp, Repeat}

	// headerForm is an HTTP field name (RFC 9110, section 5.1).
	headerForm = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")
)

func (p *parser) effects(c *Contract, it item) {
	if it.node.Kind != yaml.MappingNode {
		p.wrongType(it, "a mapping with one entry for each effect")
		return
	}
	methods := map[string]string{}
	p.entries(it, func(name string, keyPos Pos, value *yaml.Node) {
		e := &Effect{Name: Value[string]{V: name, Pos: keyPos, Set: true}}
		named := p.name("an effect", name, keyPos, it.path)
		if saysRemoved(value) {
			p.removed(c, e.Name, p.item(value, keyPos, join(it.path, clip(name))))
			return
		}
		if named {
			if other, taken := methods[e.Method()]; taken {
				p.errorf(keyPos, it.path, "%s and %s would both be the Go method %s", other, name, e.Method())
			}
			methods[e.Method()] = name
		}
		p.effect(e, p.item(value, keyPos, join(it.path, clip(name))))
		c.Effects = append(c.Effects, e)
	})
	p.checkRenames(c)
}

func (p *parser) effect(e *Effect, it item) {
	at := it.key
	e.Guard.Pos, e.Work.Pos, e.Call.Pos, e.ExternalRef.Pos, e.Find.Pos = at, at, at, at, at
	e.VisibleAfter.Pos, e.RemembersFor.Pos, e.Provider.Pos, e.MaxAttempts.Pos = at, at, at, at
	e.Message = Message{Pos: at, Channel: Value[string]{Pos: at}, To: Value[string]{Pos: at}, TTL: Value[time.Duration]{Pos: at}}
	e.Header, e.KeyPlace = Value[string]{V: DefaultHeader, Pos: at}, KeyInHeader
	e.KeyFormat = Value[KeyFormat]{V: KeyHex, Pos: at}
	e.IfUnknown = Value[IfUnknown]{V: Ask, Pos: at}

	params := map[string]item{}
	note := func(read func(item)) func(item) {
		return func(it item) { params[lastName(it.path)] = it; read(it) }
	}
	present, ok := p.mapping(it, "a mapping such as {guard: transaction}", append([]field{
		{"guard", func(it item) { word(p, it, &e.Guard, guards) }},
		{"was", func(it item) { p.was(it, &e.Was) }},
		{"work", func(it item) { p.child(e, it) }},
		{"call", func(it item) { p.function(it, &e.Call) }},
		{"external_ref", func(it item) { p.fieldPath(it, &e.ExternalRef) }},
		{"once_per", func(it item) { e.OncePer = p.fieldPaths(it) }},
		{"retry", note(func(it item) { p.effectRetry(e, it) })},
		{"message", note(func(it item) { p.message(e, it) })},
		{"redact", func(it item) { e.Redact = p.fieldPaths(it); p.checkRedact(e.Redact, it.path) }},
		{"find", note(func(it item) { p.function(it, &e.Find) })},
		{"visible_after", note(func(it item) { p.duration(it, &e.VisibleAfter, anyDuration("30s", "s")) })},
		{"remembers_for", note(func(it item) { p.duration(it, &e.RemembersFor, anyDuration("24h", "h")) })},
		{"header", note(func(it item) { p.header(it, &e.Header) })},
		{"key_format", note(func(it item) { p.keyFormat(it, &e.KeyFormat) })},
		{"provider", func(it item) { p.provider(it, &e.Provider) }},
		{"if_unknown", note(func(it item) { word(p, it, &e.IfUnknown, ifUnknowns) })},
	}, unsupported("approval", "approval_expires", "reconcile")...))
	if !ok {
		return
	}
	if present["work"] {
		if e.Work.Set {
			p.checkChild(e, it)
		}
		return
	}
	if !present["guard"] {
		p.errorf(at, join(it.path, "guard"), "missing: what makes it safe to repeat the effect? Answer with %s", orList([]string{
			"transaction (one database transaction with the ledger)", "idempotency_key (the provider dedupes on our key)",
			"upsert (the provider enforces a unique value that we choose)", "find_first (look for our fingerprint before repeating)",
			"once (never repeated)", "repeatable (harmless to repeat)", "read (a recorded read)"})+"; or, if the effect is work of another contract, work: KIND")
	}
	if e.Guard.Set {
		p.guardParams(e, it, present, params)
		p.applyProvider(e, it, present)
	}
	if !e.Call.Set && !present["call"] && token.IsKeyword(e.CallName()) {
		p.errorf(at, it.path, "no Go method can be called %s: name one with call", e.CallName())
	}
}

func lastName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			return path[i+1:]
		}
	}
	return path
}

// guardParam is a parameter that only some guards have.
type guardParam struct {
	name   string
	guards []Guard
	open   string           // the question that is open without it; empty if it is optional
	free   []Guard          // those of the guards for which it is optional all the same
	not    map[Guard]string // why other guards do not have it, where that has to be said
}

var guardParams = []guardParam{
	{name: "retry", guards: except(Transaction, Read), not: map[Guard]string{
		Transaction: "a transaction that fails leaves nothing behind, and so no count of its calls",
		Read:        "a read that fails leaves nothing behind, and so no count of its calls",
	}},
	{name: "message", guards: except(Transaction, Read, Repeatable), not: map[Guard]string{
		Transaction: "a transaction changes your own database and sends nothing. Let another effect send it",
		Read:        "a read sends nothing",
		Repeatable:  "what is harmless to repeat needs no memory of what was sent. Guard it with once if it is not",
	}},
	{name: "find", guards: []Guard{FindFirst}, open: "which Go method or function looks for what a former attempt left at the provider? Answer with its name"},
	{name: "visible_after", guards: []Guard{FindFirst, Once}, free: []Guard{Once}, open: "after what time does the provider's search show what was created? Answer with a duration such as 30s"},
	{name: "remembers_for", guards: []Guard{IdempotencyKey}, open: "for how long does the provider remember a key? Answer with a duration such as 24h, or name the provider"},
	{name: "header", guards: []Guard{IdempotencyKey}},
	{name: "key_format", guards: keyGuards()},
	{name: "if_unknown", guards: []Guard{Once}},
}

// keyGuards are the guards whose effects hand their key to the provider.
func keyGuards() []Guard {
	return slices.DeleteFunc(slices.Clone(guards), func(g Guard) bool { return !g.SendsKey() })
}

// except are all guards but some.
func except(some ...Guard) []Guard {
	return slices.DeleteFunc(slices.Clone(guards), func(g Guard) bool { return slices.Contains(some, g) })
}

// needed tells whether an effect with that guard cannot be without the parameter.
func (g guardParam) needed(by Guard) bool {
	return g.open != "" && slices.Contains(g.guards, by) && !slices.Contains(g.free, by)
}

func (p *parser) guardParams(e *Effect, it item, present map[string]bool, params map[string]item) {
	for _, g := range guardParams {
		has := slices.Contains(g.guards, e.Guard.V)
		switch param, written := params[g.name]; {
		case written && !has && g.not[e.Guard.V] != "":
			p.errorf(param.key, join(it.path, g.name), "an effect guarded by %s has no %s: %s", e.Guard.V, g.name, g.not[e.Guard.V])
		case written && !has && len(g.guards) > 1:
			p.errorf(param.key, join(it.path, g.name), "only the guards %s have %s; this effect is guarded by %s", andList(namesOf(g.guards)), g.name, e.Guard.V)
		case written && !has:
			p.errorf(param.key, join(it.path, g.name), "only the guard %s has %s; this effect is guarded by %s", g.guards[0], g.name, e.Guard.V)
		case !written && g.needed(e.Guard.V) && !present[g.name] && !(g.name == "remembers_for" && present["provider"]):
			p.errorf(it.key, join(it.path, g.name), "missing: %s", g.open)
		}
	}
}

// effectRetry reads how many calls an effect may have, all told.
func (p *parser) effectRetry(e *Effect, it item) {
	present, ok := p.mapping(it, "a mapping such as {max_attempts: 5}", []field{
		{"max_attempts", func(it item) { p.whole(it, &e.MaxAttempts, 1, maxAttempts) }},
	})
	if ok && !present["max_attempts"] {
		p.errorf(it.key, join(it.path, "max_attempts"), "missing: after how many calls that did nothing is the effect refused? Answer with a number up to the contract's own retry.max_attempts")
	}
}

// header reads an HTTP field name that can carry a key.
func (p *parser) header(it item, dst *Value[string]) {
	v, ok := p.matching(it, "an HTTP header name such as Idempotency-Key", headerForm.MatchString)
	if ok {
		*dst = v
	}
}
