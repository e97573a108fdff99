package retry

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/rule"
)

// outcome is a set of ways to go on from a statement.
type outcome uint8

const (
	leaves  outcome = 1 << iota // the loop
	repeats                     // goes round the loop
	refused                     // goes round, since the other side has refused and done nothing
	falls                       // to the next statement
)

// walk follows the statements of a loop after a call that has failed, or has not.
type walk struct {
	p      *rule.Pass
	fn     *rule.Function
	loop   ast.Stmt
	failed bool
	errs   map[types.Object]bool // the variables that hold the error
	others map[types.Object]bool // the other results of the call
	asked  bool                  // a condition looked at another result of the call
}

// after is how the loop goes on after the statement s of it.
func (w *walk) after(s ast.Stmt) outcome {
	out := falls
	if cond, ok := w.fn.Parent(s).(*ast.IfStmt); ok && cond.Init == s {
		out = w.branches(cond)
		s = cond
	} else if sw, ok := w.fn.Parent(s).(*ast.SwitchStmt); ok && sw.Init == s {
		out = w.clauses(sw.Body)
		s = sw
	}
	for out&falls != 0 {
		parent := w.fn.Parent(s)
		if parent == w.loop {
			return out&^falls | w.round()
		}
		if list := statements(parent); list != nil {
			out = out&^falls | w.list(rest(list, s))
		}
		next, ok := parent.(ast.Stmt)
		if !ok {
			return out &^ falls
		}
		s = next
	}
	return out
}

// round is what happens at the end of the loop's body.
func (w *walk) round() outcome {
	if loop, ok := w.loop.(*ast.ForStmt); ok && loop.Cond != nil {
		if holds, known := w.cond(loop.Cond); known && !holds {
			return leaves
		}
	}
	return repeats
}

// limits tells whether the loop has a condition that something else than the error
// decides.
func (w *walk) limits() bool {
	loop, ok := w.loop.(*ast.ForStmt)
	if !ok || loop.Cond == nil {
		return false
	}
	if v := w.p.TypesInfo.Types[loop.Cond].Value; v != nil { // for true
		return false
	}
	_, known := w.cond(loop.Cond)
	return !known
}

func statements(n ast.Node) []ast.Stmt {
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

func rest(list []ast.Stmt, s ast.Stmt) []ast.Stmt {
	for i, other := range list {
		if other == s {
			return list[i+1:]
		}
	}
	return nil
}

func (w *walk) list(list []ast.Stmt) outcome {
	out := outcome(0)
	for _, s := range list {
		o := w.stmt(s)
		out |= o &^ falls
		if o&falls == 0 {
			return out
		}
	}
	return out | falls
}

func (w *walk) stmt(s ast.Stmt) outcome {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return leaves
	case *ast.BranchStmt:
		return w.branch(s)
	case *ast.BlockStmt:
		return w.list(s.List)
	case *ast.LabeledStmt:
		return w.stmt(s.Stmt)
	case *ast.IfStmt:
		if s.Init != nil {
			w.stmt(s.Init)
		}
		return w.branches(s)
	case *ast.SwitchStmt:
		return w.clauses(s.Body)
	case *ast.TypeSwitchStmt:
		return w.clauses(s.Body)
	case *ast.SelectStmt:
		return w.clauses(s.Body)&^falls | w.fallsOf(s.Body)
	case *ast.ForStmt, *ast.RangeStmt:
		out := falls
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				out |= leaves
			}
			return true
		})
		return out
	case *ast.AssignStmt:
		w.assign(s)
	case *ast.ExprStmt:
		if ends(s) {
			return leaves
		}
	}
	return falls
}

// fallsOf tells whether a clause of a select goes on after it.
func (w *walk) fallsOf(body *ast.BlockStmt) outcome {
	for _, c := range body.List {
		if w.list(statements(c))&falls != 0 {
			return falls
		}
	}
	return 0
}

func (w *walk) branch(s *ast.BranchStmt) outcome {
	switch s.Tok {
	case token.FALLTHROUGH:
		return falls
	case token.GOTO:
		return leaves
	}
	if s.Label != nil {
		labeled, ok := w.fn.Parent(w.loop).(*ast.LabeledStmt)
		if ok && s.Tok == token.CONTINUE && labeled.Label.Name == s.Label.Name {
			return repeats
		}
		return leaves
	}
	if s.Tok == token.CONTINUE {
		return repeats
	}
	for n := w.fn.Parent(s); n != nil && n != w.loop; n = w.fn.Parent(n) {
		switch n.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return falls
		}
	}
	return leaves
}

func (w *walk) branches(s *ast.IfStmt) outcome {
	holds, known := w.cond(s.Cond)
	var other outcome = falls
	if s.Else != nil && (!known || !holds) {
		other = w.stmt(s.Else)
	}
	if known && !holds {
		return other
	}
	body := w.list(s.Body.List)
	if known {
		return body
	}
	if w.failed && refuses(w.p.Fset, s.Cond) && body&repeats != 0 {
		body = body&^repeats | refused
	}
	return body | other
}

func (w *walk) clauses(body *ast.BlockStmt) outcome {
	out, otherwise, all := outcome(0), falls, false
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CommClause:
			out |= w.list(c.Body)
			all = true
		case *ast.CaseClause:
			if c.List == nil {
				otherwise = w.list(c.Body)
				continue
			}
			holds, known := false, true
			for _, e := range c.List {
				h, k := w.cond(e)
				holds, known = holds || k && h, known && k
			}
			switch {
			case holds:
				return out | w.list(c.Body)
			case !known:
				o := w.list(c.Body)
				for _, e := range c.List {
					if w.failed && refuses(w.p.Fset, e) && o&repeats != 0 {
						o = o&^repeats | refused
					}
				}
				out |= o
			}
		}
	}
	if all {
		return out
	}
	return out | otherwise
}

// cond is what a condition comes to, if the error alone decides.
func (w *walk) cond(e ast.Expr) (holds, known bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			holds, known = w.cond(e.X)
			return !holds, known
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR:
			decides := e.Op == token.LOR // the value that decides alone
			x, xk := w.cond(e.X)
			if xk && x == decides {
				return x, true
			}
			y, yk := w.cond(e.Y)
			if yk && y == decides {
				return y, true
			}
			return !decides, xk && yk
		case token.EQL, token.NEQ:
			if w.isErr(e.X) && w.p.TypesInfo.Types[e.Y].IsNil() {
				return (e.Op == token.NEQ) == w.failed, true
			}
		}
	case *ast.CallExpr:
		if len(e.Args) > 0 && w.isErr(e.Args[0]) && !w.failed { // errors.Is(err, …) of no error
			return false, true
		}
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && w.others[w.p.TypesInfo.ObjectOf(id)] {
			w.asked = true
		}
		return true
	})
	return false, false
}

func (w *walk) isErr(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && w.errs[w.p.TypesInfo.ObjectOf(id)]
}

// assign follows the error into other variables, and forgets it when it is
// replaced.
func (w *walk) assign(s *ast.AssignStmt) {
	for i, lhs := range s.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		obj := w.p.TypesInfo.ObjectOf(id)
		carries := false
		if len(s.Lhs) == len(s.Rhs) {
			ast.Inspect(s.Rhs[i], func(n ast.Node) bool {
				if e, ok := n.(*ast.Ident); ok && w.isErr(e) {
					carries = true
				}
				return !carries
			})
		}
		if carries && isError(obj) {
			w.errs[obj] = true
		} else {
			delete(w.errs, obj)
		}
	}
}

func isError(obj types.Object) bool {
	return obj != nil && types.Identical(obj.Type(), types.Universe.Lookup("error").Type())
}

// ends tells whether a statement is a call that does not come back.
func ends(s *ast.ExprStmt) bool {
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		return f.Sel.Name == "Exit" || strings.HasPrefix(f.Sel.Name, "Fatal")
	}
	return false
}

// refuses tells whether a condition is of an answer that says that nothing was
// done: too many requests, not allowed, not there.
func refuses(fset *token.FileSet, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || answers(n)
		case *ast.Ident:
			found = found || saysRefused(n.Name)
		case *ast.BasicLit:
			found = found || saysRefused(strings.Trim(n.Value, "\"`"))
		}
		return !found
	})
	return found
}

// answers tells whether a call asks for one kind of error that the other side has
// answered with; one that names a lost connection is no answer.
func answers(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "As" && sel.Sel.Name != "Is" || len(call.Args) != 2 {
		return false
	}
	if pkg, ok := sel.X.(*ast.Ident); !ok || pkg.Name != "errors" {
		return false
	}
	name := strings.ToLower(types.ExprString(call.Args[1]))
	for _, w := range []string{"net", "url", "timeout", "deadline", "tempor", "transient", "retr", "unavail", "eof", "reset", "conn", "syscall", "again", "unknown", "server", "internal"} {
		if strings.Contains(name, w) {
			return false
		}
	}
	return strings.HasPrefix(name, "&") || strings.Contains(name, "err")
}

func saysRefused(name string) bool {
	n := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	for _, w := range []string{"429", "401", "403", "404", "409", "ratelimit", "toomany", "retryafter", "throttl", "flood", "unauthor", "expired", "forbidden", "notfound", "conflict", "exist", "duplicate", "refused", "quota", "slowdown", "stale", "nonce", "dial", "notready", "precondition", "optimistic", "authentic", "credential"} {
		if strings.Contains(n, w) {
			return true
		}
	}
	return false
}
