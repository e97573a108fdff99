package valueflow

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Flow follows values of one package. It is safe for concurrent use.
type Flow struct {
	pass  *analysis.Pass
	facts *summary.Result

	mu    sync.Mutex
	built bool
	err   error
	prog  *ssa.Program
	funcs map[*ast.FuncDecl]*function
}

// Analyzer makes the analyzer whose result is the package's *Flow. It costs
// nothing until a rule asks.
func Analyzer(facts *analysis.Analyzer) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:             "idemflow",
		Doc:              "follow values for the rules of idemlint\n\nIt reports nothing.",
		Requires:         []*analysis.Analyzer{facts},
		ResultType:       reflect.TypeFor[*Flow](),
		RunDespiteErrors: true,
		Run: func(pass *analysis.Pass) (any, error) {
			return &Flow{pass: pass, facts: pass.ResultOf[facts].(*summary.Result), funcs: map[*ast.FuncDecl]*function{}}, nil
		},
	}
}

// Origins is where the value of an expression in a function comes from: of one of
// its results, if it is a call, and of a field of it, if one is named. A package
// that does not type-check has none; an error is a fault of the analysis itself.
func (f *Flow) Origins(decl *ast.FuncDecl, e ast.Expr, result int, field string) (os summary.Origins, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			os, err = nil, fmt.Errorf("following a value in %s: %v", decl.Name.Name, r)
		}
	}()
	fn, err := f.function(decl)
	if fn == nil || err != nil {
		return nil, err
	}
	return fn.origins(e, result, field), nil
}

// Uses are the names of the fields and parameters that a value reaches which is
// made by the call at a position, the place of an origin.
func (f *Flow) Uses(decl *ast.FuncDecl, pos token.Pos) (names []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			names, err = nil, fmt.Errorf("following a value in %s: %v", decl.Name.Name, r)
		}
	}()
	fn, err := f.function(decl)
	if fn == nil || err != nil {
		return nil, err
	}
	return fn.uses(pos), nil
}

func (f *Flow) function(decl *ast.FuncDecl) (*function, error) {
	if fn, ok := f.funcs[decl]; ok {
		return fn, nil
	}
	if err := f.build(); err != nil || f.prog == nil {
		return nil, err
	}
	obj, ok := f.pass.TypesInfo.Defs[decl.Name].(*types.Func)
	if !ok {
		return nil, nil
	}
	ssaFn := f.prog.FuncValue(obj)
	if ssaFn == nil || ssaFn.Blocks == nil {
		return nil, nil
	}
	fn := newFunction(f, decl, ssaFn)
	f.funcs[decl] = fn
	return fn, nil
}

// build makes the package's SSA form, once.
func (f *Flow) build() (err error) {
	if f.built {
		return f.err
	}
	f.built = true
	defer func() {
		if r := recover(); r != nil {
			f.prog, f.err = nil, fmt.Errorf("building SSA for %s: %v", f.pass.Pkg.Path(), r)
			err = f.err
		}
	}()
	if len(f.pass.TypeErrors) > 0 {
		return nil
	}
	prog := ssa.NewProgram(f.pass.Fset, ssa.GlobalDebug)
	created := map[*types.Package]bool{}
	var create func([]*types.Package)
	create = func(imports []*types.Package) {
		for _, p := range imports {
			if !created[p] {
				created[p] = true
				prog.CreatePackage(p, nil, nil, true)
				create(p.Imports())
			}
		}
	}
	create(f.pass.Pkg.Imports())
	prog.CreatePackage(f.pass.Pkg, f.pass.Files, f.pass.TypesInfo, false).Build()
	f.prog = prog
	return nil
}
