package contracts

// checkRedact reports paths of which one holds another: the second would do
// nothing, and whoever reads the list would count on it.
func (p *parser) checkRedact(paths []Value[string], at string) {
	all := setOf(paths)
	for _, v := range paths {
		delete(all, v.V)
		if above := pathAbove(v.V, all); above != "" {
			p.errorf(v.Pos, at, "%s is a part of %s, which is left out as a whole", clip(v.V), clip(above))
		}
		all[v.V] = true
	}
}

// checkRedacted compares what the ledger must not store with what else it stores
// of the input.
func (p *parser) checkRedacted(c *Contract) {
	p.checkRedact(c.Redact, "redact")
	if len(c.Redact) > 0 && c.Payload.V == NoPayload {
		p.errorf(c.Redact[0].Pos, "redact", "payload: none stores nothing of the input: leave redact out")
	}
	for _, v := range c.Redact {
		switch id := &c.Identity; {
		case id.Scope.Set && overlaps(v.V, id.Scope.V):
			p.errorf(v.Pos, "redact", "%s is the scope, which the ledger stores as it is, in the column scope: scope the work by what is no secret", clip(id.Scope.V))
		case id.Identifies(v.V) && !id.Keyed.V:
			p.warnf(v.Pos, "redact", "%s is part of the identity: whoever reads the ledger can try values that it might have, and compare the work ID. With identity: {keyed: true} that takes the ledger's key too", clip(v.V))
		}
	}
}

// overlaps tells whether one of the paths is the other or a part of it.
func overlaps(a, b string) bool {
	return pathAbove(a, map[string]bool{b: true}) != "" || pathAbove(b, map[string]bool{a: true}) != ""
}

// Identifies tells whether a field, or a part of it, is part of what tells work
// apart, its scope aside.
func (id *Identity) Identifies(path string) bool {
	if id.Strategy == ByHash && len(id.Fields) == 0 {
		return pathAbove(path, setOf(id.Except)) == ""
	}
	for _, list := range [][]Value[string]{id.Key, id.Fields} {
		for _, v := range list {
			if overlaps(path, v.V) {
				return true
			}
		}
	}
	return false
}
