package rule

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Act is a call that acts on the world outside so that nothing takes it back:
// money, a message, a queue, a third party.
type Act struct {
	Call  *ast.CallExpr
	Class catalogue.Class
	Way   []string // from what is called to the effect
}

// maxCalls is how many calls deep an effect may be to be reported as the call's.
const maxCalls = 2

// Acts are the outward effects of a function, in the order of the source.
func (p *Pass) Acts(fn *Function) []Act {
	var all []Act
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if a, ok := p.Outward(fn, call); ok {
				all = append(all, a)
			}
		}
		return true
	})
	return all
}

// Outward tells whether a call has an outward effect: by the catalogue, a directive
// or a summary; by its name, if it is a method of an interface without visible
// implementation; or by what an implementation does. A second call that would be
// harmless does not count, nor does an HTTP request that may well only ask.
func (p *Pass) Outward(fn *Function, call *ast.CallExpr) (Act, bool) {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || p.Logs(call) {
		return Act{}, false
	}
	a, ok := p.outward(callee, summary.Args{Info: p.TypesInfo, Call: call}, 0)
	if !ok || isRequest(a) && !p.tells(fn, call, a) {
		return Act{}, false
	}
	a.Call = call
	return a, true
}

type actKey struct {
	fn    *types.Func
	depth int
}

func (p *Pass) outward(fn *types.Func, args catalogue.Args, depth int) (Act, bool) {
	s := p.Facts.Of(fn, args)
	if s != nil {
		if s.Pure {
			return Act{}, false
		}
		if a, ok := known(s.Effects, p.Facts.Hop(fn)); ok {
			return a, true
		}
	}
	switch {
	case p.Catalogue.Covers(fn.Pkg().Path()) || s != nil && len(s.Effects) > 0 && args == nil:
		return Act{}, false
	case depth > maxCalls:
		return Act{}, false
	}
	key := actKey{fn, depth}
	if a, ok := p.acts[key]; ok {
		return a, len(a.Way) > 0
	}
	if p.acts == nil {
		p.acts = map[actKey]Act{}
	}
	p.acts[key] = Act{} // for functions that call each other
	a := p.look(fn, depth)
	p.acts[key] = a
	return a, len(a.Way) > 0
}

// known is the worst outward effect of a summary.
func known(effects []summary.Effect, hop string) (Act, bool) {
	var best *summary.Effect
	for i, e := range effects {
		if e.Class.Outward() && !e.Safe && !e.Model && (best == nil || rank(e.Class) < rank(best.Class)) {
			best = &effects[i]
		}
	}
	if best == nil {
		return Act{}, false
	}
	way := slices.Clone(best.Way)
	if hop != "" {
		way = append([]string{hop}, way...)
	}
	return Act{Class: best.Class, Way: way}, true
}

func rank(c catalogue.Class) int { return slices.Index(catalogue.Classes(), c) }

// look goes into what a summary does not say: interfaces, and the functions of this
// package that call them.
func (p *Pass) look(fn *types.Func, depth int) Act {
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return p.through(fn, recv.Type(), depth)
	}
	decl := p.declaration(fn)
	if decl == nil {
		return Act{}
	}
	var found Act
	p.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(found.Way) > 0 {
			return len(found.Way) == 0
		}
		callee := summary.Callee(p.TypesInfo, call)
		if callee == nil || callee.Pkg() == nil || p.Logs(call) {
			return true
		}
		if a, ok := p.outward(callee, summary.Args{Info: p.TypesInfo, Call: call}, depth+1); ok {
			found = Act{Class: a.Class, Way: append([]string{p.Facts.Hop(fn)}, a.Way...)}
		}
		return true
	})
	return found
}

// declaration is the source of a function of this package.
func (p *Pass) declaration(fn *types.Func) *ast.FuncDecl {
	if fn.Pkg() != p.Pkg {
		return nil
	}
	if p.decls == nil {
		p.decls = map[*types.Func]*ast.FuncDecl{}
		for _, file := range p.Files {
			for _, d := range file.Decls {
				if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
					if obj, ok := p.TypesInfo.Defs[decl.Name].(*types.Func); ok {
						p.decls[obj] = decl
					}
				}
			}
		}
	}
	return p.decls[fn]
}

// through is what calling an interface's method does: what one of the visible
// implementations does, or what its name says if there is none.
func (p *Pass) through(fn *types.Func, iface types.Type, depth int) Act {
	if p.standard(fn.Pkg().Path()) || aboutState(fn, iface) {
		return Act{}
	}
	name := catalogue.FuncName(fn)
	impls := p.Implementations(iface, fn.Name())
	for _, impl := range impls {
		if a, ok := p.outward(impl, nil, depth+1); ok {
			return Act{Class: a.Class, Way: append([]string{name}, a.Way...)}
		}
	}
	if len(impls) == 0 && catalogue.NamesAct(fn.Name()) {
		return Act{Class: catalogue.ThirdParty, Way: []string{name}}
	}
	return Act{}
}

// standard tells whether a package is of the standard library: a path without a dot
// that is not of the module under analysis.
func (p *Pass) standard(path string) bool {
	if p.Module != nil && (path == p.Module.Path || strings.HasPrefix(path, p.Module.Path+"/")) {
		return false
	}
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// aboutState tells whether an interface is one to a database, or to what stays in
// the process: deleting there is nothing that others see.
func aboutState(fn *types.Func, iface types.Type) bool {
	names := catalogue.Words(fn.Pkg().Name())
	if named, ok := types.Unalias(iface).(*types.Named); ok {
		names = append(names, catalogue.Words(named.Obj().Name())...)
	}
	return slices.ContainsFunc(names, func(w string) bool { return slices.Contains(stateWords, w) || slices.Contains(observers, w) })
}

var stateWords = []string{
	"repo", "repository", "repositories", "store", "stores", "storage", "dao", "queries", "querier", "db", "database", "sql", "cache", "session", "sessions", "tx",
	"transaction", "persistence", "dal", "model", "models", "ent", "iter", "iterator", "writer", "reader", "buffer", "file", "files", "fs", "registry", "index",
	"factory", "builder", "ui", "view", "window", "parser", "encoder", "decoder", "validator", "mapper",
}

// Implementations are the methods of this name of the types that implement an
// interface, as far as this package and those that it imports declare them. What is
// generated for RPCs only sends, and is none.
func (p *Pass) Implementations(iface types.Type, method string) []*types.Func {
	it, ok := iface.Underlying().(*types.Interface)
	if !ok || it.NumMethods() == 0 {
		return nil
	}
	if all, ok := p.impls[iface]; ok {
		return named(all, method, p.Pkg)
	}
	var all []types.Type
	for _, pkg := range append([]*types.Package{p.Pkg}, p.Pkg.Imports()...) {
		if p.standard(pkg.Path()) && pkg != p.Pkg {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) || StandsIn(name) {
				continue
			}
			if n, ok := tn.Type().(*types.Named); !ok || n.TypeParams().Len() > 0 {
				continue
			}
			if t := types.NewPointer(tn.Type()); types.Implements(t, it) && !wraps(tn.Type(), iface) {
				all = append(all, t)
			}
		}
	}
	if p.impls == nil {
		p.impls = map[types.Type][]types.Type{}
	}
	p.impls[iface] = all
	return named(all, method, p.Pkg)
}

// wraps tells whether a type holds another that implements the same interface: what
// that does is not seen.
func wraps(t, iface types.Type) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if types.Identical(f.Type(), iface) {
			return true
		}
	}
	return false
}

func named(all []types.Type, method string, pkg *types.Package) []*types.Func {
	var found []*types.Func
	for _, t := range all {
		obj, _, _ := types.LookupFieldOrMethod(t, true, pkg, method)
		if fn, ok := obj.(*types.Func); ok && !isRPC(fn) {
			found = append(found, fn)
		}
	}
	return found
}

// StandsIn tells whether a type stands for another in tests or by default.
func StandsIn(name string) bool {
	return slices.ContainsFunc(catalogue.Words(name), func(w string) bool {
		return w == "mock" || w == "fake" || w == "stub" || w == "noop" || w == "unimplemented" || w == "nop" || w == "dummy" || w == "null" || w == "unsafe"
	})
}

// isRPC tells whether a method takes the options of a gRPC call.
func isRPC(fn *types.Func) bool {
	sig := fn.Signature()
	if !sig.Variadic() {
		return false
	}
	slice, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return false
	}
	n, ok := types.Unalias(slice.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "CallOption"
}

// isRequest tells whether all that is known of an effect is that it is a POST.
func isRequest(a Act) bool {
	switch a.Way[len(a.Way)-1] {
	case "http.Post", "http.PostForm", "Client.Post", "Client.PostForm", "http.NewRequest", "http.NewRequestWithContext":
		return true
	}
	return false
}

// tells whether the names on the way to a POST say that it acts, and none that it
// asks: a POST alone proves nothing.
func (p *Pass) tells(fn *Function, call *ast.CallExpr, a Act) bool {
	names := append([]string{fn.Decl.Name.Name}, a.Way[:len(a.Way)-1]...)
	acts := false
	for i, name := range names {
		if typ, method, ok := strings.Cut(name, "."); ok && i > 0 {
			if catalogue.NamesRead(typ) {
				return false
			}
			name = method
		}
		if catalogue.NamesRead(name) {
			return false
		}
		acts = acts || catalogue.NamesAct(name)
	}
	if callee := summary.Callee(p.TypesInfo, call); callee != nil && catalogue.NamesRead(callee.Pkg().Name()) || catalogue.NamesRead(p.Pkg.Name()) {
		return false
	}
	return acts && !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v := p.TypesInfo.Types[arg].Value
		return v != nil && catalogue.NamesRead(strings.ReplaceAll(v.ExactString(), "api.", ""))
	})
}
