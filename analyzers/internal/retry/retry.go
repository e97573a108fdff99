package retry

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Retry is code that repeats an outward effect until it succeeds.
type Retry struct {
	Node    ast.Node      // where it begins
	Body    ast.Node      // what is repeated
	Act     rule.Act      // what it does
	Name    string        // the retry helper; empty: a loop
	Once    bool          // its arguments are evaluated once: a library repeats the call
	Bounded bool          // it gives up some time
	Inner   *ast.FuncDecl // the function of this package that repeats, if it is not the one looked at
}

// Way is the way to the effect, as messages name it.
func (r Retry) Way() []string {
	first := "loop"
	if r.Name != "" {
		first = r.Name
	}
	return append([]string{first}, r.Act.Way...)
}

// Find finds the retries in a function, in the order of the source.
func Find(p *rule.Pass, fn *rule.Function) []Retry {
	all := local(p, fn, acts)
	if speaks(p, fn, fn.Decl.Name.Name) != acts {
		return all
	}
	// A helper whose name says nothing sends for a function whose name does.
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee := summary.Callee(p.TypesInfo, call)
		if callee == nil || callee.Pkg() != p.Pkg {
			return true
		}
		inner := p.Function(callee)
		if inner == nil || inner.Decl == fn.Decl {
			return true
		}
		for _, r := range local(p, inner, silent) {
			if !constantsRead(p, call) {
				r.Act.Way = slices.Concat(r.Way(), nil)[1:]
				name := catalogue.FuncName(callee)
				all = append(all, Retry{Node: call, Body: call, Act: r.Act, Name: name, Bounded: r.Bounded, Inner: inner.Decl})
				break
			}
		}
		return true
	})
	return all
}

// local finds the retries that stand in the function itself. said: what the names
// around an effect must say if it is an HTTP request.
func local(p *rule.Pass, fn *rule.Function, said voice) []Retry {
	var all []Retry
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			if r, ok := ofLoop(p, fn, n, n.Body, false, said); ok {
				all = append(all, r)
			}
		case *ast.RangeStmt:
			if counts(p, n) {
				if r, ok := ofLoop(p, fn, n, n.Body, true, said); ok {
					all = append(all, r)
				}
			}
		case *ast.CallExpr:
			if r, ok := ofHelper(p, fn, n, said); ok {
				all = append(all, r)
			}
			if r, ok := ofClient(p, fn, n, said); ok {
				all = append(all, r)
			}
		}
		return true
	})
	return all
}

// counts tells whether a range is over attempts or delays, not over items.
func counts(p *rule.Pass, n *ast.RangeStmt) bool {
	t := p.TypesInfo.TypeOf(n.X)
	if t == nil {
		return false
	}
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsInteger != 0
	case *types.Slice:
		named, ok := types.Unalias(u.Elem()).(*types.Named)
		return ok && named.Obj().Name() == "Duration" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time"
	}
	return false
}

func ofLoop(p *rule.Pass, fn *rule.Function, loop ast.Stmt, body *ast.BlockStmt, bounded bool, said voice) (Retry, bool) {
	if changesItem(p, loop, body) {
		return Retry{}, false
	}
	for _, call := range calls(p, body) {
		act, ok := effect(p, fn, call, said)
		if !ok {
			continue
		}
		s, errs, others := result(p, fn, call, loop)
		if s == nil {
			continue
		}
		good := &walk{p: p, fn: fn, loop: loop, errs: set(errs), others: set(others)}
		ok1 := good.after(s)
		bad := &walk{p: p, fn: fn, loop: loop, failed: true, errs: set(errs), others: set(others)}
		ok2 := bad.after(s)
		if ok1&leaves == 0 || ok1&repeats != 0 && !good.asked || ok2&repeats == 0 {
			continue
		}
		return Retry{Node: head(loop), Body: body, Act: act, Bounded: bounded || ok2&leaves != 0 || bad.limits()}, true
	}
	return Retry{}, false
}

func set(objs []types.Object) map[types.Object]bool {
	m := map[types.Object]bool{}
	for _, o := range objs {
		m[o] = true
	}
	return m
}

// keyword is the first word of a statement.
type keyword struct{ pos, end token.Pos }

func (k keyword) Pos() token.Pos { return k.pos }
func (k keyword) End() token.Pos { return k.end }

func head(loop ast.Stmt) ast.Node { return keyword{loop.Pos(), loop.Pos() + token.Pos(len("for"))} }

// calls are those that each round makes: not in loops of their own, nor in
// functions that are only declared or started.
func calls(p *rule.Pass, body ast.Node) []*ast.CallExpr {
	var all []*ast.CallExpr
	p.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.ForStmt, *ast.RangeStmt:
			return n == body
		case *ast.CallExpr:
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
				all = append(all, calls(p, lit.Body)...)
			}
			all = append(all, n)
		}
		return true
	})
	return all
}

// changesItem tells whether each round is about something else: it takes an item,
// receives a message, or goes on to another account or server.
func changesItem(p *rule.Pass, loop ast.Stmt, body *ast.BlockStmt) bool {
	counters := map[types.Object]bool{}
	var post ast.Node
	switch loop := loop.(type) {
	case *ast.ForStmt:
		if loop.Post != nil {
			post = loop.Post
		}
	case *ast.RangeStmt:
		if loop.Key != nil {
			post = loop.Key
		}
	}
	if post != nil {
		p.Inspect(post, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				counters[p.TypesInfo.ObjectOf(id)] = true
			}
			return true
		})
	}
	found := false
	p.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !isTime(p, n.X) {
				found = true
			}
		case *ast.IndexExpr:
			p.Inspect(n.Index, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && counters[p.TypesInfo.ObjectOf(id)] {
					found = true
				}
				return true
			})
		case *ast.CallExpr:
			if callee := summary.Callee(p.TypesInfo, n); callee != nil && !inner(callee) {
				words := catalogue.Words(callee.Name())
				found = found || len(words) > 0 && slices.Contains(takes, words[0]) && !slices.Contains(words, "backoff") && !slices.Contains(words, "delay") && !slices.Contains(words, "interval")
			}
		}
		return !found
	})
	return found
}

var takes = []string{
	"next", "receive", "recv", "fetch", "pop", "dequeue", "poll", "accept", "rotate", "pick", "choose", "claim", "scan", "consume", "lease", "dial",
	"connect", "reconnect", "subscribe", "switch", "failover",
}

// isTime tells whether a channel only tells that time has passed, or that all is
// over.
func isTime(p *rule.Pass, ch ast.Expr) bool {
	if t := p.TypesInfo.TypeOf(ch); t != nil {
		if c, ok := types.Unalias(t).Underlying().(*types.Chan); ok {
			switch e := types.Unalias(c.Elem()).(type) {
			case *types.Struct:
				return e.NumFields() == 0
			case *types.Named:
				return e.Obj().Name() == "Time"
			}
		}
	}
	return false
}

// inner tells whether a function is of the standard library.
func inner(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return true
	}
	first, _, _ := strings.Cut(fn.Pkg().Path(), "/")
	return !strings.Contains(first, ".")
}

// result is the statement that takes the error of a call, or of the literal that
// it is part of, with the variables of the error and of the other results.
func result(p *rule.Pass, fn *rule.Function, call *ast.CallExpr, loop ast.Stmt) (ast.Stmt, []types.Object, []types.Object) {
	var n ast.Node = call
	for ; n != nil && n != loop; n = fn.Parent(n) {
		if lit, ok := n.(*ast.FuncLit); ok {
			outer, ok := fn.Parent(lit).(*ast.CallExpr)
			if !ok || outer.Fun != ast.Expr(lit) {
				return nil, nil, nil
			}
			continue
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || enclosed(fn, n, loop) {
			continue
		}
		id, ok := a.Lhs[len(a.Lhs)-1].(*ast.Ident)
		if !ok || !isError(p.TypesInfo.ObjectOf(id)) {
			return nil, nil, nil
		}
		var others []types.Object
		for _, lhs := range a.Lhs[:len(a.Lhs)-1] {
			if other, ok := lhs.(*ast.Ident); ok && other.Name != "_" {
				others = append(others, p.TypesInfo.ObjectOf(other))
			}
		}
		return a, []types.Object{p.TypesInfo.ObjectOf(id)}, others
	}
	return nil, nil, nil
}

// enclosed tells whether a node of a loop is part of a literal in it.
func enclosed(fn *rule.Function, n ast.Node, loop ast.Stmt) bool {
	for ; n != nil && n != loop; n = fn.Parent(n) {
		if _, ok := n.(*ast.FuncLit); ok {
			return true
		}
	}
	return false
}

// ofHelper looks at a call that repeats the function it is given.
func ofHelper(p *rule.Pass, fn *rule.Function, call *ast.CallExpr, said voice) (Retry, bool) {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil {
		return Retry{}, false
	}
	at, endless, ok := helper(p, callee)
	if !ok {
		return Retry{}, false
	}
	for _, arg := range call.Args {
		if at >= 0 && !slices.Contains(summary.Operands(p.TypesInfo, call, at), arg) {
			continue
		}
		if act, ok := handed(p, arg, said); ok { // retry(s.charge)
			act.Call = call
			return Retry{Node: call.Fun, Body: call, Act: act, Name: summary.DisplayName(callee), Once: true, Bounded: !endless || limited(p, fn, call)}, true
		}
		lit := literal(p, fn, arg)
		if lit == nil || onlyRefused(p, lit) {
			continue
		}
		for _, inner := range calls(p, lit.Body) {
			if act, ok := effect(p, fn, inner, said); ok {
				return Retry{Node: call.Fun, Body: lit.Body, Act: act, Name: summary.DisplayName(callee), Bounded: !endless || limited(p, fn, call)}, true
			}
		}
	}
	return Retry{}, false
}

// handed is what a function does that is handed over by its name.
func handed(p *rule.Pass, e ast.Expr, said voice) (rule.Act, bool) {
	var fn *types.Func
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		fn, _ = p.TypesInfo.ObjectOf(e).(*types.Func)
	case *ast.SelectorExpr:
		fn, _ = p.TypesInfo.ObjectOf(e.Sel).(*types.Func)
	}
	if fn == nil || fn.Pkg() == nil || said != acts || catalogue.NamesRead(fn.Name()) || harmless(fn.Name()) {
		return rule.Act{}, false
	}
	act, ok := p.EffectOf(fn.Origin())
	if !ok || harmless(method(act.Way[len(act.Way)-1])) {
		return rule.Act{}, false
	}
	return act, slices.ContainsFunc(act.Way[:len(act.Way)-1], named) || !act.Request() && named(method(act.Way[len(act.Way)-1]))
}

// onlyRefused tells whether what is repeated is given up for good, but where the
// other side has refused.
func onlyRefused(p *rule.Pass, lit *ast.FuncLit) bool {
	final, refused := false, false
	p.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			refused = refused || refuses(p.Fset, n.Cond)
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
					name := strings.ToLower(types.ExprString(call.Fun))
					final = final || strings.Contains(name, "permanent") || strings.Contains(name, "unrecoverable")
				}
			}
		}
		return true
	})
	return final && refused
}

// literal is the function that an expression stands for, if it is written here.
func literal(p *rule.Pass, fn *rule.Function, e ast.Expr) *ast.FuncLit {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return e
	case *ast.Ident: // op := func() error { … }
		obj := p.TypesInfo.ObjectOf(e)
		var found *ast.FuncLit
		p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
				for i, lhs := range a.Lhs {
					if id, ok := lhs.(*ast.Ident); ok && obj != nil && p.TypesInfo.ObjectOf(id) == obj {
						found, _ = ast.Unparen(a.Rhs[i]).(*ast.FuncLit)
					}
				}
			}
			return true
		})
		return found
	}
	return nil
}

// helper tells whether a function repeats what it is given: by the catalogue, or
// by its name and its parameter.
func helper(p *rule.Pass, fn *types.Func) (at catalogue.Place, endless, ok bool) {
	for _, e := range p.Catalogue.Func(fn) {
		if e.Kind == catalogue.Retry && e.At != nil {
			return *e.At, e.Endless, true
		}
	}
	words := catalogue.Words(fn.Name())
	if fn.Signature().Recv() == nil {
		words = append(words, catalogue.Words(fn.Pkg().Name())...)
	}
	if !slices.ContainsFunc(words, func(w string) bool {
		return w == "retry" || w == "retries" || w == "retrying" || w == "backoff" || w == "retrier"
	}) {
		return 0, false, false
	}
	params := fn.Signature().Params()
	for i := range params.Len() {
		sig, isFunc := types.Unalias(params.At(i).Type()).Underlying().(*types.Signature)
		if isFunc && sig.Results().Len() > 0 && types.Identical(sig.Results().At(sig.Results().Len()-1).Type(), types.Universe.Lookup("error").Type()) {
			return catalogue.Place(i), false, true
		}
	}
	return 0, false, false
}

// limited tells whether the function says anything of a limit for a helper that
// has none of its own.
func limited(p *rule.Pass, fn *rule.Function, call *ast.CallExpr) bool {
	found := false
	p.Inspect(fn.Decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && n.Pos() != call.Fun.Pos() {
			l := strings.ToLower(id.Name)
			for _, w := range []string{"max", "limit", "elapsed", "attempts", "tries", "retries", "deadline", "timeout", "withcontext", "permanent", "stop"} {
				found = found || strings.Contains(l, w)
			}
		}
		return !found
	})
	return found
}
