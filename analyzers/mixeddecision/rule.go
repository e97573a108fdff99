package mixeddecision

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

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

// checker looks at one function.
type checker struct {
	*rule.Pass
	fn     *rule.Function
	asked  []question
	writes []*ast.CallExpr
	values values
}

// question is a call that asks a model.
type question struct {
	call *ast.CallExpr
	way  []string // from the model to the call
}

func check(p *rule.Pass, fn *rule.Function) {
	c := &checker{Pass: p, fn: fn}
	var calls []*ast.CallExpr
	c.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			calls = append(calls, call)
			if way, ok := c.asks(call); ok {
				c.asked = append(c.asked, question{call, way})
			}
		}
		return true
	})
	if len(c.asked) == 0 {
		return
	}
	c.follow()
	for _, call := range calls {
		if c.records(call) {
			c.writes = append(c.writes, call)
		}
	}
	for _, call := range calls {
		c.decides(call)
	}
}

// decides reports a call that has an effect which an answer goes into, or decides
// about, without having been written down before.
func (c *checker) decides(call *ast.CallExpr) {
	act, ok := c.act(call)
	if !ok {
		return
	}
	message := "what a model has answered goes into an effect and is not recorded before: the next attempt gets another answer"
	from := c.fed(call)
	if from == nil {
		message = "what a model has answered decides about an effect and is not recorded before: the next attempt may decide otherwise"
		from = c.controlled(call)
	}
	if from == nil || !c.comesTo(from.call, call) || c.recorded(from, call) {
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: call, Message: message,
		Way: append(slices.Clone(from.way), act.Way...), Advice: c.advice(call),
		Related: []analysis.RelatedInformation{{Pos: from.call.Pos(), End: from.call.End(), Message: "the question"}},
	})
}

func (c *checker) advice(call *ast.CallExpr) string {
	if _, _, ok := c.Routed(call); ok {
		return "ask the model in an effect with the guard read, which records its answer"
	}
	return "save the answer first, and act by what is saved"
}

// comesTo tells whether control goes from a question on to an effect. Within
// literals only the place says so.
func (c *checker) comesTo(from, to ast.Node) bool {
	if c.fn.Unit(from) != c.fn.Unit(to) {
		return from.End() <= to.Pos()
	}
	return c.fn.Before(from, to)
}

// recorded tells whether an answer is written somewhere before the effect.
func (c *checker) recorded(from *question, act *ast.CallExpr) bool {
	return slices.ContainsFunc(c.writes, func(w *ast.CallExpr) bool {
		return w != act && w.Pos() > from.call.Pos() && c.comesTo(w, act)
	})
}

// act is the outward effect of a call that a second one of would be another, and
// that is no answer to whoever asked.
func (c *checker) act(call *ast.CallExpr) (rule.Act, bool) {
	if _, asks := c.asks(call); asks || c.Logs(call) {
		return rule.Act{}, false
	}
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil {
		return rule.Act{}, false
	}
	if contract, f, ok := c.Routed(call); ok {
		if f.Guard == "read" {
			return rule.Act{}, false
		}
		return rule.Act{Call: call, Way: []string{contract.Effects.Obj().Name() + "." + callee.Name()}}, true
	}
	act, ok := c.Outward(c.fn, call)
	if !ok || c.answers(call, callee, act) {
		return rule.Act{}, false
	}
	return act, true
}

// answers tells whether an effect is a reply, something that stays in the process,
// or one that comes to the same when it is done twice.
func (c *checker) answers(call *ast.CallExpr, callee *types.Func, act rule.Act) bool {
	if slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		id, ok := ast.Unparen(arg).(*ast.Ident)
		return ok && slices.Contains(catalogue.Words(id.Name), "reply")
	}) {
		return true
	}
	names := append([]string{catalogue.FuncName(callee), callee.Pkg().Name(), rule.CallName(call)}, act.Way...)
	for i, name := range names {
		words := catalogue.Words(name)
		if i != 1 {
			method := catalogue.Words(name[strings.LastIndexByte(name, '.')+1:])
			if len(method) > 0 && slices.Contains(absolute, method[0]) {
				return true
			}
		}
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(replies, w) }) {
			return true
		}
	}
	pkg := c.Catalogue.Package(callee.Pkg().Path())
	return pkg != nil && pkg.Ecosystem == "chat" || c.inChat(act)
}

// inChat tells whether the last step of a way is to a chat that the package knows.
func (c *checker) inChat(act rule.Act) bool {
	return act.Class == catalogue.Message && slices.ContainsFunc(c.Pkg.Imports(), func(p *types.Package) bool {
		pkg := c.Catalogue.Package(p.Path())
		return pkg != nil && pkg.Ecosystem == "chat" && len(pkg.Entries(act.Way[len(act.Way)-1])) > 0
	})
}

var (
	// absolute are the verbs of what a second time changes nothing more.
	absolute = []string{"update", "set", "put", "edit", "patch", "delete", "cancel", "remove", "close", "stop", "replace", "upsert", "mark", "tag", "assign", "ack", "label", "sync"}
	// replies are words of what answers a person or a program that waits, or tells
	// those who look on.
	replies = []string{
		"reply", "respond", "response", "answer", "chat", "bot", "telegram", "slack", "discord", "feishu", "lark", "whatsapp", "wechat", "teams", "matrix", "conversation",
		"stream", "server", "conn", "connection", "socket", "websocket", "ws", "sse", "hub", "bus", "event", "events", "broadcast", "broadcaster", "progress", "typing", "ui",
		"chan", "session", "tea", "program", "callback", "observer", "listener", "emitter", "llm", "agent", "prompt", "model", "embedding", "completion", "tool", "tools",
	}
)
