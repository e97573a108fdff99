package rule

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
	"github.com/idemgen/idem/analyzers/internal/valueflow"
)

// SurveyCategory marks the one diagnostic of a survey.
const SurveyCategory = "survey"

// NewSurvey makes an analyzer that looks at a package as a whole and says what it
// has seen in one diagnostic, which is no finding. It sees the files of the package
// that are not tests, generated ones included: calls go through them.
func NewSurvey(name, doc string, base Base, look func(p *Pass, files []*ast.File) ([]byte, error)) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: name, Doc: doc, Requires: []*analysis.Analyzer{base.Facts, base.Flow}, RunDespiteErrors: true,
	}
	a.Run = func(pass *analysis.Pass) (any, error) {
		if !inScope(pass) || len(pass.TypeErrors) > 0 {
			return nil, nil
		}
		p := &Pass{
			Pass: pass, Catalogue: base.Catalogue,
			Facts: pass.ResultOf[base.Facts].(*summary.Result), Flow: pass.ResultOf[base.Flow].(*valueflow.Flow),
			doc: Doc{Name: name}, reported: map[string]bool{},
		}
		var files []*ast.File
		for _, file := range pass.Files {
			if !isTest(pass.Fset, file) {
				files = append(files, file)
			}
		}
		if len(files) == 0 {
			return nil, nil
		}
		data, err := look(p, files)
		if err != nil {
			return nil, err
		}
		pass.Report(analysis.Diagnostic{Pos: files[0].Name.Pos(), Category: SurveyCategory, Message: string(data)})
		return nil, nil
	}
	return a
}

// Each calls look for a function, and makes a fault in it a note.
func (p *Pass) Each(fn *Function, look func(*Pass, *Function)) { p.one(fn, look) }

// Generated tells whether a program wrote the file.
func (p *Pass) Generated(file *ast.File) bool { return isGenerated(p.Fset, file) }

// ByName tells whether an interface's method acts on the world outside, if nothing
// is known of it but its name and its interface's.
func (p *Pass) ByName(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type()) && !p.standard(fn.Pkg().Path()) && !aboutState(fn, recv.Type()) && catalogue.NamesAct(fn.Name()) && !isRPC(fn)
}

// AboutState tells whether an interface's method is one of a store's.
func (p *Pass) AboutState(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type()) && aboutState(fn, recv.Type())
}

// Standard tells whether a package is of the standard library.
func (p *Pass) Standard(path string) bool { return p.standard(path) }

// IsRequest tells whether an effect of which this is the last step is a request of
// which nothing is known but that it is a POST.
func IsRequest(way []string) bool { return len(way) > 0 && isRequest(Act{Way: way}) }
