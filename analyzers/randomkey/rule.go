package randomkey

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

func check(p *rule.Pass, fn *rule.Function) {
	sinks := append(p.Facts.Sinks(p.TypesInfo, fn.Decl.Body), returned(p, fn)...)
	for _, sink := range sinks {
		if sink.Var != nil && goesOn(p, sinks, sink.Var) || catalogue.NamesEntity(sink.Field) {
			continue // what it goes on to tells more; or a key that holds the ID of what is made here
		}
		if p.TypesInfo.Types[sink.Expr].Value != nil || sink.Task && p.Pkg.Name() == "main" || harmless(p, fn, sink) {
			continue
		}
		os, err := p.Flow.Origins(fn.Decl, sink.Expr, sink.Result, sink.Field)
		if err != nil {
			p.Note(fn, err)
			return
		}
		if sink.Var != nil {
			if os, err = assigned(p, fn, sinks, sink.Var, os); err != nil {
				p.Note(fn, err)
				return
			}
		}
		report(p, fn, sink, os)
	}
}

// goesOn tells whether a variable becomes a key that more than its name tells of.
func goesOn(p *rule.Pass, sinks []summary.Sink, v *types.Var) bool {
	return slices.ContainsFunc(sinks, func(s summary.Sink) bool {
		found := false
		if !s.Name {
			p.Inspect(s.Expr, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && p.TypesInfo.Uses[id] == v {
					found = true
				}
				return !found
			})
		}
		return found
	})
}

// returned is what a function returns that derives a key from its arguments, by its
// name.
func returned(p *rule.Pass, fn *rule.Function) []summary.Sink {
	obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok || !derives(obj) {
		return nil
	}
	var all []summary.Sink
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) > 0 {
				all = append(all, summary.Sink{Expr: n.Results[0], Way: []string{obj.Name()}, Name: true})
			}
		}
		return true
	})
	return all
}

// derives tells whether a function makes a key from its arguments, by its name.
func derives(fn *types.Func) bool {
	results := fn.Signature().Results()
	if !catalogue.NamesKey(fn.Name()) || catalogue.IsLookup(fn.Name()) || results.Len() == 0 || !summary.Textual(results.At(0).Type()) {
		return false
	}
	for param := range fn.Signature().Params().Variables() {
		if !rule.IsNamed(param.Type(), "context", "Context") {
			return true
		}
	}
	return false
}

// derived tells whether a value comes from a function that derives a key, which is
// reported there.
func derived(p *rule.Pass, node ast.Expr) bool {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := summary.Callee(p.TypesInfo, call)
	return fn != nil && fn.Pkg() != nil && derives(fn) && !p.Catalogue.Covers(fn.Pkg().Path()) && !rule.Abstract(fn)
}

// assigned are the origins of what is assigned to a variable, seen beside the other
// values that it gets: what is new there may be a fallback.
func assigned(p *rule.Pass, fn *rule.Function, sinks []summary.Sink, v *types.Var, own summary.Origins) (summary.Origins, error) {
	branches, settled := []summary.Origins{own}, []bool{false}
	if isParam(p, fn, v) {
		branches, settled = append(branches, nil), append(settled, false)
	}
	for _, s := range sinks {
		if s.Var != v {
			continue
		}
		os, err := p.Flow.Origins(fn.Decl, s.Expr, s.Result, "")
		if err != nil {
			return nil, err
		}
		branches, settled = append(branches, os), append(settled, p.TypesInfo.Types[s.Expr].Value != nil)
	}
	all := summary.Either(branches, settled)
	return slices.DeleteFunc(all, func(o summary.Origin) bool {
		return o.New() && !own.Has(func(of summary.Origin) bool { return of.Pos == o.Pos && of.Volatile == o.Volatile })
	}), nil
}

func isParam(p *rule.Pass, fn *rule.Function, v *types.Var) bool {
	obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok {
		return false
	}
	for param := range obj.Signature().Params().Variables() {
		if param == v {
			return true
		}
	}
	return false
}

// serves tells whether a function answers requests: what is missing in one, its
// sender has left out.
func serves(p *rule.Pass, fn *rule.Function) bool {
	for _, field := range fn.Decl.Type.Params.List {
		t := p.TypesInfo.TypeOf(field.Type)
		if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
			t = ptr.Elem()
		}
		named, ok := types.Unalias(t).(*types.Named)
		if !ok || named.Obj().Pkg() == nil {
			continue
		}
		path := named.Obj().Pkg().Path()
		switch name := named.Obj().Name(); {
		case path == "net/http" && name == "ResponseWriter", name == "Context" && (strings.HasSuffix(path, "/gin") || strings.Contains(path, "/echo")),
			(name == "Ctx" || name == "RequestCtx") && (strings.Contains(path, "fiber") || strings.Contains(path, "fasthttp")):
			return true
		}
	}
	return false
}

func report(p *rule.Pass, fn *rule.Function, sink summary.Sink, os summary.Origins) {
	inbound := serves(p, fn) || os.Has(func(o summary.Origin) bool { return o.Volatile == catalogue.Inbound })
	for _, o := range os {
		if !o.New() || o.Entity || o.Partial && inbound || identifies(p, fn, o) {
			continue
		}
		message := "key is new on every attempt"
		if o.Partial {
			message = "key is new on every attempt where none is given"
		}
		var node ast.Expr = sink.Expr
		if call := fn.CallAt(o.Pos); call != nil {
			node = call
		}
		if derived(p, node) {
			continue
		}
		p.Report(fn, rule.Finding{
			Node: node, Source: o.Pos, Message: message,
			Way:     append(slices.Clone(o.Way), sink.Way...),
			Advice:  "derive it from the work ID",
			Related: becomes(p, node, sink),
			Fixes:   fixes(p, fn, node),
		})
	}
}

// identifies tells whether the value is also the ID of something that the function
// makes: then whoever retries makes another thing, and its key must differ.
func identifies(p *rule.Pass, fn *rule.Function, o summary.Origin) bool {
	names, err := p.Flow.Uses(fn.Decl, o.Pos)
	if err != nil {
		p.Note(fn, err)
		return true
	}
	return slices.ContainsFunc(names, catalogue.NamesEntity)
}

// harmless tells whether the key is for an operation that may be repeated: it is
// an argument of one, or part of the options that are handed to one.
func harmless(p *rule.Pass, fn *rule.Function, sink summary.Sink) bool {
	owner := owners(p, fn, sink)
	safe := false
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !takes(p, call, sink, owner) {
			return true
		}
		s := p.Facts.Of(summary.Callee(p.TypesInfo, call), summary.Args{Info: p.TypesInfo, Call: call})
		if s != nil && len(s.Effects) > 0 {
			safe = !slices.ContainsFunc(s.Effects, func(e summary.Effect) bool { return !e.Safe || !e.Class.Outward() })
		}
		return true
	})
	return safe
}

// owners are the variables that hold the options which the key is part of.
func owners(p *rule.Pass, fn *rule.Function, sink summary.Sink) []types.Object {
	if sink.Owner == nil {
		return nil
	}
	if id, ok := ast.Unparen(sink.Owner).(*ast.Ident); ok {
		return []types.Object{p.TypesInfo.ObjectOf(id)}
	}
	var all []types.Object
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, rhs := range a.Rhs {
				if id, ok := a.Lhs[i].(*ast.Ident); ok && contains(rhs, sink.Owner) {
					all = append(all, p.TypesInfo.ObjectOf(id))
				}
			}
		}
		return true
	})
	return all
}

// takes tells whether a call has the key or its owner among its arguments.
func takes(p *rule.Pass, call *ast.CallExpr, sink summary.Sink, owner []types.Object) bool {
	for _, arg := range call.Args {
		if _, lit := arg.(*ast.FuncLit); !lit && contains(arg, sink.Expr) {
			return true
		}
		if u, ok := arg.(*ast.UnaryExpr); ok {
			arg = u.X
		}
		if id, ok := ast.Unparen(arg).(*ast.Ident); ok && slices.Contains(owner, p.TypesInfo.ObjectOf(id)) {
			return true
		}
	}
	return false
}

func contains(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
