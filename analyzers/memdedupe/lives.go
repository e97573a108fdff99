package memdedupe

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// lives tells whether marks are there for many pieces of work: in a field or a
// global variable, or in a variable that stands outside of a loop that waits for
// work, or outside of a function that is called with it.
func (c *checker) lives(e ast.Expr) bool {
	v := summary.Variable(c.TypesInfo, e)
	if v == nil {
		return false
	}
	if v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return true
	}
	if body := c.fn.Decl.Body; v.Pos() < body.Pos() || v.Pos() > body.End() {
		return false // a parameter
	}
	for n := c.fn.Parent(e); n != nil && v.Pos() < n.Pos(); n = c.fn.Parent(n) {
		switch n := n.(type) {
		case *ast.ForStmt:
			if n.Init == nil && n.Cond == nil && n.Post == nil && c.waits(n.Body) {
				return true
			}
		case *ast.RangeStmt:
			t := c.TypesInfo.TypeOf(n.X)
			if t == nil { // does not compile
				return false
			}
			if ch, ok := types.Unalias(t).Underlying().(*types.Chan); ok && c.foreign(ch.Elem()) {
				return true
			}
		case *ast.FuncLit:
			if c.handles(n) {
				return true
			}
		}
	}
	return false
}

// waits tells whether a loop waits for time to pass or for something to come in, and
// so goes on for as long as the process does. One that ends well of itself does not.
func (c *checker) waits(body *ast.BlockStmt) bool {
	waits, ends := false, false
	c.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			waits = waits || n.Op == token.ARROW
		case *ast.CallExpr:
			fn := summary.Callee(c.TypesInfo, n)
			waits = waits || fn != nil && fn.Pkg() != nil && (fn.Pkg().Path() == "time" && fn.Name() == "Sleep" || slices.Contains([]string{"ReadMessage", "FetchMessage", "ReceiveMessage", "Receive", "NextMsg"}, fn.Name()))
		case *ast.CommClause: // <-ctx.Done()
			return n.Comm != nil
		case *ast.IfStmt:
			ends = ends || c.empty(n)
		}
		return true
	})
	return waits && !ends
}

// empty tells whether a loop ends when there is nothing more: if len(page) == 0.
func (c *checker) empty(s *ast.IfStmt) bool {
	b, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	if !ok || len(s.Body.List) == 0 || !strings.HasPrefix(types.ExprString(b.X), "len(") && !strings.Contains(strings.ToLower(types.ExprString(b)), "next") {
		return false
	}
	switch last := s.Body.List[len(s.Body.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK
	}
	return false
}

// foreign tells whether a type is a library's: what comes through a channel of it
// comes from outside.
func (c *checker) foreign(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg() == c.Pkg {
		return false
	}
	path := n.Obj().Pkg().Path()
	return path == "time" || c.Module == nil || path != c.Module.Path && !strings.HasPrefix(path, c.Module.Path+"/")
}

// handles tells whether a function is returned, or given to something that calls it
// for each piece of work.
func (c *checker) handles(lit *ast.FuncLit) bool {
	switch parent := c.fn.Parent(lit).(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.CallExpr:
		if tv := c.TypesInfo.Types[parent.Fun]; tv.IsType() { // http.HandlerFunc(func …)
			_, returned := c.fn.Parent(parent).(*ast.ReturnStmt)
			return returned
		}
		fn := summary.Callee(c.TypesInfo, parent)
		return fn != nil && slices.ContainsFunc(catalogue.Words(fn.Name()), func(w string) bool {
			return slices.Contains([]string{"handle", "handler", "handlers", "subscribe", "consume", "on", "listen", "use", "post", "cron", "schedule", "every"}, w)
		}) || fn != nil && fn.Name() == "AddFunc"
	}
	return false
}
