package rule

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Contract is a contract of this package, or of one that it imports, with the Go
// that its generated code names.
type Contract struct {
	Kind    string
	Pkg     *types.Package
	Handler *types.Func
	Effects *types.Named // the handler's interface; nil without effects
	Funcs   []EffectFunc
}

// EffectFunc is a function that carries an effect out.
type EffectFunc struct {
	Effect, Guard string
	Fn            *types.Func // nil for the work of another contract
}

// Contracts are those that the package has to do with, its own first.
func (p *Pass) Contracts() []Contract {
	if p.haveContracts {
		return p.contracts
	}
	p.haveContracts = true
	for i, pkg := range append([]*types.Package{p.Pkg}, p.Pkg.Imports()...) {
		if i > 0 && p.standard(pkg.Path()) {
			continue
		}
		for _, c := range p.Facts.Contracts(pkg) {
			p.contracts = append(p.contracts, p.contract(pkg, c))
		}
	}
	return p.contracts
}

func (p *Pass) contract(pkg *types.Package, said summary.Contract) Contract {
	c := Contract{Kind: said.Kind, Pkg: pkg, Handler: summary.Named(pkg, nil, said.Handler)}
	if tn, ok := pkg.Scope().Lookup(said.Effects).(*types.TypeName); ok {
		if n, ok := types.Unalias(tn.Type()).(*types.Named); ok && types.IsInterface(n) {
			c.Effects = n
		}
	}
	for _, f := range said.Funcs {
		c.Funcs = append(c.Funcs, EffectFunc{Effect: f.Effect, Guard: f.Guard, Fn: summary.Named(pkg, p.Pkg.Imports(), f.Func)})
	}
	return c
}

// Routed tells whether a call asks for an effect through the ledger: it is of a
// method of a handler's interface, or of an interface that is part of one.
func (p *Pass) Routed(call *ast.CallExpr) (Contract, EffectFunc, bool) {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || callee.Signature().Recv() == nil || !types.IsInterface(callee.Signature().Recv().Type()) {
		return Contract{}, EffectFunc{}, false
	}
	held := []types.Type{callee.Signature().Recv().Type()}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && types.IsInterface(p.TypesInfo.TypeOf(sel.X)) {
		held = append(held, p.TypesInfo.TypeOf(sel.X))
	}
	for _, c := range p.Contracts() {
		for _, t := range held {
			if c.Gives(t) {
				return c, c.effect(callee.Name()), true
			}
		}
	}
	return Contract{}, EffectFunc{}, false
}

// Gives tells whether the handler's effects can be passed as a type.
func (c Contract) Gives(t types.Type) bool {
	it, ok := t.Underlying().(*types.Interface)
	return ok && c.Effects != nil && it.NumMethods() > 0 && types.Implements(c.Effects, it)
}

// effect is the one that a method of the interface stands for.
func (c Contract) effect(method string) EffectFunc {
	for _, f := range c.Funcs {
		if IsEffect(method, f.Effect) {
			return f
		}
	}
	return EffectFunc{}
}

// IsEffect tells whether a method of a handler's interface stands for an effect:
// CRMID for crm_id.
func IsEffect(method, effect string) bool {
	return strings.EqualFold(strings.ReplaceAll(effect, "_", ""), method)
}

// RuntimePath is the package of the ledger.
const RuntimePath = "github.com/idemgen/idem/runtime"

// Runtime tells whether a package is the ledger's, or belongs to it.
func Runtime(path string) bool {
	return path == RuntimePath || strings.HasPrefix(path, RuntimePath+"/")
}

// Handwritten tells whether people have written a file, and not for tests.
func (p *Pass) Handwritten(file *ast.File) bool {
	return !isTest(p.Fset, file) && !isGenerated(p.Fset, file)
}
