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
	obj *types.Func
	ops []op

	guardsOf []rule.Guard // lookups elsewhere, once they have been asked for
	asked    bool
}

// op is something done with marks in memory.
type op struct {
	node  ast.Node
	what  summary.Memory
	holds ast.Expr // what holds the marks
	store string   // its text
	name  string
}

func check(p *rule.Pass, fn *rule.Function) {
	obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok {
		return
	}
	c := &checker{Pass: p, fn: fn, obj: obj}
	c.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if o, ok := c.op(n); ok {
			c.ops = append(c.ops, o)
		}
		return true
	})
	for _, o := range c.ops {
		if o.what.Has(summary.Checks) && !limits(o.store) && c.guards(o) {
			return
		}
	}
	c.recognises()
}

// op is what a node does with marks: itself, or by a method that it calls.
func (c *checker) op(n ast.Node) (op, bool) {
	if m, store := c.Facts.MemoryIn(c.TypesInfo, n, c.lives); m != 0 {
		if c.keeps(store) {
			return op{}, false
		}
		name := types.ExprString(store)
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				name += "." + sel.Sel.Name
			}
		}
		return op{n, m, store, types.ExprString(store), short(name)}, true
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
	if m == 0 || m.Has(summary.Checks) && !answers(callee) {
		return op{}, false
	}
	return op{call, m, sel.X, types.ExprString(sel.X), short(types.ExprString(sel.X) + "." + sel.Sel.Name)}, true
}

// answers tells whether a function gives what it has found: one that only fails has
// something done once.
func answers(fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		if isBool(v.Type()) {
			return true
		}
	}
	return false
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

// keeps tells whether marks are kept in a file or a database too.
func (c *checker) keeps(store ast.Expr) bool {
	return summary.KeepsFile(c.obj) || c.Facts.Persisted(c.TypesInfo, store)
}

// guards reports a check that decides about an effect, and tells whether it did.
func (c *checker) guards(check op) bool {
	cond := c.decides(check.node)
	if cond == nil {
		return false
	}
	strong := c.named(check)
	if !strong && (c.released(check) || c.Facts.TakenBack(c.TypesInfo, check.holds)) {
		return false
	}
	if !slices.ContainsFunc(c.ops, func(o op) bool { return c.marks(check, cond, o) }) {
		return false
	}
	for _, a := range c.Acts(c.fn) {
		if !c.reached(cond, a.Call) || c.claimed(check, a.Call) {
			continue
		}
		c.report(check, append([]string{check.name}, a.Way...), a.Call)
		return true
	}
	if work := c.work(check, cond); strong && work != nil {
		c.report(check, []string{check.name, rule.CallName(work)}, work)
		return true
	}
	return false
}

// work is a handler that a check decides about, by its name.
func (c *checker) work(check op, cond *ast.IfStmt) *ast.CallExpr {
	var work *ast.CallExpr
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || work != nil || !c.reached(cond, call) || c.claimed(check, call) {
			return work == nil
		}
		if c.PassesOn(call) {
			work = call
			return false
		}
		callee := summary.Callee(c.TypesInfo, call)
		if callee == nil || callee.Pkg() == nil || c.Catalogue.Covers(callee.Pkg().Path()) || c.Logs(call) {
			return true
		}
		if words := catalogue.Words(callee.Name()); len(words) > 0 && slices.Contains([]string{"handle", "process", "execute", "dispatch"}, words[0]) {
			work = call
		}
		return work == nil
	})
	return work
}

// marks tells whether one operation marks what another has not found.
func (c *checker) marks(check op, cond *ast.IfStmt, o op) bool {
	if o.store != check.store || !o.what.Has(summary.Marks) {
		return false
	}
	if o.node == check.node || c.reached(cond, o.node) {
		return !c.constant(check.node) && !c.constant(o.node)
	}
	return c.fn.Before(check.node, o.node) && !c.fn.Within(o.node, cond)
}

// constant tells whether what is looked up or marked is always the same: a switch,
// and no mark of any work.
func (c *checker) constant(n ast.Node) bool {
	found := false
	c.Inspect(n, func(n ast.Node) bool {
		if ix, ok := n.(*ast.IndexExpr); ok {
			found = found || c.TypesInfo.Types[ix.Index].Value != nil
		}
		_, block := n.(*ast.BlockStmt)
		return !found && !block
	})
	return found
}

// claimed tells whether the work is claimed or looked up elsewhere as well, so that
// what is in memory only saves asking.
func (c *checker) claimed(check op, act ast.Node) bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && c.fn.Before(call, act) && !slices.ContainsFunc(c.ops, func(o op) bool { return o.node == call }) {
			found = found || c.Claims(call)
		}
		return !found
	})
	if !c.asked {
		c.guardsOf, c.asked = c.Guards(c.fn), true
	}
	return found || slices.ContainsFunc(c.guardsOf, func(g rule.Guard) bool {
		callee := summary.Callee(c.TypesInfo, g.Check)
		return g.Guards(c.fn, act) && callee != nil && rule.GivesError(callee) && !slices.ContainsFunc(c.ops, func(o op) bool { return o.node == g.Check })
	})
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
func (c *checker) recognises() {
	rs := c.obj.Signature().Results()
	if rs.Len() == 0 {
		return
	}
	var all summary.Memory
	var first *op
	for i, o := range c.ops {
		if limits(o.store) || !c.named(o) {
			continue
		}
		all |= o.what
		if first == nil && o.what.Has(summary.Checks) {
			first = &c.ops[i]
		}
	}
	if first == nil || !(all.Has(summary.Marks) && isBool(rs.At(0).Type()) || c.looksUp(*first)) {
		return
	}
	c.report(*first, []string{catalogue.FuncName(c.obj), first.name}, nil)
}

// looksUp tells whether a method looks up what another method of a store of keys or
// duplicates, which is in memory alone, has put there.
func (c *checker) looksUp(check op) bool {
	recv := c.obj.Signature().Recv()
	if recv == nil || !c.obj.Exported() || !recognising(c.Pkg.Name()+" "+catalogue.FuncName(c.obj)) {
		return false
	}
	named, ok := types.Unalias(recv.Type()).(*types.Named)
	if p, isPtr := types.Unalias(recv.Type()).(*types.Pointer); isPtr {
		named, ok = types.Unalias(p.Elem()).(*types.Named)
	}
	if !ok || rule.StandsIn(named.Obj().Name()) {
		return false
	}
	marks, claims := false, false
	for m := range named.Methods() {
		if f := c.Facts.Of(m, nil); m != c.obj && f != nil && f.Memory.Has(summary.Marks) {
			claims = claims || f.Memory.Has(summary.Checks) // is reported itself
			marks = marks || m.Exported()
		}
	}
	return marks && !claims
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// named tells whether a name says that the marks are there to recognise duplicates
// of work.
func (c *checker) named(o op) bool {
	return recognising(strings.Join([]string{c.Pkg.Name(), catalogue.FuncName(c.obj), o.name}, " "))
}

func recognising(names string) bool {
	n := strings.ToLower(names)
	return strings.Contains(n, "dedup") || strings.Contains(n, "idempot") || strings.Contains(n, "processed") || strings.Contains(n, "duplicate")
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
