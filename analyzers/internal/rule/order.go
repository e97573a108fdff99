package rule

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Unit is the body that a node is directly part of: of the declared function or of
// a literal in it.
func (fn *Function) Unit(n ast.Node) *ast.BlockStmt {
	for n = fn.Parent(n); n != nil; n = fn.Parent(n) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n.Body
		case *ast.FuncDecl:
			return n.Body
		}
	}
	return fn.Decl.Body
}

// Within tells whether a node is part of another.
func (fn *Function) Within(n, outer ast.Node) bool {
	return outer != nil && outer.Pos() <= n.Pos() && n.End() <= outer.End()
}

// Before tells whether control can go from a on to b without going round a loop:
// both are in the same body, not on branches that exclude each other, and no
// branch that a is on ends before it comes to b.
func (fn *Function) Before(a, b ast.Node) bool {
	if a.End() > b.Pos() || fn.Unit(a) != fn.Unit(b) {
		return false
	}
	child := a
	for n := fn.Parent(a); n != nil; child, n = n, fn.Parent(n) {
		if fn.Within(b, n) {
			return !excludes(n, child, b)
		}
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		if len(list) > 0 && ends(list[len(list)-1]) {
			return false
		}
	}
	return false
}

// excludes tells whether b is on another branch of n than the child that a is in.
func excludes(n, child, b ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Else != nil && child == n.Body && n.Else.Pos() <= b.Pos()
	case *ast.BlockStmt: // of a switch: its clauses
		switch child.(type) {
		case *ast.CaseClause, *ast.CommClause:
			return true
		}
	}
	return false
}

// ends tells whether a statement goes nowhere after it.
func ends(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok != token.FALLTHROUGH
	case *ast.BlockStmt:
		return len(s.List) > 0 && ends(s.List[len(s.List)-1])
	case *ast.IfStmt:
		return s.Else != nil && ends(s.Body) && ends(s.Else)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		switch f := ast.Unparen(call.Fun).(type) {
		case *ast.Ident:
			return f.Name == "panic"
		case *ast.SelectorExpr:
			id, ok := f.X.(*ast.Ident)
			return ok && (id.Name == "os" && f.Sel.Name == "Exit" || strings.HasPrefix(f.Sel.Name, "Fatal"))
		}
	}
	return false
}

// Ends tells whether a block never goes on after itself.
func Ends(b *ast.BlockStmt) bool { return b != nil && ends(b) }

// Handling is what a function does with the error of a call.
type Handling struct {
	Dropped  bool           // nothing
	Returned bool           // it is returned as it is
	Bad      *ast.BlockStmt // what it does if there is one
	Good     *ast.BlockStmt // what it does only if there is none
	If       *ast.IfStmt
}

// ErrorOf looks at what becomes of the error of a call; if that cannot be said,
// all is empty.
func (p *Pass) ErrorOf(fn *Function, call *ast.CallExpr) Handling {
	if !p.Fails(call) {
		return Handling{}
	}
	var n ast.Node = call
	for { // rdb.Set(…).Err()
		sel, ok := fn.Parent(n).(*ast.SelectorExpr)
		outer, isCall := fn.Parent(sel).(*ast.CallExpr)
		if !ok || !isCall || sel.Sel.Name != "Err" && sel.Sel.Name != "Result" && sel.Sel.Name != "Error" {
			break
		}
		n = outer
	}
	switch parent := fn.Parent(n).(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return Handling{Dropped: true}
	case *ast.ReturnStmt:
		return Handling{Returned: true}
	case *ast.SelectorExpr: // tx.Save(x).Error
		switch outer := fn.Parent(parent).(type) {
		case *ast.AssignStmt:
			if parent.Sel.Name == "Error" {
				return p.assigned(fn, outer)
			}
		case *ast.ReturnStmt:
			return Handling{Returned: true}
		}
	case *ast.AssignStmt:
		return p.assigned(fn, parent)
	}
	return Handling{}
}

// Fails tells whether a call gives an error, or something that holds one.
func (p *Pass) Fails(call *ast.CallExpr) bool {
	t := p.TypesInfo.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() == 0 {
			return false
		}
		t = tuple.At(tuple.Len() - 1).Type()
	}
	if t == nil {
		return false
	}
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		return true
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, "Err")
	if m, ok := obj.(*types.Func); ok && m.Signature().Results().Len() == 1 && m.Signature().Params().Len() == 0 {
		return true
	}
	obj, _, _ = types.LookupFieldOrMethod(t, true, p.Pkg, "Error") // of *gorm.DB
	v, ok := obj.(*types.Var)
	return ok && types.Identical(v.Type(), types.Universe.Lookup("error").Type())
}

func (p *Pass) assigned(fn *Function, a *ast.AssignStmt) Handling {
	id, ok := ast.Unparen(a.Lhs[len(a.Lhs)-1]).(*ast.Ident)
	if !ok {
		return Handling{}
	}
	if id.Name == "_" {
		return Handling{Dropped: true}
	}
	obj := p.TypesInfo.ObjectOf(id)
	if cond, ok := fn.Parent(a).(*ast.IfStmt); ok && cond.Init == a {
		return p.branches(cond, obj)
	}
	list := siblings(fn.Parent(a))
	for i := slices.Index(list, ast.Stmt(a)) + 1; i > 0 && i < len(list); i++ {
		if cond, ok := list[i].(*ast.IfStmt); ok && cond.Init == nil && p.Mentions(cond.Cond, obj) {
			return p.branches(cond, obj)
		}
		if p.Mentions(list[i], obj) {
			return Handling{}
		}
	}
	return Handling{}
}

func siblings(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// branches are those of "if err != nil" and "if err == nil".
func (p *Pass) branches(cond *ast.IfStmt, err types.Object) Handling {
	b, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr)
	if !ok || !p.TypesInfo.Types[b.Y].IsNil() {
		return Handling{}
	}
	if id, ok := ast.Unparen(b.X).(*ast.Ident); !ok || p.TypesInfo.ObjectOf(id) != err {
		return Handling{}
	}
	other, _ := cond.Else.(*ast.BlockStmt)
	if b.Op == token.EQL {
		return Handling{Bad: other, Good: cond.Body, If: cond}
	}
	return Handling{Bad: cond.Body, Good: other, If: cond}
}

// Mentions tells whether a node uses a variable.
func (p *Pass) Mentions(n ast.Node, obj types.Object) bool {
	found := false
	p.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && obj != nil && p.TypesInfo.ObjectOf(id) == obj {
			found = true
		}
		return !found
	})
	return found
}

// OnlyLogs tells whether a block says that something went wrong to people alone:
// it logs, counts, and goes on, returns or answers as if all were well.
func (p *Pass) OnlyLogs(b *ast.BlockStmt) bool {
	if b == nil {
		return false
	}
	for _, s := range b.List {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || !p.Logs(call) && !p.answersWell(call) {
				return false
			}
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE {
				return false
			}
		case *ast.ReturnStmt:
			for _, r := range s.Results {
				call, ok := ast.Unparen(r).(*ast.CallExpr)
				if !p.TypesInfo.Types[r].IsNil() && (!ok || !p.answersWell(call)) {
					return false
				}
			}
		case *ast.IncDecStmt:
		default:
			return false
		}
	}
	return true
}

// answersWell tells whether a call answers an HTTP request as if all were well.
func (p *Pass) answersWell(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"WriteHeader", "JSON", "Status", "String", "NoContent", "SendStatus", "AbortWithStatus", "IndentedJSON"}, sel.Sel.Name) || len(call.Args) == 0 {
		return false
	}
	v := p.TypesInfo.Types[call.Args[0]].Value
	if v == nil || v.Kind() != constant.Int {
		return false
	}
	status, ok := constant.Int64Val(v)
	return ok && status >= 200 && status < 300
}

// Logs tells whether a call writes to a log, a metric or a trace.
func (p *Pass) Logs(call *ast.CallExpr) bool {
	if p.logs == nil {
		p.logs = map[*ast.CallExpr]bool{}
	}
	if known, ok := p.logs[call]; ok {
		return known
	}
	chain, logs := p.observes(call)
	for _, c := range chain { // each asks the same of what it is called on
		p.logs[c] = logs
	}
	return logs
}

// observes looks along a chain of calls, as far as it takes to tell.
func (p *Pass) observes(call *ast.CallExpr) (chain []*ast.CallExpr, logs bool) {
	for e := ast.Expr(call); ; {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			if known, ok := p.logs[x]; ok {
				return chain, known
			}
			chain = append(chain, x)
			e = x.Fun
		case *ast.SelectorExpr:
			if obs(x.Sel.Name) || slices.Contains(levels, x.Sel.Name) && !p.isPackage(x.X) {
				return chain, true
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return chain, obs(x.Name)
		default:
			return chain, false
		}
	}
}

func (p *Pass) isPackage(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = p.TypesInfo.Uses[id].(*types.PkgName)
	return ok
}

var levels = []string{"Error", "Errorf", "Errorw", "Warn", "Warnf", "Warnw", "Warning", "Warningf", "Info", "Infof", "Infow", "Debug", "Debugf", "ERROR", "WARN", "INFO"}

func obs(name string) bool {
	return slices.ContainsFunc(catalogue.Words(name), func(w string) bool { return slices.Contains(observers, w) })
}

var observers = []string{
	"log", "logger", "logging", "slog", "logrus", "zap", "zerolog", "klog", "glog", "logf", "logger", "print", "printf", "println", "fprintf", "fprintln",
	"metric", "metrics", "meter", "sentry", "span", "trace", "tracer", "telemetry", "stats", "statsd", "prometheus", "counter", "gauge", "histogram",
}
