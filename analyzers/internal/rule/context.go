package rule

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Context is what the code around a value says that it is for: the names under
// which it goes on in its function.
type Context struct {
	Names    []string // of variables, fields, parameters, map keys and functions that it reaches, sorted
	Returned bool     // it is part of what the declared function returns
	Hashed   bool     // it goes through a hash
	Keyed    bool     // it becomes a key by the catalogue, a fact or a directive
}

// Key tells whether any of the names says that the value decides whether two
// things are the same. A value that is returned is named by the function, its
// receiver, its package and its comments.
func (c Context) Key() bool {
	return c.Keyed || slices.ContainsFunc(c.Names, catalogue.NamesKeyContext)
}

// Says tells whether one of the names contains one of the words.
func (c Context) Says(words ...string) bool {
	return slices.ContainsFunc(c.Names, func(name string) bool { return says(name, words...) })
}

func says(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// Context follows a value forward by syntax: through expressions, variables, calls
// that pass it on, and writes into hashes and builders.
func (p *Pass) Context(fn *Function, e ast.Expr) Context {
	w := &forward{Pass: p, fn: fn, parents: fn.parentMap(), seen: map[ast.Node]bool{}, vars: map[types.Object]bool{}}
	w.value(e)
	if w.Returned {
		w.add(p.functionNames(fn)...)
	}
	slices.Sort(w.Names)
	w.Names = slices.Compact(w.Names)
	return w.Context
}

// functionNames are the names that speak of what a function returns.
func (p *Pass) functionNames(fn *Function) []string {
	names := []string{fn.Decl.Name.Name}
	if listed(p.TypesInfo, fn) {
		return slices.DeleteFunc(names, func(name string) bool { return !says(name, "key", "hash", "fingerprint") })
	}
	if results := fn.Decl.Type.Results; results != nil {
		for _, field := range results.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	if says(fn.Decl.Name.Name, "key", "hash", "digest", "sum", "generate") { // dedup.Key
		names = append(names, p.Pkg.Name())
	}
	if obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func); ok {
		recv, _, _ := strings.Cut(catalogue.FuncName(obj), ".")
		names = append(names, recv)
	}
	if !givesText(p.TypesInfo, fn) {
		return names
	}
	for _, group := range fn.File.Comments {
		doc := fn.Decl.Doc == group
		if !doc && p.Fset.Position(fn.Decl.End()).Line-p.Fset.Position(fn.Decl.Pos()).Line > maxCommented {
			continue
		}
		if !doc && (group.Pos() < fn.Decl.Pos() || group.End() > fn.Decl.End()+1 && !sameLine(p.Fset, group, fn.Decl)) {
			continue
		}
		for word := range strings.FieldsSeq(group.Text()) {
			if catalogue.NamesKeyContext(word) && !says(word, "idempotent", "deduplic") {
				names = append(names, word)
			}
		}
	}
	return names
}

// listed tells whether a function returns a list or map first, which is no key but
// what has been rid of duplicates, say.
func listed(info *types.Info, fn *Function) bool {
	obj, ok := info.Defs[fn.Decl.Name].(*types.Func)
	if !ok || obj.Signature().Results().Len() == 0 {
		return false
	}
	t := obj.Signature().Results().At(0).Type()
	switch types.Unalias(t).Underlying().(type) {
	case *types.Slice, *types.Map:
		return !summary.Textual(t)
	}
	return false
}

// maxCommented is how many lines a function has at most of which a comment in it
// speaks as a whole.
const maxCommented = 20

// givesText tells whether a function returns first what may be a key: text, bytes or
// a number. What comments say of another is about something else.
func givesText(info *types.Info, fn *Function) bool {
	obj, ok := info.Defs[fn.Decl.Name].(*types.Func)
	if !ok || obj.Signature().Results().Len() == 0 {
		return false
	}
	t := obj.Signature().Results().At(0).Type()
	b, ok := types.Unalias(t).Underlying().(*types.Basic)
	return summary.Textual(t) || ok && b.Info()&types.IsInteger != 0
}

func sameLine(fset *token.FileSet, a, b ast.Node) bool {
	return fset.PositionFor(a.Pos(), false).Line == fset.PositionFor(b.End(), false).Line
}

// parentMap is made when first needed.
func (fn *Function) parentMap() map[ast.Node]ast.Node {
	if fn.parents != nil {
		return fn.parents
	}
	fn.parents = map[ast.Node]ast.Node{}
	var stack []ast.Node
	ast.Inspect(fn.Decl, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			fn.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	return fn.parents
}

// Parent is the node that a node of the function is part of.
func (fn *Function) Parent(n ast.Node) ast.Node { return fn.parentMap()[n] }

// forward is one question.
type forward struct {
	*Pass
	Context
	fn      *Function
	parents map[ast.Node]ast.Node
	seen    map[ast.Node]bool
	vars    map[types.Object]bool
}

func (w *forward) add(names ...string) { w.Names = append(w.Names, names...) }

// value goes on from an expression to what it is part of.
func (w *forward) value(e ast.Node) {
	if e == nil || w.seen[e] || len(w.seen) > 1000 {
		return
	}
	w.seen[e] = true
	switch parent := w.parents[e].(type) {
	case *ast.ParenExpr, *ast.SliceExpr, *ast.StarExpr, *ast.UnaryExpr, *ast.TypeAssertExpr:
		w.value(parent)
	case *ast.IndexExpr:
		if parent.X == e {
			w.value(parent)
		}
	case *ast.BinaryExpr:
		if parent.Op == token.ADD {
			w.value(parent)
		}
	case *ast.SelectorExpr:
		if call, ok := w.parents[parent].(*ast.CallExpr); ok && call.Fun == parent {
			w.argument(call, catalogue.Recv)
		} else if parent.X == e {
			w.value(parent)
		}
	case *ast.CallExpr:
		w.call(parent, e)
	case *ast.KeyValueExpr:
		w.keyValue(parent, e)
	case *ast.CompositeLit:
		w.element(parent, e)
	case *ast.AssignStmt:
		w.assign(parent, e)
	case *ast.ValueSpec:
		for i, v := range parent.Values {
			if v == e && i < len(parent.Names) {
				w.target(parent.Names[i])
			}
		}
	case *ast.RangeStmt:
		if parent.X == e {
			for _, v := range []ast.Expr{parent.Key, parent.Value} {
				if v != nil {
					w.target(v)
				}
			}
		}
	case *ast.ReturnStmt:
		w.returned(parent)
	}
}

// returned goes on to the function, or to the variable that holds the literal that
// the statement is in.
func (w *forward) returned(ret ast.Node) {
	for n := w.parents[ret]; n != nil; n = w.parents[n] {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.value(n)
			return
		case *ast.FuncDecl:
			w.Returned = true
			return
		}
	}
}

func (w *forward) assign(a *ast.AssignStmt, e ast.Node) {
	for i, rhs := range a.Rhs {
		if rhs != e {
			continue
		}
		if len(a.Rhs) == len(a.Lhs) {
			w.target(a.Lhs[i])
		} else {
			w.target(a.Lhs[0])
		}
	}
}

// target goes on from what is assigned to.
func (w *forward) target(lhs ast.Expr) {
	switch lhs := ast.Unparen(lhs).(type) {
	case *ast.Ident:
		if lhs.Name != "_" {
			w.add(lhs.Name)
			w.uses(w.TypesInfo.ObjectOf(lhs))
		}
	case *ast.SelectorExpr:
		w.add(lhs.Sel.Name)
		if v, ok := w.TypesInfo.ObjectOf(lhs.Sel).(*types.Var); ok {
			f := w.Facts.Field(v)
			w.Keyed = w.Keyed || f != nil && f.Key
		}
	case *ast.IndexExpr:
		if v := w.TypesInfo.Types[lhs.Index].Value; v != nil {
			w.add(strings.Trim(v.ExactString(), `"`))
		}
		w.target(lhs.X)
	case *ast.StarExpr:
		w.target(lhs.X)
	}
}

// uses goes on from each use of a local variable.
func (w *forward) uses(obj types.Object) {
	v, ok := obj.(*types.Var)
	if !ok || w.vars[obj] || v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return
	}
	w.vars[obj] = true
	for _, id := range w.fn.uses(w.TypesInfo)[obj] {
		w.value(id)
	}
	results := w.fn.Decl.Type.Results
	if results != nil && results.Pos() <= v.Pos() && v.Pos() < results.End() {
		w.Returned = true // a named result
	}
}

func (w *forward) keyValue(kv *ast.KeyValueExpr, e ast.Node) {
	if kv.Value != e {
		return
	}
	if id, ok := kv.Key.(*ast.Ident); ok {
		w.add(id.Name)
	} else if v := w.TypesInfo.Types[kv.Key].Value; v != nil {
		w.add(strings.Trim(v.ExactString(), `"`))
	}
	if lit, ok := w.parents[kv].(*ast.CompositeLit); ok && !w.isStruct(lit) {
		w.value(lit)
	}
}

func (w *forward) element(lit *ast.CompositeLit, e ast.Node) {
	if !w.isStruct(lit) {
		w.value(lit)
		return
	}
	st := types.Unalias(w.TypesInfo.TypeOf(lit)).Underlying().(*types.Struct)
	for i, elt := range lit.Elts {
		if elt == e && i < st.NumFields() {
			w.add(st.Field(i).Name())
		}
	}
}

func (w *forward) isStruct(lit *ast.CompositeLit) bool {
	t := w.TypesInfo.TypeOf(lit)
	if t == nil {
		return false
	}
	_, ok := types.Unalias(t).Underlying().(*types.Struct)
	return ok
}

func (w *forward) call(call *ast.CallExpr, e ast.Node) {
	if tv := w.TypesInfo.Types[call.Fun]; tv.IsType() {
		w.value(call)
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if _, builtin := w.TypesInfo.ObjectOf(id).(*types.Builtin); builtin {
			if id.Name == "append" || id.Name == "min" || id.Name == "max" {
				w.value(call)
			}
			return
		}
	}
	for i, arg := range call.Args {
		if arg == e {
			w.argument(call, w.place(call, i))
		}
	}
}

// place is the parameter that an argument goes to.
func (w *forward) place(call *ast.CallExpr, i int) catalogue.Place {
	if sig, ok := types.Unalias(w.TypesInfo.TypeOf(call.Fun)).Underlying().(*types.Signature); ok && sig.Variadic() {
		i = min(i, sig.Params().Len()-1)
	}
	return catalogue.Place(i)
}

// argument goes on from what is passed to a call.
func (w *forward) argument(call *ast.CallExpr, at catalogue.Place) {
	fn := summary.Callee(w.TypesInfo, call)
	if fn == nil {
		return
	}
	if params := fn.Signature().Params(); at >= 0 && int(at) < params.Len() && !w.Catalogue.Covers(fn.Pkg().Path()) {
		w.add(params.At(int(at)).Name(), fn.Name())
	}
	s := w.Facts.Of(fn, summary.Args{Info: w.TypesInfo, Call: call})
	if s == nil {
		return
	}
	for _, k := range s.Keys {
		if k.From == at {
			w.Keyed = true
			w.add(k.Way...)
		}
	}
	for _, h := range s.Hashes {
		w.Hashed = w.Hashed || h.From == at
	}
	for _, l := range s.Flow {
		if l.From != at {
			continue
		}
		w.Hashed = w.Hashed || l.Hashed
		if l.ToField != "" {
			w.add(l.ToField)
			continue
		}
		if _, result := l.To.IsResult(); result {
			w.value(call)
			continue
		}
		for _, target := range summary.Operands(w.TypesInfo, call, l.To) {
			w.into(target)
		}
	}
}

// into goes on from what a call writes into.
func (w *forward) into(e ast.Expr) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.UnaryExpr:
			e = x.X
		case *ast.Ident:
			w.add(x.Name)
			w.uses(w.TypesInfo.ObjectOf(x))
			return
		default:
			return
		}
	}
}

// KeyName is the name that says that the value is a key.
func (c Context) KeyName() string {
	for _, name := range c.Names {
		if catalogue.NamesKeyContext(name) {
			return name
		}
	}
	return "key"
}
