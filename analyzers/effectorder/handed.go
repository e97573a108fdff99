package effectorder

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// beforeResult reports marks of work whose result is written afterwards: if that
// fails, the work counts as done and has no result.
func (c *checker) beforeResult() {
	if c.Transactional(c.fn) {
		return
	}
	for _, m := range c.marks {
		var result *ast.CallExpr
		c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && result == nil && c.writesResult(m, call) && c.related(m, call) && !c.takesBack(call) {
				result = call
			}
			return result == nil
		})
		if result == nil {
			continue
		}
		c.Report(c.fn, rule.Finding{
			Node: m, Message: "work is marked as done before its result is saved, and stays so if that fails",
			Way:     []string{rule.CallName(m), rule.CallName(result), "error"},
			Advice:  "save the result first, or both in one transaction",
			Related: []analysis.RelatedInformation{{Pos: result.Pos(), End: result.End(), Message: "the result"}},
		})
	}
}

// writesResult tells whether a call inserts what work has come to into the store of
// its mark, and its error is returned.
func (c *checker) writesResult(m, call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || slices.Contains(c.marks, call) || rule.Root(call) != rule.Root(m) || rule.Root(m) == "" || !c.fn.Before(m, call) {
		return false
	}
	words := catalogue.Words(callee.Name())
	if len(words) < 2 || !slices.Contains([]string{"create", "insert"}, words[0]) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(aside, w) }) {
		return false
	}
	h := c.ErrorOf(c.fn, call)
	return h.Returned || h.Bad != nil && c.returnsError(h.Bad)
}

// aside is what is written about work, and is not its result.
var aside = []string{"audit", "log", "logs", "history", "event", "events", "activity", "metric", "metrics", "trail", "notification", "notifications", "outbox", "trace", "stats", "session"}

func (c *checker) returnsError(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	ret, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return false
	}
	last := ret.Results[len(ret.Results)-1]
	return !c.TypesInfo.Types[last].IsNil() && types.AssignableTo(c.TypesInfo.TypeOf(last), types.Universe.Lookup("error").Type())
}

// filters reports a function that only tells whether work is new and marks it at
// once: whoever asks has not begun, and the store has no way to take a mark back.
func (c *checker) filters() {
	fn, ok := c.TypesInfo.Defs[c.fn.Decl.Name].(*types.Func)
	if !ok || len(c.acts) > 0 || fn.Signature().Results().Len() == 0 {
		return
	}
	if b, ok := fn.Signature().Results().At(0).Type().Underlying().(*types.Basic); !ok || b.Info()&types.IsBoolean == 0 {
		return
	}
	for _, m := range c.marks {
		for _, g := range c.guards {
			if !g.Guards(c.fn, m) || g.Done || !shares(g.Check, m) || rule.Receiver(g.Check) != rule.Receiver(m) || c.undoable(m) || !c.last(m) {
				continue
			}
			c.Report(c.fn, rule.Finding{
				Node: m, Message: "work is marked as done before it has begun, and stays so if it fails",
				Way:    []string{rule.CallName(g.Check), rule.CallName(m), "return"},
				Advice: "mark it when it is done, or claim it so that the claim can be taken back",
			})
			break
		}
	}
}

// undoable tells whether what a method is called on can take marks back.
func (c *checker) undoable(m *ast.CallExpr) bool {
	sel, ok := ast.Unparen(m.Fun).(*ast.SelectorExpr)
	if !ok {
		return true
	}
	for s := range types.NewMethodSet(c.TypesInfo.TypeOf(sel.X)).Methods() {
		words := catalogue.Words(s.Obj().Name())
		if slices.ContainsFunc(words, func(w string) bool {
			return slices.Contains([]string{"unmark", "release", "forget", "revert", "rollback", "undo", "delete", "remove", "unset", "failed", "untag"}, w)
		}) {
			return true
		}
	}
	return false
}

// last tells whether nothing is called after a mark, but what logs.
func (c *checker) last(m *ast.CallExpr) bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && call.Pos() > m.End() && !c.Logs(call) && c.fn.Before(m, call)
		return !found
	})
	return !found
}

// handedOn reports items that a function gives to its caller though it has marked
// them already, or could not mark them.
func (c *checker) handedOn(calls []*ast.CallExpr) {
	fn, ok := c.TypesInfo.Defs[c.fn.Decl.Name].(*types.Func)
	if !ok || fn.Signature().Results().Len() == 0 {
		return
	}
	if _, ok := fn.Signature().Results().At(0).Type().Underlying().(*types.Slice); !ok {
		return
	}
	if c.Transactional(c.fn) {
		return
	}
	for _, m := range calls {
		h := c.ErrorOf(c.fn, m)
		lost := h.Dropped || h.Bad != nil && c.OnlyLogs(h.Bad)
		if !c.seenMark(m, lost) {
			continue
		}
		list := c.listOf(m)
		if list == nil || !c.returned(list) || c.worked(m, calls) {
			continue
		}
		f := rule.Finding{
			Node: m, Message: "work is marked as done before it is given to who does it, and stays so if that fails",
			Way:    []string{rule.CallName(m), "return " + list.Name()},
			Advice: "mark it when it is done",
		}
		if lost {
			f.Message, f.Advice = "what cannot be marked as seen is given out all the same, and comes again", "leave out what cannot be marked"
			f.Way = []string{rule.CallName(m), "error dropped", "return " + list.Name()}
			if !h.Dropped {
				f.Way[1] = "error only logged"
			}
		}
		c.Report(c.fn, f)
		return
	}
}

// seenMark tells whether a call puts something into a store of what has been seen:
// by its name, by what holds it, or, if its error is lost, because it can be asked by
// a fingerprint: then what it keeps may be more than marks.
func (c *checker) seenMark(m *ast.CallExpr, lost bool) bool {
	callee := summary.Callee(c.TypesInfo, m)
	if callee == nil || callee.Pkg() == nil || c.Logs(m) || len(m.Args) == 0 {
		return false
	}
	words := catalogue.Words(callee.Name())
	if len(words) == 0 {
		return false
	}
	if words[0] == "mark" && slices.ContainsFunc(words[1:], func(w string) bool { return w == "seen" || w == "processed" || w == "handled" }) {
		return true
	}
	sel, ok := ast.Unparen(m.Fun).(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"add", "save", "insert", "create", "store", "put", "set", "remember", "record", "mark"}, words[0]) {
		return false
	}
	t := c.TypesInfo.TypeOf(sel.X)
	if t == nil {
		return false
	}
	names := types.ExprString(sel.X)
	if n, ok := deref(t).(*types.Named); ok {
		names += " " + n.Obj().Name()
	}
	names = strings.ToLower(names)
	if strings.Contains(names, "dedup") || strings.Contains(names, "seen") || strings.Contains(names, "processed") {
		return true
	}
	if !lost {
		return false
	}
	for s := range types.NewMethodSet(t).Methods() {
		has := catalogue.Words(s.Obj().Name())
		says := func(any ...string) bool {
			return slices.ContainsFunc(has, func(w string) bool { return slices.Contains(any, w) })
		}
		if says("exist", "exists", "has", "is") && says("hash", "guid", "fingerprint", "seen", "processed", "duplicate") {
			return true
		}
	}
	return false
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

// listOf is the variable of the list that what is marked is an element of: the loop
// goes over it, or appends to it.
func (c *checker) listOf(m *ast.CallExpr) *types.Var {
	about := c.about(m)
	for n := c.fn.Parent(m); n != nil; n = c.fn.Parent(n) {
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			continue
		}
		if item, ok := loop.Value.(*ast.Ident); ok && about[c.TypesInfo.ObjectOf(item)] {
			if v := c.variable(loop.X); v != nil && c.returned(v) {
				return v
			}
		}
		var list *types.Var
		c.Inspect(loop.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "append" && len(call.Args) == 2 {
				if v := c.variable(call.Args[1]); v != nil && slices.ContainsFunc(m.Args, func(arg ast.Expr) bool { return c.variable(arg) == v }) {
					list = c.variable(call.Args[0])
				}
			}
			return true
		})
		return list
	}
	return nil
}

func (c *checker) variable(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := c.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// returned tells whether the function ends well by returning a variable first.
func (c *checker) returned(v *types.Var) bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		ret, ok := n.(*ast.ReturnStmt)
		found = found || ok && len(ret.Results) > 0 && c.variable(ret.Results[0]) == v && (len(ret.Results) == 1 || c.TypesInfo.Types[ret.Results[len(ret.Results)-1]].IsNil())
		return !found
	})
	return found && !c.claimsByName()
}

// claimsByName tells whether the function says that it takes what it gives.
func (c *checker) claimsByName() bool {
	return slices.ContainsFunc(catalogue.Words(c.fn.Decl.Name.Name), func(w string) bool {
		return slices.Contains([]string{"claim", "dequeue", "pop", "lock", "lease", "acquire", "mark", "dedup", "dedupe", "deduplicate", "filter", "unique", "take", "reserve"}, w)
	})
}

// worked tells whether the function does something with the items itself.
func (c *checker) worked(m *ast.CallExpr, calls []*ast.CallExpr) bool {
	for _, a := range c.Acts(c.fn) {
		if a.Call != m && c.fn.Before(a.Call, c.started(m)) && c.related(m, a.Call) && !c.feeds(a.Call, m) {
			return true
		}
	}
	return slices.ContainsFunc(calls, func(call *ast.CallExpr) bool { return call != m && c.Works(call) && c.related(m, call) })
}

// feeds tells whether what a call gives is part of what is marked.
func (c *checker) feeds(call, m *ast.CallExpr) bool {
	a, ok := c.fn.Parent(call).(*ast.AssignStmt)
	return ok && slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool {
		v := c.variable(lhs)
		return v != nil && c.about(m)[v]
	})
}
