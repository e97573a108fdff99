package rule

import (
	"go/ast"
	"go/types"

	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Effect is as Outward, but leaves it to the rule whether an HTTP request that may
// well only ask counts.
func (p *Pass) Effect(call *ast.CallExpr) (Act, bool) {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || p.Logs(call) {
		return Act{}, false
	}
	a, ok := p.outward(callee, summary.Args{Info: p.TypesInfo, Call: call}, 0)
	a.Call = call
	return a, ok
}

// EffectOf is as Effect, of a function that is not called here.
func (p *Pass) EffectOf(fn *types.Func) (Act, bool) { return p.outward(fn, nil, 0) }

// Request tells whether all that is known of an effect is that it is a POST.
func (a Act) Request() bool { return isRequest(a) }

// Function is a function of this package, or nil.
func (p *Pass) Function(fn *types.Func) *Function {
	decl := p.declaration(fn)
	if decl == nil {
		return nil
	}
	for _, file := range p.Files {
		if file.FileStart <= decl.Pos() && decl.Pos() < file.FileEnd {
			return &Function{Decl: decl, File: file}
		}
	}
	return nil
}
