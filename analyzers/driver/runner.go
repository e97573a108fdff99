package driver

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"os"

	"golang.org/x/tools/go/analysis"
)

// runner runs analyzers over one package, one after the other: the go command
// already keeps all cores busy with packages.
type runner struct {
	unit       *unit
	fset       *token.FileSet
	files      []*ast.File
	pkg        *types.Package
	info       *types.Info
	sizes      types.Sizes
	typeErrors []types.Error
	facts      *facts
	results    map[*analysis.Analyzer]any
	findings   []finding
}

// finding is a diagnostic and the rule that made it.
type finding struct {
	rule string
	analysis.Diagnostic
}

// run runs the analyzers and what they require; those that only report are left
// out where nobody wants a report.
func (r *runner) run(all []*analysis.Analyzer) {
	for _, a := range all {
		if r.unit.VetxOnly {
			for _, req := range a.Requires {
				if len(req.FactTypes) > 0 {
					r.exec(req)
				}
			}
			continue
		}
		r.exec(a)
	}
}

func (r *runner) exec(a *analysis.Analyzer) {
	if _, ok := r.results[a]; ok {
		return
	}
	inputs := map[*analysis.Analyzer]any{}
	for _, req := range a.Requires {
		r.exec(req)
		inputs[req] = r.results[req]
		if inputs[req] == nil && req.ResultType != nil {
			r.results[a] = nil
			return
		}
	}
	result, err := r.call(a, inputs)
	if err != nil {
		r.findings = append(r.findings, finding{a.Name, analysis.Diagnostic{
			Pos: r.files[0].Name.Pos(), End: r.files[0].Name.End(), Category: "note",
			Message: fmt.Sprintf("%s could not look at package %s: %v: this is a fault of idemlint; please report it", a.Name, r.pkg.Path(), err),
		}})
	}
	r.results[a] = result
}

func (r *runner) call(a *analysis.Analyzer, inputs map[*analysis.Analyzer]any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("%v", p)
		}
	}()
	u := r.unit
	return a.Run(&analysis.Pass{
		Analyzer: a, Fset: r.fset, Files: r.files, OtherFiles: u.NonGoFiles, IgnoredFiles: u.IgnoredFiles,
		Pkg: r.pkg, TypesInfo: r.info, TypesSizes: r.sizes, TypeErrors: r.typeErrors,
		Module:   &analysis.Module{Path: u.ModulePath, Version: u.ModuleVersion, GoVersion: u.GoVersion},
		ResultOf: inputs,
		Report: func(d analysis.Diagnostic) {
			if d.URL == "" {
				d.URL = a.URL
			}
			r.findings = append(r.findings, finding{a.Name, d})
		},
		ReadFile:          os.ReadFile,
		ImportObjectFact:  r.facts.importObject,
		ExportObjectFact:  r.facts.exportObject(r.pkg),
		ImportPackageFact: r.facts.importPackage,
		ExportPackageFact: func(f analysis.Fact) { r.facts.export(r.pkg.Path(), "", f) },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	})
}

// print writes what was found; the exit code is 1 for findings as text, which is
// what the go command expects.
func (r *runner) print(asJSON bool, stdout, stderr io.Writer) (int, error) {
	if asJSON {
		out := stdout
		if r.unit.Stdout != "" {
			f, err := os.Create(r.unit.Stdout)
			if err != nil {
				return 1, err
			}
			defer f.Close()
			out = f
		}
		return 0, encodeTree(out, r.fset, r.unit.ID, r.findings)
	}
	for _, f := range r.findings {
		fmt.Fprintf(stderr, "%s: %s\n", r.fset.Position(f.Pos), f.Message)
	}
	if len(r.findings) > 0 {
		return 1, nil
	}
	return 0, nil
}
