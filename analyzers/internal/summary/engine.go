package summary

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"sync"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// engine computes the summaries of one package.
type engine struct {
	*Result
	info  *types.Info
	funcs []*function // in the order of the source
	byObj map[*types.Func]*function
	said  map[*types.Func]*said

	evalMu sync.Mutex // rules ask at the same time

	keptOnce       sync.Once
	saved, deleted map[*types.Var]bool // maps that are kept elsewhere too, and whose elements are taken out
}

func newEngine(r *Result) *engine {
	e := &engine{Result: r, info: r.pass.TypesInfo, byObj: map[*types.Func]*function{}, said: map[*types.Func]*said{}}
	for _, file := range r.pass.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			obj, ok := e.info.Defs[decl.Name].(*types.Func)
			if !ok {
				continue
			}
			f := &function{obj: obj, decl: decl, engine: e}
			e.funcs, e.byObj[obj] = append(e.funcs, f), f
		}
	}
	slices.SortFunc(e.funcs, func(a, b *function) int { return cmp.Compare(a.decl.Pos(), b.decl.Pos()) })
	return e
}

func (e *engine) run() {
	e.readDirectives()
	for _, f := range e.funcs {
		f.safely(func() { f.collect() })
	}
	for _, group := range components(e.funcs) {
		e.settle(group)
	}
	e.contracts = readContracts(e.pass.Files)
	if e.export() || len(e.contracts) > 0 {
		e.pass.ExportPackageFact(&Package{Contracts: e.contracts})
	}
}

// export makes facts of what others can use, and tells whether there was any.
func (e *engine) export() bool {
	exported := false
	var funcs []*types.Func
	for fn := range e.own {
		funcs = append(funcs, fn)
	}
	slices.SortFunc(funcs, func(a, b *types.Func) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, fn := range funcs {
		if s := e.own[fn]; !s.empty() && fn.Exported() {
			e.pass.ExportObjectFact(fn, s)
			exported = true
		}
	}
	var fields []*types.Var
	for v, f := range e.fields {
		if f != nil && v.Pkg() == e.pass.Pkg && v.Exported() {
			fields = append(fields, v)
		}
	}
	slices.SortFunc(fields, func(a, b *types.Var) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, v := range fields {
		e.pass.ExportObjectFact(v, e.fields[v])
		exported = true
	}
	return exported
}

// maxRounds bounds how often functions that call each other are looked at. What has
// a way is dropped after maxWay steps anyhow; only the flow through longer circles,
// against the order of the source, is lost.
const maxRounds = maxWay + 4

// settle computes the summaries of functions that call each other, again and
// again until nothing changes. Summaries only grow and ways only get shorter, so
// this ends.
func (e *engine) settle(group []*function) {
	for range maxRounds {
		changed := false
		for _, f := range group {
			f.safely(func() { changed = f.summarise() || changed })
		}
		if !changed || len(group) == 1 && !group[0].recursive {
			return
		}
	}
}

// safely keeps a fault in one function, such as code that does not type-check can
// bring out, from silencing everything that imports the package. Nothing is known
// of such a function.
func (f *function) safely(do func()) {
	if f.broken {
		return
	}
	defer func() {
		if recover() != nil {
			f.broken = true
			delete(f.own, f.obj)
		}
	}()
	do()
}

// components are the strongly connected components of the calls between functions,
// callees first, each in the order of the source.
func components(funcs []*function) [][]*function {
	t := &tarjan{index: map[*function]int{}, low: map[*function]int{}, onStack: map[*function]bool{}}
	for _, f := range funcs {
		if t.index[f] == 0 {
			t.visit(f)
		}
	}
	return t.groups
}

type tarjan struct {
	index, low map[*function]int
	onStack    map[*function]bool
	stack      []*function
	groups     [][]*function
}

func (t *tarjan) visit(f *function) {
	n := len(t.index) + 1
	t.index[f], t.low[f] = n, n
	t.stack = append(t.stack, f)
	t.onStack[f] = true
	for _, g := range f.callees {
		if t.index[g] == 0 {
			t.visit(g)
			t.low[f] = min(t.low[f], t.low[g])
		} else if t.onStack[g] {
			t.low[f] = min(t.low[f], t.index[g])
		}
	}
	if t.low[f] != t.index[f] {
		return
	}
	i := slices.Index(t.stack, f)
	group := slices.Clone(t.stack[i:])
	for _, g := range group {
		t.onStack[g] = false
	}
	t.stack = t.stack[:i]
	slices.SortFunc(group, func(a, b *function) int { return cmp.Compare(a.decl.Pos(), b.decl.Pos()) })
	t.groups = append(t.groups, group)
}

// Args are the arguments of a call in syntax.
type Args struct {
	Info *types.Info
	Call *ast.CallExpr
}

// callee is the function or method called, if it is known by name.
func (e *engine) callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(e.info, call).(*types.Func)
	if fn != nil {
		return fn.Origin()
	}
	return nil
}

// operand is an expression, of which a result may be meant.
type operand struct {
	expr   ast.Expr
	result int
}

// operands are the expressions that stand for a place of a call.
func operands(info *types.Info, call *ast.CallExpr, place catalogue.Place) []operand {
	args := call.Args
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		switch s := info.Selections[sel]; {
		case s != nil && s.Kind() == types.MethodVal && place == catalogue.Recv:
			return []operand{{expr: sel.X}}
		case s != nil && s.Kind() == types.MethodExpr:
			if place == catalogue.Recv {
				return one(args, 0)
			}
			args = args[min(1, len(args)):]
		}
	}
	if place < 0 {
		return nil
	}
	if len(args) == 1 {
		if tuple, ok := info.TypeOf(args[0]).(*types.Tuple); ok {
			if int(place) < tuple.Len() {
				return []operand{{args[0], int(place)}}
			}
			return nil
		}
	}
	sig, _ := types.Unalias(info.TypeOf(call.Fun)).Underlying().(*types.Signature)
	if sig != nil && sig.Variadic() && !call.Ellipsis.IsValid() && int(place) == sig.Params().Len()-1 {
		var rest []operand
		for i := int(place); i < len(args); i++ {
			rest = append(rest, operand{expr: args[i]})
		}
		return rest
	}
	return one(args, int(place))
}

func one(args []ast.Expr, i int) []operand {
	if i < len(args) {
		return []operand{{expr: args[i]}}
	}
	return nil
}
