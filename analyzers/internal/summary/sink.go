package summary

import (
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"slices"
	"strings"

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
	Var    *types.Var  // the variable that it is assigned to; nil: no variable
	Name   bool        // only the name of a variable, or a text that begins with one, says that it is a key
}

// Sinks are the keys that a function body sets, in the order of the source.
func (r *Result) Sinks(info *types.Info, body ast.Node) []Sink {
	var all []Sink
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			all = append(all, r.callSinks(info, n)...)
			all = append(all, prefixSinks(info, n)...)
		case *ast.BinaryExpr:
			if startsKey(info, n.X) && Textual(info.TypeOf(n)) {
				all = append(all, Sink{Expr: n, Way: []string{keyPrefix(info, n.X)}, Name: true})
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if s, ok := variableSink(info, id); ok && len(n.Values) == len(n.Names) {
					s.Expr = n.Values[i]
					all = append(all, s)
				}
			}
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
	if fn.Pkg() == nil {
		return all
	}
	if r.Catalogue.Covers(fn.Pkg().Path()) {
		return append(all, r.pairedSinks(info, call, fn)...)
	}
	if len(all) > 0 || catalogue.IsLookup(fn.Name()) {
		return all
	}
	name := r.Hop(fn)
	params := fn.Signature().Params()
	if at, ok := givesKey(fn); ok { // WithIdempotencyKey(v)
		add(at, Sink{Way: []string{name}})
		return all
	}
	for i := range params.Len() {
		if p := params.At(i); catalogue.NamesKey(p.Name()) && Textual(p.Type()) {
			add(catalogue.Place(i), Sink{Way: []string{name, p.Name()}})
		}
	}
	return all
}

// pairedSinks are the values among arguments in pairs whose names are those of keys.
func (r *Result) pairedSinks(info *types.Info, call *ast.CallExpr, fn *types.Func) []Sink {
	var all []Sink
	for _, e := range r.Catalogue.Func(fn) {
		if !e.Pairs || call.Ellipsis.IsValid() {
			continue
		}
		for i := int(*e.At); i+1 < len(call.Args); i += 2 {
			if v := info.Types[call.Args[i]].Value; v != nil && catalogue.NamesKey(constantText(v)) {
				all = append(all, Sink{Expr: call.Args[i+1], Way: []string{constantText(v)}, Call: fn})
			}
		}
	}
	return all
}

// givesKey tells whether a function is there to be given a key, by its name, and
// which parameter it is.
func givesKey(fn *types.Func) (catalogue.Place, bool) {
	sig := fn.Signature()
	if !catalogue.SetsKey(fn.Name()) || sig.Results().Len() > 0 && Textual(sig.Results().At(0).Type()) {
		return 0, false
	}
	at, n := 0, 0
	for i := range sig.Params().Len() {
		if Textual(sig.Params().At(i).Type()) {
			at = i
			n++
		}
	}
	return catalogue.Place(at), n == 1
}

// variableSink tells whether a variable is named as a key.
func variableSink(info *types.Info, id *ast.Ident) (Sink, bool) {
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || !catalogue.NamesKey(v.Name()) || !Textual(v.Type()) {
		return Sink{}, false
	}
	return Sink{Way: []string{v.Name()}, Var: v, Name: true}, true
}

// prefixSinks is a text that is printed or joined behind the prefix of a key.
func prefixSinks(info *types.Info, call *ast.CallExpr) []Sink {
	fn := Callee(info, call)
	if fn == nil || fn.Pkg() == nil || len(call.Args) == 0 {
		return nil
	}
	first := call.Args[0]
	switch fn.FullName() {
	case "fmt.Sprintf", "fmt.Sprint":
	case "strings.Join":
		lit, ok := ast.Unparen(first).(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return nil
		}
		if v := info.Types[lit.Elts[0]].Value; v == nil || v.Kind() != constant.String || !catalogue.BeginsKey(constant.StringVal(v)+":") {
			return nil
		}
		return []Sink{{Expr: call, Way: []string{constantText(info.Types[lit.Elts[0]].Value)}, Name: true}}
	default:
		return nil
	}
	if !startsKey(info, first) {
		return nil
	}
	return []Sink{{Expr: call, Way: []string{keyPrefix(info, first)}, Name: true}}
}

// startsKey tells whether a constant is the beginning of a key.
func startsKey(info *types.Info, e ast.Expr) bool {
	v := info.Types[e].Value
	return v != nil && v.Kind() == constant.String && catalogue.BeginsKey(constant.StringVal(v))
}

func keyPrefix(info *types.Info, e ast.Expr) string {
	return catalogue.KeyPrefix(constantText(info.Types[e].Value))
}

func (r *Result) literalSinks(info *types.Info, lit *ast.CompositeLit) []Sink {
	var all []Sink
	t := types.Unalias(info.TypeOf(lit))
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element of []*T
		t = types.Unalias(p.Elem())
	}
	st, _ := t.Underlying().(*types.Struct)
	if s, ok := pairSink(info, lit, st); ok {
		return []Sink{s}
	}
	for i, elt := range lit.Elts {
		value := elt
		var name string
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			value = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok && st != nil {
				name = id.Name
			} else if v := info.Types[kv.Key].Value; v != nil && st == nil && catalogue.NamesKey(constantText(v)) {
				s := Sink{Expr: value, Way: []string{constantText(v)}, Owner: lit}
				if est, _ := encodedStruct(info.TypeOf(value)); est != nil && fieldVar(est, "StringValue") != nil {
					s.Field = "StringValue" // of a message's attribute
				}
				all = append(all, s)
			}
		} else if st != nil && i < st.NumFields() {
			name = st.Field(i).Name()
		}
		if st == nil || name == "" {
			continue
		}
		if s, ok := r.fieldSink(t, fieldVar(st, name), tagOf(st, name), info.TypeOf(value)); ok {
			s.Expr, s.Owner = value, lit
			all = append(all, s)
		}
	}
	return all
}

// pairSink is the value in a literal of a struct that holds a name and a value, as
// headers of messages do, if it names a key.
func pairSink(info *types.Info, lit *ast.CompositeLit, st *types.Struct) (Sink, bool) {
	if st == nil || st.NumFields() > 3 {
		return Sink{}, false
	}
	name := ""
	s := Sink{Owner: lit}
	for i, elt := range lit.Elts {
		field, value := "", elt
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			id, _ := kv.Key.(*ast.Ident)
			if id == nil {
				return Sink{}, false
			}
			field, value = id.Name, kv.Value
		} else if i < st.NumFields() {
			field = st.Field(i).Name()
		}
		switch strings.ToLower(field) {
		case "key", "name", "header", "field":
			if v := info.Types[value].Value; v != nil && v.Kind() == constant.String {
				name = constant.StringVal(v)
			}
			if conv, ok := value.(*ast.CallExpr); ok && len(conv.Args) == 1 && info.Types[conv.Fun].IsType() { // []byte("…")
				if v := info.Types[conv.Args[0]].Value; v != nil && v.Kind() == constant.String {
					name = constant.StringVal(v)
				}
			}
		case "value", "val":
			s.Expr = value
		}
	}
	s.Way = []string{name}
	return s, s.Expr != nil && catalogue.NamesKey(name) && Textual(info.TypeOf(s.Expr))
}

// fieldSink tells whether a field is a key: by the catalogue, or by its name.
func (r *Result) fieldSink(t types.Type, v *types.Var, tag string, value types.Type) (Sink, bool) {
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
	if !Textual(value) {
		return s, false
	}
	if catalogue.NamesKey(field) {
		return s, true
	}
	for _, kind := range []string{"json", "form", "url", "header"} { // of the name that the other side reads
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get(kind), ","); name != "" && catalogue.NamesKey(name) {
			s.Way = []string{name}
			return s, true
		}
	}
	return s, false
}

func tagOf(st *types.Struct, field string) string {
	for i := range st.NumFields() {
		if st.Field(i).Name() == field {
			return st.Tag(i)
		}
	}
	return ""
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
		owner, tag := declaring(sel), ""
		if st, ok := owner.Underlying().(*types.Struct); ok {
			tag = tagOf(st, v.Name())
		}
		s, ok := r.fieldSink(owner, v, tag, sel.Type())
		s.Owner = lhs.X
		return s, ok
	case *ast.Ident:
		return variableSink(info, lhs)
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

// Textual tells whether a value of the type can be a key: a string, bytes, or what
// UUID libraries use, or a pointer to one.
func Textual(t types.Type) bool {
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
		if sink.Name {
			continue // who calls this has no say in how it names its variables
		}
		for _, o := range f.eval(sink.Expr, sink.Result, sink.Field) {
			if o.Volatile == "" && addReach(&s.Keys, Reach{From: o.Param, Field: o.Field, Task: sink.Task, Way: slices.Clone(sink.Way)}) {
				changed = true
			}
		}
	}
	return changed
}
