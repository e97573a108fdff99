package emit

import (
	"go/types"

	"github.com/idemgen/idem/generator/model"
)

// typeGuard declares a function that nobody calls, and that compiles as long as
// the fields of an identity have the types that they had. A derivation alone would
// not tell: it converts types that have a name, and int64(x) takes any number.
func (f *file) typeGuard(c *model.Contract) {
	in := f.v("in")
	g := &typeGuard{file: f, seen: map[*model.Form]bool{}}
	id := c.Identity
	values := id.List
	if id.Single != nil {
		values = []*model.Value{id.Single}
	}
	if id.Hash != nil && c.Scope != nil {
		values = []*model.Value{c.Scope}
	}
	for _, v := range values {
		x := expr{text: in}
		for _, s := range v.Steps {
			x = x.field(s.Name)
			if s.Pointer {
				x = x.pointee()
			}
		}
		g.guard(v.Form, x)
	}
	if id.Hash != nil {
		g.guard(id.Hash, expr{text: in, deref: id.Input})
	}
	if len(g.body) == 0 {
		return
	}
	f.declare("The types of what identifies "+c.Spec.Kind.V+". Where this does not compile one has changed, and keys may have: run idemgen, which tells.",
		block("var _ = func("+in+" "+f.typ(c.In)+")", g.body...))
}

type typeGuard struct {
	*file
	seen map[*model.Form]bool
	body []string
}

// guard writes one line for each value that is written by itself.
func (g *typeGuard) guard(form *model.Form, x expr) {
	if g.seen[form] && form.Func {
		return
	}
	g.seen[form] = true
	switch form.Op {
	case model.OpPointer:
		g.guard(form.Elem, x.pointee())
	case model.OpSlice, model.OpArray:
		if form.Op == model.OpArray && form.Len == 0 {
			return // it has no element, and the compiler knows
		}
		list := x.text
		if x.deref {
			list = "(*" + list + ")"
		}
		g.guard(form.Elem, expr{text: list + "[0]"})
	case model.OpStruct:
		for _, m := range form.Members {
			member := x
			for _, s := range m.Steps {
				member = member.field(s.Name)
			}
			g.guard(m.Form, member)
		}
	default:
		g.leaf(form, x)
	}
}

// kindGuards are for types of which only what they are made of counts.
var kindGuards = map[model.Op]string{
	model.OpString:  "IdentityString",
	model.OpInt:     "IdentityInt",
	model.OpUint:    "IdentityUint",
	model.OpFloat64: "IdentityFloat64",
	model.OpFloat32: "IdentityFloat32",
	model.OpBool:    "IdentityBool",
}

func (g *typeGuard) leaf(form *model.Form, x expr) {
	op := form.Op
	if op == model.OpMinor {
		op = form.From
	}
	// Of a predeclared type the exact one is asked for, whose message names the field.
	if guard, basic := kindGuards[op]; basic && !(form.Type.Pkg == "" && types.Universe.Lookup(form.Type.Name) != nil) {
		g.body = append(g.body, call(g.idem(guard), x.value()))
		return
	}
	g.body = append(g.body, call(generic(g.idem("IdentityChangedRunIdemgen"), g.typ(form.Type)), x.value()))
}
