package resolve

import (
	"github.com/idemgen/idem/generator/model"
)

// resolveLatest resolves what works are about, and which of them is newer.
func (c *contract) resolveLatest(m *model.Contract, norms *choice) {
	l := c.spec.Latest
	if !l.Set {
		return
	}
	latest := &model.Latest{By: c.place(norms)}
	for _, of := range l.Of {
		if v := c.value(of, "latest.of", c.in, norms, forIdentity); v != nil {
			latest.Of = append(latest.Of, v)
		}
	}
	m.Latest = latest
}

// place resolves the field by which works are ordered. It may look as if it
// changed with every delivery: that is what it is for.
func (c *contract) place(norms *choice) *model.Value {
	const path = "latest.by"
	by := c.spec.Latest.By
	p := c.path(by, path, c.in, false)
	if p == nil {
		return nil
	}
	v := c.valueAt(by, path, c.in, norms, forIdentity, p)
	if v == nil {
		return nil
	}
	switch v.Form.Op {
	case model.OpInt, model.OpUint, model.OpTime:
		return v
	}
	field := p.last()
	c.fail(by.Pos, path, field, "field %s is %s, of which the ledger does not know the order: want an integer, or a time.Time with a precision", by.V, describe(c.types, field.Type()))
	return nil
}
