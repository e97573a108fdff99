package rule

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Guard is a lookup that decides whether work is done: if something is found, the
// work ends or is not begun.
type Guard struct {
	Check  *ast.CallExpr
	Result int          // which result says so; the error is none
	If     *ast.IfStmt  // what decides
	Found  bool         // the body of If is for what has been found; otherwise for what has not
	Err    types.Object // the variable of the error, if there is one
	Value  types.Object // the variable of what was found, if there is one
	Done   bool         // not whether something is there decides, but whether what is there says that the work is done
}

// Guards are those of a function, in the order of the source.
func (p *Pass) Guards(fn *Function) []Guard {
	var all []Guard
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			p.Inspect(n.Cond, func(c ast.Node) bool { // if store.Seen(id) {
				call, ok := c.(*ast.CallExpr)
				if !ok || !p.isBool(call) {
					return true
				}
				look := innermost(call)
				if !Looks(p.TypesInfo, look) {
					return true
				}
				if found, ok := p.polarity(n.Cond, vars{call: call}); ok {
					all = append(all, Guard{Check: look, If: n, Found: found != inverted(p.TypesInfo, look)})
				}
				return false
			})
		case *ast.AssignStmt:
			all = append(all, p.guardsOf(fn, n)...)
		case *ast.ExprStmt: // db.Model(x).Count(&n)
			if call, ok := n.X.(*ast.CallExpr); ok {
				all = append(all, p.guardsBy(fn, n, call, vars{value: p.filled(call)})...)
			}
		}
		return true
	})
	return all
}

// vars are what a lookup gives.
type vars struct {
	call  ast.Expr
	value types.Object
	err   types.Object
}

// guardsOf are the lookups of an assignment: one for each condition that tests what
// it gives.
func (p *Pass) guardsOf(fn *Function, a *ast.AssignStmt) []Guard {
	if len(a.Rhs) != 1 {
		return nil
	}
	rhs := ast.Unparen(a.Rhs[0])
	if sel, ok := rhs.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Error" || sel.Sel.Name == "RowsAffected") { // db.First(&row).Error
		rhs = ast.Unparen(sel.X)
	}
	call, ok := rhs.(*ast.CallExpr)
	if !ok {
		return nil
	}
	var v vars
	for _, lhs := range a.Lhs {
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		obj := p.TypesInfo.ObjectOf(id)
		switch {
		case obj == nil:
		case types.Identical(obj.Type(), types.Universe.Lookup("error").Type()):
			v.err = obj
		default:
			v.value = obj // of "v, ok" the second
		}
	}
	if v.value == nil {
		v.value = p.filled(call)
	}
	return p.guardsBy(fn, a, call, v)
}

func (p *Pass) guardsBy(fn *Function, s ast.Stmt, call *ast.CallExpr, v vars) []Guard {
	look := p.lookup(fn, call)
	if v.value == nil && v.err == nil || !Looks(p.TypesInfo, look) {
		return nil
	}
	var all []Guard
	for _, cond := range p.following(fn, s, v) {
		if found, ok := p.polarity(cond.Cond, v); ok {
			all = append(all, Guard{Check: look, If: cond, Found: found != inverted(p.TypesInfo, look), Err: v.err, Value: v.value})
		} else if found, ok := p.doneness(cond.Cond, v.value); ok {
			all = append(all, Guard{Check: look, If: cond, Found: found, Err: v.err, Value: v.value, Done: true})
		}
	}
	return all
}

// doneness tells whether a condition holds if what was found says that the work is
// done, or if it does not: row.Status == StatusPaid, row.Sent, status == "sent".
func (p *Pass) doneness(cond ast.Expr, value types.Object) (done, ok bool) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			done, ok = p.doneness(c.X, value)
			return !done, ok
		}
	case *ast.SelectorExpr:
		return true, p.isVar(c.X, value) && p.isBool(c) && slices.ContainsFunc(catalogue.Words(c.Sel.Name), catalogue.NamesDone)
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LAND, token.LOR:
			if done, ok = p.doneness(c.X, value); ok {
				return done, ok
			}
			return p.doneness(c.Y, value)
		case token.EQL, token.NEQ:
			x := ast.Unparen(c.X)
			if sel, ok := x.(*ast.SelectorExpr); ok {
				x = sel.X
			}
			if !p.isVar(x, value) {
				return false, false
			}
			if p.SaysDone(c.Y) {
				return c.Op == token.EQL, true
			}
			sel, isSel := ast.Unparen(c.X).(*ast.SelectorExpr) // row.SentAt != nil
			return c.Op == token.NEQ, isSel && p.TypesInfo.Types[c.Y].IsNil() && slices.ContainsFunc(catalogue.Words(sel.Sel.Name), catalogue.NamesDone)
		}
	}
	return false, false
}

// SaysDone tells whether a constant is of a status in which work is over.
func (p *Pass) SaysDone(e ast.Expr) bool {
	v := p.TypesInfo.Types[e].Value
	if v == nil {
		return false
	}
	if v.Kind() == constant.String && catalogue.NamesDone(constant.StringVal(v)) {
		return true
	}
	name := ""
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	return slices.ContainsFunc(catalogue.Words(name), catalogue.NamesDone)
}

// filled is the variable that a lookup writes what it finds into: Scan(&found).
func (p *Pass) filled(call *ast.CallExpr) types.Object {
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if id, ok := ast.Unparen(u.X).(*ast.Ident); ok {
				return p.TypesInfo.ObjectOf(id)
			}
		}
	}
	return nil
}

// lookup is the call that looks something up: the one that a variable comes from
// whose Scan is called.
func (p *Pass) lookup(fn *Function, call *ast.CallExpr) *ast.CallExpr {
	look := innermost(call)
	sel, ok := ast.Unparen(look.Fun).(*ast.SelectorExpr)
	if !ok || !unwraps(sel.Sel.Name) {
		return look
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok {
		return look
	}
	obj := p.TypesInfo.ObjectOf(id)
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Pos() > call.Pos() {
			return true
		}
		if l, ok := a.Lhs[0].(*ast.Ident); ok && obj != nil && p.TypesInfo.ObjectOf(l) == obj {
			if made, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
				look = innermost(made)
			}
		}
		return true
	})
	return look
}

// unwraps tells whether a method only gives what the lookup before it has found.
func unwraps(name string) bool {
	return slices.Contains([]string{"Result", "Val", "Err", "Bool", "Int", "Int64", "Scan", "Decode"}, name)
}

// innermost is the lookup itself: the client's call in rdb.Get(ctx, key).Result().
func innermost(call *ast.CallExpr) *ast.CallExpr {
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return call
		}
		if !unwraps(sel.Sel.Name) {
			return call
		}
		inner, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok {
			return call
		}
		call = inner
	}
}

// following are the if statements that test what an assignment gives: of which it
// is the beginning, or that come after it and before the variables get other
// values.
func (p *Pass) following(fn *Function, a ast.Stmt, v vars) []*ast.IfStmt {
	var all []*ast.IfStmt
	if cond, ok := fn.Parent(a).(*ast.IfStmt); ok && cond.Init == a {
		all, a = elseIfs(cond), cond
		if v.value != nil && cond.Pos() <= v.value.Pos() && v.value.Pos() < cond.End() { // declared there
			return all
		}
	}
	list := siblings(fn.Parent(a))
	for i := slices.Index(list, a) + 1; i > 0 && i < len(list); i++ {
		switch s := list[i].(type) {
		case *ast.IfStmt:
			if s.Init == nil && (p.Mentions(s.Cond, v.value) || p.Mentions(s.Cond, v.err)) {
				all = append(all, elseIfs(s)...)
			}
		case *ast.AssignStmt:
			for _, lhs := range s.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && p.TypesInfo.ObjectOf(id) != nil && p.TypesInfo.ObjectOf(id) == v.value {
					return all
				}
			}
		}
	}
	return all
}

func elseIfs(s *ast.IfStmt) []*ast.IfStmt {
	all := []*ast.IfStmt{s}
	if next, ok := s.Else.(*ast.IfStmt); ok {
		all = append(all, elseIfs(next)...)
	}
	return all
}

// polarity tells whether a condition holds if something has been found, or if
// nothing has. What fails says neither.
func (p *Pass) polarity(cond ast.Expr, v vars) (found, ok bool) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			found, ok = p.polarity(c.X, v)
			return !found, ok
		}
	case *ast.Ident:
		obj := p.TypesInfo.ObjectOf(c)
		return true, obj != nil && obj == v.value && p.isBool(c)
	case *ast.CallExpr:
		if c == v.call {
			return true, true
		}
		if len(c.Args) > 0 && p.isVar(c.Args[0], v.err) { // errors.Is(err, redis.Nil), IsNotFound(err)
			names := []string{types.ExprString(c.Fun)}
			if len(c.Args) > 1 {
				names = append(names, types.ExprString(c.Args[1]))
			}
			return false, slices.ContainsFunc(names, absent)
		}
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LAND, token.LOR:
			if found, ok = p.polarity(c.X, v); ok && !p.isVar(compared(c.X), v.err) {
				return found, ok
			}
			if f, o := p.polarity(c.Y, v); o {
				return f, o
			}
			return found, ok
		}
		return p.comparison(c, v)
	}
	return false, false
}

func compared(e ast.Expr) ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok {
		return b.X
	}
	return e
}

func (p *Pass) comparison(c *ast.BinaryExpr, v vars) (found, ok bool) {
	if p.isVar(c.X, v.err) {
		if p.TypesInfo.Types[c.Y].IsNil() {
			return true, c.Op == token.EQL
		}
		return c.Op == token.NEQ, absent(types.ExprString(c.Y)) // err == sql.ErrNoRows
	}
	x := ast.Unparen(c.X)
	if call, isCall := x.(*ast.CallExpr); isCall && len(call.Args) == 1 { // len(rows) > 0
		x = call.Args[0]
	}
	if sel, isSel := x.(*ast.SelectorExpr); isSel { // row.ID != 0
		x = sel.X
	}
	if !p.isVar(x, v.value) {
		return false, false
	}
	zero := p.TypesInfo.Types[c.Y]
	if !zero.IsNil() && (zero.Value == nil || zero.Value.ExactString() != "0" && zero.Value.ExactString() != `""`) {
		return false, false
	}
	switch c.Op {
	case token.NEQ, token.GTR:
		return true, true
	case token.EQL:
		return false, true
	}
	return false, false
}

func (p *Pass) isVar(e ast.Expr, obj types.Object) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && obj != nil && p.TypesInfo.ObjectOf(id) == obj
}

func (p *Pass) isBool(e ast.Expr) bool {
	t := p.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// absent tells whether the name of an error says that nothing was found.
func absent(name string) bool {
	n := strings.ToLower(name)
	return strings.Contains(n, "notfound") || strings.Contains(n, "norows") || strings.HasSuffix(n, ".nil") || strings.Contains(n, "notexist") ||
		strings.Contains(n, "nodocuments") || strings.Contains(n, "cachemiss") || strings.Contains(n, "keynotfound") || strings.HasSuffix(n, "errnil")
}

// Looks tells whether a call asks whether something is there.
func Looks(info *types.Info, call *ast.CallExpr) bool {
	callee := summary.Callee(info, call)
	if callee == nil || len(call.Args) == 0 || len(call.Args) == 1 && isError(info.TypeOf(call.Args[0])) { // IsNotFound(err)
		return false
	}
	words := Verbs(callee.Name())
	if len(words) == 0 {
		return false
	}
	if slices.Contains(lookVerbs, words[0]) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(lookWords, w) }) {
		return true
	}
	rs := callee.Signature().Results() // Sent(id) (bool, error)
	if rs.Len() == 0 || !catalogue.NamesDone(words[len(words)-1]) {
		return false
	}
	b, ok := rs.At(0).Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0 && (len(words) == 1 || words[0] == "was" || words[0] == "already")
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// Verbs are the words of a method's name, the first of which says what it does: of
// Redis commands, the second: SIsMember, HSet.
func Verbs(name string) []string {
	words := catalogue.Words(name)
	if len(words) > 1 && len(words[0]) == 1 {
		return words[1:]
	}
	return words
}

var (
	lookVerbs = []string{"first", "take", "get", "is", "has", "exists", "exist", "check", "was", "find", "lookup", "contains", "load", "if", "already", "select", "query", "fetch", "count", "peek", "read"}
	lookWords = []string{"processed", "seen", "exists", "exist", "duplicate", "handled"}
)

// inverted tells whether a lookup answers yes if nothing is there.
func inverted(info *types.Info, call *ast.CallExpr) bool {
	callee := summary.Callee(info, call)
	words := catalogue.Words(callee.Name())
	return slices.ContainsFunc(words, func(w string) bool {
		return len(words) > 1 && w == "first" || w == "new" || w == "unique" || w == "not" || w == "unseen" || w == "fresh" || w == "missing"
	})
}

// Guards tells whether a node is reached only if the guard has found nothing.
func (g Guard) Guards(fn *Function, n ast.Node) bool {
	if g.Found {
		if other, ok := g.If.Else.(*ast.BlockStmt); ok && fn.Within(n, other) {
			return true
		}
		return Ends(g.If.Body) && fn.Before(g.If, n) && n.Pos() > g.If.End()
	}
	if fn.Within(n, g.If.Body) {
		return true
	}
	return false
}
