package summary

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Memory is what a function does with marks that it keeps in the memory of the
// process.
type Memory uint8

// What can be done with marks; a claim is a check and a mark in one.
const (
	Checks Memory = 1 << iota
	Marks
	Releases
)

// Has tells whether all of the other is done.
func (m Memory) Has(other Memory) bool { return m&other == other }

func (m Memory) String() string {
	var parts []string
	for i, name := range []string{"checks", "marks", "releases"} {
		if m&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " ")
}

// memory records what a function does with marks itself; what the functions that it
// calls do is for those who call them.
func (f *function) memory(s *Func) bool {
	if f.persists() {
		return false
	}
	var m Memory
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		did, _ := f.MemoryOf(f.info, n)
		m |= did
		return true
	})
	changed := s.Memory != m
	s.Memory = m
	return changed
}

// MemoryOf is what a node does with marks in the memory of the process, and the
// text of what holds them: a map in a field or a global variable whose values are
// marks, or a cache that the catalogue knows.
func (r *Result) MemoryOf(info *types.Info, n ast.Node) (Memory, ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if ix, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && markMap(info, ix.X) && len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN && !isFalse(info, n.Rhs[i]) {
				return Marks, ix.X
			}
		}
		for _, rhs := range n.Rhs {
			if ix, ok := ast.Unparen(rhs).(*ast.IndexExpr); ok && markMap(info, ix.X) {
				return Checks, ix.X
			}
		}
	case *ast.IfStmt:
		if ix, ok := ast.Unparen(n.Cond).(*ast.IndexExpr); ok && markMap(info, ix.X) {
			return Checks, ix.X
		}
	case *ast.CallExpr:
		if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "delete" && len(n.Args) == 2 && markMap(info, n.Args[0]) {
			return Releases, n.Args[0]
		}
		return r.cacheCall(info, n)
	}
	return 0, nil
}

// cacheCall is a call of a cache that lives longer than the call.
func (r *Result) cacheCall(info *types.Info, call *ast.CallExpr) (Memory, ast.Expr) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !longLived(info, sel.X) {
		return 0, nil
	}
	fn := Callee(info, call)
	if fn == nil || fn.Pkg() == nil || !r.Catalogue.Covers(fn.Pkg().Path()) {
		return 0, nil
	}
	s := r.Of(fn, Args{info, call})
	if s == nil || s.Memory == 0 {
		return 0, nil
	}
	m := s.Memory
	if m.Has(Marks) && !markArgs(info, call) {
		m = 0 // a cache of values
	}
	return m, sel.X
}

// markArgs tells whether what a cache is given beside the key only marks it.
func markArgs(info *types.Info, call *ast.CallExpr) bool {
	for i, arg := range call.Args {
		tv := info.Types[arg]
		if i == 0 || tv.Value != nil || tv.IsNil() || isMark(tv.Type) || namedAs(tv.Type, "time", "Duration") {
			continue
		}
		return false
	}
	return true
}

// markMap tells whether an expression is a map of marks that outlives a call.
func markMap(info *types.Info, e ast.Expr) bool {
	t := info.TypeOf(e)
	if t == nil {
		return false
	}
	m, ok := types.Unalias(t).Underlying().(*types.Map)
	return ok && isMark(m.Elem()) && longLived(info, e)
}

// isMark tells whether values of a type say no more than that something is there,
// or since when.
func isMark(t types.Type) bool {
	if namedAs(t, "time", "Time") {
		return true
	}
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Struct:
		return u.NumFields() == 0
	case *types.Basic:
		return u.Info()&types.IsBoolean != 0
	}
	return false
}

func namedAs(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

func isFalse(info *types.Info, e ast.Expr) bool {
	v := info.Types[e].Value
	return v != nil && v.ExactString() == "false"
}

// longLived tells whether an expression is a field or a global variable.
func longLived(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		v, ok := info.ObjectOf(e.Sel).(*types.Var)
		return ok && (v.IsField() || global(v))
	case *ast.Ident:
		v, ok := info.ObjectOf(e).(*types.Var)
		return ok && global(v)
	}
	return false
}

func global(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// persists tells whether the type that a function is a method of keeps what it
// holds elsewhere as well: in a file or a database.
func (f *function) persists() bool {
	recv := f.obj.Signature().Recv()
	if recv == nil {
		return false
	}
	named, ok := deref(recv.Type()).(*types.Named)
	if !ok {
		return false
	}
	for m := range named.Methods() {
		if says(m.Name(), "save", "load", "persist", "restore", "snapshot", "flush", "dump") {
			return true
		}
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range st.Fields() {
		if says(v.Name(), "path", "file", "filename", "db", "pool", "redis", "rdb", "persistent", "disk") {
			return true
		}
	}
	return false
}

func says(name string, words ...string) bool {
	return slices.ContainsFunc(catalogue.Words(name), func(w string) bool { return slices.Contains(words, w) })
}

// memoryOf is what a catalogue entry says.
func memoryOf(does string) Memory {
	switch does {
	case "check":
		return Checks
	case "mark":
		return Marks
	case "claim":
		return Checks | Marks
	case "release":
		return Releases
	}
	return 0
}
