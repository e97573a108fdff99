package summary

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// indexed is the element that a condition asks about: m[k], !m[k], or one of the
// two that && or || connect.
func indexed(e ast.Expr) (*ast.IndexExpr, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return e, true
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return indexed(e.X)
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			if ix, ok := indexed(e.X); ok {
				return ix, true
			}
			return indexed(e.Y)
		}
	}
	return nil, false
}

// appended is the list of identifiers that an assignment adds to.
func appended(info *types.Info, lhs, rhs ast.Expr) ast.Expr {
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || !isIDs(info.TypeOf(lhs)) || !namesMarks(lhs) {
		return nil
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); !ok || id.Name != "append" || types.ExprString(call.Args[0]) != types.ExprString(lhs) {
		return nil
	}
	return lhs
}

// contained is the list of identifiers that a call looks through.
func contained(info *types.Info, call *ast.CallExpr) ast.Expr {
	fn := Callee(info, call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "slices" || fn.Name() != "Contains" || len(call.Args) != 2 {
		return nil
	}
	if list := ast.Unparen(call.Args[0]); isIDs(info.TypeOf(list)) && namesMarks(list) {
		return list
	}
	return nil
}

func isIDs(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := types.Unalias(t).Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsString|types.IsInteger) != 0
}

// namesMarks tells whether the name of a list or a map of numbers says that what is
// in it has been done.
func namesMarks(e ast.Expr) bool {
	return slices.ContainsFunc(catalogue.Words(lastName(e)), catalogue.NamesDone)
}

func lastName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// cacheCall is a call of a cache that lives longer than the call.
func (r *Result) cacheCall(info *types.Info, call *ast.CallExpr, lives func(ast.Expr) bool) (Memory, ast.Expr) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !lives(sel.X) {
		return 0, nil
	}
	fn := Callee(info, call)
	if fn == nil || fn.Pkg() == nil || !r.Catalogue.Covers(fn.Pkg().Path()) {
		return 0, nil
	}
	s := r.Of(fn, Args{info, call})
	if s == nil || s.Memory == 0 {
		return 0, nil
	}
	m := s.Memory
	if m.Has(Marks) && !markArgs(info, call) && !recognises(info, sel.X) {
		m = 0 // a cache of values
	}
	return m, sel.X
}

// markArgs tells whether what a cache is given beside the key only marks it.
func markArgs(info *types.Info, call *ast.CallExpr) bool {
	for i, arg := range call.Args {
		tv := info.Types[arg]
		if i == 0 || tv.Value != nil || tv.IsNil() || isMark(tv.Type) || namedAs(tv.Type, "time", "Duration") {
			continue
		}
		return false
	}
	return true
}

// markMap tells whether an expression is a map of marks, or of whatever is kept by
// something that says by its name that it recognises duplicates.
func markMap(info *types.Info, e ast.Expr) bool {
	t := info.TypeOf(e)
	if t == nil {
		return false
	}
	m, ok := types.Unalias(t).Underlying().(*types.Map)
	if !ok {
		return false
	}
	if b, ok := m.Elem().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
		return namesMarks(e)
	}
	return isMark(m.Elem()) || isValue(m.Elem()) && recognises(info, e)
}

// isValue leaves out what is called rather than kept.
func isValue(t types.Type) bool {
	switch types.Unalias(t).Underlying().(type) {
	case *types.Signature, *types.Chan, *types.Interface:
		return false
	}
	return true
}

// recognises tells whether the name of a variable, or of the type or package that
// it is a part of, says that it is there to recognise duplicates of work.
func recognises(info *types.Info, e ast.Expr) bool {
	names := []string{lastName(e)}
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		if t := info.TypeOf(sel.X); t != nil { // none: a package
			if n, ok := deref(t).(*types.Named); ok && n.Obj().Pkg() != nil {
				names = append(names, n.Obj().Name(), n.Obj().Pkg().Name())
			}
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		n := strings.ToLower(name)
		return strings.Contains(n, "idempot") || strings.Contains(n, "dedup")
	})
}

// isMark tells whether values of a type say no more than that something is there,
// or since when and how often.
func isMark(t types.Type) bool {
	if t == nil {
		return false
	}
	if namedAs(t, "time", "Time") {
		return true
	}
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Struct:
		return u.NumFields() == 0 || onlyTimes(u)
	case *types.Basic:
		return u.Info()&types.IsBoolean != 0
	}
	return false
}

// onlyTimes tells whether a struct holds a time, and beside it nothing but numbers
// and truths.
func onlyTimes(s *types.Struct) bool {
	timed := false
	for v := range s.Fields() {
		if namedAs(v.Type(), "time", "Time") {
			timed = true
			continue
		}
		b, ok := v.Type().Underlying().(*types.Basic)
		if !ok || b.Info()&(types.IsBoolean|types.IsInteger) == 0 {
			return false
		}
	}
	return timed
}

func namedAs(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

func isFalse(info *types.Info, e ast.Expr) bool {
	v := info.Types[e].Value
	return v != nil && v.ExactString() == "false"
}

// longLived tells whether an expression is a field or a global variable.
func longLived(info *types.Info, e ast.Expr) bool {
	v := Variable(info, e)
	return v != nil && (v.IsField() || global(v))
}

// Variable is the field or variable that an expression names, or nil.
func Variable(info *types.Info, e ast.Expr) *types.Var {
	var v *types.Var
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		v, _ = info.ObjectOf(e.Sel).(*types.Var)
	case *ast.Ident:
		v, _ = info.ObjectOf(e).(*types.Var)
	}
	return v
}

func global(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }
