package fingerprint

import (
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
)

// Contract is what idem.lock has to hold of a contract of the module with that
// path.
func Contract(c *model.Contract, module string) lock.Version {
	d := &describer{module: module}
	return lock.Version{
		Number:     c.Spec.Version.V,
		Supersedes: c.Spec.Supersedes.Version.V, OldWork: c.Spec.Supersedes.OldWork.V,
		Identity: d.identity(c),
		Golden:   d.golden(c),
		Window:   lock.Window{Forever: c.Spec.Window.Forever, Duration: c.Spec.Window.Duration, Until: c.Spec.Window.Until.V},
		Effects:  d.effects(c),
	}
}

func (d *describer) identity(c *model.Contract) lock.Identity {
	id := lock.Identity{Body: lock.List, Keyed: c.Spec.Identity.Keyed.V}
	if c.Scope != nil {
		scope := d.part(c.Scope)
		id.Scope = &scope
	}
	switch {
	case c.Identity.Hash != nil:
		id.Body, id.Members = lock.Hash, d.members(c.Identity.Hash)
	case c.Identity.Single != nil:
		id.Body, id.Key = lock.Key, d.partsOf([]*model.Value{c.Identity.Single})
	default:
		values := c.Identity.List
		if c.Scope != nil {
			values = values[1:] // the scope is the first
		}
		id.Key = d.partsOf(values)
	}
	return id
}

func (d *describer) part(v *model.Value) lock.Part {
	return lock.Part{Field: v.Path, Wire: v.Wire, Type: d.encoded(v.Form), Empty: empty(v)}
}

// empty is how a value that may say nothing is written then.
func empty(v *model.Value) lock.Empty {
	pointer := func(s model.Step) bool { return s.Pointer }
	switch {
	case !v.MayBeEmpty:
		return ""
	case slices.ContainsFunc(v.Steps, pointer), v.Form.Op == model.OpPointer, nullable(v.Form) != "":
		return lock.EmptyNull
	}
	return lock.EmptyItself
}

func (d *describer) partsOf(values []*model.Value) []lock.Part {
	var parts []lock.Part
	for _, v := range values {
		parts = append(parts, d.part(v))
	}
	return parts
}

func (d *describer) effects(c *model.Contract) []lock.Effect {
	var effects []lock.Effect
	for _, e := range c.Effects {
		effect := lock.Effect{Name: e.Spec.LedgerName(), Guard: e.Spec.Guard.V, Work: e.Spec.Work.V, OncePer: d.partsOf(e.Per)}
		if e.Spec.Was.Set {
			effect.Called = e.Spec.Name.V
		}
		if e.Spec.Guard.V.SendsKey() && e.Spec.KeyFormat.V != contracts.KeyHex {
			effect.KeyFormat = e.Spec.KeyFormat.V
		}
		effects = append(effects, effect)
	}
	slices.SortFunc(effects, func(a, b lock.Effect) int { return strings.Compare(a.Name, b.Name) })
	return effects
}

// Has tells whether the input of an effect of the contract, or of the contract if
// the name is empty, has a field: under its Go name, or another under its wire
// name. Inside a type that writes itself it may have any.
func Has(c *model.Contract, effect string, p lock.Part) bool {
	form := c.Payload
	if effect != "" {
		i := slices.IndexFunc(c.Effects, func(e *model.Effect) bool { return e.Spec.Name.V == effect })
		if i < 0 {
			return true
		}
		form = c.Effects[i].Payload
	}
	return hasField(form, p.Field) || hasWire(form, p.Wire)
}

const maxPointers = 100

// holder is the object that a selector reaches into; nil with opaque if nobody
// knows what is inside.
func holder(f *model.Form) (form *model.Form, opaque bool) {
	for n := 0; f != nil && f.Op == model.OpPointer && n < maxPointers; n++ { // type P *P has no end
		f = f.Elem
	}
	if f == nil {
		return nil, true
	}
	switch f.Op {
	case model.OpStruct:
		return f, false
	case model.OpText, model.OpAppender, model.OpTime, model.OpBigInt, model.OpDecimal:
		return nil, true
	}
	return nil, false
}

func hasField(f *model.Form, path string) bool {
	form, opaque := holder(f)
	if form == nil {
		return opaque
	}
	for _, m := range form.Members {
		for _, name := range goNames(m.Path) {
			if rest, ok := after(path, name); ok && (rest == "" || hasField(m.Form, rest)) {
				return true
			}
		}
	}
	for _, f := range form.LeftOut { // whose own fields are not known
		for _, name := range goNames(f.Path) {
			if _, ok := after(path, name); ok {
				return true
			}
		}
	}
	// The first step may be an embedded type, which leaves no trace in the form.
	_, rest, ok := strings.Cut(path, ".")
	return ok && hasField(f, rest)
}

func hasWire(f *model.Form, path string) bool {
	form, opaque := holder(f)
	if form == nil {
		return opaque
	}
	return slices.ContainsFunc(form.Members, func(m *model.Member) bool {
		rest, ok := after(path, model.WireName(m.Wire))
		return ok && (rest == "" || hasWire(m.Form, rest))
	}) || slices.ContainsFunc(form.LeftOut, func(f model.Field) bool {
		_, ok := after(path, model.WireName(f.Wire))
		return ok
	})
}

// goNames are a member's path with the embedded types on the way, and without.
func goNames(path string) []string {
	return []string{path, path[strings.LastIndexByte(path, '.')+1:]}
}

// after is what follows the first step of a path, if that is it.
func after(path, step string) (rest string, ok bool) {
	if path == step {
		return "", true
	}
	return strings.CutPrefix(path, step+".")
}
