package resolve

import (
	"fmt"
	"go/types"

	"github.com/idemgen/idem/contracts"
)

// unstorable finds a part of a result that JSON cannot hold, so that a
// duplicate would have nothing to get. Fields that JSON leaves out are the
// type's own choice: clients of providers keep their last response so.
func unstorable(t types.Type) (part types.Type, field *types.Var, why string) {
	seen := map[types.Type]bool{}
	var visit func(t types.Type, at *types.Var) bool
	visit = func(t types.Type, at *types.Var) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		if from, lost, name := borrowed(t, jsonMethods); from != nil {
			part, field = t, at
			why = fmt.Sprintf("has the %s of the embedded %s, which writes nothing of the field %s: a duplicate would get it without", name, from.Name(), lost.Name())
			return true
		}
		if why = unreadable(t); why != "" {
			part, field, why = t, at, why+": a duplicate would get an error"
			return true
		}
		if knowsJSON(t) {
			return false
		}
		bad := false
		switch u := t.Underlying().(type) {
		case *types.Signature, *types.Chan:
			bad = true
		case *types.Basic:
			bad = u.Info()&types.IsComplex != 0 || u.Kind() == types.UnsafePointer
		case *types.Pointer:
			return visit(u.Elem(), at)
		case *types.Slice:
			return visit(u.Elem(), at)
		case *types.Array:
			return visit(u.Elem(), at)
		case *types.Map:
			return visit(u.Elem(), at)
		case *types.Struct:
			fields, _ := jsonFields(u)
			for _, f := range fields {
				if p := hiddenPointer(f.chain); p != nil {
					part, field, why = t, f.field(), "embeds *"+p.Name()+", which is not exported: for a duplicate, encoding/json could not read it back"
					return true
				}
				if visit(f.field().Type(), f.field()) {
					return true
				}
			}
		}
		if bad {
			part, field, why = t, at, "cannot be stored as JSON, so that a duplicate would have nothing to get"
		}
		return bad
	}
	visit(t, nil)
	return part, field, why
}

// knowsJSON tells whether a type writes itself.
func knowsJSON(t types.Type) bool {
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		if sig, _ := method(t, name); isBytesMethod(sig, false) {
			return true
		}
	}
	return false
}

// storable tells whether a result can be stored, and reports one that cannot.
func (c *contract) storable(t types.Type, pos contracts.Pos, path, what string) bool {
	part, field, why := unstorable(t)
	if part == nil {
		return true
	}
	var decl types.Object
	where := ""
	if field != nil {
		decl, where = field, field.Name()+": "
	}
	c.fail(pos, path, decl, "%s: %s%s %s", what, where, describe(c.types, part), why)
	return false
}
