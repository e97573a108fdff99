package checkinsert

import (
	"go/ast"
	"go/types"
	"slices"

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
	fn   *rule.Function
	acts []rule.Act
}

func check(p *rule.Pass, fn *rule.Function) {
	guards := p.Guards(fn)
	if len(guards) == 0 {
		return
	}
	c := &checker{Pass: p, fn: fn}
	exclusive := p.Exclusive(fn)
	for _, g := range guards {
		if !exclusive {
			if c.acts == nil {
				c.acts = p.Acts(fn)
			}
			if !c.recorded(g) {
				c.inserted(g)
			}
		}
		c.failed(g)
	}
}

// recorded reports a key that is recorded after the effect which its lookup guards,
// and tells whether it did.
func (c *checker) recorded(g rule.Guard) bool {
	store := rule.Root(g.Check)
	keys := c.keysOf(g.Check)
	if store == "" || len(keys) == 0 || c.inMemory(g.Check) || c.limits(g.Check, keys) {
		return false
	}
	before, reported := false, false // something is recorded before the effect: a claim of a kind
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.CallExpr)
		if !ok || before || set == g.Check || rule.Root(set) != store || !c.records(set) || !g.Guards(c.fn, set) {
			return true
		}
		key := c.shared(keys, set)
		if key == nil && g.Done {
			key = c.entity(g, set)
		}
		if key == nil {
			return true
		}
		mark := g.Done || c.marks(set, key)
		if !mark && !c.isKey(key) {
			return true
		}
		a, ok := c.between(g, set, mark, c.isKey(key))
		if !ok {
			before = true
			return true
		}
		c.report(g, a, set)
		reported = true
		return true
	})
	return reported
}

func (c *checker) report(g rule.Guard, a rule.Act, set *ast.CallExpr) {
	message := "two that overlap both find nothing and both act"
	if g.Done {
		message = "two that overlap both find it not done yet and both act"
	}
	c.Report(c.fn, rule.Finding{
		Node: g.Check, Message: message,
		Way:    slices.Concat([]string{rule.CallName(g.Check)}, a.Way, []string{rule.CallName(set)}),
		Advice: "claim the key before acting",
		Related: []analysis.RelatedInformation{
			{Pos: a.Call.Pos(), End: a.Call.End(), Message: "acts"},
			{Pos: set.Pos(), End: set.End(), Message: "records the key only now"},
		},
	})
}

// between is the effect that runs after the lookup and before the record, and that
// has no key of its own: in a middleware that looks a key up, whatever the handler
// does.
func (c *checker) between(g rule.Guard, set *ast.CallExpr, mark, key bool) (rule.Act, bool) {
	for _, a := range c.acts {
		if a.Call != set && a.Call != g.Check && g.Guards(c.fn, a.Call) && c.fn.Before(a.Call, set) && !c.keyed(a) {
			return a, true
		}
	}
	if !mark && !key || g.Done {
		return rule.Act{}, false
	}
	var found rule.Act
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && found.Call == nil && call != set && (mark && c.Works(call) || key && c.PassesOn(call)) && g.Guards(c.fn, call) && c.fn.Before(call, set) {
			found = rule.Act{Call: call, Way: []string{rule.CallName(call)}}
		}
		return found.Call == nil
	})
	return found, found.Call != nil
}

// records tells whether a call puts something into a store.
func (c *checker) records(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil {
		return false
	}
	switch c.verb(call) {
	case "insert", "update", "merge", "replace":
		return true
	}
	words := rule.Verbs(callee.Name())
	return len(words) > 0 && slices.Contains([]string{"set", "put", "save", "add", "store", "mark", "tag", "record", "insert", "remember", "register", "create", "update", "updates", "complete"}, words[0])
}

// marks tells whether what is recorded is only that the work is done, and not what
// has been computed: nothing beside the key, a constant or a time, or a row of what
// has been done.
func (c *checker) marks(set *ast.CallExpr, key ast.Expr) bool {
	callee := summary.Callee(c.TypesInfo, set)
	words := rule.Verbs(callee.Name())
	if slices.ContainsFunc(words, catalogue.NamesDone) || len(words) > 0 && slices.Contains([]string{"mark", "tag", "record", "remember"}, words[0]) {
		return true
	}
	for _, arg := range set.Args {
		tv := c.TypesInfo.Types[arg]
		switch {
		case isContext(tv.Type), types.ExprString(arg) == types.ExprString(key), rule.IsNamed(tv.Type, "time", "Duration"):
		case tv.Value != nil, rule.IsNamed(tv.Type, "time", "Time"), isEmpty(tv.Type), c.isNow(arg), isDoneRow(tv.Type), c.saysDone(arg):
		default:
			return false
		}
	}
	return true
}

// isNow tells whether an expression is made of the time.
func (c *checker) isNow(e ast.Expr) bool {
	found := false
	c.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fn := summary.Callee(c.TypesInfo, call)
			found = found || fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "time" && fn.Name() == "Now"
		}
		return !found
	})
	return found
}

// isDoneRow tells whether a type is of rows that say what has been done.
func isDoneRow(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && slices.ContainsFunc(catalogue.Words(n.Obj().Name()), func(w string) bool {
		return catalogue.NamesDone(w) || slices.Contains([]string{"webhook", "event", "events", "inbox", "idempotency", "dedup", "dedupe", "notification", "delivery"}, w)
	})
}

// saysDone tells whether a row is written that says that the work is done.
func (c *checker) saysDone(e ast.Expr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(u.X)
	}
	lit, ok := e.(*ast.CompositeLit)
	return ok && slices.ContainsFunc(lit.Elts, func(elt ast.Expr) bool {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, isName := kv.Key.(*ast.Ident)
		return c.SaysDone(kv.Value) || isName && c.isNow(kv.Value) && slices.ContainsFunc(catalogue.Words(key.Name), catalogue.NamesDone)
	})
}

func isEmpty(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

// inMemory tells whether a lookup is in this process's memory, which is another
// rule's.
func (c *checker) inMemory(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil {
		return true
	}
	f := c.Facts.Of(callee, summary.Args{Info: c.TypesInfo, Call: call})
	return f != nil && f.Memory != 0
}

func lastName(a rule.Act) string { return a.Way[len(a.Way)-1] }
