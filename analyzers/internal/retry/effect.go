package retry

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// voice is what names say of a request: a POST alone proves nothing.
type voice int

const (
	silent voice = iota // nothing
	acts                // it does something
	reads               // it asks something, or replaces what is there
)

// effect tells whether a call has an outward effect that must not happen twice.
func effect(p *rule.Pass, fn *rule.Function, call *ast.CallExpr, said voice) (rule.Act, bool) {
	if act, ok := sends(p, fn, call); ok {
		return act, speaks(p, fn, fn.Decl.Name.Name) == said
	}
	if act, ok := resends(p, fn, call); ok {
		return act, said == acts
	}
	act, ok := p.Effect(call)
	if !ok || len(act.Way) == 1 && strings.HasPrefix(act.Way[0], "http.NewRequest") {
		return rule.Act{}, false // made here, sent elsewhere
	}
	if act.Request() {
		names := append([]string{fn.Decl.Name.Name}, act.Way[:len(act.Way)-1]...)
		if constantsRead(p, call) {
			return rule.Act{}, false
		}
		return act, speaks(p, fn, names...) == said
	}
	callee := summary.Callee(p.TypesInfo, call)
	if said != acts || harmless(callee.Name()) || harmless(method(act.Way[len(act.Way)-1])) {
		return rule.Act{}, false
	}
	return act, known(p, call, callee) || named(method(act.Way[len(act.Way)-1]))
}

// known tells whether an effect is more than a method's name: by the catalogue, a
// directive, or what the source does.
func known(p *rule.Pass, call *ast.CallExpr, callee *types.Func) bool {
	s := p.Facts.Of(callee, summary.Args{Info: p.TypesInfo, Call: call})
	return s != nil && slices.ContainsFunc(s.Effects, func(e summary.Effect) bool { return e.Class.Outward() && !e.Safe && !e.Model })
}

func method(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// harmless tells whether doing it twice comes to the same: deleting, cancelling,
// putting, or setting up a connection.
func harmless(name string) bool {
	words := catalogue.Words(name)
	if replaces(words) {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"connection", "connect", "conn", "session", "stream", "channel", "client", "topic", "subscription", "table", "index", "bucket", "container", "if", "ensure", "heartbeat", "keepalive"}, w)
	})
}

// replaces tells whether a name begins with the verb of something that leaves the
// same behind however often it is done.
func replaces(words []string) bool {
	return len(words) > 0 && slices.Contains([]string{"delete", "cancel", "remove", "put", "set", "update", "edit", "replace", "close", "stop", "ack", "nack"}, words[0])
}

// speaks is what the names of functions, and of the package, say.
func speaks(p *rule.Pass, fn *rule.Function, names ...string) voice {
	if obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func); ok {
		if recv, _, ok := strings.Cut(catalogue.FuncName(obj), "."); ok {
			names = append(names, recv)
		}
	}
	if slices.ContainsFunc(catalogue.Words(p.Pkg.Name()), func(w string) bool { return slices.Contains(computes, w) }) {
		return reads
	}
	if slices.ContainsFunc(names, catalogue.NamesRead) || catalogue.NamesRead(p.Pkg.Name()) {
		return reads
	}
	if slices.ContainsFunc(names, func(name string) bool {
		words := catalogue.Words(method(name))
		return replaces(words) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(states, w) })
	}) {
		return reads
	}
	for _, name := range names {
		for _, w := range catalogue.Words(name) {
			if named(w) {
				return acts
			}
		}
	}
	return silent
}

// states are what is sent as it is now, so that a second time changes nothing; and
// what computes.
var states = []string{"settings", "features", "config", "configuration", "heartbeat", "state", "transform", "transformer", "transformation", "validation", "preview", "quote", "simulate", "estimate"}

// computes are what packages are called of which the other side only computes.
var computes = []string{"transform", "transformer", "transformation", "validation"}

var deeds = []string{"payment", "payments", "webhook", "notification", "sms", "payout", "checkout"}

// constantsRead tells whether the constant arguments of a call name a question.
func constantsRead(p *rule.Pass, call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v := p.TypesInfo.Types[arg].Value
		return v != nil && v.Kind() == constant.String && (catalogue.NamesRead(constant.StringVal(v)) || slices.Contains([]string{"GET", "PUT", "DELETE", "HEAD"}, constant.StringVal(v)))
	})
}

// sends tells whether a call sends a request that was made as a POST or PATCH in
// this function.
func sends(p *rule.Pass, fn *rule.Function, call *ast.CallExpr) (rule.Act, bool) {
	for _, arg := range call.Args {
		id, ok := ast.Unparen(arg).(*ast.Ident)
		if !ok || !isRequest(p.TypesInfo.TypeOf(id)) {
			continue
		}
		callee := summary.Callee(p.TypesInfo, call)
		if callee == nil || callee.Name() != "Do" && callee.Name() != "RoundTrip" {
			continue
		}
		if made, ok := made(p, fn, p.TypesInfo.ObjectOf(id)); ok {
			return rule.Act{Call: call, Class: catalogue.ThirdParty, Way: []string{made}}, true
		}
	}
	return rule.Act{}, false
}

func isRequest(t types.Type) bool {
	ptr, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(ptr.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "Request" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "net/http"
}

// made is the call that makes the request in a variable, if each that does makes a
// POST or PATCH to what does not name a question.
func made(p *rule.Pass, fn *rule.Function, req types.Object) (string, bool) {
	name, all := "", true
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		if id, ok := a.Lhs[0].(*ast.Ident); !ok || p.TypesInfo.ObjectOf(id) != req {
			return true
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok {
			return true
		}
		act, ok := p.Effect(call)
		if !ok || !act.Request() || asks(p, call) {
			all = false
			return true
		}
		name = act.Way[len(act.Way)-1]
		return true
	})
	return name, all && name != ""
}

// asks tells whether the arguments of a request name a question.
func asks(p *rule.Pass, call *ast.CallExpr) bool {
	found := false
	for _, arg := range call.Args {
		p.Inspect(arg, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if v := p.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
					found = found || catalogue.NamesRead(strings.ReplaceAll(constant.StringVal(v), "api.", ""))
				}
			}
			return !found
		})
	}
	return found
}
