package effectorder

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"time"

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
	fn     *rule.Function
	acts   []rule.Act
	marks  []*ast.CallExpr
	guards []rule.Guard
	claims []*ast.CallExpr
}

func check(p *rule.Pass, fn *rule.Function) {
	c := &checker{Pass: p, fn: fn}
	c.ledger()
	var calls []*ast.CallExpr
	c.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			calls = append(calls, call)
			if c.isMark(call) {
				c.marks = append(c.marks, call)
			}
		}
		return true
	})
	c.handedOn(calls)
	c.guards = p.Guards(fn)
	c.claims = c.claimsIn(calls)
	acks := slices.ContainsFunc(calls, c.isAck)
	if len(c.marks) == 0 && len(c.claims) == 0 && !acks && !c.isJob() {
		return
	}
	c.acts = slices.DeleteFunc(p.Acts(fn), func(a rule.Act) bool { return slices.Contains(c.marks, a.Call) || c.isAck(a.Call) })
	for _, m := range c.marks {
		c.unrecorded(m)
		c.late(m)
	}
	c.early()
	for _, call := range calls {
		if c.isAck(call) {
			c.acknowledged(call)
			c.ackedFirst(call)
		}
	}
	c.finished()
	c.beforeResult()
	c.filters()
}

// unrecorded reports a mark after the effect whose error nobody gets.
func (c *checker) unrecorded(m *ast.CallExpr) {
	h := c.ErrorOf(c.fn, m)
	how := "error dropped"
	switch {
	case h.Dropped:
	case h.Bad != nil && c.OnlyLogs(h.Bad):
		how = "error only logged"
	default:
		return
	}
	a, ok := c.done(m)
	if !ok || !h.Dropped && c.relays(a) {
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: m, Message: "the effect is repeated if it cannot be marked as done",
		Way:     append(slices.Clone(a.Way), rule.CallName(m), how),
		Advice:  "return the error, so that somebody marks it",
		Related: []analysis.RelatedInformation{{Pos: a.Call.Pos(), End: a.Call.End(), Message: "the effect"}},
	})
}

// relays tells whether a function publishes what an outbox holds: that publishes again
// whatever it could not mark, and those who read it know.
func (c *checker) relays(a rule.Act) bool {
	publishes := a.Class == catalogue.Queue || slices.ContainsFunc(a.Way, func(name string) bool { return slices.Contains(catalogue.Words(name), "publish") })
	found := false
	c.Inspect(c.fn.Decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && publishes {
			found = found || slices.Contains(catalogue.Words(id.Name), "outbox")
		}
		return !found
	})
	return found
}

// done is the effect that a mark comes after, or the work that a lookup by the same
// key guards.
func (c *checker) done(m *ast.CallExpr) (rule.Act, bool) {
	at := c.started(m)
	for _, a := range c.acts {
		if c.fn.Before(a.Call, at) && c.succeeded(a, at) {
			return a, true
		}
	}
	for _, g := range c.guards {
		if !g.Guards(c.fn, m) || !shares(g.Check, m) || rule.Receiver(g.Check) != rule.Receiver(m) {
			continue
		}
		var work *ast.CallExpr
		c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && work == nil && call != m && c.Works(call) && g.Guards(c.fn, call) && c.fn.Before(call, m) {
				work = call
			}
			return work == nil
		})
		if work != nil {
			return rule.Act{Call: work, Way: []string{rule.CallName(work)}}, true
		}
	}
	return rule.Act{}, false
}

// started is the statement that starts the goroutine that a call is alone in, or the
// call itself.
func (c *checker) started(call *ast.CallExpr) ast.Node {
	for n := c.fn.Parent(call); n != nil; n = c.fn.Parent(n) {
		if lit, ok := n.(*ast.FuncLit); ok {
			if inner, ok := c.fn.Parent(lit).(*ast.CallExpr); ok && inner.Fun == lit {
				if g, ok := c.fn.Parent(inner).(*ast.GoStmt); ok {
					return g
				}
			}
			break
		}
	}
	return call
}

// succeeded tells whether a mark is not on the branch of an effect that has failed.
func (c *checker) succeeded(a rule.Act, m ast.Node) bool {
	h := c.ErrorOf(c.fn, a.Call)
	return h.Bad == nil || !c.fn.Within(m, h.Bad)
}

// early reports marks before the effect that stay if it fails.
func (c *checker) early() {
	if c.Transactional(c.fn) {
		return
	}
	for _, m := range slices.Concat(c.claims, c.marks) {
		for _, a := range c.acts {
			if !c.fn.Before(m, a.Call) || !c.related(m, a.Call) || c.waits(m, a.Call) {
				continue
			}
			h := c.ErrorOf(c.fn, a.Call)
			if !h.Returned && (h.Bad == nil || h.If == nil) || c.takesBack(a.Call) || !h.Returned && c.OnlyLogs(h.Bad) && !c.isAbout(m, a) {
				continue
			}
			c.Report(c.fn, rule.Finding{
				Node: m, Message: "work is marked as done before the effect, and stays so if that fails",
				Way:     slices.Concat([]string{rule.CallName(m)}, a.Way, []string{"error"}),
				Advice:  "mark it afterwards, or take the mark back on error",
				Related: []analysis.RelatedInformation{{Pos: a.Call.Pos(), End: a.Call.End(), Message: "the effect"}},
			})
			break
		}
	}
}

// isAbout tells whether a mark says that the effect itself is done, which is not a
// matter of course where its failure is only logged: what has been paid for stays
// paid if the receipt cannot be sent.
func (c *checker) isAbout(m *ast.CallExpr, a rule.Act) bool {
	if slices.Contains(c.claims, m) {
		return true
	}
	about := []string{"sent", "notified", "delivered", "emailed", "published", "posted", "announced", "forwarded", "alerted", "dispatched", "reported"}
	if a.Class == catalogue.Money {
		about = []string{"paid", "refunded", "charged", "captured", "settled", "disbursed", "transferred"}
	}
	texts := []string{rule.CallName(m)}
	for _, arg := range m.Args {
		texts = append(texts, types.ExprString(arg))
	}
	return slices.ContainsFunc(texts, func(t string) bool {
		return slices.ContainsFunc(catalogue.Words(t), func(w string) bool { return slices.Contains(about, w) })
	})
}

// waits tells whether an effect of the same work comes before the mark already:
// then the mark is about that one.
func (c *checker) waits(m, act ast.Node) bool {
	return slices.ContainsFunc(c.acts, func(a rule.Act) bool { return a.Call != act && c.fn.Before(a.Call, m) })
}

// claimsIn are lookups that mark what they have not found, by what they are seen to
// do: their names say that they only ask; and claims that are kept for so long that
// they are marks.
func (c *checker) claimsIn(calls []*ast.CallExpr) []*ast.CallExpr {
	var all []*ast.CallExpr
	for _, g := range c.guards {
		callee := summary.Callee(c.TypesInfo, g.Check)
		if f := c.Facts.Of(callee, summary.Args{Info: c.TypesInfo, Call: g.Check}); f != nil && slices.ContainsFunc(f.Effects, func(e summary.Effect) bool { return len(e.Way) > 0 && isSetNX(e.Way[len(e.Way)-1]) }) {
			all = append(all, g.Check)
		}
	}
	for _, call := range calls {
		if isSetNX(rule.CallName(call)) && c.keepsLong(call) {
			all = append(all, call)
		}
	}
	return all
}

func isSetNX(name string) bool {
	return slices.Contains(catalogue.Words(name), "nx")
}

// keepsLong tells whether a claim is kept for an hour or longer, or for good, and is
// no lock by its name.
func (c *checker) keepsLong(call *ast.CallExpr) bool {
	long := false
	for _, arg := range call.Args {
		if slices.ContainsFunc(catalogue.Words(types.ExprString(arg)), func(w string) bool { return w == "lock" || w == "mutex" || w == "lease" || w == "leader" }) {
			return false
		}
		tv := c.TypesInfo.Types[arg]
		if !rule.IsNamed(tv.Type, "time", "Duration") || tv.Value == nil {
			continue
		}
		d, ok := constant.Int64Val(constant.ToInt(tv.Value))
		long = long || ok && (d == 0 || time.Duration(d) >= time.Hour)
	}
	return long
}

// takesBack tells whether the function undoes marks after an effect, or when it
// ends, or if the function of this package that has the effect does.
func (c *checker) takesBack(act *ast.CallExpr) bool {
	if callee := summary.Callee(c.TypesInfo, act); callee != nil {
		if inner := c.Function(callee); inner != nil && c.undoes(inner.Decl.Body, func(*ast.CallExpr) bool { return true }) {
			return true
		}
	}
	return c.undoes(c.fn.Decl.Body, func(call *ast.CallExpr) bool {
		_, deferred := c.fn.Parent(call).(*ast.DeferStmt)
		return call.Pos() >= act.End() || deferred || c.fn.Unit(call) != c.fn.Unit(act)
	})
}

// undoes tells whether one of the calls that count undoes something.
func (c *checker) undoes(body *ast.BlockStmt, counts func(*ast.CallExpr) bool) bool {
	found := false
	c.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && counts(call) && c.undoesBy(call)
		return !found
	})
	return found
}

// undoesBy tells whether a call undoes something, by its name or what it is told.
func (c *checker) undoesBy(call *ast.CallExpr) bool {
	if c.Logs(call) {
		return false
	}
	words := catalogue.Words(rule.CallName(call))
	for _, arg := range call.Args {
		if tv := c.TypesInfo.Types[arg]; tv.Value != nil {
			words = append(words, catalogue.Words(types.ExprString(arg))...)
		}
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(undo, w) })
}

var undo = []string{
	"unmark", "release", "forget", "revert", "rollback", "undo", "clear", "reset", "del", "delete", "remove", "unset", "restore", "requeue", "fail", "failed", "compensate", "cancel", "retry", "unsent", "pending",
}

// related tells whether two calls are about the same thing: they share a variable
// that is no context, error or receiver, directly or through what others are made of.
func (c *checker) related(a, b *ast.CallExpr) bool {
	left, right := c.about(a), c.about(b)
	for obj := range left {
		if right[obj] {
			return true
		}
	}
	return false
}

func (c *checker) about(call *ast.CallExpr) map[types.Object]bool {
	all := map[types.Object]bool{}
	var add func(n ast.Node, depth int)
	add = func(n ast.Node, depth int) {
		c.Inspect(n, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := c.TypesInfo.ObjectOf(id).(*types.Var)
			if !ok || v.IsField() || all[v] || !c.tells(v) {
				return true
			}
			all[v] = true
			if depth < 3 {
				for _, def := range c.definitions(v) {
					add(def, depth+1)
				}
			}
			return true
		})
	}
	for _, call := range rule.Chain(call) {
		for _, arg := range call.Args {
			add(arg, 0)
		}
	}
	return all
}

// tells tells whether a variable says what a call is about.
func (c *checker) tells(v *types.Var) bool {
	if recv := c.fn.Decl.Recv; recv != nil && recv.Pos() <= v.Pos() && v.Pos() < recv.End() {
		return false
	}
	if v.Parent() == c.Pkg.Scope() || types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	n, ok := types.Unalias(v.Type()).(*types.Named)
	return !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "context"
}

// definitions are the expressions that a variable gets its values from.
func (c *checker) definitions(v *types.Var) []ast.Expr {
	var all []ast.Expr
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			all = append(all, c.assigned(n, v)...)
		case *ast.RangeStmt:
			if id, ok := n.Value.(*ast.Ident); ok && c.TypesInfo.ObjectOf(id) == v {
				all = append(all, n.X)
			}
		case *ast.CallExpr: // json.Unmarshal(data, &v)
			if slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return c.isAddressOf(arg, v) }) {
				for _, arg := range n.Args {
					if !c.isAddressOf(arg, v) {
						all = append(all, arg)
					}
				}
			}
		}
		return true
	})
	return all
}

func (c *checker) isAddressOf(e ast.Expr, v *types.Var) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return false
	}
	id, ok := ast.Unparen(u.X).(*ast.Ident)
	return ok && c.TypesInfo.ObjectOf(id) == v
}

func (c *checker) assigned(a *ast.AssignStmt, v *types.Var) []ast.Expr {
	var all []ast.Expr
	if a.Tok != token.DEFINE && a.Tok != token.ASSIGN {
		return nil
	}
	for i, lhs := range a.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok || c.TypesInfo.ObjectOf(id) != v {
			continue
		}
		rhs := a.Rhs[min(i, len(a.Rhs)-1)]
		if call, ok := ast.Unparen(rhs).(*ast.CallExpr); ok {
			all = append(all, call.Args...)
		} else {
			all = append(all, rhs)
		}
	}
	return all
}

func shares(a, b *ast.CallExpr) bool {
	for _, x := range a.Args {
		for _, y := range b.Args {
			if _, lit := x.(*ast.BasicLit); !lit && types.ExprString(x) == types.ExprString(y) && types.ExprString(x) != "ctx" {
				return true
			}
		}
	}
	return false
}
