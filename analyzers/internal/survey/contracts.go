package survey

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/internal/directive"
)

// contracts reads what generated code says of the contracts that it is for.
func (s *surveyor) contracts(file *ast.File) {
	source := ""
	byKind := map[string]int{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			d, ok, err := directive.Parse(c.Text)
			if !ok || err != nil {
				continue
			}
			switch d.Name {
			case directive.Source:
				source = d.Get("file")
			case directive.Contract:
				byKind[d.Get("kind")] = len(s.record.Contracts)
				s.record.Contracts = append(s.record.Contracts, Contract{Kind: d.Get("kind"), Version: d.Get("version"), File: source, Handler: s.named(d.Get("handler"))})
			case directive.EffectFunc:
				i, known := byKind[d.Get("kind")]
				if !known || d.Get("find") != "" {
					continue
				}
				e := ContractEffect{Name: d.Get("effect"), Guard: d.Get("guard"), Work: d.Get("work")}
				if f := d.Get("func"); f != "" {
					e.Func = s.named(f)
				}
				s.record.Contracts[i].Effects = append(s.record.Contracts[i].Effects, e)
			}
		}
	}
}

// named is the ID of a function that a directive names: (*T).Method, T.Method or
// Func of this package, or of another by its import path.
func (s *surveyor) named(name string) string {
	path := clean(s.Pkg.Path())
	switch {
	case strings.HasPrefix(name, "(*"):
		return "(*" + path + "." + name[2:]
	case strings.HasPrefix(name, "("):
		return "(" + path + "." + name[1:]
	case strings.Contains(name, "/"):
		return name
	}
	if typ, method, ok := strings.Cut(name, "."); ok {
		if _, isType := s.Pkg.Scope().Lookup(typ).(*types.TypeName); isType {
			return "(" + path + "." + typ + ")." + method
		}
		for _, imp := range s.Pkg.Imports() {
			if imp.Name() == typ {
				return imp.Path() + "." + method
			}
		}
	}
	return path + "." + name
}

// ledgerPath is the package whose contracts run handlers at most once.
const ledgerPath = "github.com/idemgen/idem/runtime"

// handsOver tells which contract a call hands work to: the package of the field that
// holds it, and the field's name.
func (s *surveyor) handsOver(call *ast.CallExpr, fn *types.Func) string {
	if fn.Pkg() == nil || fn.Pkg().Path() != ledgerPath || fn.Name() != "Do" && fn.Name() != "Submit" {
		return ""
	}
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return ""
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if field := s.contractField(sel.X); field != "" {
		return field
	}
	return "?"
}

func (s *surveyor) contractField(e ast.Expr) string {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	v, ok := s.TypesInfo.Uses[sel.Sel].(*types.Var)
	if !ok || !v.IsField() || v.Pkg() == nil || !rule.IsNamed(v.Type(), ledgerPath, "Contract") {
		return ""
	}
	return clean(v.Pkg().Path()) + " " + v.Name()
}

// contractIn is the contract that an expression hands to what makes a function.
func (s *surveyor) contractIn(e ast.Expr) string {
	found := ""
	s.Inspect(e, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && found == "" {
			found = s.contractField(sel)
		}
		return found == ""
	})
	return found
}
