package resolve

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/internal/directive"
)

// fakes is a function of the package's tests that builds the world of a contract's
// crash test, as its directive says.
type fakes struct {
	file    *ast.File
	comment *ast.Comment
	fn      *ast.FuncDecl // nil: the directive stands on something else
	kind    string
}

// resolveFakes finds who builds the worlds of crash tests. Where there is nobody no
// test is written.
func (p *pkg) resolveFakes() {
	first := map[string]*fakes{}
	for _, f := range p.findFakes() {
		if p.unfitFakes(f) {
			continue
		}
		if had := first[f.kind]; had != nil {
			d := p.failGo(f.comment, "the fakes of %s are declared twice: keep one of the two functions", f.kind)
			file, line, column := p.position(had.fn.Name.Pos())
			d.At(file, line, column, "%s is the other one", had.fn.Name.Name)
			continue
		}
		first[f.kind] = f
		p.kind(f.kind).m.Fakes = f.fn.Name.Name
	}
}

// findFakes lists the directives of the package's files, tests and those included
// that no build takes.
func (p *pkg) findFakes() (list []*fakes) {
	for _, files := range [][]*ast.File{p.src.files, p.src.others} {
		for _, file := range files {
			for _, group := range file.Comments {
				for _, comment := range group.List {
					if name, _, _ := strings.Cut(comment.Text, " "); strings.TrimSpace(name) != "//idem:"+directive.Fakes {
						continue
					}
					d, _, err := directive.Parse(comment.Text)
					if err != nil || len(d.Args) != 1 || d.Get("kind") == "" {
						p.failGo(comment, "want //idem:%s kind=KIND, with the contract's kind", directive.Fakes)
						continue
					}
					list = append(list, &fakes{file, comment, functionOf(file, group), d.Get("kind")})
				}
			}
		}
	}
	return list
}

func functionOf(file *ast.File, doc *ast.CommentGroup) *ast.FuncDecl {
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Doc == doc {
			return fn
		}
	}
	return nil
}

// unfitFakes reports what keeps a generated test from calling the function.
func (p *pkg) unfitFakes(f *fakes) bool {
	path := p.fset.Position(f.comment.Pos()).Filename
	c := p.kind(f.kind)
	switch {
	case c == nil:
		var kinds []string
		for _, c := range p.contracts {
			kinds = append(kinds, c.spec.Kind.V)
		}
		p.failGo(f.comment, "no contract of this package has the kind %s%s", f.kind, contracts.DidYouMean(f.kind, kinds))
	case f.fn == nil:
		p.failGo(f.comment, "the directive stands on no function: it belongs right above the one that builds the world of the crash test of %s", f.kind)
	case !strings.HasSuffix(path, "_test.go"):
		p.failGo(f.comment, "%s is no file of tests: move %s into a file NAME_test.go of package %s", filepath.Base(path), f.fn.Name.Name, p.src.name)
	case f.file.Name.Name != p.src.name:
		p.failGo(f.comment, "%s is of package %s, and the generated test, which calls %s, is of package %s: move the function into a file NAME_test.go of package %[4]s", filepath.Base(path), f.file.Name.Name, f.fn.Name.Name, p.src.name)
	case !p.inTests(path):
		p.failGo(f.comment, "%s is left out by its name or build tags (-tags chooses them), and the generated test, which calls %s, is not", filepath.Base(path), f.fn.Name.Name)
	default:
		return p.unfitSignature(f, c)
	}
	return true
}

// inTests tells whether go test takes the file.
func (p *pkg) inTests(path string) bool {
	match, err := p.build.MatchFile(filepath.Split(path))
	return match || err != nil
}

// unfitSignature looks at a function of the tests, whose types nobody has checked:
// what it can tell it tells, and the rest is for the compiler.
func (p *pkg) unfitSignature(f *fakes, c *contract) bool {
	fn := f.fn
	if c.lost {
		return true // told at the contract
	}
	in, out := describe(p.types, c.in), c.describeResult()
	want := fmt.Sprintf("want func %s(t *testing.T, w *idemtest.World) idemtest.Program[%s, %s, %s]", fn.Name.Name, in, out, p.txName())
	params, results := fn.Type.Params.NumFields(), fn.Type.Results.NumFields()
	switch {
	case fn.Recv != nil:
		p.failGo(f.comment, "%s is a method: %s", fn.Name.Name, want)
	case fn.Type.TypeParams.NumFields() > 0:
		p.failGo(f.comment, "%s has type parameters: %s", fn.Name.Name, want)
	case params != 2 || results != 1:
		p.failGo(f.comment, "%s takes %d parameters and gives %d results: %s", fn.Name.Name, params, results, want)
	case differs(fn, 0, in) || differs(fn, 1, out):
		p.failGo(f.comment, "%s gives %s: %s", fn.Name.Name, types.ExprString(fn.Type.Results.List[0].Type), want)
	default:
		return false
	}
	return true
}

func (p *pkg) txName() string {
	if p.tx == nil {
		return "TX"
	}
	return describe(p.types, p.tx.t)
}

// differs tells whether a type argument of the function's result is certainly not
// what is wanted: both are names of the package's own.
func differs(fn *ast.FuncDecl, arg int, want string) bool {
	list, ok := fn.Type.Results.List[0].Type.(*ast.IndexListExpr)
	if !ok || len(list.Indices) != 3 {
		return false
	}
	got := types.ExprString(list.Indices[arg])
	return token.IsIdentifier(got) && token.IsIdentifier(want) && got != want
}

// failGo reports an error at a comment of a Go file, with its line.
func (p *pkg) failGo(at *ast.Comment, format string, args ...any) *contracts.Diagnostic {
	pos := p.fset.Position(at.Pos())
	text := strings.TrimRight(at.Text, "\r")
	d := &contracts.Diagnostic{
		File: p.show(pos.Filename), Pos: contracts.Pos{Line: pos.Line, Column: pos.Column, Width: len(text)},
		Msg:     fmt.Sprintf(format, args...),
		Snippet: contracts.Snippet{Source: text, Width: len(text)},
	}
	p.report(d)
	return d
}

// namesFakes tells whether a Go file may hold the directive, for which its comments
// have to be read.
func namesFakes(src []byte) bool { return bytes.Contains(src, []byte("//idem:"+directive.Fakes)) }
