package survey

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Name is the analyzer's.
const Name = "survey"

// New makes the analyzer that surveys a package.
func New(base rule.Base) *analysis.Analyzer {
	return rule.NewSurvey(Name, "say what an audit of the whole program needs to know\n\nIt reports no findings.", base, func(p *rule.Pass, files []*ast.File) ([]byte, error) {
		s := &surveyor{Pass: p, record: Record{Path: clean(p.Pkg.Path()), Name: p.Pkg.Name()}, literals: map[*ast.FuncLit]string{}, registered: map[ast.Node]bool{}}
		if p.Module != nil {
			s.record.Module = p.Module.Path
		}
		return json.Marshal(s.survey(files))
	})
}

// clean is an import path without what marks the package as built for its tests.
func clean(path string) string {
	path, _, _ = strings.Cut(path, " ")
	return path
}

type surveyor struct {
	*rule.Pass
	record     Record
	literals   map[*ast.FuncLit]string // those that work comes in through, with their IDs
	registered map[ast.Node]bool       // expressions that name a function in a registration
}

func (s *surveyor) survey(files []*ast.File) Record {
	for _, file := range files {
		s.contracts(file)
		generated := s.Generated(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					fn := &rule.Function{Decl: d, File: file}
					s.Each(fn, func(_ *rule.Pass, fn *rule.Function) { s.function(fn, generated) })
				}
			case *ast.GenDecl:
				fn := &rule.Function{Decl: &ast.FuncDecl{Name: &ast.Ident{NamePos: d.Pos(), Name: "init"}, Type: &ast.FuncType{}, Body: &ast.BlockStmt{}}, File: file}
				s.Each(fn, func(_ *rule.Pass, fn *rule.Function) { s.commands(fn, d) })
			}
		}
	}
	s.types()
	slices.SortStableFunc(s.record.Funcs, func(a, b Func) int {
		return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return s.record
}

// function surveys a declared function, and the literals in it that work comes in
// through, each as a function of its own.
func (s *surveyor) function(fn *rule.Function, generated bool) {
	obj, ok := s.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok {
		return
	}
	s.registrations(fn, obj)
	f := s.header(fn.Decl, fn.Decl.Type, obj)
	if sum := s.Facts.Of(obj, nil); sum != nil {
		f.Pure, f.Handler = sum.Pure, sum.Handler
		for _, e := range sum.Effects {
			if len(e.Way) == 0 { // nothing that it calls: a directive says so
				f.Said = append(f.Said, Effect{Class: e.Class, Safe: e.Safe})
			}
		}
	}
	if !generated {
		f.Means, f.System = meansByType(obj.Signature())
	}
	f.Main = s.Pkg.Name() == "main" && obj.Name() == "main" && obj.Signature().Recv() == nil
	at := len(s.record.Funcs)
	s.record.Funcs = append(s.record.Funcs, Func{})
	defer func() { s.record.Funcs[at] = f }() // as far as it goes, if it is too large
	s.body(fn, fn.Decl.Body, &f)
	if !generated {
		s.findThenCreate(fn, &f)
		s.loops(fn, f.ID)
	}
	ast.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok || s.literals[lit] == "" {
			return true
		}
		f := s.header(lit, lit.Type, nil)
		f.ID, f.Name = s.literals[lit], "func in "+summary.DisplayName(obj)
		s.body(fn, lit.Body, &f)
		s.record.Funcs = append(s.record.Funcs, f)
		return true
	})
}

func (s *surveyor) header(n ast.Node, typ *ast.FuncType, obj *types.Func) Func {
	at := n.Pos()
	if decl, ok := n.(*ast.FuncDecl); ok {
		at = decl.Name.Pos()
	}
	pos, end := s.Fset.Position(at), s.Fset.Position(n.End())
	f := Func{File: pos.Filename, Line: pos.Line, Column: pos.Column, End: end.Line}
	for _, field := range typ.Params.List {
		for _, name := range field.Names {
			f.Params = append(f.Params, name.Name)
		}
	}
	if obj == nil {
		return f
	}
	f.ID, f.Name = id(obj), summary.DisplayName(obj)
	results := obj.Signature().Results()
	for i := range results.Len() {
		if _, ok := results.At(i).Type().Underlying().(*types.Chan); ok {
			f.Gives = true
		}
	}
	return f
}

// id names a function the same in every package.
func id(fn *types.Func) string {
	name := fn.Origin().FullName()
	if i := strings.Index(name, " ["); i >= 0 {
		if j := strings.Index(name[i:], ".test]"); j >= 0 {
			name = name[:i] + name[i+j+len(".test]"):]
		}
	}
	return name
}

func (s *surveyor) literalID(lit *ast.FuncLit) string {
	p := s.Fset.Position(lit.Pos())
	return clean(s.Pkg.Path()) + " literal " + position(p)
}

func position(p token.Position) string {
	return p.Filename[strings.LastIndexByte(p.Filename, '/')+1:] + strings.TrimPrefix(p.String(), p.Filename)
}

// types lists the types whose methods may be called through interfaces.
func (s *surveyor) types() {
	for _, name := range s.Pkg.Scope().Names() {
		tn, ok := s.Pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) || rule.StandsIn(name) || strings.HasSuffix(s.Fset.Position(tn.Pos()).Filename, "_test.go") {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok || named.TypeParams().Len() > 0 {
			continue
		}
		set := types.NewMethodSet(types.NewPointer(named))
		if set.Len() == 0 {
			continue
		}
		t := Type{Name: name}
		for i := range set.Len() {
			fn := set.At(i).Obj().(*types.Func)
			m := Method{Sig: signature(fn.Name(), set.At(i).Type().(*types.Signature))}
			if s.mine(fn) {
				m.To = id(fn)
			}
			t.Methods = append(t.Methods, m)
		}
		slices.SortFunc(t.Methods, func(a, b Method) int { return cmp.Compare(a.Sig, b.Sig) })
		s.record.Types = append(s.record.Types, t)
	}
}

// mine tells whether a function may be one of the program's own.
func (s *surveyor) mine(fn *types.Func) bool {
	return fn.Pkg() != nil && !s.Catalogue.Covers(fn.Pkg().Path()) && !s.Standard(fn.Pkg().Path())
}
