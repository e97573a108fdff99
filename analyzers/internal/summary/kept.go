package summary

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// KeepsFile tells whether the type that a function is a method of names the file
// that it keeps what it holds in.
func KeepsFile(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	if recv == nil {
		return false
	}
	named, ok := deref(recv.Type()).(*types.Named)
	if !ok {
		return false
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range st.Fields() {
		if says(v.Name(), "path", "file", "filename", "persistent", "disk") {
			return true
		}
	}
	return false
}

// Persisted tells whether a function of this package keeps the marks elsewhere as
// well: one that saves or loads something, by its name, and uses them.
func (r *Result) Persisted(info *types.Info, store ast.Expr) bool {
	return r.engine != nil && r.engine.persisted(info, store)
}

func (e *engine) persisted(info *types.Info, store ast.Expr) bool {
	e.keptOnce.Do(e.lookForKept)
	return e.saved[Variable(info, store)]
}

// TakenBack tells whether a function of this package deletes a mark that it is
// given, rather than all that are old: then it is no mark but a state.
func (r *Result) TakenBack(info *types.Info, store ast.Expr) bool {
	if r.engine == nil {
		return false
	}
	r.engine.keptOnce.Do(r.engine.lookForKept)
	return r.engine.deleted[Variable(info, store)]
}

// lookForKept goes through all functions once.
func (e *engine) lookForKept() {
	e.saved, e.deleted = map[*types.Var]bool{}, map[*types.Var]bool{}
	for _, f := range e.funcs {
		saves := says(f.obj.Name(), "save", "load", "persist", "restore", "snapshot", "flush", "dump", "marshal", "unmarshal")
		k := &keeping{engine: e, saves: saves}
		k.look(f.decl.Body, nil, false)
	}
}

// keeping looks at one function.
type keeping struct {
	*engine
	saves bool
}

// look notes the maps that a node deletes elements of, other than in a loop over
// them, and in a function that saves those that it uses for more than one of their
// elements: as they are, or in a loop.
func (k *keeping) look(n ast.Node, over []*types.Var, loop bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			if !loop {
				k.look(n.Body, over, true)
				return false
			}
		case *ast.RangeStmt:
			k.look(n.X, over, loop)
			k.look(n.Body, append(over, Variable(k.info, n.X)), true)
			return false
		case *ast.IndexExpr:
			if !loop && Variable(k.info, n.X) != nil {
				k.look(n.Index, over, loop)
				return false
			}
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if !ok || id.Name != "delete" && id.Name != "len" || len(n.Args) == 0 {
				break
			}
			if v := Variable(k.info, n.Args[0]); id.Name == "delete" && v != nil && !slices.Contains(over, v) {
				k.deleted[v] = true
			}
			return false
		case *ast.Ident:
			if v, ok := k.info.ObjectOf(n).(*types.Var); ok && k.saves {
				k.saved[v] = true
			}
		}
		return true
	})
}

func says(name string, words ...string) bool {
	return slices.ContainsFunc(catalogue.Words(name), func(w string) bool { return slices.Contains(words, w) })
}
