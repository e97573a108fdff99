package unrouted

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/rule"
)

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.NewPrepared(Doc, base, prepare) }

// checker looks at one package.
type checker struct {
	*rule.Pass
	handlers map[*types.Func]rule.Contract
	effects  map[*types.Func]effect
	reached  map[ast.Node]reached // bodies that run in a handler
	bodies   map[*types.Func]*ast.FuncDecl
	holders  map[types.Object][]ast.Expr // what is assigned to variables and fields of function type
}

// effect is a function that carries an effect of a contract out.
type effect struct {
	rule.Contract
	rule.EffectFunc
}

// reached is how a handler comes to a function.
type reached struct {
	rule.Contract
	way []string
}

func prepare(p *rule.Pass) func(*rule.Pass, *rule.Function) {
	if len(p.Contracts()) == 0 {
		return nil
	}
	c := &checker{
		Pass: p, handlers: map[*types.Func]rule.Contract{}, effects: map[*types.Func]effect{},
		reached: map[ast.Node]reached{}, bodies: map[*types.Func]*ast.FuncDecl{}, holders: map[types.Object][]ast.Expr{},
	}
	for _, contract := range p.Contracts() {
		if contract.Handler != nil {
			c.handlers[contract.Handler] = contract
		}
		for _, f := range contract.Funcs {
			if f.Fn != nil {
				c.effects[f.Fn] = effect{contract, f}
			}
		}
	}
	c.collect()
	c.reach()
	return c.check
}

func (c *checker) check(_ *rule.Pass, fn *rule.Function) {
	if !c.Handwritten(fn.File) {
		return
	}
	c.implements(fn)
	c.uses(fn)
	c.direct(fn, fn.Decl, c.reached[fn.Decl])
}

// direct reports the effects of a function, or of the literals in it, that run in
// a handler.
func (c *checker) direct(fn *rule.Function, body ast.Node, r reached) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if inner, ok := c.reached[n]; ok && n != body {
				c.direct(fn, n, inner)
				return false
			}
		case *ast.CallExpr:
			if r.way == nil {
				return true
			}
			if act, ok := c.act(fn, n); ok {
				c.Report(fn, rule.Finding{
					Node: n, Message: "this effect goes around the ledger, in work of the kind " + r.Kind,
					Way: append(slices.Clone(r.way), act.Way...), Advice: advice(r.Contract),
					Related: c.handlerOf(fn, r.Contract),
				})
			}
		}
		return true
	})
}

func advice(contract rule.Contract) string {
	if contract.Effects == nil {
		return "give the contract an effect for it, or say //idem:pure above what may happen twice"
	}
	return "make it an effect of " + contract.Effects.Obj().Name() + ", or say //idem:pure above what may happen twice"
}

func (c *checker) handlerOf(fn *rule.Function, contract rule.Contract) []analysis.RelatedInformation {
	decl := c.bodies[contract.Handler]
	if decl == nil || decl == fn.Decl {
		return nil
	}
	return []analysis.RelatedInformation{{Pos: decl.Name.Pos(), End: decl.Name.End(), Message: "the handler of " + contract.Kind}}
}

// uses reports handlers and effect functions that are used by other code than what
// is generated for them.
func (c *checker) uses(fn *rule.Function) {
	ast.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		used, ok := c.TypesInfo.Uses[id].(*types.Func)
		if !ok {
			return true
		}
		used = used.Origin()
		if contract, ok := c.handlers[used]; ok && !c.passesOn(fn, id, contract) {
			c.Report(fn, rule.Finding{
				Node: id, Message: "the handler of " + contract.Kind + " is called around its contract, so that duplicates and other attempts are not noticed",
				Advice: "call Do of the contract that New gives",
			})
		}
		if e, ok := c.effects[used]; ok {
			c.Report(fn, rule.Finding{
				Node: id, Message: "the effect " + e.Effect + " of " + e.Kind + " is called around the ledger, which then neither knows of it nor keeps a repeat from happening",
				Advice: "ask for it through " + interfaceName(e.Contract),
			})
		}
		return true
	})
}

func interfaceName(contract rule.Contract) string {
	if contract.Effects == nil {
		return "the handler's effects"
	}
	return contract.Effects.Obj().Name()
}

// passesOn tells whether a handler is called with the effects that the function was
// given itself: then all that it does goes through the ledger still.
func (c *checker) passesOn(fn *rule.Function, id *ast.Ident, contract rule.Contract) bool {
	var n ast.Node = id
	if sel, ok := fn.Parent(n).(*ast.SelectorExpr); ok && sel.Sel == id {
		n = sel
	}
	call, ok := fn.Parent(n).(*ast.CallExpr)
	if !ok || call.Fun != n || contract.Effects == nil {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v, ok := c.TypesInfo.ObjectOf(root(arg)).(*types.Var)
		return ok && types.IsInterface(v.Type()) && types.AssignableTo(v.Type(), contract.Effects) && isParameter(c.TypesInfo, fn.Decl, v)
	})
}

func root(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	if id == nil {
		return &ast.Ident{}
	}
	return id
}

func isParameter(info *types.Info, decl *ast.FuncDecl, v *types.Var) bool {
	fn, ok := info.Defs[decl.Name].(*types.Func)
	if !ok {
		return false
	}
	for param := range fn.Signature().Params().Variables() {
		if param == v {
			return true
		}
	}
	return false
}

// implements reports a type of people's own that implements a handler's interface,
// at the first of its methods.
func (c *checker) implements(fn *rule.Function) {
	method, ok := c.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return
	}
	t := method.Signature().Recv().Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || rule.StandsIn(named.Obj().Name()) {
		return
	}
	for _, contract := range c.Contracts() {
		if contract.Effects == nil || contract.Effects.Underlying().(*types.Interface).NumMethods() == 0 {
			continue
		}
		it := contract.Effects.Underlying().(*types.Interface)
		if it.Method(0).Name() != method.Name() || !types.Implements(types.NewPointer(named), it) || wraps(named, contract) {
			continue
		}
		c.Report(fn, rule.Finding{
			Node:    fn.Decl.Name,
			Message: named.Obj().Name() + " implements " + contract.Effects.Obj().Name() + ", the effects of " + contract.Kind + ", which only generated code and tests do: what it does goes around the ledger",
			Advice:  "let the contract's own functions do it, or give the methods other names",
		})
		return
	}
}

// wraps tells whether a type holds effects, which it hands on to.
func wraps(named *types.Named, contract rule.Contract) bool {
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if types.IsInterface(f.Type()) && types.AssignableTo(f.Type(), contract.Effects) {
			return true
		}
	}
	return false
}

// collect finds the functions of the package that people have written, and what
// variables of function type are given.
func (c *checker) collect() {
	for _, file := range c.Files {
		if !c.Handwritten(file) {
			continue
		}
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				if fn, ok := c.TypesInfo.Defs[decl.Name].(*types.Func); ok {
					c.bodies[fn] = decl
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				c.hold(n.Key, n.Value)
			case *ast.AssignStmt:
				if len(n.Lhs) == len(n.Rhs) {
					for i, lhs := range n.Lhs {
						c.hold(lhs, n.Rhs[i])
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) {
						c.hold(name, n.Values[i])
					}
				}
			}
			return true
		})
	}
}

func (c *checker) hold(to, value ast.Expr) {
	if v := c.variable(to); v != nil {
		c.holders[v] = append(c.holders[v], value)
	}
}

// variable is the variable or field of function type that an expression names.
func (c *checker) variable(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if sel, isSel := ast.Unparen(e).(*ast.SelectorExpr); isSel {
		id, ok = sel.Sel, true
	}
	if !ok {
		return nil
	}
	v, ok := c.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok {
		return nil
	}
	if _, ok := v.Type().Underlying().(*types.Signature); !ok {
		return nil
	}
	return v.Origin()
}

// reach finds what runs in each handler: breadth first, so that ways are short.
func (c *checker) reach() {
	var work []ast.Node
	visit := func(body ast.Node, r reached) {
		if _, ok := c.reached[body]; !ok {
			c.reached[body] = r
			work = append(work, body)
		}
	}
	for _, contract := range c.Contracts() {
		if decl := c.bodies[contract.Handler]; decl != nil {
			visit(decl, reached{contract, []string{c.Facts.Hop(contract.Handler)}})
		}
	}
	for len(work) > 0 {
		body := work[0]
		work = work[1:]
		r := c.reached[body]
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident: // called, or passed to somebody who calls it
				if fn, ok := c.TypesInfo.Uses[n].(*types.Func); ok {
					c.enter(fn.Origin(), r, visit)
				} else if v := c.variable(n); v != nil {
					c.held(v, r, visit)
				}
			case *ast.CallExpr:
				for _, fn := range c.implementations(n) {
					c.enter(fn, r, visit)
				}
			}
			return true
		})
	}
}

// enter goes on to a function that people have written in this package, unless
// something else is to be said of it.
func (c *checker) enter(fn *types.Func, r reached, visit func(ast.Node, reached)) {
	decl := c.bodies[fn]
	if decl == nil || c.mentioned(fn) {
		return
	}
	visit(decl, reached{r.Contract, append(slices.Clone(r.way), c.Facts.Hop(fn))})
}

// mentioned tells whether a function is a handler or an effect, or is said to have
// no effects.
func (c *checker) mentioned(fn *types.Func) bool {
	_, handler := c.handlers[fn]
	_, effect := c.effects[fn]
	s := c.Facts.Of(fn, nil)
	return handler || effect || s != nil && s.Pure
}

// held goes on to what a variable of function type holds, if that is one thing.
func (c *checker) held(v *types.Var, r reached, visit func(ast.Node, reached)) {
	if len(c.holders[v]) != 1 {
		return
	}
	switch e := ast.Unparen(c.holders[v][0]).(type) {
	case *ast.FuncLit:
		visit(e, reached{r.Contract, append(slices.Clone(r.way), v.Name())})
	case *ast.Ident:
		if fn, ok := c.TypesInfo.Uses[e].(*types.Func); ok {
			c.enter(fn.Origin(), r, visit)
		}
	case *ast.SelectorExpr:
		if fn, ok := c.TypesInfo.Uses[e.Sel].(*types.Func); ok {
			c.enter(fn.Origin(), r, visit)
		}
	}
}
