package survey

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// guardSet are the guards of one function.
type guardSet struct {
	*surveyor
	fn       *rule.Function
	lookups  []rule.Guard
	statuses []*ast.IfStmt
	claims   []*ast.CallExpr // inserts whose violation of a unique index is handled
	won      []won
	marks    []mark
}

// mark is an if statement that asks what is marked in the memory of the process.
type mark struct {
	held ast.Expr
	cond *ast.IfStmt
}

// won is an if statement that asks whether a claim has succeeded.
type won struct {
	claim *ast.CallExpr
	cond  *ast.IfStmt
	rows  bool // it asks whether a row was made
}

func (s *surveyor) guards(fn *rule.Function) *guardSet {
	g := &guardSet{surveyor: s, fn: fn, lookups: s.Guards(fn)}
	s.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if rule.Ends(n.Body) && s.testsStatus(n.Cond) {
				g.statuses = append(g.statuses, n)
			}
			if m, held := s.Facts.MemoryOf(s.TypesInfo, n); m.Has(summary.Checks) && rule.Ends(n.Body) {
				g.marks = append(g.marks, mark{held, n})
			}
			if claim := g.claimIn(n); claim != nil {
				g.won = append(g.won, won{claim: claim, cond: n})
			}
			if made := g.rowsOf(n.Cond); made != nil && rule.Ends(n.Body) {
				g.won = append(g.won, won{claim: made, cond: n, rows: true})
			}
		case *ast.CallExpr:
			if s.inserts(n) {
				if s.handlesUnique(fn, n) {
					g.claims = append(g.claims, n)
				}
			}
		}
		return true
	})
	return g
}

// of is what decides whether a call is reached: the strongest guard.
func (g *guardSet) of(n ast.Expr) *Guard {
	for _, c := range g.claims {
		if c != n && g.fn.Before(c, n) {
			return g.guard(Claim, c, c)
		}
	}
	for _, c := range g.won {
		if c.claim != n && c.reaches(g.fn, n) {
			kind := Claim
			if !c.rows {
				kind = g.kind(c.claim)
			}
			return g.guard(kind, c.claim, c.claim)
		}
	}
	var found *Guard
	for _, l := range g.lookups {
		if l.Check == n || !l.Guards(g.fn, n) {
			continue
		}
		kind := g.kind(l.Check)
		weak, asks := g.asksFor(l.Check)
		if !asks && kind == Search {
			continue
		}
		if found == nil || kind == Claim || found.Weak && !weak {
			found = g.guard(kind, l.Check, l.Check)
			found.Weak = weak && kind == Search
		}
		if kind == Claim {
			return found
		}
	}
	if found != nil {
		return found
	}
	for _, m := range g.marks {
		if g.fn.Before(m.cond, n) && n.Pos() > m.cond.End() {
			return &Guard{Kind: Memory, Text: short(m.held), Line: g.Fset.Position(m.cond.Pos()).Line}
		}
	}
	for _, st := range g.statuses {
		if g.fn.Before(st, n) && n.Pos() > st.End() {
			return &Guard{Kind: Status, Text: short(st.Cond), Line: g.Fset.Position(st.Pos()).Line}
		}
	}
	return nil
}

// asksFor tells whether a lookup is for what has been done, or, weakly, for a thing:
// that a customer is not there decides over creating it and over nothing else. What
// asks whether somebody may is neither.
func (g *guardSet) asksFor(check *ast.CallExpr) (weak, ok bool) {
	callee := summary.Callee(g.TypesInfo, check)
	if callee == nil {
		return false, false
	}
	words := catalogue.Words(callee.Name())
	for _, w := range words {
		if catalogue.NamesDone(w) || slices.Contains([]string{"exists", "exist", "duplicate", "duplicated", "dup", "already", "dedup", "dedupe", "new"}, w) {
			return false, true
		}
	}
	if text := source(check); strings.Contains(text, "idempot") || strings.Contains(text, "dedup") || strings.Contains(text, "processed") {
		return false, true
	}
	return true, len(words) > 0 && slices.Contains([]string{"get", "find", "lookup", "load", "select", "query", "fetch", "count", "read", "first", "peek"}, words[0])
}

// source is the source of a call in lower case, without what joins words.
func source(call *ast.CallExpr) string {
	return strings.ToLower(strings.ReplaceAll(types.ExprString(call), "_", ""))
}

// claimIn is the claim whose success an if statement tests: in its condition, or by
// the variable that it gave.
func (g *guardSet) claimIn(stmt *ast.IfStmt) *ast.CallExpr {
	cond := ast.Unparen(stmt.Cond)
	if u, ok := cond.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		cond = ast.Unparen(u.X)
	}
	call, ok := cond.(*ast.CallExpr)
	if id, isID := cond.(*ast.Ident); isID {
		def := g.definition(g.fn, id)
		if def == nil {
			return nil
		}
		call, ok = ast.Unparen(def).(*ast.CallExpr)
		for ok { // rdb.SetNX(…).Result()
			sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			inner, isCall := (*ast.CallExpr)(nil), false
			if isSel && (sel.Sel.Name == "Result" || sel.Sel.Name == "Val") {
				inner, isCall = ast.Unparen(sel.X).(*ast.CallExpr)
			}
			if !isCall {
				break
			}
			call = inner
		}
	}
	if !ok || !g.isClaim(call) {
		return nil
	}
	return call
}

// rowsOf is the statement that makes a row unless there is one, of which a condition
// asks whether it has not: res.RowsAffected == 0.
func (g *guardSet) rowsOf(e ast.Expr) *ast.CallExpr {
	cond, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	switch cond.Op {
	case token.LOR:
		if made := g.rowsOf(cond.X); made != nil {
			return made
		}
		return g.rowsOf(cond.Y)
	case token.EQL, token.NEQ, token.LSS:
	default:
		return nil
	}
	x := ast.Unparen(cond.X)
	for range 3 { // n ← res.RowsAffected() ← res ← db.Exec(…)
		switch e := x.(type) {
		case *ast.Ident:
			def := g.definition(g.fn, e)
			if def == nil {
				return nil
			}
			x = ast.Unparen(def)
		case *ast.SelectorExpr: // a field
			if e.Sel.Name != "RowsAffected" {
				return nil
			}
			x = ast.Unparen(e.X)
		case *ast.CallExpr:
			sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "RowsAffected" {
				x = ast.Unparen(sel.X)
				continue
			}
			if g.unique(e) || g.says(e, ifAbsent...) {
				return e
			}
			return nil
		default:
			return nil
		}
	}
	call, ok := x.(*ast.CallExpr)
	if ok && (g.unique(call) || g.says(call, ifAbsent...)) {
		return call
	}
	return nil
}

// isClaim tells whether a call claims something, and says whether it has.
func (g *guardSet) isClaim(call *ast.CallExpr) bool {
	callee := summary.Callee(g.TypesInfo, call)
	if callee == nil {
		return false
	}
	if sum := g.Facts.Of(callee, summary.Args{Info: g.TypesInfo, Call: call}); sum != nil && sum.Memory.Has(summary.Checks|summary.Marks) {
		return true
	}
	words := catalogue.Words(callee.Name())
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"nx", "setnx", "claim", "acquire", "reserve", "obtain", "lease", "trylock"}, w)
	}) || len(words) > 1 && words[0] == "try" && words[1] == "lock"
}

// reaches tells whether a node is reached only if the claim has succeeded: inside
// the statement that asks for success, or after one that ends without.
func (w won) reaches(fn *rule.Function, n ast.Node) bool {
	_, negated := ast.Unparen(w.cond.Cond).(*ast.UnaryExpr)
	if !negated && fn.Within(n, w.cond.Body) {
		return true
	}
	return rule.Ends(w.cond.Body) && n.Pos() > w.cond.End() && fn.Before(w.cond, n)
}

func (g *guardSet) guard(kind string, at ast.Node, call *ast.CallExpr) *Guard {
	out := &Guard{Kind: kind, Text: rule.CallName(call), Line: g.Fset.Position(at.Pos()).Line}
	var by []string
	for _, arg := range call.Args {
		if t := g.TypesInfo.TypeOf(arg); t == nil || g.TypesInfo.Types[arg].Value != nil || ignored(t) {
			continue
		}
		by = append(by, short(arg))
	}
	if len(by) > 2 {
		by = by[:2]
	}
	out.By = strings.Join(by, ", ")
	return out
}

// ignored tells whether arguments of a type do not say what is looked for.
func ignored(t types.Type) bool {
	if rule.IsNamed(t, "context", "Context") || rule.IsNamed(t, "time", "Duration") {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Signature, *types.Chan:
		return true
	}
	return false
}

// short is an expression in at most a few words.
func short(e ast.Expr) string {
	text := printable(strings.Join(strings.Fields(types.ExprString(e)), " "))
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}

// printable is a text without what would do more to a terminal than show.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

var claimWords = []string{"nx", "setnx", "claim", "acquire", "lock", "try", "reserve", "obtain", "lease", "insert", "create", "add", "begin", "start", "mark"}

// kind tells whether a check decides for one alone.
func (g *guardSet) kind(check *ast.CallExpr) string {
	callee := summary.Callee(g.TypesInfo, check)
	if callee == nil {
		return Search
	}
	if sum := g.Facts.Of(callee, summary.Args{Info: g.TypesInfo, Call: check}); sum != nil && sum.Memory.Has(summary.Checks) {
		return Memory
	}
	words := catalogue.Words(callee.Name())
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(claimWords[:9], w) }) || len(words) > 0 && slices.Contains(claimWords, words[0]) || strings.Contains(strings.ToLower(callee.Name()), "ifnotexists") {
		return Claim
	}
	return Search
}

// inserts tells whether a call adds a row, by its name or its statement.
func (s *surveyor) inserts(n *ast.CallExpr) bool {
	callee := summary.Callee(s.TypesInfo, n)
	if callee == nil || !s.Fails(n) {
		return false
	}
	words := catalogue.Words(callee.Name())
	verb, _ := s.verb(n)
	return verb == "insert" || len(words) > 0 && slices.Contains([]string{"insert", "create", "add", "save", "store", "record", "register"}, words[0])
}

// testsStatus tells whether a condition asks the thing itself whether it has been
// done: order.Status == Paid, order.Paid, !order.SentAt.IsZero().
func (s *surveyor) testsStatus(cond ast.Expr) bool {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LOR, token.LAND:
			return s.testsStatus(c.X) || s.testsStatus(c.Y)
		case token.EQL, token.NEQ:
			sel, ok := ast.Unparen(c.X).(*ast.SelectorExpr)
			if !ok {
				return false
			}
			words := catalogue.Words(sel.Sel.Name)
			if slices.ContainsFunc(words, func(w string) bool { return w == "status" || w == "state" }) {
				v, _ := s.TypesInfo.ObjectOf(sel.Sel).(*types.Var)
				return v != nil && v.IsField() && !s.fromHTTP(v)
			}
			return c.Op == token.NEQ && s.TypesInfo.Types[c.Y].IsNil() && s.doneField(sel)
		}
	case *ast.SelectorExpr:
		return s.doneField(c)
	case *ast.UnaryExpr:
		call, ok := ast.Unparen(c.X).(*ast.CallExpr)
		if c.Op != token.NOT || !ok {
			return false
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "IsZero" {
			return false
		}
		inner, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
		return ok && s.doneField(inner)
	}
	return false
}

// fromHTTP tells whether a field is of an answer: its status is how a request went.
func (s *surveyor) fromHTTP(v *types.Var) bool {
	return v.Pkg() == nil || s.Standard(v.Pkg().Path()) || strings.Contains(v.Name(), "Code")
}

func (s *surveyor) doneField(sel *ast.SelectorExpr) bool {
	v, ok := s.TypesInfo.ObjectOf(sel.Sel).(*types.Var)
	if !ok || !v.IsField() {
		return false
	}
	words := catalogue.Words(v.Name())
	return slices.ContainsFunc(words, catalogue.NamesDone)
}

// findThenCreate notes a record that is looked for through a store and created in
// it if it is not there: what keeps two from doing so at once, a unique index, no
// Go code tells.
func (s *surveyor) findThenCreate(fn *rule.Function, f *Func) {
	if s.Exclusive(fn) {
		return
	}
	for _, g := range s.Guards(fn) {
		lookup := summary.Callee(s.TypesInfo, g.Check)
		if lookup == nil || lookup.Signature().Recv() == nil {
			continue
		}
		s.Inspect(fn.Decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !g.Guards(fn, call) || rule.Receiver(call) != rule.Receiver(g.Check) {
				return true
			}
			callee := summary.Callee(s.TypesInfo, call)
			if callee == nil || callee.Signature().Recv() == nil || !s.stores(callee) {
				return true
			}
			words := catalogue.Words(callee.Name())
			if len(words) == 0 || !slices.Contains([]string{"create", "insert", "add", "save", "store", "register"}, words[0]) || !speaksOf(lookup.Name(), words[1:]) {
				return true
			}
			pos := s.Fset.Position(call.Pos())
			f.Notes = append(f.Notes, Note{Line: pos.Line, Column: pos.Column,
				Message: rule.CallName(call) + " creates what " + rule.CallName(g.Check) + " has not found: two runs at once both find nothing, and only a unique index, which Go code does not show, keeps one of them out"})
			return true
		})
	}
}

// speaksOf tells whether a lookup's name has all words of what is created: a
// customer is not created because no order was found.
func speaksOf(lookup string, things []string) bool {
	words := catalogue.Words(lookup)
	for _, thing := range things {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.TrimSuffix(w, "s") == strings.TrimSuffix(thing, "s") }) {
			return false
		}
	}
	return true
}

// stores tells whether a method is one of a store's: an interface to one, or what
// writes to a database.
func (s *surveyor) stores(fn *types.Func) bool {
	if s.AboutState(fn) {
		return true
	}
	sum := s.Facts.Of(fn, nil)
	return sum != nil && slices.ContainsFunc(sum.Effects, func(e summary.Effect) bool { return e.Class == catalogue.State }) &&
		!slices.ContainsFunc(sum.Effects, func(e summary.Effect) bool { return e.Class.Outward() })
}
