package retry

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// ofClient looks at a call that a library repeats: always, or because the package
// has told its clients to.
func ofClient(p *rule.Pass, fn *rule.Function, call *ast.CallExpr, said voice) (Retry, bool) {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || !p.Catalogue.Covers(callee.Pkg().Path()) || said != acts {
		return Retry{}, false
	}
	act, ok := p.Effect(call)
	if !ok || len(act.Way) != 1 || speaks(p, fn, fn.Decl.Name.Name) != acts || constantsRead(p, call) {
		return Retry{}, false
	}
	path := callee.Pkg().Path()
	o := p.Once("clients of "+path, func() any { return options(p, path) }).(clientOptions)
	for _, e := range p.Catalogue.Func(callee) {
		if e.Kind == catalogue.Retry && e.Itself && e.Holds(summary.Args{Info: p.TypesInfo, Call: call}) {
			o.set, o.name = true, path[strings.LastIndexByte(path, '/')+1:]
		}
	}
	if !o.set || o.off {
		return Retry{}, false
	}
	return Retry{Node: call, Body: call, Act: act, Name: o.name, Bounded: true, Once: true}, true
}

// clientOptions are what a package tells the clients of a library.
type clientOptions struct {
	name string // of what has them send again
	set  bool
	off  bool // how often is set to 0
}

// options are what in this package has the clients of a library send again, by the
// catalogue.
func options(p *rule.Pass, path string) (o clientOptions) {
	zero := func(e ast.Expr) bool {
		v := p.TypesInfo.Types[e].Value
		return v != nil && constant.Compare(constant.ToInt(v), token.EQL, constant.MakeInt64(0))
	}
	field := func(v *types.Var, owner types.Type, value ast.Expr) {
		if ptr, ok := types.Unalias(owner).(*types.Pointer); ok {
			owner = ptr.Elem()
		}
		named, ok := types.Unalias(owner).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != path {
			return
		}
		for _, e := range p.Catalogue.Field(named.Obj(), v.Name()) {
			if e.Kind == catalogue.Retry && e.Clients {
				o.name, o.set, o.off = named.Obj().Name()+"."+v.Name(), o.set || !zero(value), o.off || zero(value)
			}
		}
	}
	for _, file := range p.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				callee := summary.Callee(p.TypesInfo, n)
				if callee == nil || callee.Pkg() == nil || callee.Pkg().Path() != path {
					return true
				}
				for _, e := range p.Catalogue.Func(callee) {
					if e.Kind == catalogue.Retry && e.Clients && optional(e, summary.Args{Info: p.TypesInfo, Call: n}) {
						o.name, o.set = catalogue.FuncName(callee), true
					}
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
					if !ok || len(n.Lhs) != len(n.Rhs) {
						continue
					}
					if v, ok := p.TypesInfo.ObjectOf(sel.Sel).(*types.Var); ok && v.IsField() {
						field(v, p.TypesInfo.TypeOf(sel.X), n.Rhs[i])
					}
				}
			case *ast.CompositeLit:
				for _, elt := range n.Elts {
					if kv, ok := elt.(*ast.KeyValueExpr); ok {
						if id, ok := kv.Key.(*ast.Ident); ok {
							if v, ok := p.TypesInfo.ObjectOf(id).(*types.Var); ok && v.IsField() {
								field(v, p.TypesInfo.TypeOf(n), kv.Value)
							}
						}
					}
				}
			}
			return true
		})
	}
	return o
}

// optional tells whether an option is given: one that is no constant may be anything
// but is there to be something.
func optional(e *catalogue.Entry, args summary.Args) bool {
	for _, c := range e.When {
		if args.Const(c.Arg) == nil {
			return true
		}
	}
	return e.Holds(args)
}
