package resolve

import (
	"go/types"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// redaction resolves the fields of an input that the ledger must not store.
func (c *contract) redaction(list []contracts.Value[string], path string, t types.Type) *model.Redaction {
	if len(list) == 0 {
		return nil
	}
	_, pointer := deref(t)
	root := &model.Redaction{Pointer: pointer}
	for _, v := range list {
		p := c.redacted(v, path, t)
		if p == nil {
			continue
		}
		at := root
		for _, step := range p.steps {
			at = at.Field(step)
		}
		c.zero(at, v, path, p.last())
	}
	return root
}

// redacted finds a field of which the ledger stores nothing once it is empty.
func (c *contract) redacted(v contracts.Value[string], path string, root types.Type) *fieldPath {
	p, perr := follow(c.types, root, v.V, false)
	if perr != nil {
		if whole, what := throughList(c.types, root, v.V); whole != "" {
			c.fail(v.Pos, path, perr.decl, "%s is %s, whose elements cannot be left out in part: redact %s as a whole", whole, what, whole)
			return nil
		}
		c.fail(v.Pos, path, perr.decl, "%s", perr.msg)
		return nil
	}
	if t, whole := selfWritten(c.types, root, v.V); t != nil {
		as := "hand over a struct that lacks it"
		if whole != "" {
			as = "redact " + whole + " as a whole"
		}
		c.fail(v.Pos, path, nil, "%s writes its JSON itself, and may write of %s what nobody sees here: %s", describe(c.types, t), v.V, as)
		return nil
	}
	if field := p.lost(root, false); field != nil {
		c.fail(v.Pos, path, field, "field %s is not in the JSON of the type that holds it, so that the ledger never stores it: leave it out", field.Name())
		return nil
	}
	return p
}

// throughList is the part of a path that is a list or a map, if that is what keeps
// the path from being followed.
func throughList(own *types.Package, root types.Type, path string) (whole, what string) {
	if _, perr := follow(own, root, path, true); perr != nil {
		return "", ""
	}
	names := strings.Split(path, ".")
	for n := 1; n < len(names); n++ {
		whole := strings.Join(names[:n], ".")
		p, perr := follow(own, root, whole, false)
		if perr != nil {
			return "", ""
		}
		t, _ := deref(p.last().Type())
		switch t.Underlying().(type) {
		case *types.Slice, *types.Array:
			return whole, "a list"
		case *types.Map:
			return whole, "a map"
		}
	}
	return "", ""
}

// selfWritten is the first type above a field that writes its own JSON, and the
// path that leads to it: empty for the input as a whole.
func selfWritten(own *types.Package, root types.Type, path string) (t types.Type, whole string) {
	if knowsJSON(root) {
		return root, ""
	}
	names := strings.Split(path, ".")
	for n := 1; n < len(names); n++ {
		whole := strings.Join(names[:n], ".")
		above, perr := follow(own, root, whole, false)
		if perr == nil && knowsJSON(above.last().Type()) {
			return above.last().Type(), whole
		}
	}
	return nil, ""
}

// zero notes how code writes the zero value of a field.
func (c *contract) zero(r *model.Redaction, v contracts.Value[string], path string, field *types.Var) {
	switch u := field.Type().Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			r.Zero = `""`
		case u.Info()&types.IsBoolean != 0:
			r.Zero = "false"
		default:
			r.Zero = "0"
		}
	case *types.Struct, *types.Array:
		ref, err := typeRef(c.types, field.Type())
		if err != nil {
			c.fail(v.Pos, path, field, "the type of %s is %s", v.V, err)
			return
		}
		r.Type = ref
	default:
		r.Zero = "nil"
	}
}
