package resolve

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idemgen/idem/contracts"
)

// farFunc finds a function of another package that generated code can call.
func (c *contract) farFunc(at contracts.Value[string], path string, f contracts.Func, wanted func() string) *types.Func {
	p, problem := c.farPackage(f)
	if problem != "" {
		c.fail(at.Pos, path, nil, "%s", problem)
		return nil
	}
	obj := p.Scope().Lookup(f.Name)
	if obj == nil || !obj.Exported() {
		c.noFarFunc(at, path, p, f.Name, wanted())
		return nil
	}
	fn, ok := obj.(*types.Func)
	if !ok {
		c.fail(at.Pos, path, obj, "%s is %s: want a function, %s", at.V, kindOfObject(obj), wanted())
		return nil
	}
	return fn
}

func kindOfObject(obj types.Object) string {
	switch obj.(type) {
	case *types.Var:
		return "a variable"
	case *types.TypeName:
		return "a type"
	}
	return "a constant"
}

func (c *contract) noFarFunc(at contracts.Value[string], path string, p *types.Package, name, wanted string) {
	var names []string
	for _, n := range p.Scope().Names() {
		if _, ok := p.Scope().Lookup(n).(*types.Func); ok && token.IsExported(n) {
			names = append(names, n)
		}
	}
	if !token.IsExported(name) {
		first, size := utf8.DecodeRuneInString(name)
		exported := string(unicode.ToUpper(first)) + name[size:]
		hint := contracts.DidYouMean(exported, names)
		if slices.Contains(names, exported) {
			hint = fmt.Sprintf(" (did you mean %s?)", exported)
		}
		c.fail(at.Pos, path, nil, "function %s of package %s is not exported, so that no other package can call it%s", name, p.Name(), hint)
		return
	}
	c.fail(at.Pos, path, nil, "package %s (%s) has no function %s%s: want %s", p.Name(), p.Path(), name, contracts.DidYouMean(name, names), wanted)
}

// farPackage is another package, or what is wrong with it.
func (c *contract) farPackage(f contracts.Func) (p *types.Package, problem string) {
	path := f.Path
	if path == "" {
		if path, problem = c.importedAs(f.Package, f.Name); problem != "" {
			return nil, problem
		}
	}
	listed := c.u.listed[path]
	switch {
	case path == c.src.path:
		return nil, fmt.Sprintf("%s is this package: write %s", path, f.Name)
	case !mayImport(c.src.path, path):
		return nil, fmt.Sprintf("package %s is internal to another part of the tree, so that this one cannot import it", path)
	case listed != nil && listed.Name == "main":
		return nil, fmt.Sprintf("package %s is a program (package main), which nobody can import", path)
	case listed != nil && listed.Dir == "":
		return nil, c.noPackage(path, listed)
	}
	p, err := c.u.Import(path)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("import %s: %s", path, firstLine(err.Error()))
	case reaches(p, c.src.path, map[*types.Package]bool{}):
		return nil, fmt.Sprintf("package %s imports this one, so that this one cannot import it: let a method of the receiver call %s through a field that it is given", path, f.Name)
	}
	return p, ""
}

func (c *contract) noPackage(path string, listed *listed) string {
	text := "there is no package " + path
	if listed.Error != nil {
		text += ": " + firstLine(listed.Error.Err)
	}
	if dir, typ, ok := cutLast(path, '.'); ok && token.IsExported(typ) && strings.Contains(dir, "/") {
		text += fmt.Sprintf(" (if %s is a type of %s, let a method or function of this package call its method)", typ, dir)
	}
	return text
}

// importedAs is the path of the package that Go files of this one import by a
// name.
func (c *contract) importedAs(name, function string) (path, problem string) {
	var names []string
	for _, file := range c.src.files {
		for _, imp := range file.Imports {
			switch found := importPathOf(imp); {
			case c.importName(imp) != name:
				names = append(names, c.importName(imp))
			case path != "" && path != found:
				return "", fmt.Sprintf("Go files of this package import both %s and %s as %s: write the whole path, such as %s.%s", path, found, name, path, function)
			default:
				path = found
			}
		}
	}
	if path == "" {
		slices.Sort(names)
		return "", fmt.Sprintf("no file of package %s imports %s%s: import it, or write its whole path, such as example.com/app/%s.%s",
			c.src.name, name, contracts.DidYouMean(name, slices.Compact(names)), name, function)
	}
	return path, ""
}

// reaches tells whether a package imports another one, by way of others too.
func reaches(p *types.Package, path string, seen map[*types.Package]bool) bool {
	if p.Path() == path {
		return true
	}
	if seen[p] {
		return false
	}
	seen[p] = true
	return slices.ContainsFunc(p.Imports(), func(q *types.Package) bool { return reaches(q, path, seen) })
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSuffix(line, ";")
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
