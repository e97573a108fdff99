package effectorder

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

// ledger reports what the ledger's own rules forbid: see docs/errors.md and
// docs/contract.md for what they are.
func (c *checker) ledger() {
	if !c.hasLedger() {
		return
	}
	c.unsentKey()
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if _, _, ok := c.Routed(n); ok {
				c.outlives(n)
				c.swallowed(n)
			} else if isDo(c.Pass, n) {
				c.forgotten(n)
			}
			c.settles(n)
		case *ast.IfStmt:
			c.passedOver(n.Cond, n.Body.List)
		case *ast.CaseClause:
			for _, cond := range n.List {
				c.passedOver(cond, n.Body)
			}
		}
		return true
	})
}

// hasLedger tells whether the package has to do with contracts.
func (c *checker) hasLedger() bool {
	return len(c.Contracts()) > 0 || slices.ContainsFunc(c.Pkg.Imports(), func(p *types.Package) bool { return rule.Runtime(p.Path()) })
}

// isDo tells whether a call does the work of a contract.
func isDo(p *rule.Pass, call *ast.CallExpr) bool {
	callee := summary.Callee(p.TypesInfo, call)
	return callee != nil && callee.Pkg() != nil && rule.Runtime(callee.Pkg().Path()) && catalogue.FuncName(callee) == "Contract.Do"
}

// swallowed reports an effect whose error nobody gets: the handler returns none, and
// the work is done for good without the effect.
func (c *checker) swallowed(call *ast.CallExpr) {
	h := c.ErrorOf(c.fn, call)
	how := ""
	switch {
	case h.Dropped:
		how = "error dropped"
	case h.Bad != nil && c.goesOn(h.Bad.List):
		how = "error only logged"
	default:
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: call, Message: "the work counts as done though this effect may have failed",
		Way: []string{rule.CallName(call), how}, Advice: "return the error; go on without the effect after ErrEffectRefused and ErrGivenUp only",
	})
}

// goesOn tells whether statements leave an error behind: they write logs, and go on
// or return as if all were well.
func (c *checker) goesOn(list []ast.Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || !c.Logs(call) {
				return false
			}
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE && s.Tok != token.BREAK {
				return false
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 && !c.TypesInfo.Types[s.Results[len(s.Results)-1]].IsNil() || len(s.Results) == 0 && c.namesResults() {
				return false
			}
		case *ast.IncDecStmt:
		default:
			return false
		}
	}
	return true
}

func (c *checker) namesResults() bool {
	results := c.fn.Decl.Type.Results
	return results != nil && len(results.List) > 0 && len(results.List[0].Names) > 0
}

// outlives reports an effect that is asked for in a goroutine for which nobody waits:
// once the handler has returned there are no effects any more.
func (c *checker) outlives(call *ast.CallExpr) {
	for n := c.fn.Parent(call); n != nil; n = c.fn.Parent(n) {
		how := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			how = "go"
		case *ast.CallExpr:
			if f := summary.Callee(c.TypesInfo, n); f != nil && f.Pkg() != nil && f.Pkg().Path() == "time" && f.Name() == "AfterFunc" {
				how = "time.AfterFunc"
			}
		}
		if how == "" {
			continue
		}
		if !c.synchronises(n) && !c.waitsForOthers() {
			c.Report(c.fn, rule.Finding{
				Node: call, Message: "this effect is asked for after the handler may have returned, and is refused then with ErrRunOver",
				Way: []string{how, rule.CallName(call)}, Advice: "wait for it in the handler",
			})
		}
		return
	}
}

// synchronises tells whether a node has to do with what others can wait for.
func (c *checker) synchronises(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		t := c.TypesInfo.TypeOf(e)
		if t == nil {
			return true
		}
		if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if _, ok := t.Underlying().(*types.Chan); ok {
			found = true
		}
		found = found || rule.IsNamed(t, "sync", "WaitGroup") || rule.IsNamed(t, "golang.org/x/sync/errgroup", "Group") || rule.IsNamed(t, "sync", "Cond")
		return !found
	})
	return found
}

// waitsForOthers tells whether the function waits for something.
func (c *checker) waitsForOthers() bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.SelectStmt:
			found = true
		case *ast.CallExpr:
			found = found || strings.HasPrefix(rule.MethodName(n), "Wait")
		}
		return !found
	})
	return found
}

// forgotten reports a contract's error that nobody gets although its message is
// acknowledged, and an acknowledgement on its branch that does not ask whether the
// ledger has an outcome.
func (c *checker) forgotten(call *ast.CallExpr) {
	h := c.ErrorOf(c.fn, call)
	if h.Bad != nil && h.If != nil {
		for _, s := range h.Bad.List {
			if ack := c.ackOf(s); ack != nil && !c.asksForAck() {
				c.Report(c.fn, rule.Finding{
					Node: ack, Message: "the message is acknowledged though its work may not be done",
					Way: []string{rule.CallName(call), "error", rule.CallName(ack)}, Advice: "ask idem.ShouldAck, and leave it to be delivered again otherwise",
				})
				return
			}
		}
	}
	if !h.Dropped && (h.Bad == nil || !c.goesOn(h.Bad.List)) {
		return
	}
	how := "error only logged"
	if h.Dropped {
		how = "error dropped"
	}
	answer := c.answers(call, h)
	if answer == "" {
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: call, Message: "the message counts as received though its work may not be done",
		Way: []string{rule.CallName(call), how, answer}, Advice: "acknowledge it only if idem.ShouldAck says so of the error",
	})
}

// ackOf is the acknowledgement that a statement is.
func (c *checker) ackOf(s ast.Stmt) *ast.CallExpr {
	var e ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			e = s.Results[0]
		}
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			e = s.Rhs[0]
		}
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && c.isAck(call) {
		return call
	}
	return nil
}

// asksForAck tells whether the function asks the ledger's own question, or looks
// at errors by itself.
func (c *checker) asksForAck() bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch rule.MethodName(call) {
			case "ShouldAck":
				found = true
			case "Is", "As", "AsType":
				found = found || strings.HasPrefix(rule.CallName(call), "errors.")
			}
		}
		return !found
	})
	return found
}

// answers is how the function tells the source that it need not come again, if it
// does so after a call whose error it leaves behind.
func (c *checker) answers(call *ast.CallExpr, h rule.Handling) string {
	if c.asksForAck() {
		return ""
	}
	answer := ""
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if ack, ok := n.(*ast.CallExpr); ok && answer == "" && c.isAck(ack) && c.fn.Before(call, ack) && (h.Bad == nil || !rule.Ends(h.Bad)) {
			answer = rule.CallName(ack)
		}
		return answer == ""
	})
	switch {
	case answer != "":
		return answer
	case c.isJob():
		return "no error returned"
	case c.servesHTTP(call):
		return "status 200"
	}
	return ""
}

// servesHTTP tells whether a node stands in a function that answers a request.
func (c *checker) servesHTTP(n ast.Node) bool {
	for n = c.fn.Parent(n); n != nil; n = c.fn.Parent(n) {
		var params *ast.FieldList
		switch n := n.(type) {
		case *ast.FuncLit:
			params = n.Type.Params
		case *ast.FuncDecl:
			params = n.Type.Params
		case *ast.GoStmt:
			return false // answered long before
		}
		if params == nil {
			continue
		}
		for _, field := range params.List {
			if rule.IsNamed(c.TypesInfo.TypeOf(field.Type), "net/http", "ResponseWriter") {
				return true
			}
		}
	}
	return false
}

// passedOver reports a branch for an error after which a handler cannot go on, and
// which goes on.
func (c *checker) passedOver(cond ast.Expr, list []ast.Stmt) {
	is, ok := ast.Unparen(cond).(*ast.CallExpr)
	if !ok || len(is.Args) != 2 || rule.CallName(is) != "errors.Is" || !c.goesOn(list) {
		return
	}
	sentinel, ok := ast.Unparen(is.Args[1]).(*ast.SelectorExpr)
	if !ok || !slices.Contains(final, sentinel.Sel.Name) {
		return
	}
	obj := c.TypesInfo.Uses[sentinel.Sel]
	if obj == nil || obj.Pkg() == nil || !rule.Runtime(obj.Pkg().Path()) {
		return
	}
	effect := c.effectBefore(is.Args[0], is)
	if effect == nil {
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: is, Message: "the handler goes on after an error with which its attempt is over",
		Way: []string{rule.CallName(effect), "idem." + sentinel.Sel.Name, "no error returned"}, Advice: "return the error",
	})
}

// final are the errors of effects after which the work is not this attempt's any
// more, or is not done. After ErrEffectRefused and ErrGivenUp a handler may go on.
var final = []string{
	"ErrLeaseLost", "ErrRunOver", "ErrLedger", "ErrOutcomeUnknown", "ErrEffectDiverged", "ErrEffectFailed", "ErrUnreadable", "ErrInTransaction", "ErrSuperseded", "ErrContract",
}

// effectBefore is the effect whose error a variable holds.
func (c *checker) effectBefore(e ast.Expr, at ast.Node) *ast.CallExpr {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	obj := c.TypesInfo.ObjectOf(id)
	var effect *ast.CallExpr
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || a.Pos() >= at.Pos() {
			return true
		}
		for _, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && obj != nil && c.TypesInfo.ObjectOf(id) == obj {
				effect = nil
				if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
					if _, _, ok := c.Routed(call); ok {
						effect = call
					}
				}
			}
		}
		return true
	})
	return effect
}

// settles reports a transaction that an effect ends itself, which the ledger is to
// commit together with its own row.
func (c *checker) settles(call *ast.CallExpr) {
	name := rule.MethodName(call)
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || name != "Commit" && name != "Rollback" {
		return
	}
	from := ast.Unparen(sel.X)
	if id, ok := from.(*ast.Ident); ok {
		if v, ok := c.TypesInfo.ObjectOf(id).(*types.Var); ok {
			if def := c.definition(v); def != nil {
				from = ast.Unparen(def)
			}
		}
	}
	tx, ok := from.(*ast.CallExpr)
	if !ok {
		return
	}
	callee := summary.Callee(c.TypesInfo, tx)
	if callee == nil || callee.Pkg() == nil || !rule.Runtime(callee.Pkg().Path()) || catalogue.FuncName(callee) != "TxCall.Tx" {
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: call, Message: "this ends the transaction that the ledger commits together with its record of the effect",
		Way: []string{rule.CallName(tx), name}, Advice: "write in it only, and return an error to have it rolled back",
	})
}

// definition is what a variable is, if it is assigned once.
func (c *checker) definition(v *types.Var) ast.Expr {
	var def ast.Expr
	times := 0
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, lhs := range a.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && c.TypesInfo.ObjectOf(id) == v {
					def, times = a.Rhs[i], times+1
				}
			}
		}
		return true
	})
	if times != 1 {
		return nil
	}
	return def
}

// unsentKey reports a function under the guard idempotency_key that cannot send the
// key, since it does not use its call.
func (c *checker) unsentKey() {
	fn, ok := c.TypesInfo.Defs[c.fn.Decl.Name].(*types.Func)
	if !ok {
		return
	}
	for _, contract := range c.Contracts() {
		for _, f := range contract.Funcs {
			if f.Fn != fn || f.Guard != "idempotency_key" || c.usesCall(fn) {
				continue
			}
			c.Report(c.fn, rule.Finding{
				Node: c.fn.Decl.Name, Message: "the effect " + f.Effect + " of " + contract.Kind + " counts on the key that the provider knows a repeat by, and does not send it",
				Advice: "send call.Key(), or choose another guard",
			})
			return
		}
	}
}

func (c *checker) usesCall(fn *types.Func) bool {
	for param := range fn.Signature().Params().Variables() {
		if rule.IsNamed(param.Type(), rule.RuntimePath, "Call") {
			return c.Mentions(c.fn.Decl.Body, param)
		}
	}
	return true
}
