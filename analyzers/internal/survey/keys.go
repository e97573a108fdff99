package survey

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// keys finds which of the calls in a body each key goes with: the call around it,
// or one that is given what it is set in, or gives it.
func (s *surveyor) keys(fn *rule.Function, body *ast.BlockStmt, f *Func, calls []*ast.CallExpr, at []int) {
	for _, sink := range s.Facts.Sinks(s.TypesInfo, body) {
		if s.elsewhere(body, sink.Expr) {
			continue
		}
		holders := s.holders(fn, sink)
		for i, call := range calls {
			c := &f.Calls[at[i]]
			if !within(sink.Expr, call) && !s.given(fn, call, holders) {
				continue
			}
			if within(sink.Expr, call) && slices.ContainsFunc(calls, func(inner *ast.CallExpr) bool {
				return inner != call && within(inner, call) && within(sink.Expr, inner)
			}) {
				continue // the inner call's
			}
			c.Keys = append(c.Keys, s.key(fn, sink))
		}
	}
}

func within(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.End() <= outer.End() }

// elsewhere tells whether a node is in a literal that is surveyed on its own.
func (s *surveyor) elsewhere(body *ast.BlockStmt, n ast.Node) bool {
	for lit := range s.literals {
		if lit.Body != body && within(n, lit) && within(lit, body) {
			return true
		}
	}
	return false
}

// holders are the variables that hold a key, or what it is set in.
func (s *surveyor) holders(fn *rule.Function, sink summary.Sink) []types.Object {
	var all []types.Object
	add := func(e ast.Expr) {
		if obj := s.root(e); obj != nil && !slices.Contains(all, obj) {
			all = append(all, obj)
		}
	}
	if sink.Owner != nil {
		add(sink.Owner)
	}
	for n := ast.Node(sink.Expr); n != nil; n = fn.Parent(n) {
		switch n := n.(type) {
		case *ast.CallExpr: // req.Header.Set(key), params.SetIdempotencyKey(key)
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && sink.Call != nil && n.Fun != sink.Expr && s.TypesInfo.Uses[sel.Sel] == types.Object(sink.Call) {
				add(sel.X)
			}
		case *ast.AssignStmt: // params := &Params{Key: key}; opts = append(opts, TaskID(key))
			for _, lhs := range n.Lhs {
				if ast.Unparen(lhs) != ast.Unparen(sink.Expr) {
					add(lhs)
				}
			}
			return all
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
			return all
		case ast.Stmt:
			return all
		}
	}
	return all
}

// root is the variable of this function that an expression is part of; not one that
// holds other things as well, such as a receiver.
func (s *surveyor) root(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.CallExpr:
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if !ok {
				return nil
			}
			e = sel.X
		case *ast.Ident:
			v, ok := s.TypesInfo.ObjectOf(x).(*types.Var)
			if !ok || v.IsField() || v.Parent() == s.Pkg.Scope() || x.Name == "_" || rule.IsNamed(v.Type(), "context", "Context") || types.Implements(v.Type(), errorType) {
				return nil
			}
			return v
		default:
			return nil
		}
	}
}

// given tells whether a call is given one of the variables, or gives it.
func (s *surveyor) given(fn *rule.Function, call *ast.CallExpr, holders []types.Object) bool {
	for _, obj := range holders {
		for _, arg := range call.Args {
			if _, isFunc := ast.Unparen(arg).(*ast.FuncLit); !isFunc && s.Mentions(arg, obj) {
				return true
			}
		}
		if a, ok := fn.Parent(call).(*ast.AssignStmt); ok && len(a.Lhs) > 0 && s.root(a.Lhs[0]) == obj {
			return true
		}
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && s.root(sel.X) == obj { // req.Do()
			return true
		}
	}
	return false
}

func (s *surveyor) key(fn *rule.Function, sink summary.Sink) Key {
	k := Key{Text: short(sink.Expr), Line: s.Fset.Position(sink.Expr.Pos()).Line}
	if len(sink.Way) > 0 {
		k.Sink = sink.Way[len(sink.Way)-1]
	}
	if sink.Field != "" {
		k.Text += "." + sink.Field
	}
	os, err := s.Flow.Origins(fn.Decl, sink.Expr, sink.Result, sink.Field)
	if err != nil {
		s.Note(fn, err)
		return k
	}
	obj, _ := s.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	for _, o := range os {
		out := Origin{Volatile: o.Volatile, Partial: o.Partial, Way: o.Way}
		if o.Volatile == "" {
			out.Param = paramName(obj, o)
		}
		if (out.Volatile != "" || out.Param != "") && len(k.Origins) < 4 {
			k.Origins = append(k.Origins, out)
		}
	}
	return k
}

func paramName(fn *types.Func, o summary.Origin) string {
	if fn == nil {
		return ""
	}
	name := ""
	switch sig := fn.Signature(); {
	case o.Param == catalogue.Recv:
		if sig.Recv() != nil {
			name = sig.Recv().Name()
		}
	case int(o.Param) >= 0 && int(o.Param) < sig.Params().Len():
		name = sig.Params().At(int(o.Param)).Name()
	}
	if name != "" && o.Field != "" {
		name += "." + o.Field
	}
	return name
}
