package summary

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Sink is an expression whose value becomes a key.
type Sink struct {
	Expr   ast.Expr
	Result int         // which result of Expr, if it has several
	Field  string      // of the value: a callee uses that field of it as the key
	Way    []string    // from here to the key, as messages name it
	Owner  ast.Expr    // the composite literal that the key is a field of, or the variable; nil: an argument
	Call   *types.Func // whose argument it is; nil: a field
	Task   bool        // a task or workflow ID
}

// Sinks are the keys that a function body sets, in the order of the source.
func (r *Result) Sinks(info *types.Info, body ast.Node) []Sink {
	var all []Sink
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			all = append(all, r.callSinks(info, n)...)
		case *ast.CompositeLit:
			all = append(all, r.literalSinks(info, n)...)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				s, ok := r.targetSink(info, lhs)
				if !ok {
					continue
				}
				if len(n.Rhs) == len(n.Lhs) {
					s.Expr = n.Rhs[i]
				} else {
					s.Expr, s.Result = n.Rhs[0], i
				}
				all = append(all, s)
			}
		}
		return true
	})
	return all
}

func (r *Result) callSinks(info *types.Info, call *ast.CallExpr) []Sink {
	fn := Callee(info, call)
	if fn == nil {
		return nil
	}
	var all []Sink
	add := func(p catalogue.Place, s Sink) {
		for _, op := range operands(info, call, p) {
			s.Expr, s.Result, s.Call = op.expr, op.result, fn
			all = append(all, s)
		}
	}
	if s := r.Of(fn, Args{info, call}); s != nil {
		for _, k := range s.Keys {
			way := k.Way
			if hop := r.Hop(fn); hop != "" {
				way = append([]string{hop}, way...)
			}
			add(k.From, Sink{Field: k.Field, Way: way, Task: k.Task})
		}
	}
	if len(all) > 0 || fn.Pkg() == nil || r.Catalogue.Covers(fn.Pkg().Path()) || catalogue.IsLookup(fn.Name()) {
		return all
	}
	name := r.Hop(fn)
	params := fn.Signature().Params()
	for i := range params.Len() {
		if p := params.At(i); catalogue.NamesKey(p.Name()) && textual(p.Type()) {
			add(catalogue.Place(i), Sink{Way: []string{name, p.Name()}})
		}
	}
	return all
}

func (r *Result) literalSinks(info *types.Info, lit *ast.CompositeLit) []Sink {
	var all []Sink
	t := types.Unalias(info.TypeOf(lit))
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element of []*T
		t = types.Unalias(p.Elem())
	}
	st, _ := t.Underlying().(*types.Struct)
	for i, elt := range lit.Elts {
		value := elt
		var name string
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			value = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok && st != nil {
				name = id.Name
			} else if v := info.Types[kv.Key].Value; v != nil && st == nil && catalogue.NamesKey(constantText(v)) {
				all = append(all, Sink{Expr: value, Way: []string{constantText(v)}, Owner: lit})
			}
		} else if st != nil && i < st.NumFields() {
			name = st.Field(i).Name()
		}
		if st == nil || name == "" {
			continue
		}
		if s, ok := r.fieldSink(t, fieldVar(st, name), info.TypeOf(value)); ok {
			s.Expr, s.Owner = value, lit
			all = append(all, s)
		}
	}
	return all
}

// fieldSink tells whether a field is a key: by the catalogue, or by its name.
func (r *Result) fieldSink(t types.Type, v *types.Var, value types.Type) (Sink, bool) {
	if v == nil {
		return Sink{}, false
	}
	field := v.Name()
	s := Sink{Way: []string{field}}
	if f := r.Field(v); f != nil && f.Key {
		s.Way = []string{FieldText(t, field)}
		return s, true
	}
	if named, ok := t.(*types.Named); ok {
		for _, e := range r.Catalogue.Field(named.Obj(), field) {
			if e.Kind == catalogue.Key {
				s.Task = e.Task
				s.Way = []string{named.Obj().Name() + "." + field}
				return s, true
			}
		}
	}
	return s, catalogue.NamesKey(field) && textual(value)
}

func fieldVar(st *types.Struct, name string) *types.Var {
	for f := range st.Fields() {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

// targetSink tells whether what is assigned to becomes a key: a field or a map
// element.
func (r *Result) targetSink(info *types.Info, lhs ast.Expr) (Sink, bool) {
	switch lhs := ast.Unparen(lhs).(type) {
	case *ast.SelectorExpr:
		sel := info.Selections[lhs]
		if sel == nil || sel.Kind() != types.FieldVal {
			return Sink{}, false
		}
		v, _ := sel.Obj().(*types.Var)
		s, ok := r.fieldSink(declaring(sel), v, sel.Type())
		s.Owner = lhs.X
		return s, ok
	case *ast.IndexExpr:
		if _, isMap := types.Unalias(info.TypeOf(lhs.X)).Underlying().(*types.Map); !isMap {
			return Sink{}, false
		}
		v := info.Types[lhs.Index].Value
		if v == nil || !catalogue.NamesKey(constantText(v)) {
			return Sink{}, false
		}
		return Sink{Way: []string{constantText(v)}, Owner: lhs.X}, true
	}
	return Sink{}, false
}

// declaring is the type that declares the selected field, which may be embedded in
// the type of the operand.
func declaring(sel *types.Selection) types.Type {
	t := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		if st, ok := deref(t).Underlying().(*types.Struct); ok {
			t = st.Field(i).Type()
		}
	}
	return deref(t)
}

func deref(t types.Type) types.Type {
	t = types.Unalias(t)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return types.Unalias(p.Elem())
	}
	return t
}

// textual tells whether a value of the type can be a key: a string, bytes, or what
// UUID libraries use, or a pointer to one.
func textual(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := deref(t).Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return isByte(u.Elem())
	case *types.Array:
		return isByte(u.Elem())
	}
	return false
}

func isByte(t types.Type) bool {
	b, ok := types.Unalias(t).Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

// reachKeys records which parameters become keys.
func (f *function) reachKeys(s *Func) bool {
	changed := false
	for _, sink := range f.Sinks(f.info, f.decl.Body) {
		for _, o := range f.eval(sink.Expr, sink.Result, sink.Field) {
			if o.Volatile == "" && addReach(&s.Keys, Reach{From: o.Param, Field: o.Field, Task: sink.Task, Way: slices.Clone(sink.Way)}) {
				changed = true
			}
		}
	}
	return changed
}
