package summary

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"
)

// argument is where an argument comes from; one that is encoded with all its
// exported fields brings in what those fields hold.
func (f *function) argument(op operand, field string, encoded bool) Origins {
	if !encoded || field != "" {
		return f.eval(op.expr, op.result, field)
	}
	st, name := encodedStruct(f.info.TypeOf(op.expr))
	if st == nil {
		return f.encodedWhole(op)
	}
	set := f.fieldsSet(op.expr)
	var all Origins
	for i := range st.NumFields() {
		v := st.Field(i)
		if !encodes(v, st.Tag(i)) {
			continue
		}
		for _, o := range f.eval(op.expr, op.result, v.Name()) {
			if o.Volatile == "" && o.Field == v.Name() {
				o.Field, o.Encoded = "", true // the parameter itself is what is encoded, once
			}
			all.Add(o)
		}
		if kind := f.Volatile(v); kind != "" && (set == nil || set[v.Name()]) {
			all.Add(Origin{Volatile: kind, Pos: op.expr.Pos(), Encoded: true, Way: []string{FieldText(name, v.Name())}})
		}
	}
	return all
}

// encodedWhole is a value that may hold a struct: who passes it in knows.
func (f *function) encodedWhole(op operand) Origins {
	os := f.eval(op.expr, op.result, "")
	if t := f.info.TypeOf(op.expr); t == nil || !types.IsInterface(t) {
		return os
	}
	var all Origins
	for _, o := range os {
		o.Encoded = o.Encoded || o.Volatile == ""
		all.Add(o)
	}
	return all
}

// encodedStruct is the struct that a value is or points to, and its type.
func encodedStruct(t types.Type) (*types.Struct, types.Type) {
	if t == nil {
		return nil, nil
	}
	t = deref(t)
	st, _ := t.Underlying().(*types.Struct)
	return st, t
}

// encodes tells whether encoders write a field.
func encodes(v *types.Var, tag string) bool {
	if !v.Exported() {
		return false
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name != "-"
}

// fieldsSet are the fields that a literal sets, if the value is a literal or a
// variable that holds one; nil if that cannot be said.
func (f *function) fieldsSet(e ast.Expr) map[string]bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(u.X)
	}
	set := map[string]bool{}
	if id, ok := e.(*ast.Ident); ok {
		v, _ := f.object(id).(*types.Var)
		var literal ast.Expr
		for _, d := range f.defs[v] {
			switch {
			case d.field != "":
				set[d.field] = true
			case literal == nil && d.whole:
				literal = ast.Unparen(d.expr)
			default:
				return nil
			}
		}
		if u, ok := literal.(*ast.UnaryExpr); ok {
			literal = ast.Unparen(u.X)
		}
		e = literal
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		if id, ok := kv.Key.(*ast.Ident); ok {
			set[id.Name] = true
		}
	}
	return set
}

// FieldText names a field in messages: Type.Field.
func FieldText(t types.Type, field string) string {
	if named, ok := deref(t).(*types.Named); ok {
		return named.Obj().Name() + "." + field
	}
	return field
}

// Origins is where the value of an expression in a function of this package comes
// from, without regard to the order of assignments. Package valueflow knows more.
func (r *Result) Origins(fn *types.Func, e ast.Expr, result int, field string) Origins {
	if r.engine == nil {
		return nil
	}
	r.engine.evalMu.Lock()
	defer r.engine.evalMu.Unlock()
	f := r.engine.byObj[fn]
	if f == nil || f.broken {
		return nil
	}
	f.steps = 0
	return f.eval(e, result, field)
}

// Encoded is like Origins for a value that is encoded with all its fields.
func (r *Result) Encoded(fn *types.Func, e ast.Expr) Origins {
	if r.engine == nil {
		return nil
	}
	r.engine.evalMu.Lock()
	defer r.engine.evalMu.Unlock()
	f := r.engine.byObj[fn]
	if f == nil || f.broken {
		return nil
	}
	f.steps = 0
	return f.argument(operand{expr: e}, "", true)
}
