package checkinsert

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

// keysOf are the arguments of a lookup that may be the key: neither contexts nor
// constants, nor what the lookup writes into.
func (c *checker) keysOf(call *ast.CallExpr) []ast.Expr {
	var keys []ast.Expr
	for _, call := range rule.Chain(call) {
		for _, arg := range call.Args {
			tv := c.TypesInfo.Types[arg]
			if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
				continue
			}
			if lit, ok := ast.Unparen(arg).(*ast.CompositeLit); ok { // bson.M{"event": id}
				for _, elt := range lit.Elts {
					if kv, ok := elt.(*ast.KeyValueExpr); ok && c.TypesInfo.Types[kv.Value].Value == nil {
						keys = append(keys, kv.Value)
					}
				}
				continue
			}
			if tv.Value == nil && !isContext(tv.Type) {
				keys = append(keys, arg)
			}
		}
	}
	return keys
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}

// shared is the key that both calls have, or nil: the same expression, what it is a
// field of, or what is a field of a row.
func (c *checker) shared(keys []ast.Expr, set *ast.CallExpr) ast.Expr {
	for _, key := range keys {
		for _, call := range rule.Chain(set) {
			for _, arg := range call.Args {
				if c.holds(set, arg, key) {
					return key
				}
			}
		}
	}
	return nil
}

func (c *checker) holds(set *ast.CallExpr, arg, key ast.Expr) bool {
	arg = ast.Unparen(arg)
	if u, ok := arg.(*ast.UnaryExpr); ok && u.Op == token.AND {
		arg = ast.Unparen(u.X)
	}
	if types.ExprString(key) == types.ExprString(arg) {
		return true
	}
	if sel, ok := ast.Unparen(key).(*ast.SelectorExpr); ok && types.ExprString(sel.X) == types.ExprString(arg) {
		return true
	}
	switch arg := arg.(type) {
	case *ast.CompositeLit:
		return slices.ContainsFunc(arg.Elts, func(elt ast.Expr) bool {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			return types.ExprString(elt) == types.ExprString(key)
		})
	case *ast.Ident:
		return c.made(set, arg, key)
	}
	return false
}

// made tells whether a variable is a row that a key was put into.
func (c *checker) made(set *ast.CallExpr, id *ast.Ident, key ast.Expr) bool {
	obj := c.TypesInfo.ObjectOf(id)
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found || len(a.Lhs) != len(a.Rhs) || a.Pos() > set.Pos() {
			return !found
		}
		for i, lhs := range a.Lhs {
			rhs := ast.Unparen(a.Rhs[i])
			if u, ok := rhs.(*ast.UnaryExpr); ok && u.Op == token.AND {
				rhs = ast.Unparen(u.X)
			}
			switch lhs := lhs.(type) {
			case *ast.Ident:
				if lit, ok := rhs.(*ast.CompositeLit); ok && obj != nil && c.TypesInfo.ObjectOf(lhs) == obj {
					found = found || c.holds(set, lit, key)
				}
			case *ast.SelectorExpr:
				if x, ok := lhs.X.(*ast.Ident); ok && obj != nil && c.TypesInfo.ObjectOf(x) == obj {
					found = found || types.ExprString(rhs) == types.ExprString(key)
				}
			}
		}
		return !found
	})
	return found
}

// entity is what a lookup has found, if a call writes it back.
func (c *checker) entity(g rule.Guard, set *ast.CallExpr) ast.Expr {
	for _, call := range rule.Chain(set) {
		for _, arg := range call.Args {
			e := ast.Unparen(arg)
			if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
				e = ast.Unparen(u.X)
			}
			if sel, ok := e.(*ast.SelectorExpr); ok {
				e = sel.X
			}
			if id, ok := e.(*ast.Ident); ok && g.Value != nil && c.TypesInfo.ObjectOf(id) == g.Value {
				return arg
			}
		}
	}
	return nil
}

// texts are the names and constants that a key is made of.
func (c *checker) texts(key ast.Expr) []string {
	var all []string
	seen := map[types.Object]bool{}
	var look func(e ast.Node, depth int)
	look = func(e ast.Node, depth int) {
		c.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if v := c.TypesInfo.Types[n].Value; v != nil && v.Kind() == constant.String {
					all = append(all, constant.StringVal(v))
				}
			case *ast.Ident:
				all = append(all, n.Name)
				obj := c.TypesInfo.ObjectOf(n)
				if v, ok := obj.(*types.Var); ok && !seen[obj] && depth < 2 && !v.IsField() {
					seen[obj] = true
					for _, def := range c.definitions(v) {
						look(def, depth+1)
					}
				}
			}
			return true
		})
	}
	look(key, 0)
	return all
}

func (c *checker) definitions(v *types.Var) []ast.Expr {
	var all []ast.Expr
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, lhs := range a.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && c.TypesInfo.ObjectOf(id) == v {
					all = append(all, a.Rhs[i])
				}
			}
		}
		return true
	})
	return all
}

// isKey tells whether what is looked up is called a key against repetition.
func (c *checker) isKey(key ast.Expr) bool {
	return slices.ContainsFunc(c.texts(key), catalogue.NamesKey)
}

// limits tells whether a lookup is about how often something may happen, or about
// who somebody is, and not about work that is done.
func (c *checker) limits(check *ast.CallExpr, keys []ast.Expr) bool {
	names := []string{rule.CallName(check)}
	for _, key := range keys {
		names = append(names, c.texts(key)...)
	}
	for _, arg := range check.Args {
		if c.TypesInfo.Types[arg].Value != nil {
			names = append(names, types.ExprString(arg))
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return containsOne(catalogue.Words(name), "limit", "limiter", "rate", "ratelimit", "throttle", "cooldown", "session", "sessions", "otp", "captcha", "online", "presence", "muted", "verification")
	})
}

// keyed tells whether an effect is given a key by which the other side recognises a
// repetition.
func (c *checker) keyed(a rule.Act) bool {
	for _, s := range c.Facts.Sinks(c.TypesInfo, c.fn.Decl.Body) {
		if c.fn.Within(s.Expr, a.Call) {
			return true
		}
		if s.Call != nil && s.Call.Pkg() != nil && c.Catalogue.Covers(s.Call.Pkg().Path()) {
			return true // a header, SetIdempotencyKey
		}
		var owner ast.Node = s.Owner
		if lit, ok := s.Owner.(*ast.CompositeLit); ok {
			for owner = c.fn.Parent(lit); owner != nil; owner = c.fn.Parent(owner) {
				if as, ok := owner.(*ast.AssignStmt); ok {
					owner = as.Lhs[0]
					break
				}
			}
		}
		id, ok := owner.(*ast.Ident)
		if ok && slices.ContainsFunc(a.Call.Args, func(arg ast.Expr) bool { return c.Mentions(arg, c.TypesInfo.ObjectOf(id)) }) {
			return true
		}
	}
	return false
}
