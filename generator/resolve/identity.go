package resolve

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// resolveIdentity resolves what is the same work, and what is the same payload.
func (c *contract) resolveIdentity(m *model.Contract) {
	id := c.spec.Identity
	norms := c.normalizers(id)
	c.checkDropParams(id)
	c.excuses = c.allowVolatile(id)
	c.identity(m, c.stable(c.normalizers(id)))
	c.resolveLatest(m, norms)
	c.payload(m, id, norms)
}

// identity resolves what is the same work.
func (c *contract) identity(m *model.Contract, chosen *choice) {
	id := c.spec.Identity
	_, m.Identity.Input = deref(c.in)
	if id.Scope.Set {
		m.Scope = c.value(id.Scope, "identity.scope", c.in, chosen, c.identityUse())
	}
	switch id.Strategy {
	case contracts.ByKey, contracts.ByCallerKey:
		c.keyIdentity(m, id, chosen)
	case contracts.ByHash:
		c.hashIdentity(m, id)
	}
}

// payload resolves what is hashed to tell one payload from another.
func (c *contract) payload(m *model.Contract, id contracts.Identity, norms *choice) {
	use := forInput
	if c.spec.Payload.V == contracts.NoPayload {
		use = forUnstored
	}
	if !c.failed { // or what is wrong with except would be told twice
		norms = c.except(id, norms)
	}
	m.Payload = c.form(c.builder(use), c.in, norms, true, c.spec.Handler.Pos, "handler", "the input "+describe(c.types, c.in))
}

func (c *contract) keyIdentity(m *model.Contract, id contracts.Identity, norms *choice) {
	var values []*model.Value
	if m.Scope != nil {
		values = append(values, m.Scope)
	}
	path := "identity." + string(id.Strategy)
	for _, k := range id.Key {
		v := c.value(k, path, c.in, norms, c.identityUse())
		if v == nil {
			continue
		}
		if v.MayBeEmpty = id.MayBeEmpty(k.V); v.MayBeEmpty {
			c.checkMayBeEmpty(id, k, v)
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return // reported
	}
	if id.KeyList || id.Scope.Set || len(values) != 1 {
		m.Identity.List = values
		return
	}
	m.Identity.Single = values[0]
	if values[0].Form.Op == model.OpRawJSON || c.isInterface(id.Key[0].V) {
		c.fail(id.Key[0].Pos, path, nil, "field %s may hold any type, so that the number 1001 and the text \"1001\" would be the same work: give it a concrete type", id.Key[0].V)
	}
}

// isInterface tells whether a field of the input, or what it points to, is an
// interface. Methods do not help: what they write depends on what is in it.
func (c *contract) isInterface(path string) bool {
	p, perr := follow(c.types, c.in, path, false)
	if perr != nil {
		return false // reported
	}
	t := p.last().Type()
	for isPointer := true; isPointer; {
		t, isPointer = deref(t)
	}
	return types.IsInterface(t)
}

// checkMayBeEmpty reports parts of a key that cannot be empty: of a number or a
// truth value zero says something.
func (c *contract) checkMayBeEmpty(id contracts.Identity, part contracts.Value[string], v *model.Value) {
	pointer := slices.ContainsFunc(v.Steps, func(s model.Step) bool { return s.Pointer })
	if pointer || !v.Form.NeverEmpty() {
		return
	}
	for _, allowed := range id.AllowEmpty {
		if allowed.V == part.V {
			c.fail(allowed.Pos, "identity.allow_empty", nil, "field %s is never empty, since zero is a value: leave it out here", part.V)
		}
	}
}

// allowVolatile resolves the fields that look volatile and are said not to be.
func (c *contract) allowVolatile(id contracts.Identity) [][]*types.Var {
	var excused [][]*types.Var
	for _, e := range id.AllowVolatile {
		p := c.path(e.Field, "identity.allow_volatile", c.in, true)
		if p == nil {
			continue
		}
		field := p.last()
		if volatile(field.Name(), p.tag, field.Type()) == "" {
			c.report(c.file.Warnf(e.Field.Pos, "identity.allow_volatile", "field %s does not look volatile, so that it needs no excuse: leave it out here", e.Field.V))
		}
		excused = append(excused, p.chain)
	}
	return excused
}

// normalizers resolves the fields that have normalisers.
func (c *contract) normalizers(id contracts.Identity) *choice {
	if len(id.Normalize) == 0 {
		return nil
	}
	root := &choice{}
	for i, n := range id.Normalize {
		if p := c.path(n.Field, "identity.normalize", c.in, true); p != nil {
			root.at(p.chain).norm = &id.Normalize[i]
		}
	}
	return root
}

// stable adds the fields that allow_volatile names. They are no part of the
// payload all the same.
func (c *contract) stable(root *choice) *choice {
	if root == nil && len(c.excuses) > 0 {
		root = &choice{}
	}
	for _, chain := range c.excuses {
		root.at(chain).stable = true
	}
	return root
}

// except adds the fields that hash.except leaves out, of the payload too: a field
// that differs between deliveries of the same work makes no other payload of it.
func (c *contract) except(id contracts.Identity, root *choice) *choice {
	for _, v := range id.Except {
		if p := c.path(v, "identity.hash.except", c.in, true); p != nil {
			if root == nil {
				root = &choice{}
			}
			root.at(p.chain).dropped = true
		}
	}
	return root
}

// hashIdentity resolves the fields that are hashed.
func (c *contract) hashIdentity(m *model.Contract, id contracts.Identity) {
	root := c.stable(c.normalizers(id))
	if root == nil && len(id.Fields) > 0 {
		root = &choice{}
	}
	for _, v := range id.Fields {
		p := c.path(v, "identity.hash.fields", c.in, true)
		if p == nil {
			continue
		}
		root.at(p.chain).picked = true
		for i := range p.chain {
			root.at(p.chain[:i]).some = true
		}
	}
	root = c.except(id, root)
	if c.failed {
		return // what follows would repeat it
	}
	t, _ := deref(c.in)
	if _, ok := t.Underlying().(*types.Struct); !ok {
		c.fail(id.KeyPos, "identity.hash", nil, "the input is %s: want a struct, whose fields can be hashed", describe(c.types, c.in))
		return
	}
	b := c.builder(c.identityUse())
	m.Identity.Hash = c.form(b, t, root, len(id.Fields) == 0, id.KeyPos, "identity.hash", "")
	if m.Identity.Hash.Op == model.OpStruct && len(m.Identity.Hash.Members) == 0 && !c.failed {
		c.fail(id.KeyPos, "identity.hash", nil, "no field is left to hash")
	}
}

// path resolves a path and reports if there is none.
func (c *contract) path(v contracts.Value[string], path string, root types.Type, through bool) *fieldPath {
	p, perr := follow(c.types, root, v.V, through)
	if perr != nil {
		c.fail(v.Pos, path, perr.decl, "%s", perr.msg)
		return nil
	}
	if field := p.lost(root, through); field != nil && !c.readsBeforeStoring(root) {
		lost := "it would be lost when the work is tried again from what was stored"
		if c.spec.Payload.V == contracts.NoPayload && root == c.in {
			lost = "a hash would be made without it"
		}
		c.fail(v.Pos, path, field, "field %s is not in the JSON of the type that holds it, so that %s", field.Name(), lost)
		return nil
	}
	return p
}

// readsBeforeStoring tells whether the fields of a type are read from the input
// itself and never from what was stored of it. A hash is made of the input's JSON
// all the same.
func (c *contract) readsBeforeStoring(root types.Type) bool {
	return c.spec.Payload.V == contracts.NoPayload && c.spec.Identity.Strategy != contracts.ByHash && root == c.in
}

// excused tells whether allow_volatile names the field.
func (c *contract) excused(chain []*types.Var) bool {
	return slices.ContainsFunc(c.excuses, func(e []*types.Var) bool { return slices.Equal(e, chain) })
}

// excuse says how a field that looks volatile may be part of an identity all
// the same.
func excuse(use usage, path string) string {
	if use != forIdentity {
		return ""
	}
	return fmt.Sprintf(": if this one does not, say why with allow_volatile: {%s: \"…\"}", path)
}

// value resolves a field that becomes part of a key; nil after a report.
func (c *contract) value(v contracts.Value[string], path string, root types.Type, norms *choice, use usage) *model.Value {
	p := c.path(v, path, root, false)
	if p == nil {
		return nil
	}
	field := p.last()
	if why := volatile(field.Name(), p.tag, field.Type()); why != "" && use != forHonored && !(use == forIdentity && c.excused(p.chain)) {
		also := ""
		if volatile(field.Name(), "", field.Type()) == "" {
			also = ", " + p.tag + " in JSON,"
		}
		c.fail(v.Pos, path, field, "field %s%s looks like %s, which differs between deliveries of the same work%s", v.V, also, why, excuse(use, v.V))
		return nil
	}
	return c.valueAt(v, path, root, norms, use, p)
}

// valueAt is value of a path that is resolved and does not look volatile.
func (c *contract) valueAt(v contracts.Value[string], path string, root types.Type, norms *choice, use usage, p *fieldPath) *model.Value {
	field := p.last()
	at := norms
	for _, f := range p.chain {
		at = at.child(f)
	}
	before := len(c.diags)
	b := c.builder(use)
	form := b.fold(b.form(field.Type(), at, true, v.V, field))
	c.reportForm(b, v.Pos, path, "")
	if len(c.diags) > before {
		return nil
	}
	if form.Op == model.OpStruct && len(form.Members) == 0 {
		c.fail(v.Pos, path, field, "field %s has nothing in it, so that every key would be empty", v.V)
		return nil
	}
	value := &model.Value{Path: v.V, Wire: p.wire(root), Steps: p.steps, Form: form}
	value.Unwrap()
	return value
}
