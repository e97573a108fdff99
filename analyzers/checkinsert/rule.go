package checkinsert

import (
	"go/ast"
	"go/token"
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
			c.recorded(g)
			c.inserted(g)
		}
		c.failed(g)
	}
}

// recorded reports a key that is recorded after the effect which its lookup guards.
func (c *checker) recorded(g rule.Guard) {
	store := rule.Receiver(g.Check)
	keys := c.keysOf(g.Check)
	if store == "" || len(keys) == 0 || c.inMemory(g.Check) {
		return
	}
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.CallExpr)
		if !ok || set == g.Check || rule.Receiver(set) != store || !c.records(set) || !g.Guards(c.fn, set) {
			return true
		}
		key := c.shared(keys, set)
		if key == nil {
			return true
		}
		mark := c.marks(set, key)
		if !mark && !catalogue.NamesKey(types.ExprString(key)) {
			return true
		}
		if a, ok := c.between(g, set, mark); ok {
			c.Report(c.fn, rule.Finding{
				Node: g.Check, Message: "two that overlap both find nothing and both act",
				Way:    slices.Concat([]string{rule.CallName(g.Check)}, a.Way, []string{rule.CallName(set)}),
				Advice: "claim the key before acting",
				Related: []analysis.RelatedInformation{
					{Pos: a.Call.Pos(), End: a.Call.End(), Message: "acts"},
					{Pos: set.Pos(), End: set.End(), Message: "records the key only now"},
				},
			})
		}
		return true
	})
}

// between is the effect that runs after the lookup and before the record.
func (c *checker) between(g rule.Guard, set *ast.CallExpr, mark bool) (rule.Act, bool) {
	for _, a := range c.acts {
		if a.Call != set && a.Call != g.Check && g.Guards(c.fn, a.Call) && c.fn.Before(a.Call, set) {
			return a, true
		}
	}
	if !mark {
		return rule.Act{}, false
	}
	var found rule.Act
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && found.Call == nil && call != set && c.Works(call) && g.Guards(c.fn, call) && c.fn.Before(call, set) {
			found = rule.Act{Call: call, Way: []string{rule.CallName(call)}}
		}
		return found.Call == nil
	})
	return found, found.Call != nil
}

// keysOf are the arguments of a lookup that may be the key: neither contexts nor
// constants.
func (c *checker) keysOf(call *ast.CallExpr) []ast.Expr {
	var keys []ast.Expr
	for _, arg := range call.Args {
		tv := c.TypesInfo.Types[arg]
		if tv.Value == nil && !isContext(tv.Type) {
			keys = append(keys, arg)
		}
	}
	return keys
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}

// shared is the key that both calls have, or nil: the same expression, or what it
// is a field of.
func (c *checker) shared(keys []ast.Expr, set *ast.CallExpr) ast.Expr {
	for _, key := range keys {
		for _, arg := range set.Args {
			arg = ast.Unparen(arg)
			if u, ok := arg.(*ast.UnaryExpr); ok && u.Op == token.AND {
				arg = u.X
			}
			if types.ExprString(key) == types.ExprString(arg) {
				return key
			}
			if sel, ok := ast.Unparen(key).(*ast.SelectorExpr); ok && types.ExprString(sel.X) == types.ExprString(arg) {
				return key
			}
		}
	}
	return nil
}

// records tells whether a call puts something into a store.
func (c *checker) records(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil {
		return false
	}
	words := catalogue.Words(callee.Name())
	return len(words) > 0 && slices.Contains([]string{"set", "put", "save", "add", "store", "mark", "tag", "record", "insert", "remember", "register", "create", "update", "complete"}, words[0])
}

// marks tells whether what is recorded is only that the work is done, and not what
// has been computed: nothing beside the key, a constant or a time.
func (c *checker) marks(set *ast.CallExpr, key ast.Expr) bool {
	callee := summary.Callee(c.TypesInfo, set)
	words := catalogue.Words(callee.Name())
	named := slices.ContainsFunc(words, catalogue.NamesDone) || slices.Contains([]string{"mark", "tag", "record", "remember"}, words[0])
	marked := false
	for _, arg := range set.Args {
		tv := c.TypesInfo.Types[arg]
		switch {
		case isContext(tv.Type), types.ExprString(arg) == types.ExprString(key), rule.IsNamed(tv.Type, "time", "Duration"):
		case tv.Value != nil, rule.IsNamed(tv.Type, "time", "Time"), isEmpty(tv.Type):
			marked = true
		default:
			return named
		}
	}
	return marked || named
}

func isEmpty(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

// inMemory tells whether a lookup is in this process's memory, which is another
// rule's.
func (c *checker) inMemory(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	return callee == nil || callee.Pkg() == nil || callee.Pkg().Path() == "sync"
}

func lastName(a rule.Act) string { return a.Way[len(a.Way)-1] }
