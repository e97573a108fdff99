package summary

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Callee is the function or method that a call names, an interface's included.
func Callee(info *types.Info, call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(info, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// summarise computes the function's summary from those of its callees as they are
// now, and tells whether it has grown.
func (f *function) summarise() bool {
	s := f.own[f.obj]
	if s == nil {
		s = new(Func)
		f.own[f.obj] = s
	}
	f.memo, f.steps = map[place]Origins{}, 0
	changed := false
	if sd := f.said[f.obj]; sd == nil || sd.volatile == "" {
		changed = f.outcome(s)
		changed = f.setters(s) || changed
	}
	changed = f.reachKeys(s) || changed
	changed = f.reachHashes(s) || changed
	changed = f.memory(s) || changed
	if sd := f.said[f.obj]; sd != nil {
		if len(sd.effects) == 0 && !sd.pure {
			changed = f.effects(s) || changed
		}
		return sd.apply(f.obj, s) || changed
	}
	return f.effects(s) || changed
}

// outcome records what is new in the results and in their fields, and which
// parameters reach them.
func (f *function) outcome(s *Func) bool {
	changed := false
	for i, v := range f.results {
		if isError(v.Type()) {
			continue
		}
		to := catalogue.Result(i)
		whole := f.returned(i, v, "")
		st, _ := encodedStruct(v.Type())
		for _, o := range whole {
			if st == nil || !o.Part { // what is in a field is said of the field
				changed = s.addOutcome(to, "", o) || changed
			}
		}
		if st == nil {
			continue
		}
		for field := range st.Fields() {
			for _, o := range f.returned(i, v, field.Name()) {
				if !whole.covers(o) {
					changed = s.addOutcome(to, field.Name(), o) || changed
				}
			}
		}
	}
	return changed
}

// returned is where a result, or a field of it, comes from.
func (f *function) returned(i int, v *types.Var, field string) Origins {
	var branches []Origins
	var settled []bool
	for _, ret := range f.returns {
		if len(ret.Results) == 0 {
			branches, settled = append(branches, f.evalVar(place{v, field})), append(settled, false)
			continue
		}
		e, result := resultOf(ret, i)
		if e == nil {
			continue
		}
		branches = append(branches, f.eval(e, result, field))
		settled = append(settled, f.zero(e) || f.again(e))
	}
	return Either(branches, settled)
}

// setters records what is put into fields of what the parameters point to. What
// is put there on some paths only is new only where nothing else is there.
func (f *function) setters(s *Func) bool {
	if !Own(f.pass.Module) {
		return false
	}
	changed := false
	for v, at := range f.params {
		if _, pointer := types.Unalias(v.Type()).Underlying().(*types.Pointer); !pointer {
			continue
		}
		for _, d := range f.defs[v] {
			if d.field == "" || d.field[0] == '[' || !d.whole {
				continue
			}
			for _, o := range f.eval(d.expr, d.result, "") {
				o.Partial = o.Partial || o.Volatile != "" && slices.ContainsFunc(f.choices, func(n ast.Node) bool { return n.Pos() <= d.expr.Pos() && d.expr.End() <= n.End() })
				if o.Volatile != "" || o.Param != at {
					changed = s.addOutcome(at, d.field, o) || changed
				}
			}
		}
	}
	return changed
}

// covers tells whether an origin of a field follows from those of the whole value.
func (os Origins) covers(field Origin) bool {
	return os.Has(func(o Origin) bool {
		if o.Part || o.Volatile != field.Volatile || o.Hashed != field.Hashed || o.Encoded != field.Encoded {
			return false
		}
		return o.Volatile != "" || o.Param == field.Param && (o.Field == "" || o.Field == field.Field)
	})
}

func (s *Func) addOutcome(to catalogue.Place, field string, o Origin) bool {
	if o.Volatile != "" {
		return s.addNew(New{To: to, ToField: field, Volatile: o.Volatile, Partial: o.Partial, Hashed: o.Hashed, Way: slices.Clone(o.Way)})
	}
	return s.addFlow(Flow{From: o.Param, Field: o.Field, To: to, ToField: field, Hashed: o.Hashed, Encoded: o.Encoded})
}

// zero tells whether an expression is a constant or nil, or an empty literal, as
// stand beside an error.
func (f *function) zero(e ast.Expr) bool {
	tv := f.info.Types[e]
	if tv.Value != nil || tv.IsNil() {
		return true
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

// again tells whether an expression is a call of the function itself, which returns
// what its other returns do.
func (f *function) again(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && f.callee(call) == f.obj
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// reachHashes records which parameters reach a hash.
func (f *function) reachHashes(s *Func) bool {
	changed := false
	for _, call := range f.calls {
		fn := f.callee(call)
		callee := f.Of(fn, Args{f.info, call})
		if callee == nil {
			continue
		}
		for _, h := range callee.Hashes {
			for _, op := range operands(f.info, call, h.From) {
				for _, o := range f.argument(op, h.Field, h.Encoded) {
					if o.Volatile == "" && addReach(&s.Hashes, Reach{From: o.Param, Field: o.Field, Encoded: o.Encoded}) {
						changed = true
					}
				}
			}
		}
	}
	return changed
}

// effects records what calling the function does to the world outside.
func (f *function) effects(s *Func) bool {
	changed := false
	for _, call := range f.calls {
		fn := f.callee(call)
		callee := f.Of(fn, Args{f.info, call})
		if callee == nil {
			continue
		}
		hop := f.Hop(fn)
		for _, e := range callee.Effects {
			if hop != "" {
				e.Way = append([]string{hop}, e.Way...)
			}
			changed = s.addEffect(e) || changed
		}
	}
	return changed
}
