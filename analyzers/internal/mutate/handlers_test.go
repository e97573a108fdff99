package mutate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/analyzers"
)

// workshop type-checks sources against the stubs and runs all rules over them.
type workshop struct {
	fset  *token.FileSet
	deps  map[string]*packages.Package
	rules []*analysis.Analyzer
}

// open loads the packages under testdata that match the patterns, and what they
// import.
func open(t *testing.T, patterns ...string) (*workshop, []*packages.Package) {
	t.Helper()
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadSyntax | packages.NeedModule, Dir: filepath.Join(root, "src"), Fset: fset,
		Env: append(os.Environ(), "GO111MODULE=off", "GOFLAGS=", "GOWORK=off", "GOPATH="+root),
	}, append(patterns, "adds")...)
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{fset: fset, deps: map[string]*packages.Package{}}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, e)
		}
		maps.Copy(w.deps, p.Imports)
	}
	if t.Failed() {
		t.FailNow()
	}
	if w.rules, err = analyzers.New(analyzers.Options{}); err != nil {
		t.Fatal(err)
	}
	return w, slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return p.PkgPath == "adds" })
}

// finding is what a rule reports in a line.
type finding struct {
	line          int
	rule, message string
}

// check type-checks one file as a package of its own and runs the rules over it.
func (w *workshop) check(path, src string) ([]finding, error) {
	file, err := parser.ParseFile(w.fset, path+".go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	sizes := types.SizesFor("gc", "amd64")
	var wrong error
	conf := types.Config{Importer: w, Sizes: sizes, Error: func(err error) {
		if !strings.Contains(err.Error(), "and not used") { // a mutation takes the use out, and leaves an import or a variable
			wrong = cmp.Or(wrong, err)
		}
	}}
	pkg, _ := conf.Check(path, w.fset, []*ast.File{file}, info) // its error is one of those above
	if wrong != nil {
		return nil, wrong
	}
	p := &packages.Package{
		ID: path, Name: pkg.Name(), PkgPath: path, Types: pkg, Fset: w.fset, Syntax: []*ast.File{file}, TypesInfo: info, TypesSizes: sizes,
		Imports: map[string]*packages.Package{}, Module: &packages.Module{Path: "handlers"}, GoFiles: []string{path + ".go"}, CompiledGoFiles: []string{path + ".go"},
	}
	for _, dep := range pkg.Imports() {
		p.Imports[dep.Path()] = w.deps[dep.Path()]
	}
	graph, err := checker.Analyze(w.rules, []*packages.Package{p}, &checker.Options{Sequential: true})
	if err != nil {
		return nil, err
	}
	var all []finding
	for _, root := range graph.Roots {
		if root.Err != nil {
			return nil, root.Err
		}
		for _, d := range root.Diagnostics {
			all = append(all, finding{w.fset.PositionFor(d.Pos, false).Line, root.Analyzer.Name, d.Message})
		}
	}
	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.rule, b.rule), strings.Compare(a.message, b.message))
	})
	return all, nil
}

// Import gives what the handlers or the mutations import.
func (w *workshop) Import(path string) (*types.Package, error) {
	if p := w.deps[path]; p != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("%s is not among the imports of testdata/src/adds", path)
}
