package valueflow

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// callee is the function or method that a call names.
func callee(c *ssa.CallCommon) *types.Func {
	if c.IsInvoke() {
		return c.Method.Origin()
	}
	if fn := c.StaticCallee(); fn != nil {
		if obj, ok := fn.Object().(*types.Func); ok {
			return obj.Origin()
		}
	}
	return nil
}

// operand is the argument at a place, or nil.
func operand(c *ssa.CallCommon, p catalogue.Place) ssa.Value {
	i := int(p)
	switch {
	case c.IsInvoke():
		if p == catalogue.Recv {
			return c.Value
		}
	case c.Signature().Recv() != nil:
		i++
	}
	if i < 0 || i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}

// args are the arguments of a call in SSA form.
type args struct{ c *ssa.CallCommon }

func (a args) Const(p catalogue.Place) constant.Value {
	if v := operand(a.c, p); v != nil {
		return constantOf(v)
	}
	return nil
}

// call is what comes out of a call at a place.
func (w *function) call(v ssa.CallInstruction, to catalogue.Place, field string) summary.Origins {
	c := v.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return w.builtin(b.Name(), c, to)
	}
	fn := callee(c)
	if fn == nil {
		return w.literal(c, to, field)
	}
	s := w.facts.Of(fn, args{c})
	if s == nil {
		return nil
	}
	pos := v.Pos()
	if call := w.calls[c.Pos()]; call != nil {
		pos = call.Pos()
	}
	return summary.Through(w.facts.Hop(fn), pos, s, to, field, func(l summary.Flow) (summary.Origins, bool) {
		arg := operand(c, l.From)
		if arg == nil {
			return nil, true
		}
		return w.value(arg, l.Field), constantOf(arg) != nil
	})
}

func (w *function) builtin(name string, c *ssa.CallCommon, to catalogue.Place) summary.Origins {
	var all summary.Origins
	if _, result := to.IsResult(); name == "copy" {
		if to == 0 {
			all = w.value(c.Args[1], "")
		}
	} else if result && (name == "append" || name == "min" || name == "max") {
		for _, arg := range c.Args {
			all.AddAll(w.value(arg, ""))
		}
	}
	return all
}

// literal is what a function literal returns that is called where it is known.
func (w *function) literal(c *ssa.CallCommon, to catalogue.Place, field string) summary.Origins {
	i, ok := to.IsResult()
	fn := c.StaticCallee()
	if ok && fn == nil && i == 0 {
		return w.byName(c)
	}
	if !ok || fn == nil || fn.Object() != nil || fn.Parent() == nil {
		return nil
	}
	var branches []summary.Origins
	var settled []bool
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && i < len(ret.Results) {
			branches = append(branches, w.value(ret.Results[i], field))
			settled = append(settled, constantOf(ret.Results[i]) != nil)
		}
	}
	return summary.Either(branches, settled)
}

// byName is what the function in a field or variable returns, as far as the name
// says it.
func (w *function) byName(c *ssa.CallCommon) summary.Origins {
	call := w.calls[c.Pos()]
	if call == nil {
		return nil
	}
	name := ""
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	case *ast.Ident:
		name = fun.Name
	}
	if v := summary.MadeBy(name, c.Value.Type()); v != "" {
		return summary.Origins{{Volatile: v, Pos: call.Pos(), Way: []string{types.ExprString(call.Fun)}}}
	}
	return nil
}

// written is what stores and calls put into what a value refers to, wherever in
// the function they stand.
func (w *function) written(v ssa.Value, field string) summary.Origins {
	refs := v.Referrers()
	if refs == nil || !refers(v) {
		return nil
	}
	var branches []summary.Origins
	var settled []bool
	var added summary.Origins
	for _, instr := range *refs {
		switch instr := instr.(type) {
		case *ssa.Store:
			if instr.Addr == v && !loads(instr.Val, v) {
				branches, settled = append(branches, w.value(instr.Val, field)), append(settled, constantOf(instr.Val) != nil)
			}
		case *ssa.FieldAddr:
			switch name := fieldName(v.Type(), instr.Field); field {
			case name:
				if os := w.written(instr, ""); given(instr) {
					branches, settled = append(branches, os), append(settled, false)
				} else {
					added.AddAll(os)
				}
			case "":
				added.AddAll(w.written(instr, "").Given())
			}
		case *ssa.IndexAddr:
			added.AddAll(w.written(instr, ""))
		case *ssa.MapUpdate:
			if instr.Map == v && (field == "" || elementName(instr.Key, field) == field) {
				added.AddAll(w.value(instr.Value, ""))
			}
		case *ssa.MakeClosure:
			added.AddAll(w.captured(instr, v, field))
		case *ssa.Slice, *ssa.MakeInterface, *ssa.ChangeType, *ssa.ChangeInterface:
			added.AddAll(w.writtenBy(instr.(ssa.Value), field))
		case ssa.CallInstruction:
			added.AddAll(w.writtenByCall(instr, v, field))
		}
	}
	all := summary.Either(branches, settled)
	all.AddAll(added.Beside(branches, settled))
	return all
}

// given tells whether something else than a constant is put into a field.
func given(field *ssa.FieldAddr) bool {
	for _, instr := range *field.Referrers() {
		if store, ok := instr.(*ssa.Store); ok && store.Addr == field && constantOf(store.Val) == nil {
			return true
		}
	}
	return false
}

// loads tells whether a value is what an address holds: a named result is stored
// to itself where the function has a defer.
func loads(v, addr ssa.Value) bool {
	u, ok := v.(*ssa.UnOp)
	return ok && u.Op == token.MUL && u.X == addr
}

// writtenBy is what is written through another form of the same reference. It is
// bounded like value, since references may go round in circles.
func (w *function) writtenBy(v ssa.Value, field string) summary.Origins {
	p := point{v, "written " + field}
	if !w.step() {
		return nil
	}
	if depth, ok := w.open[p]; ok {
		w.low = min(w.low, depth)
		return nil
	}
	w.open[p] = len(w.open)
	defer delete(w.open, p)
	return w.written(v, field)
}

func (w *function) writtenByCall(instr ssa.CallInstruction, v ssa.Value, field string) summary.Origins {
	if _, isValue := instr.(*ssa.Call); !isValue {
		return nil // go and defer: later
	}
	c := instr.Common()
	var all summary.Origins
	places := []catalogue.Place{catalogue.Recv}
	for i := range c.Args {
		places = append(places, catalogue.Place(i))
	}
	for _, p := range places {
		if operand(c, p) == v {
			all.AddAll(w.call(instr, p, field))
		}
	}
	return all
}

// captured is what a literal stores into a variable that it captures.
func (w *function) captured(m *ssa.MakeClosure, v ssa.Value, field string) summary.Origins {
	var all summary.Origins
	fn := m.Fn.(*ssa.Function)
	for i, b := range m.Bindings {
		if b == v {
			all.AddAll(w.writtenBy(fn.FreeVars[i], field))
		}
	}
	return all
}

// refers tells whether others can see what is written through the value.
func refers(v ssa.Value) bool {
	switch types.Unalias(v.Type()).Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Interface:
		return true
	}
	return false
}
