package cataloguetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// declared is what a package declares, by "Func", "Type.Method" or "Type.Field".
type declared struct {
	path, version string // the import path, the module's version
	funcs         map[string]shape
	fields        map[string]bool
}

// shape is how much a function takes and gives.
type shape struct {
	method          bool
	params, results int
}

// read collects the declarations of the package in a folder, of all platforms.
func read(dir string) (*declared, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	d := &declared{funcs: map[string]shape{}, fields: map[string]bool{}}
	fset := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range f.Decls {
			d.add(decl)
		}
	}
	return d, nil
}

func (d *declared) add(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name, s := decl.Name.Name, shapeOf(decl.Type)
		if decl.Recv != nil && len(decl.Recv.List) == 1 {
			s.method = true
			name = typeName(decl.Recv.List[0].Type) + "." + name
		}
		d.funcs[name] = s
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			// An alias declares no methods and fields: its target does.
			if t, ok := spec.(*ast.TypeSpec); ok && !t.Assign.IsValid() {
				d.addType(t.Name.Name, t.Type)
			}
		}
	}
}

func (d *declared) addType(owner string, t ast.Expr) {
	switch t := t.(type) {
	case *ast.StructType:
		for _, field := range t.Fields.List {
			for _, name := range field.Names {
				d.fields[owner+"."+name.Name] = true
			}
			if len(field.Names) == 0 {
				d.fields[owner+"."+typeName(field.Type)] = true
			}
		}
	case *ast.InterfaceType:
		for _, m := range t.Methods.List {
			if f, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
				s := shapeOf(f)
				s.method = true
				d.funcs[owner+"."+m.Names[0].Name] = s
			}
		}
	}
}

func shapeOf(f *ast.FuncType) shape {
	return shape{params: count(f.Params), results: count(f.Results)}
}

func count(list *ast.FieldList) int {
	if list == nil {
		return 0
	}
	n := 0
	for _, f := range list.List {
		n += max(1, len(f.Names))
	}
	return n
}

// typeName is the name of a receiver's or an embedded type, without package,
// star and type parameters.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.ParenExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	}
	return ""
}
