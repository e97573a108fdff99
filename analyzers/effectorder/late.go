package effectorder

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

// late reports marks that stay in memory until all effects of a loop are done: a
// crash in between repeats those that were done already.
func (c *checker) late(m *ast.CallExpr) {
	loop := c.loopOf(m)
	if loop == nil || c.Fails(m) {
		return
	}
	i := slices.IndexFunc(c.acts, func(a rule.Act) bool { return c.fn.Within(a.Call, loop) && c.fn.Before(a.Call, m) && c.succeeded(a, m) })
	if i < 0 || rule.Receiver(m) == "" {
		return
	}
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || c.fn.Within(call, loop) || !c.fn.Before(loop, call) || rule.Receiver(call) != rule.Receiver(m) || !saves(call) {
			return true
		}
		c.Report(c.fn, rule.Finding{
			Node: call, Message: "marks are saved only when all effects are done: a crash before repeats them",
			Way:    append(slices.Clone(c.acts[i].Way), rule.CallName(m), rule.CallName(call)),
			Advice: "save each mark after its effect",
			Related: []analysis.RelatedInformation{
				{Pos: c.acts[i].Call.Pos(), End: c.acts[i].Call.End(), Message: "the effect"},
				{Pos: m.Pos(), End: m.End(), Message: "the mark"},
			},
		})
		return true
	})
}

func saves(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	words := catalogue.Words(sel.Sel.Name)
	return len(words) > 0 && slices.Contains([]string{"save", "flush", "persist", "sync", "dump"}, words[0])
}

// loopOf is the innermost loop that a node is in, within its function or literal.
func (c *checker) loopOf(n ast.Node) ast.Stmt {
	for n = c.fn.Parent(n); n != nil; n = c.fn.Parent(n) {
		switch n := n.(type) {
		case *ast.ForStmt:
			return n
		case *ast.RangeStmt:
			return n
		case *ast.FuncLit:
			return nil
		}
	}
	return nil
}
