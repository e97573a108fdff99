package summary

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Const is the value of an argument that is a constant.
func (a Args) Const(p catalogue.Place) constant.Value {
	ops := operands(a.Info, a.Call, p)
	if len(ops) == 0 {
		return nil
	}
	return a.Info.Types[ops[0].expr].Value
}

func constantText(v constant.Value) string {
	if v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return v.ExactString()
}

// ElementName names the element of a map or slice at a constant index. It stands
// in brackets, so that it cannot meet the name of a field.
func ElementName(index constant.Value) string { return "[" + constantText(index) + "]" }

// Operands are the expressions that stand for a place of a call: several for a
// variadic parameter.
func Operands(info *types.Info, call *ast.CallExpr, place catalogue.Place) []ast.Expr {
	var all []ast.Expr
	for _, op := range operands(info, call, place) {
		all = append(all, op.expr)
	}
	return all
}
