package retry

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// resends tells whether a call in an http.RoundTripper sends the request that came
// in, whatever its method, in a program that sends some that act.
func resends(p *rule.Pass, fn *rule.Function, call *ast.CallExpr) (rule.Act, bool) {
	callee := summary.Callee(p.TypesInfo, call)
	if fn.Decl.Name.Name != "RoundTrip" || fn.Decl.Recv == nil || callee == nil || callee.Name() != "RoundTrip" || len(call.Args) != 1 {
		return rule.Act{}, false
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok || !isRequest(p.TypesInfo.TypeOf(id)) || regardsMethod(fn.Decl) {
		return rule.Act{}, false
	}
	act, ok := acting(p)
	act.Call = call
	return act, ok
}

// regardsMethod tells whether a function looks at the method of a request.
func regardsMethod(decl *ast.FuncDecl) bool {
	found := false
	ast.Inspect(decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.ContainsFunc(catalogue.Words(id.Name), func(w string) bool {
			return w == "method" || w == "idempotent" || w == "replayable" || w == "retryable" || w == "safe" || w == "retry" && isQuestion(id.Name)
		}) {
			found = true
		}
		return !found
	})
	return found
}

// isQuestion tells whether a name asks whether to try again: shouldRetry, canRetry.
func isQuestion(name string) bool {
	words := catalogue.Words(name)
	return words[0] == "should" || words[0] == "can" || words[0] == "check" || words[0] == "is"
}

// acting is a function of the program, as far as this package imports it, that
// sends a request which acts, or a method of an interface that says so.
func acting(p *rule.Pass) (rule.Act, bool) {
	seen := map[*types.Package]bool{}
	var visit func(pkg *types.Package, depth int) (rule.Act, bool)
	visit = func(pkg *types.Package, depth int) (rule.Act, bool) {
		if seen[pkg] || depth > 4 || pkg != p.Pkg && !sameModule(p, pkg) {
			return rule.Act{}, false
		}
		seen[pkg] = true
		for _, fn := range functions(pkg) {
			if catalogue.NamesRead(fn.Name()) || !named(fn.Name()) {
				continue
			}
			if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
				return rule.Act{Class: catalogue.ThirdParty, Way: []string{catalogue.FuncName(fn)}}, true
			}
			s := p.Facts.Of(fn, nil)
			if s == nil {
				continue
			}
			for _, e := range s.Effects {
				if e.Class.Outward() && !e.Safe && !e.Model {
					return rule.Act{Class: e.Class, Way: append([]string{summary.DisplayName(fn)}, e.Way...)}, true
				}
			}
		}
		for _, dep := range pkg.Imports() {
			if a, ok := visit(dep, depth+1); ok {
				return a, true
			}
		}
		return rule.Act{}, false
	}
	return visit(p.Pkg, 0)
}

// named tells whether a name is of an act that costs something twice.
func named(name string) bool {
	return slices.ContainsFunc(catalogue.Words(name), func(w string) bool {
		return catalogue.NamesAct(w) && !harmless(w) && !vague[w] || slices.Contains(deeds, w)
	})
}

// vague are verbs and nouns that name much else besides.
var vague = map[string]bool{"create": true, "order": true, "text": true, "page": true, "post": true, "submit": true, "trigger": true, "issue": true, "place": true, "book": true, "alert": true, "produce": true}

func sameModule(p *rule.Pass, pkg *types.Package) bool {
	return pkg.Path() == p.Module.Path || len(pkg.Path()) > len(p.Module.Path) && pkg.Path()[:len(p.Module.Path)+1] == p.Module.Path+"/"
}

// functions are the functions and methods of a package, by name.
func functions(pkg *types.Package) []*types.Func {
	var all []*types.Func
	for _, name := range pkg.Scope().Names() {
		switch obj := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			all = append(all, obj)
		case *types.TypeName:
			if n, ok := obj.Type().(*types.Named); ok && !obj.IsAlias() {
				for m := range n.Methods() {
					all = append(all, m)
				}
				if it, ok := n.Underlying().(*types.Interface); ok {
					for m := range it.ExplicitMethods() {
						all = append(all, m)
					}
				}
			}
		}
	}
	return all
}
