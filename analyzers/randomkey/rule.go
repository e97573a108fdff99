package randomkey

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

func check(p *rule.Pass, fn *rule.Function) {
	for _, sink := range p.Facts.Sinks(p.TypesInfo, fn.Decl.Body) {
		if p.TypesInfo.Types[sink.Expr].Value != nil || sink.Task && p.Pkg.Name() == "main" || harmless(p, fn, sink) {
			continue
		}
		os, err := p.Flow.Origins(fn.Decl, sink.Expr, sink.Result, sink.Field)
		if err != nil {
			p.Note(fn, err)
			return
		}
		report(p, fn, sink, os)
	}
}

func report(p *rule.Pass, fn *rule.Function, sink summary.Sink, os summary.Origins) {
	inbound := os.Has(func(o summary.Origin) bool { return o.Volatile == catalogue.Inbound })
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
			safe = !slices.ContainsFunc(s.Effects, func(e summary.Effect) bool { return !e.Safe })
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
