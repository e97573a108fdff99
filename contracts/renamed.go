package contracts

import "gopkg.in/yaml.v3"

// What became of effects that work in flight may have done under another
// contract: renamed ones keep their name in the ledger, removed ones are asked
// for no more.

// Removed is an effect that the handler no longer has.
type Removed struct {
	Name Value[string]
	Why  Value[string]
}

// LedgerName is the name under which the ledger has the effect, which is part of
// its key: the first that it had.
func (e *Effect) LedgerName() string {
	if e.Was.Set {
		return e.Was.V
	}
	return e.Name.V
}

// saysRemoved tells whether the entry of an effect says that it is gone.
func saysRemoved(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == "removed" {
			return true
		}
	}
	return false
}

func (p *parser) removed(c *Contract, name Value[string], it item) {
	r := Removed{Name: name, Why: Value[string]{Pos: name.Pos}}
	p.entries(it, func(word string, keyPos Pos, value *yaml.Node) {
		if word != "removed" {
			p.errorf(keyPos, it.path, "an effect that is removed has nothing else: take %s out, or take removed out if the handler has the effect", quoteOdd(word))
			return
		}
		it := p.item(value, keyPos, join(it.path, word))
		if why, ok := p.text(it, "the reason why work in flight can do without the effect"); ok {
			r.Why = Value[string]{V: why, Pos: it.pos, Set: true}
		}
	})
	c.Removed = append(c.Removed, r)
}

// was reads the first name of an effect.
func (p *parser) was(it item, dst *Value[string]) {
	v, ok := p.matching(it, "the name that the effect had first, such as send_receipt", nameForm.MatchString)
	if ok {
		*dst = v
	}
}

// checkRenames keeps two effects from having one key. Two that have swapped their
// names have two.
func (p *parser) checkRenames(c *Contract) {
	gone := map[string]bool{}
	for _, r := range c.Removed {
		gone[r.Name.V] = true
	}
	first := map[string]*Effect{}
	for _, e := range c.Effects {
		path := join(join("effects", clip(e.Name.V)), "was")
		switch had := first[e.LedgerName()]; {
		case e.Was.V == e.Name.V:
			p.errorf(e.Was.Pos, path, "this is what the effect is called now: leave was out")
		case e.Was.Set && gone[e.Was.V]:
			p.errorf(e.Was.Pos, path, "%s stands among the effects as removed: an effect is renamed or removed", clip(e.Was.V))
		case had != nil && e.Was.Set:
			p.errorf(e.Was.Pos, path, "%s has this name in the ledger, and the two would share one key", clip(had.Name.V))
		case had != nil:
			p.errorf(e.Name.Pos, join("effects", clip(e.Name.V)), "%s has this name in the ledger, since it was renamed, and the two would share one key: choose another name", clip(had.Name.V))
		}
		first[e.LedgerName()] = e
	}
}
