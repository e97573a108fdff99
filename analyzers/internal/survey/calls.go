package survey

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// body lists the calls in a function's body that lead somewhere or do something. A
// literal is part of the function around it, unless work comes in through it.
func (s *surveyor) body(fn *rule.Function, body *ast.BlockStmt, f *Func) {
	var calls []*ast.CallExpr
	var at []int // which of f.Calls each is
	guards := s.guards(fn)
	s.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return s.literals[n] == ""
		case *ast.CallExpr:
			if s.Logs(n) {
				f.Logs = f.Logs || s.failed(fn, n)
				return true
			}
			c, ok := s.call(fn, n, f)
			if !ok {
				break
			}
			c.Guard = guards.of(n)
			c.Unique = s.handlesUnique(fn, n)
			calls, at = append(calls, n), append(at, len(f.Calls))
			f.Calls = append(f.Calls, c)
		}
		return true
	})
	for _, n := range s.handedOver(body) {
		c := s.at(fn, n)
		c.To, c.Passed, c.Name, c.Guard = id(s.named1(n)), true, types.ExprString(n), guards.of(n)
		f.Calls = append(f.Calls, c)
	}
	if len(calls) > 0 {
		s.keys(fn, body, f, calls, at)
	}
}

// at begins a call with what its place says of it.
func (s *surveyor) at(fn *rule.Function, n ast.Expr) Call {
	pos := s.Fset.Position(n.Pos())
	c := Call{Line: pos.Line, Column: pos.Column, Loop: s.loop(fn, n), Failed: s.failed(fn, n)}
	if call, ok := n.(*ast.CallExpr); ok {
		c.Name = rule.CallName(call)
		pos = s.Fset.Position(call.Lparen)
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			pos = s.Fset.Position(sel.Sel.Pos())
			c.Column = pos.Column
		}
		c.Line = pos.Line
	}
	return c
}

// call surveys one call; most are of no interest.
func (s *surveyor) call(fn *rule.Function, n *ast.CallExpr, f *Func) (Call, bool) {
	if tv := s.TypesInfo.Types[n.Fun]; tv.IsType() || tv.IsBuiltin() {
		return Call{}, false
	}
	callee := summary.Callee(s.TypesInfo, n)
	if callee == nil {
		if s.unknown(n) {
			f.Unknown++
		}
		return Call{}, false
	}
	if callee.Pkg() == nil {
		return Call{}, false
	}
	c := s.at(fn, n)
	if c.Ledger = s.handsOver(n, callee); c.Ledger != "" {
		return c, true
	}
	path := callee.Pkg().Path()
	c.Alerts = s.alerts(path, callee.Name())
	args := summary.Args{Info: s.TypesInfo, Call: n}
	if sum := s.Facts.Of(callee, args); sum != nil && !s.own(path) {
		for _, e := range sum.Effects {
			c.Effects = append(c.Effects, s.effect(fn, n, e, callee))
		}
	}
	recv := callee.Signature().Recv()
	switch {
	case s.Catalogue.Covers(path) || s.Standard(path):
		s.statement(n, &c, callee)
	case recv != nil && types.IsInterface(recv.Type()):
		s.throughInterface(n, &c, callee)
		s.statement(n, &c, callee)
	default:
		c.To = id(callee)
	}
	if c.To != "" && s.own(path) || c.Iface != "" {
		for _, arg := range n.Args {
			c.Args = append(c.Args, short(arg))
		}
	}
	c.Dead = s.dead(n, callee, c)
	return c, c.To != "" && (s.own(path) || len(c.Effects) > 0) || c.Iface != "" || len(c.Effects) > 0 || c.Dead != "" || c.Alerts
}

// own tells whether a package is of the module that is looked at: its source says
// what its functions do.
func (s *surveyor) own(path string) bool {
	return s.Module != nil && (path == s.Module.Path || strings.HasPrefix(path, s.Module.Path+"/")) || path == s.Pkg.Path()
}

// unknown tells whether a call goes through a value that may be any function: not
// through a literal, or a variable of this function, whose literals are looked at.
func (s *surveyor) unknown(n *ast.CallExpr) bool {
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		v, ok := s.TypesInfo.ObjectOf(f).(*types.Var)
		return ok && (v.IsField() || v.Parent() == s.Pkg.Scope())
	case *ast.SelectorExpr:
		sel := s.TypesInfo.Selections[f]
		return sel != nil && sel.Kind() == types.FieldVal
	case *ast.IndexExpr:
		return true
	}
	return false
}

// effect is what a summary says of a call, with what the call itself says.
func (s *surveyor) effect(fn *rule.Function, n *ast.CallExpr, e summary.Effect, callee *types.Func) Effect {
	out := Effect{Class: e.Class, Safe: e.Safe, Model: e.Model, Way: e.Way}
	out.Request = rule.IsRequest(e.Way)
	if out.Request {
		out.Asks = s.asks(n, callee)
	}
	if e.Class == catalogue.State {
		out.Unique = s.unique(chain(fn, n))
		out.Verb, out.Table = s.verb(n)
		if out.Verb == "" {
			out.Verb = verbByName(n)
		}
		out.Safe = out.Safe || out.Verb == "update" && !s.adds(n)
		out.Unique = out.Unique || s.says(n, ifAbsent...)
	}
	return out
}

// unique tells whether a piece of code names what becomes of one that is there
// already: a conflict, or the violation of a unique index.
func (s *surveyor) unique(code ast.Node) bool {
	found := false
	s.Inspect(code, func(n ast.Node) bool {
		name := ""
		switch n := n.(type) {
		case *ast.Ident:
			name = n.Name
		case *ast.BasicLit:
			name = n.Value
		}
		name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
		for _, w := range []string{"onconflict", "duplicate", "uniqueviolation", "uniqueconstraint", "23505", "alreadyexist", "errexists", "errconflict", "isconflict", "ifnotexist", "ignoreconflict", "upsert", "firstorcreate"} {
			found = found || strings.Contains(name, w)
		}
		return !found
	})
	return found
}

// handlesUnique tells whether what follows a call looks at its error for one that is
// there already.
func (s *surveyor) handlesUnique(fn *rule.Function, call *ast.CallExpr) bool {
	if h := s.ErrorOf(fn, call); h.If != nil && s.unique(h.If) {
		return true
	}
	assign, ok := fn.Parent(call).(*ast.AssignStmt)
	if !ok || len(assign.Lhs) == 0 {
		return false
	}
	last, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	block, inBlock := fn.Parent(assign).(*ast.BlockStmt)
	if !ok || !inBlock {
		return false
	}
	obj := s.TypesInfo.ObjectOf(last)
	for _, stmt := range block.List[slices.Index(block.List, ast.Stmt(assign))+1:] {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || test.Init != nil || !s.Mentions(test.Cond, obj) {
			return false
		}
		if s.unique(test) {
			return true
		}
	}
	return false
}

// chain is the whole chain of calls that a call is part of: db.Clauses(…).Create(…).
func chain(fn *rule.Function, n ast.Expr) ast.Expr {
	for {
		sel, ok := fn.Parent(n).(*ast.SelectorExpr)
		if !ok {
			return n
		}
		call, ok := fn.Parent(sel).(*ast.CallExpr)
		if !ok {
			return n
		}
		n = call
	}
}

// asks tells whether the names and constants of a request say that it only asks.
func (s *surveyor) asks(n *ast.CallExpr, callee *types.Func) bool {
	if catalogue.NamesRead(s.Pkg.Name()) || catalogue.NamesRead(callee.Pkg().Name()) && !s.Standard(callee.Pkg().Path()) {
		return true
	}
	return slices.ContainsFunc(n.Args, func(arg ast.Expr) bool {
		v := s.TypesInfo.Types[arg].Value
		return v != nil && v.Kind() == constant.String && catalogue.NamesRead(strings.ReplaceAll(constant.StringVal(v), "api.", ""))
	})
}

// statement sees writes to a database that nothing else is known of than the
// statement: generated code calls an interface of its own.
func (s *surveyor) statement(n *ast.CallExpr, c *Call, callee *types.Func) {
	if len(c.Effects) > 0 {
		return
	}
	name := callee.Name()
	if !strings.HasPrefix(name, "Exec") && !strings.HasPrefix(name, "Query") && name != "Get" && name != "Raw" && !strings.HasPrefix(name, "NamedExec") {
		return
	}
	verb, table := s.verb(n)
	if verb == "" {
		return
	}
	c.Effects = append(c.Effects, Effect{Class: catalogue.State, Verb: verb, Table: table, Safe: verb == "update" && !s.adds(n), Way: []string{catalogue.FuncName(callee)},
		Unique: s.says(n, ifAbsent...)})
}

// writing is a statement that writes: the words before the table, and the table.
var writing = regexp.MustCompile("(?is)\\b(insert\\s+(?:or\\s+\\w+\\s+|ignore\\s+)?into|update|delete\\s+from|merge\\s+into|replace\\s+into)\\s+(?:only\\s+)?([\\w.\"`\\[\\]]+)")

// verb is the first word of the statement among the arguments, if it writes, and the
// table that it writes.
func (s *surveyor) verb(n *ast.CallExpr) (verb, table string) {
	for _, text := range s.texts(n) {
		switch catalogue.SQLVerb(text) {
		case "insert", "update", "delete", "merge", "replace", "with":
		default:
			continue
		}
		if m := writing.FindStringSubmatch(text); m != nil {
			return strings.ToLower(strings.Fields(m[1])[0]), printable(trimmed(m[2]))
		}
	}
	return "", ""
}

// ifAbsent are the words of statements that say what becomes of a row that is there.
var ifAbsent = []string{"on conflict", "on duplicate", "insert ignore", "or ignore", "not exists", "merge into"}

// verbByName is what a statement that was prepared elsewhere does, by the name of
// what holds it: q.DeleteSessions.Exec(id).
func verbByName(n *ast.CallExpr) string {
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(sel.Sel.Name, "Exec") {
		return ""
	}
	name := ""
	switch x := ast.Unparen(sel.X).(type) {
	case *ast.SelectorExpr:
		name = x.Sel.Name
	case *ast.Ident:
		name = x.Name
	}
	if words := catalogue.Words(name); len(words) > 1 && words[0] == "delete" {
		return "delete"
	}
	return ""
}

// trimmed is a name without the marks around it.
func trimmed(name string) string { return strings.Trim(name, "\"`[]") }

// adding is an assignment that goes by what is there already: balance = balance - $1.
var adding = regexp.MustCompile("(?i)=\\s*\\(?\\s*(coalesce\\(\\s*)?[\\w.\"`]+(\\s*,\\s*[\\w']+\\s*\\))?\\s*([-+*]|\\|\\|)")

// adds tells whether an update changes something more when it is done again.
func (s *surveyor) adds(n *ast.CallExpr) bool {
	return slices.ContainsFunc(s.texts(n), adding.MatchString)
}

// texts are the constant texts among the arguments of a call.
func (s *surveyor) texts(n *ast.CallExpr) []string {
	var all []string
	for _, arg := range n.Args {
		if v := s.TypesInfo.Types[arg].Value; v != nil && v.Kind() == constant.String {
			all = append(all, constant.StringVal(v))
		}
	}
	return all
}

func (s *surveyor) says(n *ast.CallExpr, words ...string) bool {
	return slices.ContainsFunc(s.texts(n), func(text string) bool {
		text = strings.ToLower(text)
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	})
}

// throughInterface names the method called; what implements it is known only when
// all packages are.
func (s *surveyor) throughInterface(n *ast.CallExpr, c *Call, callee *types.Func) {
	t := callee.Signature().Recv().Type()
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
		if x := s.TypesInfo.TypeOf(sel.X); x != nil && types.IsInterface(x) {
			t = x // with its type arguments, and with what it embeds
		}
	}
	if c.Iface = s.ifaceKey(t); c.Iface == "" {
		return
	}
	c.Method = callee.Name()
	if s.ByName(callee) && len(c.Effects) == 0 {
		c.Effects = append(c.Effects, Effect{Class: catalogue.ThirdParty, ByName: true, Way: []string{catalogue.FuncName(callee)}})
	}
}

// ifaceKey names an interface in the record, which lists its methods; empty if it
// has none, or is what a type parameter has to be.
func (s *surveyor) ifaceKey(t types.Type) string {
	iface, ok := t.Underlying().(*types.Interface)
	if _, isParam := types.Unalias(t).(*types.TypeParam); isParam || !ok || iface.NumMethods() == 0 {
		return ""
	}
	var methods []string
	for m := range iface.Methods() {
		methods = append(methods, signature(m.Name(), m.Signature()))
	}
	slices.Sort(methods)
	var b strings.Builder
	writeType(&b, t, 0)
	if s.record.Interfaces == nil {
		s.record.Interfaces = map[string][]string{}
	}
	s.record.Interfaces[b.String()] = methods
	return b.String()
}

// handedOver are the expressions that hand a declared function to a call, or make
// one of its own that runs later.
func (s *surveyor) handedOver(body *ast.BlockStmt) []ast.Expr {
	var all []ast.Expr
	s.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return s.literals[n] == ""
		case *ast.CallExpr:
			for _, arg := range n.Args {
				if s.registered[ast.Unparen(arg)] {
					continue
				}
				if f := s.named1(arg); f != nil && s.mine(f) && (f.Signature().Recv() == nil || !types.IsInterface(f.Signature().Recv().Type())) {
					if means, _ := meansByType(f.Signature()); means == "" {
						all = append(all, ast.Unparen(arg))
					}
				}
			}
		}
		return true
	})
	return all
}

// loop is what the innermost loop over given things goes over: items of a batch, not
// messages of a channel or attempts.
func (s *surveyor) loop(fn *rule.Function, n ast.Node) string {
	for n := fn.Parent(n); n != nil; n = fn.Parent(n) {
		r, ok := n.(*ast.RangeStmt)
		if !ok {
			continue
		}
		switch t := s.TypesInfo.TypeOf(r.X); t.Underlying().(type) {
		case *types.Slice, *types.Map, *types.Array, *types.Pointer, *types.Signature:
			return types.ExprString(r.X)
		}
	}
	return ""
}

// failed tells whether a node is on the branch of an error.
func (s *surveyor) failed(fn *rule.Function, n ast.Node) bool {
	child := n
	for p := fn.Parent(n); p != nil; child, p = p, fn.Parent(p) {
		stmt, ok := p.(*ast.IfStmt)
		if !ok || child != stmt.Body {
			continue
		}
		if b, ok := ast.Unparen(stmt.Cond).(*ast.BinaryExpr); ok && b.Op == token.NEQ && s.TypesInfo.Types[b.Y].IsNil() {
			if t := s.TypesInfo.TypeOf(b.X); t != nil && types.Implements(t, errorType) {
				return true
			}
		}
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// dead is the name by which a call says that what has failed for good is put aside.
func (s *surveyor) dead(n *ast.CallExpr, callee *types.Func, c Call) string {
	if c.To == "" && c.Iface == "" && len(c.Effects) == 0 {
		return ""
	}
	names := append([]string{callee.Name()}, s.texts(n)...)
	for _, arg := range n.Args {
		switch x := ast.Unparen(arg).(type) {
		case *ast.Ident:
			names = append(names, x.Name)
		case *ast.SelectorExpr:
			names = append(names, x.Sel.Name)
		}
	}
	for _, name := range names {
		if len(name) > 60 {
			continue
		}
		folded := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
		for _, w := range []string{"deadletter", "poison", "quarantine", "parkinglot"} {
			if strings.Contains(folded, w) {
				return printable(name)
			}
		}
		if slices.Contains(catalogue.Words(name), "dlq") {
			return name
		}
	}
	return ""
}

// alerts tells whether a call tells people of an error.
func (s *surveyor) alerts(path, name string) bool {
	for _, w := range []string{"sentry", "bugsnag", "rollbar", "pagerduty", "opsgenie", "honeybadger", "airbrake"} {
		if strings.Contains(path, w) && !strings.HasPrefix(name, "New") && !strings.HasPrefix(name, "Init") {
			return true
		}
	}
	return false
}
