package effectorder

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// isAck tells whether a call tells a queue that a message need not come again.
func (c *checker) isAck(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || callee.Signature().Recv() == nil { // error.Error has no package
		return false
	}
	if strings.Contains(callee.Pkg().Path(), "slack") { // answers at once that an event has come
		return false
	}
	switch callee.Name() {
	case "Ack", "Acknowledge", "XAck", "CommitMessages", "CommitMessage", "MarkMessage", "AckMessage":
		return true
	case "DeleteMessage": // of a queue; chats have such a method too
		return strings.Contains(callee.Pkg().Path(), "sqs") || strings.Contains(strings.ToLower(catalogue.FuncName(callee)), "sqs")
	}
	return false
}

// acknowledged reports an acknowledgement that the error of an effect leads to.
func (c *checker) acknowledged(ack *ast.CallExpr) {
	for _, a := range c.acts {
		h := c.ErrorOf(c.fn, a.Call)
		if h.Bad == nil {
			continue
		}
		inBranch := c.fn.Within(ack, h.Bad) && c.fn.Parent(c.fn.Parent(ack)) == ast.Node(h.Bad)
		after := !c.fn.Within(ack, h.If) && c.fn.Before(h.If, ack) && c.OnlyLogs(h.Bad) && !rule.Ends(h.Bad)
		if !inBranch && !after || c.keeps(h.Bad) {
			continue
		}
		c.Report(c.fn, rule.Finding{
			Node: ack, Message: "the message is acknowledged though the effect has failed",
			Way:     append(slices.Clone(a.Way), "error", rule.CallName(ack)),
			Advice:  "leave it to be delivered again, or keep it elsewhere first",
			Related: []analysis.RelatedInformation{{Pos: a.Call.Pos(), End: a.Call.End(), Message: "the effect"}},
		})
		return
	}
}

// ackedFirst reports an acknowledgement that comes before the effect, or whatever
// becomes of it.
func (c *checker) ackedFirst(ack *ast.CallExpr) {
	_, deferred := c.fn.Parent(ack).(*ast.DeferStmt)
	for _, a := range c.acts {
		if !c.fn.Before(ack, a.Call) || c.onBranch(ack, a.Call) || !c.acksFor(ack, a.Call) || c.waits(ack, a.Call) && !deferred {
			continue
		}
		h := c.ErrorOf(c.fn, a.Call)
		if !h.Returned && h.Bad == nil || h.Bad != nil && c.keeps(h.Bad) {
			continue
		}
		message := "the message is acknowledged before the effect, and lost if that fails"
		if deferred {
			message = "the message is acknowledged whether the effect fails or not"
		}
		c.Report(c.fn, rule.Finding{
			Node: ack, Message: message,
			Way:     append([]string{rule.CallName(ack)}, a.Way...),
			Advice:  "acknowledge it when the effect is done",
			Related: []analysis.RelatedInformation{{Pos: a.Call.Pos(), End: a.Call.End(), Message: "the effect"}},
		})
		return
	}
}

// onBranch tells whether a node is on a branch that another is not on: there are
// messages for which it is not reached.
func (c *checker) onBranch(n, other ast.Node) bool {
	child := n
	for p := c.fn.Parent(n); p != nil && !c.fn.Within(other, p); child, p = p, c.fn.Parent(p) {
		switch p := p.(type) {
		case *ast.IfStmt:
			if child == p.Body || child == p.Else {
				return true
			}
		case *ast.CaseClause, *ast.CommClause:
			return true
		}
	}
	return false
}

// acksFor tells whether what is acknowledged is what an effect is about: the message
// is part of its arguments, however far away.
func (c *checker) acksFor(ack, act *ast.CallExpr) bool {
	about := c.about(act)
	found := false
	c.Inspect(ack, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			found = found || about[c.TypesInfo.ObjectOf(id)]
		}
		return !found
	})
	return found
}

// keeps tells whether the error branch puts the work somewhere, and notices if it
// cannot.
func (c *checker) keeps(b *ast.BlockStmt) bool {
	found := false
	c.Inspect(b, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || c.Logs(call) || c.isAck(call) {
			return true
		}
		words := catalogue.Words(rule.CallName(call))
		keeping := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(keeping, w) })
		found = found || keeping && !c.ErrorOf(c.fn, call).Dropped
		return !found
	})
	return found
}

var keeping = []string{
	"dlq", "dead", "retry", "requeue", "publish", "enqueue", "send", "fail", "failed", "failure", "save", "insert", "update", "store", "poison", "park", "schedule", "nack", "reject", "notify", "push", "error", "report",
}

// isJob tells whether the function is called with a message and gives an error to
// have it delivered again.
func (c *checker) isJob() bool {
	fn, ok := c.TypesInfo.Defs[c.fn.Decl.Name].(*types.Func)
	if !ok {
		return false
	}
	sig := fn.Signature()
	if sig.Results().Len() != 1 || !rule.GivesError(fn) {
		return false
	}
	for v := range sig.Params().Variables() {
		t := types.Unalias(v.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		n, ok := t.(*types.Named)
		if ok && n.Obj().Pkg() != nil && n.Obj().Pkg() != c.Pkg && slices.Contains([]string{"Job", "Task", "Message", "Msg", "Delivery", "ConsumerMessage"}, n.Obj().Name()) {
			return strings.Contains(n.Obj().Pkg().Path(), ".")
		}
	}
	return false
}

// finished reports a job that ends well though its effect has failed: the error
// branch logs it at most, or tries to put it down and does not look whether it
// could, and returns nil.
func (c *checker) finished() {
	if !c.isJob() {
		return
	}
	for _, a := range c.acts {
		h := c.ErrorOf(c.fn, a.Call)
		if h.Bad == nil || len(h.Bad.List) == 0 || c.keeps(h.Bad) {
			continue
		}
		ret, ok := h.Bad.List[len(h.Bad.List)-1].(*ast.ReturnStmt)
		if !ok || len(ret.Results) != 1 || !c.TypesInfo.Types[ret.Results[0]].IsNil() || !c.putsDown(h.Bad) && !c.logsOrUndoes(h.Bad) {
			continue
		}
		c.Report(c.fn, rule.Finding{
			Node: ret, Message: "the job counts as done though the effect has failed",
			Way:     append(slices.Clone(a.Way), "error", "return nil"),
			Advice:  "return the error, or record the failure and return the error of that",
			Related: []analysis.RelatedInformation{{Pos: a.Call.Pos(), End: a.Call.End(), Message: "the effect"}},
		})
	}
}

// logsOrUndoes tells whether a branch does no more than to log and to give a claim
// back.
func (c *checker) logsOrUndoes(b *ast.BlockStmt) bool {
	rest := &ast.BlockStmt{}
	for _, s := range b.List {
		call, ok := (*ast.CallExpr)(nil), false
		switch s := s.(type) {
		case *ast.ExprStmt:
			call, ok = s.X.(*ast.CallExpr)
		case *ast.IfStmt: // if err := store.Release(id); err != nil {
			if a, isAssign := s.Init.(*ast.AssignStmt); isAssign && len(a.Rhs) == 1 {
				call, ok = ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
			}
		}
		if !ok || !c.undoesBy(call) {
			rest.List = append(rest.List, s)
		}
	}
	return c.OnlyLogs(rest)
}

// putsDown tells whether a branch calls something whose error it drops.
func (c *checker) putsDown(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			continue
		}
		if call, ok := e.X.(*ast.CallExpr); ok && !c.Logs(call) && c.ErrorOf(c.fn, call).Dropped {
			return true
		}
	}
	return false
}
