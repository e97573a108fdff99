package summary

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// function is one function declaration with what it does to its variables.
type function struct {
	*engine
	obj       *types.Func
	decl      *ast.FuncDecl
	callees   []*function // of this package, in the order of the source
	recursive bool
	broken    bool // nothing can be said of it

	params  map[*types.Var]catalogue.Place
	defs    map[*types.Var][]def
	writers map[*types.Var][]writer
	calls   []*ast.CallExpr
	choices []ast.Node // what is run on some paths only
	returns []*ast.ReturnStmt
	results []*types.Var

	memo  map[place]Origins
	steps int
}

// def is one assignment to a variable, or to a field or element of it.
type def struct {
	field  string // empty: to the variable, or to an element without a name
	whole  bool   // replaces the value rather than adding to it
	expr   ast.Expr
	result int
}

// writer is a call that may write into a variable, or into a field of it: by its
// receiver, or by an argument.
type writer struct {
	call  *ast.CallExpr
	at    catalogue.Place
	field string
}

// place is what an evaluation is about: a variable, or a field of it.
type place struct {
	v     *types.Var
	field string
}

func (f *function) collect() {
	f.params, f.defs, f.writers = map[*types.Var]catalogue.Place{}, map[*types.Var][]def{}, map[*types.Var][]writer{}
	sig := f.obj.Signature()
	if r := sig.Recv(); r != nil {
		f.params[r] = catalogue.Recv
	}
	for i := range sig.Params().Len() {
		f.params[sig.Params().At(i)] = catalogue.Place(i)
	}
	for i := range sig.Results().Len() {
		f.results = append(f.results, sig.Results().At(i))
	}
	f.walk(f.decl.Body, false)
	f.passOn()
}

// passOn has what is written into an encoder or a buffered writer be written into
// what that writes into: enc := json.NewEncoder(h).
func (f *function) passOn() {
	var vars []*types.Var
	for v, ds := range f.defs {
		if len(ds) == 1 && len(f.writers[v]) > 0 {
			vars = append(vars, v)
		}
	}
	slices.SortFunc(vars, func(a, b *types.Var) int { return cmp.Compare(b.Pos(), a.Pos()) }) // what is made last is written into first
	for _, v := range vars {
		ds := f.defs[v]
		if target, field, _ := f.root(f.writesInto(ds[0].expr)); target != nil && target != v {
			for _, w := range f.writers[v] {
				f.writers[target] = append(f.writers[target], writer{w.call, w.at, field})
			}
		}
	}
}

// writesInto is what an encoder or buffered writer made here writes into, or nil.
func (f *function) writesInto(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	fn := f.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Name() != "NewEncoder" && fn.Name() != "NewWriter" || !f.Catalogue.Covers(fn.Pkg().Path()) {
		return nil
	}
	return call.Args[0]
}

// walk visits statements; what a function literal returns is not returned by f.
func (f *function) walk(n ast.Node, inLiteral bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.walk(n.Body, true)
			return false
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.ForStmt:
			f.choices = append(f.choices, n)
		case *ast.ReturnStmt:
			if !inLiteral {
				f.returns = append(f.returns, n)
			}
		case *ast.AssignStmt:
			f.assignment(n)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				f.assign(name, n.Values, i, len(n.Names), true)
			}
		case *ast.RangeStmt:
			for _, lhs := range []ast.Expr{n.Key, n.Value} {
				if lhs != nil {
					f.assignOne(lhs, def{expr: n.X, whole: true})
				}
			}
		case *ast.TypeSwitchStmt:
			f.typeSwitch(n)
		case *ast.CallExpr:
			f.call(n)
		}
		return true
	})
}

func (f *function) assignment(n *ast.AssignStmt) {
	whole := n.Tok == token.ASSIGN || n.Tok == token.DEFINE
	for i, lhs := range n.Lhs {
		f.assign(lhs, n.Rhs, i, len(n.Lhs), whole)
	}
}

func (f *function) assign(lhs ast.Expr, rhs []ast.Expr, i, n int, whole bool) {
	switch {
	case len(rhs) == n:
		f.assignOne(lhs, def{expr: rhs[i], whole: whole})
	case len(rhs) == 1:
		f.assignOne(lhs, def{expr: rhs[0], result: i, whole: whole})
	}
}

func (f *function) assignOne(lhs ast.Expr, d def) {
	v, field, whole := f.root(lhs)
	if v == nil {
		return
	}
	d.field, d.whole = field, d.whole && whole
	f.defs[v] = append(f.defs[v], d)
}

// typeSwitch treats the variable of each clause as the value switched on.
func (f *function) typeSwitch(n *ast.TypeSwitchStmt) {
	assign, ok := n.Assign.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return
	}
	for _, clause := range n.Body.List {
		if v, ok := f.info.Implicits[clause].(*types.Var); ok {
			f.defs[v] = append(f.defs[v], def{expr: assign.Rhs[0], whole: true})
		}
	}
}

func (f *function) call(n *ast.CallExpr) {
	f.calls = append(f.calls, n)
	fn := f.callee(n)
	if fn == nil {
		return
	}
	if g := f.byObj[fn]; g != nil {
		f.callees = append(f.callees, g)
		f.recursive = f.recursive || g == f
	}
	places := []catalogue.Place{}
	sig := fn.Signature()
	if sig.Recv() != nil {
		places = append(places, catalogue.Recv)
	}
	for i := range sig.Params().Len() {
		places = append(places, catalogue.Place(i))
	}
	for _, p := range places {
		for _, op := range operands(f.info, n, p) {
			if !writable(f.info.TypeOf(op.expr), p) {
				continue
			}
			if v, field, _ := f.root(op.expr); v != nil {
				f.writers[v] = append(f.writers[v], writer{n, p, field})
			}
		}
	}
}

// writable tells whether a callee can write into an argument of this type. A
// receiver's address may be taken.
func writable(t types.Type, p catalogue.Place) bool {
	if t == nil {
		return false
	}
	if p == catalogue.Recv {
		return true
	}
	switch types.Unalias(t).Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	}
	return false
}

// root is the variable that an expression is, or is part of. whole: it is all of
// the variable, or all of the field.
func (f *function) root(e ast.Expr) (v *types.Var, field string, whole bool) {
	whole = true
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.CallExpr: // json.NewEncoder(h).Encode(x)
			e = f.writesInto(x)
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil, "", false
			}
			e = x.X
		case *ast.SliceExpr:
			e, whole = x.X, false
		case *ast.IndexExpr:
			whole = false
			if key := f.keyText(x.Index); key != "" {
				field = key
			}
			e = x.X
		case *ast.SelectorExpr:
			sel := f.info.Selections[x]
			if sel == nil || sel.Kind() != types.FieldVal {
				return nil, "", false
			}
			field, e = x.Sel.Name, x.X
		case *ast.Ident:
			v, _ = f.object(x).(*types.Var)
			if v == nil || v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return nil, "", false
			}
			return v, field, whole
		default:
			return nil, "", false
		}
	}
}

func (f *function) object(id *ast.Ident) types.Object {
	if o := f.info.Defs[id]; o != nil {
		return o
	}
	return f.info.Uses[id]
}

// keyText is a constant string index as the name of a field; such names cannot
// meet those of fields, since they stand in brackets.
func (f *function) keyText(index ast.Expr) string {
	if v := f.info.Types[index].Value; v != nil {
		return ElementName(v)
	}
	return ""
}
