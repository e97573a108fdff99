package resolve

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// errorRefs resolves the errors that a contract names.
func (c *contract) errorRefs(path string, list []contracts.Value[string]) []model.ErrorRef {
	var refs []model.ErrorRef
	for _, v := range list {
		if ref := c.errorRef(path, v); ref != nil {
			refs = append(refs, *ref)
		}
	}
	return refs
}

func (c *contract) errorRef(path string, v contracts.Value[string]) *model.ErrorRef {
	name, pointer := strings.CutPrefix(v.V, "*")
	scope, name := c.errorScope(path, v, name)
	if scope == nil {
		return nil
	}
	obj := scope.Scope().Lookup(name)
	if obj == nil || scope != c.types && !obj.Exported() {
		d := c.fail(v.Pos, path, nil, "package %s has no error %s%s", scope.Name(), name, contracts.DidYouMean(name, errorNames(scope, scope == c.types)))
		c.brokenFiles(d)
		return nil
	}
	switch obj := obj.(type) {
	case *types.Var:
		return c.errorValue(path, v, obj, pointer)
	case *types.TypeName:
		return c.errorType(path, v, obj, pointer)
	}
	c.fail(v.Pos, path, obj, "%s is neither an error value nor an error type", v.V)
	return nil
}

// errorScope is the package that an error's name is looked up in.
func (c *contract) errorScope(path string, v contracts.Value[string], name string) (*types.Package, string) {
	qualifier, rest, ok := strings.Cut(name, ".")
	if !ok {
		return c.types, name
	}
	var names []string
	for _, file := range c.src.files {
		for _, imp := range file.Imports {
			if c.importName(imp) == qualifier {
				p, err := c.u.Import(importPathOf(imp))
				if err != nil {
					c.fail(v.Pos, path, nil, "import %s: %s", importPathOf(imp), err)
					return nil, ""
				}
				return p, rest
			}
			names = append(names, c.importName(imp))
		}
	}
	slices.Sort(names)
	c.fail(v.Pos, path, nil, "no file of package %s imports %s%s", c.src.name, qualifier, contracts.DidYouMean(qualifier, names))
	return nil, ""
}

func (c *contract) importName(imp *ast.ImportSpec) string {
	if imp.Name != nil {
		return imp.Name.Name
	}
	path := importPathOf(imp)
	if l := c.u.listed[path]; l != nil && l.Name != "" {
		return l.Name
	}
	return guessName(path)
}

func (c *contract) errorValue(path string, v contracts.Value[string], obj *types.Var, pointer bool) *model.ErrorRef {
	switch {
	case pointer:
		c.fail(v.Pos, path, obj, "%s is a value, not a type: leave out the *", v.V[1:])
		return nil
	case invalid(obj.Type()):
		d := c.fail(v.Pos, path, obj, "the type of %s does not resolve", v.V)
		c.whyInvalid(d, obj)
		return nil
	case !implementsError(obj.Type()):
		c.fail(v.Pos, path, obj, "%s is %s, which is no error", v.V, describe(c.types, obj.Type()))
		return nil
	}
	return &model.ErrorRef{Name: v.V, Value: c.nameOf(obj)}
}

func (c *contract) errorType(path string, v contracts.Value[string], obj *types.TypeName, pointer bool) *model.ErrorRef {
	t := obj.Type()
	if n := named(t); n != nil && n.TypeParams().Len() > 0 {
		c.fail(v.Pos, path, obj, "%s is generic", v.V)
		return nil
	}
	ptr := types.NewPointer(t)
	ref := c.nameOf(obj)
	switch {
	case pointer && implementsError(ptr):
		return &model.ErrorRef{Name: v.V, Type: &model.Type{Kind: model.Pointer, Elem: ref}}
	case !pointer && implementsError(t):
		return &model.ErrorRef{Name: v.V, Type: ref}
	case !pointer && implementsError(ptr):
		c.fail(v.Pos, path, obj, "%s is an error through a pointer only (did you mean \"*%s\"?)", v.V, v.V)
	default:
		c.fail(v.Pos, path, obj, "%s is no error type: it has no method Error() string", v.V)
	}
	return nil
}

// nameOf is an object as generated code writes it.
func (c *contract) nameOf(obj types.Object) *model.Type {
	ref := &model.Type{Name: obj.Name()}
	if obj.Pkg() != nil && obj.Pkg().Path() != c.types.Path() {
		ref.Pkg = obj.Pkg().Path()
	}
	return ref
}

func implementsError(t types.Type) bool {
	return types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// errorNames lists the error values and types of a package.
func errorNames(p *types.Package, own bool) []string {
	names := map[string]bool{}
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if !own && !obj.Exported() {
			continue
		}
		if implementsError(obj.Type()) || implementsError(types.NewPointer(obj.Type())) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
