package summary

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/idemgen/idem/internal/directive"
)

// Contract is what the header of a generated file says of a contract.
type Contract struct {
	Kind    string
	Handler string // as contracts write it: (*Orders).MarkPaid
	Effects string // the handler's interface; empty without effects
	Funcs   []EffectFunc
}

// EffectFunc is a function that carries an effect of a contract out.
type EffectFunc struct {
	Effect string
	Guard  string
	Func   string // as Handler, or of another package with its whole import path; empty for the work of another contract
}

// IsContracts tells whether idemgen wrote a file.
func IsContracts(file *ast.File) bool { return directive.IsGenerated(head(file)) }

// head is what stands above the package clause, a comment on each line.
func head(file *ast.File) []byte {
	var b strings.Builder
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package {
				b.WriteString(c.Text + "\n")
			}
		}
	}
	return []byte(b.String())
}

// Directives are those of a name in the header of a file that idemgen wrote.
func Directives(file *ast.File, name string) []directive.Directive {
	return directive.Named(head(file), name)
}

// readContracts reads the headers of generated files.
func readContracts(files []*ast.File) []Contract {
	var all []Contract
	for _, file := range files {
		if !IsContracts(file) {
			continue
		}
		first := len(all)
		for _, d := range Directives(file, directive.Contract) {
			all = append(all, Contract{Kind: d.Get("kind"), Handler: d.Get("handler"), Effects: d.Get("effects")})
		}
		for _, d := range Directives(file, directive.EffectFunc) {
			for i := range all[first:] {
				c := &all[first+i]
				if c.Kind == d.Get("kind") && d.Get("find") == "" {
					c.Funcs = append(c.Funcs, EffectFunc{Effect: d.Get("effect"), Guard: d.Get("guard"), Func: d.Get("func")})
				}
			}
		}
	}
	return all
}

// Contracts are those of this package or of one that it imports directly.
func (r *Result) Contracts(pkg *types.Package) []Contract {
	if pkg == r.pass.Pkg {
		return r.contracts
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all, known := r.foreign[pkg]
	if !known {
		f := new(Package)
		if r.pass.ImportPackageFact(pkg, f) {
			all = f.Contracts
		}
		if r.foreign == nil {
			r.foreign = map[*types.Package][]Contract{}
		}
		r.foreign[pkg] = all
	}
	return all
}

// Named is the function that a contract of a package names in its header, or nil.
// imports are the packages that one of another package may be in.
func Named(pkg *types.Package, imports []*types.Package, name string) *types.Func {
	if recv, method, ok := strings.Cut(name, ")."); ok {
		tn, ok := pkg.Scope().Lookup(strings.Trim(recv, "(*")).(*types.TypeName)
		if !ok {
			return nil
		}
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(tn.Type()), true, pkg, method)
		fn, _ := obj.(*types.Func)
		return origin(fn)
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		for _, p := range imports {
			if p.Path() == name[:i] {
				fn, _ := p.Scope().Lookup(name[i+1:]).(*types.Func)
				return origin(fn)
			}
		}
		return nil
	}
	fn, _ := pkg.Scope().Lookup(name).(*types.Func)
	return origin(fn)
}

func origin(fn *types.Func) *types.Func {
	if fn == nil {
		return nil
	}
	return fn.Origin()
}
