package valueflow

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// reporter reports the origins of what each return statement returns first.
func reporter() *analysis.Analyzer {
	facts := summary.Analyzer(catalogue.Builtin())
	flow := Analyzer(facts)
	return &analysis.Analyzer{
		Name: "origins", Doc: "report origins", Requires: []*analysis.Analyzer{facts, flow},
		Run: func(pass *analysis.Pass) (any, error) {
			f := pass.ResultOf[flow].(*Flow)
			for _, file := range pass.Files {
				for _, d := range file.Decls {
					if decl, ok := d.(*ast.FuncDecl); ok {
						if err := origins(pass, f, decl); err != nil {
							return nil, err
						}
					}
				}
			}
			return nil, nil
		},
	}
}

func origins(pass *analysis.Pass, f *Flow, decl *ast.FuncDecl) (err error) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || err != nil {
			return err == nil
		}
		var os summary.Origins
		if os, err = f.Origins(decl, ret.Results[0], 0, ""); err == nil {
			pass.Reportf(ret.Pos(), "%s", show(os))
		}
		return true
	})
	return err
}

func show(os summary.Origins) string {
	var parts []string
	for _, o := range os {
		s := string(o.Volatile)
		if s == "" {
			s = fmt.Sprintf("param %v", o.Param)
			if o.Field != "" {
				s += "." + o.Field
			}
		}
		if o.Partial {
			s += " partial"
		}
		if len(o.Way) > 0 {
			s += " " + strings.Join(o.Way, "→")
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func testdata(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOrigins(t *testing.T) {
	analysistest.Run(t, testdata(t), reporter(), "./flow")
}

// TestAGiantFunctionTakesNoLongerThanItMay follows a value through branches and
// loops of which each doubles the paths.
func TestAGiantFunctionTakesNoLongerThanItMay(t *testing.T) {
	var b strings.Builder
	b.WriteString("package giant\n\nfunc giant(c []bool, x, y string) string {\n\tfor range c {\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "\t\tif c[%d] {\n\t\t\tx = y + x\n\t\t} else {\n\t\t\ty = x + y\n\t\t}\n", i)
	}
	b.WriteString("\t}\n\treturn x + y\n}\n")
	dir := testdata(t)
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir,
		Overlay: map[string][]byte{filepath.Join(dir, "giant", "giant.go"): []byte(b.String())},
	}, "./giant")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	graph, err := checker.Analyze([]*analysis.Analyzer{reporter()}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range graph.Roots {
		if act.Err != nil || len(act.Diagnostics) != 1 {
			t.Errorf("got %v, %v", act.Err, act.Diagnostics)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
