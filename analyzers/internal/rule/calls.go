package rule

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// CallName names a call in messages as its source does: the last two parts.
func CallName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		switch x := ast.Unparen(f.X).(type) {
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + f.Sel.Name
		case *ast.Ident:
			return x.Name + "." + f.Sel.Name
		}
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return "call"
}

// MethodName is the last part of what a call names, or empty.
func MethodName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// Receiver is the text of what a method is called on, or empty.
func Receiver(call *ast.CallExpr) string {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return types.ExprString(sel.X)
	}
	return ""
}

// Chain are a call and those whose results it is a method of, in the order in which
// they are written backwards: of db.Where(…).First(…), First and Where.
func Chain(call *ast.CallExpr) []*ast.CallExpr {
	all := []*ast.CallExpr{call}
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return all
		}
		if call, ok = ast.Unparen(sel.X).(*ast.CallExpr); !ok {
			return all
		}
		all = append(all, call)
	}
}

// Root is the text of what the first method of a chain of calls is called on.
func Root(call *ast.CallExpr) string {
	chain := Chain(call)
	return Receiver(chain[len(chain)-1])
}

// GivesError tells whether a function's last result is an error.
func GivesError(fn *types.Func) bool {
	rs := fn.Signature().Results()
	return rs.Len() > 0 && types.Identical(rs.At(rs.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

// Abstract tells whether a function is a method of an interface.
func Abstract(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// IsNamed tells whether a type is the named one of a package.
func IsNamed(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

// Works tells whether a call does what a function is there for, which it marks as
// done afterwards: a handler by its name, and one that may fail.
func (p *Pass) Works(call *ast.CallExpr) bool {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || p.Logs(call) || p.Catalogue.Covers(callee.Pkg().Path()) {
		return false
	}
	words := catalogue.Words(callee.Name())
	return len(words) > 0 && slices.Contains([]string{"handle", "process", "execute", "dispatch"}, words[0]) && GivesError(callee)
}

// PassesOn tells whether a call of a middleware has the request handled: by the next
// handler, whatever that does.
func (p *Pass) PassesOn(call *ast.CallExpr) bool {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident: // next(c)
		v, ok := p.TypesInfo.ObjectOf(f).(*types.Var)
		return ok && (v.Name() == "next" || v.Name() == "handler")
	case *ast.SelectorExpr:
		return f.Sel.Name == "ServeHTTP" || f.Sel.Name == "Next" && len(call.Args) == 0 && p.isHandling(f.X)
	}
	return false
}

// isHandling tells whether a value is the context of a web framework.
func (p *Pass) isHandling(e ast.Expr) bool {
	t := p.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && (n.Obj().Name() == "Context" || n.Obj().Name() == "Ctx")
}
