package unrouted

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

// act is the effect that a call has which is not looked into here: of another
// package, of generated code, or of an interface.
func (c *checker) act(fn *rule.Function, call *ast.CallExpr) (rule.Act, bool) {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || rule.Runtime(callee.Pkg().Path()) || c.bodies[callee] != nil || c.mentioned(callee) || c.Logs(call) {
		return rule.Act{}, false
	}
	if _, _, ok := c.Routed(call); ok {
		return rule.Act{}, false
	}
	if slices.ContainsFunc(c.implementations(call), func(impl *types.Func) bool { return c.bodies[impl] != nil }) {
		return rule.Act{}, false
	}
	a, ok := c.Effect(call)
	if ok && a.Request() {
		return a, !c.asks(fn, call, a)
	}
	if !ok {
		a, ok = c.writes(callee, call)
	}
	return a, ok
}

// implementations are what a call of an interface's method may call.
func (c *checker) implementations(call *ast.CallExpr) []*types.Func {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Signature().Recv() == nil || !types.IsInterface(callee.Signature().Recv().Type()) {
		return nil
	}
	if _, _, ok := c.Routed(call); ok {
		return nil
	}
	return c.Implementations(callee.Signature().Recv().Type(), callee.Name())
}

// writes is a write to a database that adds to what is there, by the catalogue or a
// summary. Elsewhere it is no outward effect, but in a handler every attempt does it
// again.
func (c *checker) writes(callee *types.Func, call *ast.CallExpr) (rule.Act, bool) {
	s := c.Facts.Of(callee, summary.Args{Info: c.TypesInfo, Call: call})
	if s == nil || s.Pure {
		return rule.Act{}, false
	}
	for _, e := range s.Effects {
		if e.Class == catalogue.State && !e.Safe && !e.Model {
			way := slices.Clone(e.Way)
			if hop := c.Facts.Hop(callee); hop != "" {
				way = append([]string{hop}, way...)
			}
			return rule.Act{Call: call, Class: e.Class, Way: way}, true
		}
	}
	return rule.Act{}, false
}

// asks tells whether names on the way to a POST, or what it is sent to, say that it
// only asks something. What the handler is called says nothing of one call in it.
func (c *checker) asks(fn *rule.Function, call *ast.CallExpr, a rule.Act) bool {
	names := slices.Clone(a.Way[:len(a.Way)-1])
	if self, ok := c.TypesInfo.Defs[fn.Decl.Name].(*types.Func); ok {
		if _, handler := c.handlers[self]; !handler {
			names = append(names, catalogue.FuncName(self))
		}
	}
	if callee := summary.Callee(c.TypesInfo, call); callee.Pkg().Path() != "net/http" {
		names = append(names, callee.Pkg().Name())
	}
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if v := c.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
					names = append(names, strings.ReplaceAll(constant.StringVal(v), "api.", ""))
				}
			}
			return true
		})
	}
	return slices.ContainsFunc(names, catalogue.NamesRead)
}
