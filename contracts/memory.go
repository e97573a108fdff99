package contracts

import (
	"time"

	"gopkg.in/yaml.v3"
)

const wantWindow = "a duration such as 90d, forever, or {until_success_of: KIND, at_least: DURATION}"

func (p *parser) window(c *Contract, it item) {
	n := it.node
	switch {
	case n.Kind == yaml.MappingNode:
		p.windowUntil(c, it)
	case n.Kind != yaml.ScalarNode || isNull(n):
		p.wrongType(it, wantWindow)
	case n.Value == "forever":
		c.Window = Window{Pos: it.pos, Set: true, Forever: true}
	case Suggest(n.Value, []string{"forever"}) != "":
		p.errorf(it.pos, it.path, "want %s; got %s%s", wantWindow, describe(n), DidYouMean(n.Value, []string{"forever"}))
	case isPlain(n) && isTruth(n.Value):
		p.errorf(it.pos, it.path, "want %s; got %s, which is a truth value to some YAML readers", wantWindow, n.Value)
	default:
		var d Value[time.Duration]
		if p.duration(it, &d, durationRange{wantWindow, "d", 1, MaxDuration}); d.Set {
			c.Window = Window{Pos: d.Pos, Set: true, Duration: d.V}
		}
	}
}

// windowUntil reads a window that another kind ends.
func (p *parser) windowUntil(c *Contract, it item) {
	var until Value[string]
	var atLeast Value[time.Duration]
	present, _ := p.mapping(it, wantWindow, []field{
		{"until_success_of", func(it item) { p.kindOfOther(c, it, &until) }},
		{"at_least", func(it item) {
			p.duration(it, &atLeast, durationRange{"a duration such as 2d", "d", 1, MaxDuration})
		}},
	})
	p.unanswered(it.key, it.path, present, []question{
		{"until_success_of", "which kind of work has to succeed before this is forgotten? Answer with the kind of another contract, or with a duration in place of the mapping"},
		{"at_least", "for how long is done work remembered in any case? Answer with a duration such as 2d"},
	})
	if until.Set && atLeast.Set {
		c.Window = Window{Pos: atLeast.Pos, Set: true, Duration: atLeast.V, Until: until}
	}
}

func (p *parser) kindOfOther(c *Contract, it item, dst *Value[string]) {
	v, ok := p.matching(it, "the kind of another contract such as nightly_sync", ValidName)
	switch {
	case !ok:
	case v.V == c.Kind.V:
		p.errorf(it.pos, it.path, "%s would be forgotten as soon as any other work of the same kind is done: name another kind, or say a duration", clip(v.V))
	default:
		*dst = v
	}
}

// latest reads what works are about and which of them is the newer one.
func (p *parser) latest(c *Contract, it item) {
	l := &c.Latest
	l.Pos, l.By.Pos = it.key, it.key
	present, ok := p.mapping(it, "a mapping such as {of: InvoiceID, by: Revision}", []field{
		{"of", func(it item) {
			if it.node.Kind == yaml.SequenceNode {
				l.Of = p.fieldPaths(it)
				return
			}
			var v Value[string]
			if p.fieldPath(it, &v); v.Set {
				l.Of = []Value[string]{v}
			}
		}},
		{"by", func(it item) { p.fieldPath(it, &l.By) }},
	})
	if !ok {
		return
	}
	p.unanswered(it.key, it.path, present, []question{
		{"of", "what is there a newer and an older one of? Answer with a field path such as InvoiceID, or a list of them"},
		{"by", "which of two is the newer one? Answer with the field that grows: a number such as Revision, or a time"},
	})
	l.Set = len(l.Of) > 0 && l.By.Set
}

// checkLatest reports orders in which there is never a second work.
func (p *parser) checkLatest(c *Contract) {
	l, id := &c.Latest, &c.Identity
	if !l.Set {
		return
	}
	of := setOf(l.Of)
	if of[l.By.V] {
		p.errorf(l.By.Pos, "latest.by", "%s is also what the works are about, so that none would be newer than another", clip(l.By.V))
		return
	}
	parts := id.Key
	if id.Strategy == ByHash {
		parts = id.Fields
	}
	for _, part := range parts {
		if !of[part.V] && part.V != id.Scope.V {
			return
		}
	}
	if len(parts) > 0 {
		p.errorf(l.Pos, "latest", "all works about one %s are the same work, of which the first to come is done and the others are duplicates: make %s part of the identity", sayPaths(l.Of), clip(l.By.V))
	}
}

func sayPaths(paths []Value[string]) string {
	words := make([]string, len(paths))
	for i, v := range paths {
		words[i] = clip(v.V)
	}
	return andList(words)
}
