package memdedupe

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

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

// checker looks at one function.
type checker struct {
	*rule.Pass
	fn  *rule.Function
	ops []op
}

// op is something done with marks in memory.
type op struct {
	node  ast.Node
	what  summary.Memory
	store string // the text of what holds the marks
	name  string
}

func check(p *rule.Pass, fn *rule.Function) {
	c := &checker{Pass: p, fn: fn}
	obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok {
		return
	}
	c.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if o, ok := c.op(n); ok {
			c.ops = append(c.ops, o)
		}
		return true
	})
	for _, o := range c.ops {
		if o.what.Has(summary.Checks) && !limits(o.store) && c.guards(obj, o) {
			return
		}
	}
	c.recognises(obj)
}

// op is what a node does with marks: itself, or by a method that it calls.
func (c *checker) op(n ast.Node) (op, bool) {
	if m, store := c.Facts.MemoryOf(c.TypesInfo, n); m != 0 {
		if c.persists() {
			return op{}, false
		}
		name := types.ExprString(store)
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				name += "." + sel.Sel.Name
			}
		}
		return op{n, m, types.ExprString(store), short(name)}, true
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return op{}, false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	callee := summary.Callee(c.TypesInfo, call)
	if !ok || callee == nil || callee.Pkg() == nil || c.Catalogue.Covers(callee.Pkg().Path()) {
		return op{}, false
	}
	m := c.memory(callee)
	if m == 0 {
		return op{}, false
	}
	return op{call, m, types.ExprString(sel.X), short(types.ExprString(sel.X) + "." + sel.Sel.Name)}, true
}

// memory is what a function does with marks: of an interface's method, what all
// visible implementations do.
func (c *checker) memory(fn *types.Func) summary.Memory {
	recv := fn.Signature().Recv()
	if recv == nil {
		return 0
	}
	if !types.IsInterface(recv.Type()) {
		if f := c.Facts.Of(fn, nil); f != nil {
			return f.Memory
		}
		return 0
	}
	var m summary.Memory
	for i, impl := range c.Implementations(recv.Type(), fn.Name()) {
		f := c.Facts.Of(impl, nil)
		if f == nil {
			return 0
		}
		if i == 0 {
			m = f.Memory
		}
		m &= f.Memory
	}
	return m
}

// persists tells whether the function's own type keeps its marks elsewhere too; then
// its summary says nothing of memory though its source does.
func (c *checker) persists() bool {
	obj, _ := c.TypesInfo.Defs[c.fn.Decl.Name].(*types.Func)
	if obj == nil || obj.Signature().Recv() == nil {
		return false
	}
	f := c.Facts.Of(obj, nil)
	return f == nil || f.Memory == 0
}

// guards reports a check that decides about an effect, and tells whether it did.
func (c *checker) guards(obj *types.Func, check op) bool {
	cond := c.decides(check.node)
	if cond == nil {
		return false
	}
	strong := c.named(obj, check)
	for _, o := range c.ops {
		if o.store != check.store {
			continue
		}
		if o.what.Has(summary.Releases) && !strong {
			return false
		}
	}
	i := slices.IndexFunc(c.ops, func(o op) bool {
		return o.store == check.store && o.what.Has(summary.Marks) && (o.node == check.node || c.reached(cond, o.node))
	})
	if i < 0 {
		return false
	}
	for _, a := range c.Acts(c.fn) {
		if !c.reached(cond, a.Call) || c.released(check) && !strong {
			continue
		}
		c.report(check, append([]string{check.name}, a.Way...), a.Call)
		return true
	}
	return false
}

func (c *checker) report(check op, way []string, act ast.Node) {
	node := check.node
	if s, ok := node.(*ast.IfStmt); ok {
		node = s.Cond
	}
	var related []analysis.RelatedInformation
	if act != nil {
		related = append(related, analysis.RelatedInformation{Pos: act.Pos(), End: act.End(), Message: "the effect"})
	}
	c.Report(c.fn, rule.Finding{
		Node: node, Message: "a restart or a second instance forgets what was done, and does it again",
		Way: way, Advice: "keep the marks in the database, claimed before the effect", Related: related,
	})
}

// decides is the if statement that a check decides.
func (c *checker) decides(n ast.Node) *ast.IfStmt {
	if s, ok := n.(*ast.IfStmt); ok {
		return s
	}
	child := n
	for p := c.fn.Parent(n); p != nil; child, p = p, c.fn.Parent(p) {
		switch p := p.(type) {
		case *ast.IfStmt:
			if child == p.Cond || child == p.Init {
				return p
			}
			return nil
		case *ast.AssignStmt:
			if s, ok := c.fn.Parent(p).(*ast.IfStmt); ok && s.Init == p {
				return s
			}
			return c.next(p)
		case *ast.BlockStmt, *ast.FuncLit:
			if a, ok := n.(*ast.AssignStmt); ok {
				return c.next(a)
			}
			return nil
		}
	}
	return nil
}

// next is the if statement after an assignment that tests what was assigned.
func (c *checker) next(a *ast.AssignStmt) *ast.IfStmt {
	block, ok := c.fn.Parent(a).(*ast.BlockStmt)
	if !ok {
		return nil
	}
	for i := slices.Index(block.List, ast.Stmt(a)) + 1; i > 0 && i < len(block.List) && i < slices.Index(block.List, ast.Stmt(a))+4; i++ {
		s, ok := block.List[i].(*ast.IfStmt)
		if !ok {
			continue
		}
		for _, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && id.Name != "_" && c.Mentions(s.Cond, c.TypesInfo.ObjectOf(id)) {
				return s
			}
		}
	}
	return nil
}

// reached tells whether a node is reached only if nothing was found: after an if
// that ends, or inside one that does not.
func (c *checker) reached(cond *ast.IfStmt, n ast.Node) bool {
	if c.fn.Within(n, cond.Body) {
		return !rule.Ends(cond.Body) || negated(cond.Cond)
	}
	if other, ok := cond.Else.(*ast.BlockStmt); ok && c.fn.Within(n, other) {
		return true
	}
	return rule.Ends(cond.Body) && c.fn.Before(cond, n)
}

func negated(e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && u.Op.String() == "!"
}

// released tells whether the function takes marks back by a method.
func (c *checker) released(check op) bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && types.ExprString(sel.X) == check.store {
				words := catalogue.Words(sel.Sel.Name)
				found = found || slices.ContainsFunc(words, func(w string) bool {
					return slices.Contains([]string{"forget", "release", "remove", "delete", "unmark", "clear", "undo", "evict", "reset"}, w)
				})
			}
		}
		return !found
	})
	return found
}

// recognises reports a function that says itself that it recognises duplicates, and
// does so in memory: its callers act on what it says.
func (c *checker) recognises(obj *types.Func) {
	rs := obj.Signature().Results()
	if rs.Len() == 0 || !isBool(rs.At(0).Type()) {
		return
	}
	var all summary.Memory
	var first *op
	for i, o := range c.ops {
		if limits(o.store) || !c.named(obj, o) {
			continue
		}
		all |= o.what
		if first == nil && o.what.Has(summary.Checks) {
			first = &c.ops[i]
		}
	}
	if first == nil || !all.Has(summary.Checks|summary.Marks) {
		return
	}
	c.report(*first, []string{catalogue.FuncName(obj), first.name}, nil)
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// named tells whether a name says that the marks are there to recognise duplicates
// of work.
func (c *checker) named(obj *types.Func, o op) bool {
	names := []string{c.Pkg.Name(), catalogue.FuncName(obj), o.name}
	return slices.ContainsFunc(names, func(name string) bool {
		n := strings.ToLower(name)
		return strings.Contains(n, "dedup") || strings.Contains(n, "idempot") || strings.Contains(n, "processed") || strings.Contains(n, "duplicate")
	})
}

// limits tells whether marks are about how often something may happen, or about
// people and connections, and not about work that is done.
func limits(store string) bool {
	return slices.ContainsFunc(catalogue.Words(store), func(w string) bool {
		return slices.Contains([]string{
			"limit", "limits", "limiter", "rate", "throttle", "cooldown", "cooldowns", "session", "sessions", "visited", "subscribed", "subscribers", "registered", "connected",
			"enabled", "disabled", "allow", "allowed", "admin", "admins", "whitelist", "blacklist", "banned", "flight", "inflight", "running", "active", "pending", "warned", "logged",
		}, w)
	})
}

// short is the last two parts of a selector.
func short(name string) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}
