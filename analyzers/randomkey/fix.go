package randomkey

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// becomes shows where the value becomes a key, if that is on another line.
func becomes(p *rule.Pass, node ast.Node, sink summary.Sink) []analysis.RelatedInformation {
	if p.Fset.Position(node.Pos()).Line == p.Fset.Position(sink.Expr.Pos()).Line {
		return nil
	}
	return []analysis.RelatedInformation{{Pos: sink.Expr.Pos(), End: sink.Expr.End(), Message: "it becomes a key here"}}
}

// runtimePath is the package whose types say what stays the same over all attempts.
const runtimePath = "github.com/idemgen/idem/runtime"

// fixes puts the key of the effect, or the ID of the work, in place of the new
// value, where the function has one.
func fixes(p *rule.Pass, fn *rule.Function, node ast.Expr) []analysis.SuggestedFix {
	if t := p.TypesInfo.TypeOf(node); t == nil || !types.Identical(t, types.Typ[types.String]) {
		return nil
	}
	for _, field := range fn.Decl.Type.Params.List {
		for _, name := range field.Names {
			text := stable(p.TypesInfo.TypeOf(field.Type), name.Name)
			if text == "" || name.Name == "_" || shadowed(p, node, name) {
				continue
			}
			return []analysis.SuggestedFix{{
				Message:   "Use " + text,
				TextEdits: []analysis.TextEdit{{Pos: node.Pos(), End: node.End(), NewText: []byte(text)}},
			}}
		}
	}
	return nil
}

// stable is the expression for the key that a value of the runtime stands for.
func stable(t types.Type, name string) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != runtimePath {
		return ""
	}
	switch named.Obj().Name() {
	case "Call", "TxCall":
		return name + ".Key()"
	case "WorkID":
		return name + ".String()"
	}
	return ""
}

// shadowed tells whether the parameter's name means something else at a node.
func shadowed(p *rule.Pass, node ast.Expr, name *ast.Ident) bool {
	scope := p.Pkg.Scope().Innermost(node.Pos())
	if scope == nil {
		return true
	}
	_, obj := scope.LookupParent(name.Name, node.Pos())
	return obj != p.TypesInfo.Defs[name]
}
