package resolve

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/observe"
	"github.com/idemgen/idem/internal/directive"
)

// source is the parsed files of one package.
type source struct {
	fset   *token.FileSet
	dir    string
	path   string // import path
	module module
	name   string
	files  []*ast.File // that take part in a build, without tests and own outputs; bodies dropped

	// others are the files of the package that take no part, tests among them.
	others []*ast.File

	declared *index // see declarations
	needs    *needs // see needed

	reserved map[string]bool // package-scope names of all files, tests included
	imports  map[string]bool // names by which they import
	broken   []scanner.Error // first syntax error of each file that has one; files of another package
}

// parseSource reads the Go files of a directory. Syntax errors are kept; the
// error is for a directory that cannot be read or is in no module. withOwn
// keeps files that idemgen wrote.
func (r *run) parseSource(dir string, withOwn bool) (*source, error) {
	mod, err := moduleOf(r.options.World, dir)
	if err != nil {
		return nil, err
	}
	entries, err := r.options.World.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read package: %w", err)
	}
	s := &source{fset: r.fset, dir: dir, module: mod, path: mod.importPath(dir), reserved: map[string]bool{}, imports: map[string]bool{}}
	var all []*ast.File
	for _, e := range entries {
		name := e.Name
		if e.Dir || !strings.HasSuffix(name, ".go") || name[0] == '_' || name[0] == '.' {
			continue
		}
		file, err := s.parse(r.options.World, name, withOwn)
		if err != nil {
			return nil, err
		}
		if file == nil {
			continue
		}
		all = append(all, file)
		if takesPart(r.build, dir, name) {
			s.files = append(s.files, file)
		}
	}
	s.name = packageName(s.files)
	s.files = slices.DeleteFunc(s.files, func(f *ast.File) bool {
		stray := f.Name.Name != s.name
		if stray && f.Name.Name != "documentation" { // which the go command skips
			s.broken = append(s.broken, scanner.Error{Pos: r.fset.Position(f.Name.Pos()), Msg: "this file is of package " + f.Name.Name})
		}
		return stray
	})
	for _, file := range all {
		if file.Name.Name == s.name || file.Name.Name == s.name+"_test" && s.spreads(file) {
			s.reserve(file)
		}
		if name := strings.TrimSuffix(file.Name.Name, "_test"); name == s.name && !slices.Contains(s.files, file) {
			s.others = append(s.others, file)
		}
	}
	return s, nil
}

// leftOut finds a handler that stands in a file which takes no part in the build,
// and what kind of file that is.
func (s *source) leftOut(h contracts.Handler) (fn *ast.FuncDecl, file string) {
	for _, f := range s.others {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if found := handlerOf(fn); found.Name != h.Name || found.Receiver != h.Receiver {
				continue
			}
			if strings.HasSuffix(s.fset.Position(fn.Pos()).Filename, "_test.go") {
				return fn, "of tests"
			}
			return fn, "that its name or build tags leave out (-tags chooses them)"
		}
	}
	return nil, ""
}

// parse reads one file and drops its bodies: nothing in them matters, and
// without them the file is small.
func (s *source) parse(w *observe.World, name string, withOwn bool) (*ast.File, error) {
	path := filepath.Join(s.dir, name)
	src, err := w.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read Go file: %w", err)
	}
	own := strings.HasSuffix(name, OutputSuffix) || strings.HasSuffix(name, TestSuffix)
	if !withOwn && own && directive.IsGenerated(src) {
		return nil, nil
	}
	mode := parser.SkipObjectResolution | parser.AllErrors
	if namesFakes(src) {
		mode |= parser.ParseComments
	}
	file, err := parser.ParseFile(s.fset, path, src, mode)
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 { //nolint:errorlint // the parser's own
		s.broken = append(s.broken, *list[0])
	}
	if file == nil || file.Name == nil {
		return nil, nil
	}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			fn.Body = &ast.BlockStmt{Lbrace: fn.Body.Lbrace, Rbrace: fn.Body.Rbrace}
		}
	}
	return file, nil
}

// takesPart tells whether a build takes the file, tests aside.
func takesPart(ctxt *build.Context, dir, name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	match, err := ctxt.MatchFile(dir, name)
	return match || err != nil // a file whose head is broken is better kept
}

// packageName is the name that most files have; of equals, the first.
func packageName(files []*ast.File) string {
	count, best := map[string]int{}, ""
	for _, f := range files {
		count[f.Name.Name]++
	}
	for _, f := range files {
		if best == "" || count[f.Name.Name] > count[best] {
			best = f.Name.Name
		}
	}
	return best
}

// reserve notes the names that the file declares at package scope, and those
// it imports by: a declaration of the package may have neither.
func (s *source) reserve(file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				s.reserved[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					s.reserved[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						s.reserved[name.Name] = true
					}
				}
			}
		}
	}
	for _, imp := range file.Imports {
		if imp.Name != nil {
			s.imports[imp.Name.Name] = true
		} else {
			s.imports[guessName(importPathOf(imp))] = true
		}
	}
}

// spreads tells whether tests from outside import all names of the package as
// their own, so that no two may meet.
func (s *source) spreads(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(imp *ast.ImportSpec) bool {
		return imp.Name != nil && imp.Name.Name == "." && importPathOf(imp) == s.path
	})
}

func importPathOf(imp *ast.ImportSpec) string {
	path, err := strconv.Unquote(imp.Path.Value)
	if err != nil {
		return ""
	}
	return path
}

// guessName is the name that a package most likely has, by its path: money for
// example.com/go-money/v2 is beyond it, which is why real names win.
func guessName(path string) string {
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && isMajor(last) {
		last = parts[len(parts)-2]
	}
	if base, version, ok := strings.Cut(last, ".v"); ok && isDigits(version) {
		last = base
	}
	return last
}

func isMajor(s string) bool { return len(s) > 1 && s[0] == 'v' && isDigits(s[1:]) }

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
