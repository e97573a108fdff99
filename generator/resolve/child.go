package resolve

import (
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// kind is the package's contract of a kind, or nil.
func (p *pkg) kind(name string) *contract {
	for _, c := range p.contracts {
		if c.spec.Kind.V == name {
			return c
		}
	}
	return nil
}

// childEffect resolves an effect that is the work of another contract.
func (c *contract) childEffect(e *contracts.Effect, path string) *model.Effect {
	child := c.kind(e.Work.V)
	if child == nil {
		c.noChild(e, path+".work")
		return nil
	}
	method := c.interfaceMethod(e, path)
	if method == nil {
		return nil
	}
	in, out, ok := c.effectTypes(e, path, method)
	if !ok || child.in == nil || child.m.In == nil || child.m.Out == nil {
		return nil // told at the other contract
	}
	if !types.Identical(in, child.in) || !child.gives(out) {
		d := c.fail(e.Name.Pos, path, method, "method %s of %s is %s: want func(context.Context, %s) (%s, error), as the work of %s is done",
			method.Name(), c.iface.Obj().Name(), describe(c.types, method.Signature()), describe(c.types, child.in), child.describeResult(), e.Work.V)
		c.at(d, child.handler)
		return nil
	}
	me := &model.Effect{Spec: e, Method: e.Method(), In: child.m.In, Out: child.m.Out, Child: child.m}
	if child.m.NoValue() {
		me.Out = &model.Type{Pkg: idemPath, Name: "NoValue"}
	}
	return me
}

// gives tells whether a contract's work has results of that type.
func (c *contract) gives(t types.Type) bool {
	if c.m.NoValue() {
		return isNamed(t, idemPath, "NoValue")
	}
	return types.Identical(t, c.out)
}

func (c *contract) describeResult() string {
	if c.m.NoValue() {
		return "idem.NoValue"
	}
	return describe(c.types, c.out)
}

// noChild reports a kind that no contract of the package has.
func (c *contract) noChild(e *contracts.Effect, path string) {
	kind := e.Work.V
	if elsewhere := c.kinds[moduleKind{c.src.module.root, kind}]; elsewhere != "" {
		c.fail(e.Work.Pos, path, nil, "%s is a contract of package %s, and a child has to be one of the same package: move it here, or call its Contracts in an effect with guard: upsert, which finds what it has done by its own identity", kind, elsewhere)
		return
	}
	var names []string
	for _, other := range c.contracts {
		if other != c {
			names = append(names, other.spec.Kind.V)
		}
	}
	c.fail(e.Work.Pos, path, nil, "no contract of this package has the kind %s%s", kind, contracts.DidYouMean(kind, names))
}

// moduleKind is a kind in the ledger of a module.
type moduleKind struct{ root, kind string }

// findKinds notes which package of the run each kind is of.
func (r *run) findKinds(inputs []*Input, sources []*source) {
	r.kinds = map[moduleKind]string{}
	for i, in := range inputs {
		for _, f := range in.Files {
			for _, c := range f.Contracts {
				r.kinds[moduleKind{sources[i].module.root, c.Kind.V}] = sources[i].path
			}
		}
	}
}

// checkFamilies reports contracts that would be children of themselves: such work
// would wait for itself, or go on for ever.
func (p *pkg) checkFamilies() {
	done := map[*contract]bool{}
	var line []*contract
	var visit func(c *contract)
	visit = func(c *contract) {
		line = append(line, c)
		for _, e := range c.spec.Effects {
			child := p.kind(e.Work.V)
			if !e.Work.Set || child == nil || done[child] {
				continue
			}
			if i := slices.Index(line, child); i >= 0 {
				c.fail(e.Work.Pos, "effects."+e.Name.V+".work", nil, "%s would be a child of itself (%s): a kind of work cannot wait for another of its own kind",
					e.Work.V, circle(line[i:]))
				continue
			}
			visit(child)
		}
		line = line[:len(line)-1]
		done[c] = true
	}
	for _, c := range p.contracts {
		if !done[c] {
			visit(c)
		}
	}
}

// circle is a line of kinds that comes back to its first.
func circle(line []*contract) string {
	var kinds []string
	for _, c := range line {
		kinds = append(kinds, c.spec.Kind.V)
	}
	return strings.Join(append(kinds, kinds[0]), " → ")
}
