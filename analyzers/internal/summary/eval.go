package summary

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// maxSteps bounds the work on one function; a function that needs more (a
// generated giant) is taken to say nothing more.
const maxSteps = 50_000

// eval is where the value of an expression, or of a field of it, comes from.
func (f *function) eval(e ast.Expr, result int, field string) Origins {
	if f.steps++; f.steps > maxSteps || e == nil {
		return nil
	}
	if tv := f.info.Types[e]; tv.Value != nil || tv.IsType() {
		return nil
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.eval(e.X, result, field)
	case *ast.StarExpr:
		return f.eval(e.X, 0, field)
	case *ast.TypeAssertExpr:
		return f.first(e.X, result, field)
	case *ast.IndexExpr:
		return f.evalIndex(e, result, field)
	case *ast.SliceExpr:
		return f.eval(e.X, 0, field)
	case *ast.UnaryExpr:
		return f.evalUnary(e, field)
	case *ast.BinaryExpr:
		return f.evalBinary(e)
	case *ast.CompositeLit:
		return f.evalComposite(e, field)
	case *ast.Ident:
		if v, ok := f.object(e).(*types.Var); ok {
			return f.evalVar(place{v, field})
		}
	case *ast.SelectorExpr:
		os := f.evalSelector(e)
		if field != "" {
			os = os.Given() // which of its fields is new is not known
		}
		return os
	case *ast.CallExpr:
		return f.evalCall(e, result, field)
	}
	return nil
}

// first is the value of the first result of a form with ", ok".
func (f *function) first(e ast.Expr, result int, field string) Origins {
	if result != 0 {
		return nil
	}
	return f.eval(e, 0, field)
}

func (f *function) evalIndex(e *ast.IndexExpr, result int, field string) Origins {
	if key := f.keyText(e.Index); key != "" {
		field = key
	}
	return f.first(e.X, result, field)
}

func (f *function) evalSelector(e *ast.SelectorExpr) Origins {
	sel := f.info.Selections[e]
	if sel == nil || sel.Kind() != types.FieldVal {
		return nil
	}
	os := f.eval(e.X, 0, e.Sel.Name)
	if v, ok := sel.Obj().(*types.Var); ok {
		if kind := f.Volatile(v); kind != "" {
			os = slices.Clone(os)
			os.Add(Origin{Volatile: kind, Pos: e.Pos(), Way: []string{FieldText(sel.Recv(), v.Name())}})
		}
	}
	if !catalogue.NamesEntity(e.Sel.Name) {
		return os
	}
	var marked Origins
	for _, o := range os {
		o.Entity = true
		marked.Add(o)
	}
	return marked
}

func (f *function) evalUnary(e *ast.UnaryExpr, field string) Origins {
	switch e.Op {
	case token.AND, token.ADD, token.SUB, token.XOR:
		return f.eval(e.X, 0, field)
	}
	return nil
}

func (f *function) evalBinary(e *ast.BinaryExpr) Origins {
	switch e.Op {
	case token.ADD, token.SUB, token.MUL, token.REM, token.AND, token.OR, token.XOR, token.SHL, token.SHR, token.AND_NOT:
		var all Origins
		all.AddAll(f.eval(e.X, 0, ""))
		all.AddAll(f.eval(e.Y, 0, ""))
		return all
	case token.QUO:
		return Divided(f.eval(e.X, 0, ""), f.info.Types[e.Y].Value)
	}
	return nil
}

// Divided is a value divided by a constant: a clock in seconds divided by sixty or
// more is a slot, in which attempts of the same minute meet. Finer units are
// divided by more, so this errs towards silence.
func Divided(os Origins, by constant.Value) Origins {
	if by == nil {
		return os
	}
	if n, ok := constant.Int64Val(constant.ToInt(by)); !ok || n < 60 {
		return os
	}
	return slices.DeleteFunc(slices.Clone(os), func(o Origin) bool { return o.Volatile == catalogue.Clock })
}

func (f *function) evalComposite(e *ast.CompositeLit, field string) Origins {
	var all Origins
	st, _ := types.Unalias(f.info.TypeOf(e)).Underlying().(*types.Struct)
	for i, elt := range e.Elts {
		name, value := "", elt
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			value = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok && st != nil {
				name = id.Name
			} else {
				name = f.keyText(kv.Key)
				if field == "" {
					all.AddAll(f.eval(kv.Key, 0, ""))
				}
			}
		} else if st != nil && i < st.NumFields() {
			name = st.Field(i).Name()
		}
		switch os := f.eval(value, 0, ""); {
		case name == field && field != "":
			all.AddAll(os)
		case field == "" && st != nil:
			all.AddAll(os.Given())
		case field == "":
			all.AddAll(os)
		}
	}
	return all
}

// evalVar is where a variable's value comes from, whatever the order in which it
// is assigned to. A value that two variables hand each other around a loop is
// followed once.
func (f *function) evalVar(p place) Origins {
	if known, ok := f.memo[p]; ok {
		return known
	}
	f.memo[p] = nil
	var branches []Origins
	var settled []bool
	if param, ok := f.params[p.v]; ok {
		branches, settled = append(branches, Origins{{Param: param, Field: p.field}}), append(settled, false)
	}
	var added Origins
	for _, d := range f.defs[p.v] {
		field := ""
		switch {
		case d.field == "":
			field = p.field
		case p.field != "" && d.field != p.field:
			continue
		}
		os := f.eval(d.expr, d.result, field)
		if p.field == "" && d.field != "" && d.field[0] != '[' {
			os = os.Given()
		}
		if d.whole && d.field == p.field || d.whole && d.field == "" {
			branches, settled = append(branches, os), append(settled, f.info.Types[d.expr].Value != nil || f.leavesOut(d.expr, field))
		} else {
			added.AddAll(os)
		}
	}
	for _, w := range f.writers[p.v] {
		switch {
		case w.field == "":
			added.AddAll(f.written(w, p.field))
		case w.field == p.field || w.field[0] == '[' && p.field == "":
			added.AddAll(f.written(w, ""))
		case p.field == "":
			added.AddAll(f.written(w, "").Given())
		}
	}
	all := Either(branches, settled)
	all.AddAll(added.Beside(branches, settled))
	f.memo[p] = all
	return all
}

// leavesOut tells whether an expression is a literal of a struct that does not set a
// field.
func (f *function) leavesOut(e ast.Expr, field string) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok || field == "" {
		return false
	}
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		if id, ok := kv.Key.(*ast.Ident); !ok || id.Name == field {
			return false
		}
	}
	return true
}

// written is what a call puts into its receiver or argument, or a field of it.
func (f *function) written(w writer, field string) Origins {
	fn := f.callee(w.call)
	s := f.Of(fn, Args{f.info, w.call})
	if s == nil {
		return nil
	}
	return f.through(fn, s, w.call, w.at, field)
}

func (f *function) evalCall(call *ast.CallExpr, result int, field string) Origins {
	if tv := f.info.Types[call.Fun]; tv.IsType() { // a conversion
		if len(call.Args) == 1 {
			return f.eval(call.Args[0], 0, field)
		}
		return nil
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := f.object(id).(*types.Builtin); ok {
			return f.evalBuiltin(b.Name(), call)
		}
	}
	fn := f.callee(call)
	if fn == nil {
		return f.evalClosure(call.Fun, result, field)
	}
	s := f.Of(fn, Args{f.info, call})
	if s == nil {
		return nil
	}
	return f.through(fn, s, call, catalogue.Result(result), field)
}

func (f *function) evalBuiltin(name string, call *ast.CallExpr) Origins {
	if name != "append" && name != "min" && name != "max" {
		return nil
	}
	var all Origins
	for _, arg := range call.Args {
		all.AddAll(f.eval(arg, 0, ""))
	}
	return all
}

// evalClosure is what a function literal returns, called where it stands or by the
// only variable that holds it.
func (f *function) evalClosure(fun ast.Expr, result int, field string) Origins {
	lit, ok := ast.Unparen(fun).(*ast.FuncLit)
	if id, isID := ast.Unparen(fun).(*ast.Ident); isID {
		if v, isVar := f.object(id).(*types.Var); isVar && len(f.defs[v]) == 1 {
			lit, ok = ast.Unparen(f.defs[v][0].expr).(*ast.FuncLit)
		}
	}
	if !ok {
		return f.evalByName(fun)
	}
	var branches []Origins
	var settled []bool
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if e, i := resultOf(n, result); e != nil {
				branches, settled = append(branches, f.eval(e, i, field)), append(settled, f.info.Types[e].Value != nil)
			}
		}
		return true
	})
	return Either(branches, settled)
}

// evalByName is what the function in a field or variable returns, as far as the
// name says it: s.now().
func (f *function) evalByName(fun ast.Expr) Origins {
	name := ""
	switch fun := ast.Unparen(fun).(type) {
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	case *ast.Ident:
		name = fun.Name
	}
	if v := MadeBy(name, f.info.TypeOf(fun)); v != "" {
		return Origins{{Volatile: v, Pos: fun.Pos(), Way: []string{types.ExprString(fun)}}}
	}
	return nil
}

func resultOf(n *ast.ReturnStmt, result int) (ast.Expr, int) {
	switch {
	case result < len(n.Results) && (len(n.Results) > 1 || result == 0 && len(n.Results) == 1):
		return n.Results[result], 0
	case len(n.Results) == 1:
		return n.Results[0], result
	}
	return nil, 0
}

// through is what comes out of a call at a place, or in a field of it.
func (f *function) through(fn *types.Func, s *Func, call *ast.CallExpr, to catalogue.Place, field string) Origins {
	return Through(f.Hop(fn), call.Pos(), s, to, field, func(l Flow) (Origins, bool) {
		var all Origins
		constants := true
		for _, op := range operands(f.info, call, l.From) {
			all.AddAll(f.argument(op, l.Field, l.Encoded))
			constants = constants && f.info.Types[op.expr].Value != nil
		}
		return all, constants
	})
}

// Hop names a function in a way, or is empty if the way names it already: the
// catalogue's functions are sources and sinks, not steps.
func (r *Result) Hop(fn *types.Func) string {
	if fn.Pkg() == r.pass.Pkg {
		return catalogue.FuncName(fn)
	}
	if r.Catalogue.Covers(fn.Pkg().Path()) {
		return ""
	}
	return DisplayName(fn)
}

// Through is where a result of a call, or what a call writes into an argument,
// comes from, or a field of it; pos is the place of the call. arg evaluates an
// argument and tells whether it is a constant.
func Through(hop string, pos token.Pos, s *Func, to catalogue.Place, field string, arg func(l Flow) (Origins, bool)) Origins {
	var all Origins
	given := false // another value than a new one comes in by an argument
	for _, l := range s.Flow {
		l, part, ok := l.asked(to, field)
		if !ok {
			continue
		}
		os, constant := arg(l)
		if !constant && !os.Has(Origin.New) {
			given = true
		}
		if part {
			os = os.Given()
		}
		for _, o := range os {
			o.Hashed = o.Hashed || l.Hashed
			o.Entity = o.Entity || catalogue.NamesEntity(l.Field)
			o.Part = o.Part && !o.Hashed && !l.Encoded
			if hop != "" && o.Volatile != "" {
				o.Way = append(slices.Clip(o.Way), hop)
			}
			all.Add(o)
		}
	}
	for _, n := range s.New {
		if n.To != to || n.ToField != "" && n.ToField != field || n.Partial && given {
			continue
		}
		way := n.Way
		if hop != "" {
			way = append(slices.Clip(way), hop)
		}
		all.Add(Origin{Volatile: n.Volatile, Partial: n.Partial, Hashed: n.Hashed, Pos: pos, Way: way})
	}
	return all
}

// asked is the flow to a field of a place, if this is one. part: how it gets into
// the field is not known exactly, or it is a field of what is asked for.
func (l Flow) asked(to catalogue.Place, field string) (_ Flow, part, ok bool) {
	switch {
	case l.To != to:
		return l, false, false
	case l.ToField == field:
		return l, false, true
	case field == "":
		return l, true, true
	case l.ToField != "":
		return l, false, false
	case l.Field == "" && !l.Hashed && !l.Encoded: // the field of what goes through
		l.Field = field
		return l, false, true
	}
	return l, true, true
}
