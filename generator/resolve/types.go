package resolve

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/idemgen/idem/generator/model"
)

const idemPath = "github.com/idemgen/idem/runtime"

// typeRef is a type as generated code of package own writes it. The error says
// which part of it has no name there.
func typeRef(own *types.Package, t types.Type) (*model.Type, error) {
	switch t := t.(type) {
	case *types.Alias:
		return nameRef(own, t.Obj(), t.TypeArgs())
	case *types.Named:
		return nameRef(own, t.Obj(), t.TypeArgs())
	case *types.Basic:
		if t.Kind() == types.Invalid {
			return nil, fmt.Errorf("a type that does not resolve")
		}
		if t.Kind() == types.UnsafePointer {
			return &model.Type{Pkg: "unsafe", Name: "Pointer"}, nil
		}
		return &model.Type{Name: t.Name()}, nil
	case *types.Pointer:
		return elemRef(own, &model.Type{Kind: model.Pointer}, t.Elem())
	case *types.Slice:
		return elemRef(own, &model.Type{Kind: model.Slice}, t.Elem())
	case *types.Array:
		return elemRef(own, &model.Type{Kind: model.Array, Len: t.Len()}, t.Elem())
	case *types.Map:
		key, err := typeRef(own, t.Key())
		if err != nil {
			return nil, err
		}
		return elemRef(own, &model.Type{Kind: model.Map, Key: key}, t.Elem())
	case *types.Struct:
		return structRef(own, t)
	case *types.Interface:
		if t.Empty() {
			return &model.Type{Name: "any"}, nil
		}
	}
	return nil, fmt.Errorf("%s, which needs a name of its own", describe(own, t))
}

func elemRef(own *types.Package, ref *model.Type, elem types.Type) (*model.Type, error) {
	e, err := typeRef(own, elem)
	ref.Elem = e
	return ref, err
}

func nameRef(own *types.Package, obj *types.TypeName, args *types.TypeList) (*model.Type, error) {
	ref := &model.Type{Name: obj.Name()}
	if pkg := obj.Pkg(); pkg != nil && pkg.Path() != own.Path() {
		if !obj.Exported() {
			return nil, fmt.Errorf("%s.%s, which is not exported", pkg.Path(), obj.Name())
		}
		if !mayImport(own.Path(), pkg.Path()) {
			return nil, fmt.Errorf("%s.%s, which is internal to another part of the tree", pkg.Path(), obj.Name())
		}
		ref.Pkg = pkg.Path()
	}
	for i := range args.Len() {
		arg, err := typeRef(own, args.At(i))
		if err != nil {
			return nil, err
		}
		ref.Args = append(ref.Args, arg)
	}
	return ref, nil
}

// mayImport tells whether the rule of internal packages lets one package
// import another.
func mayImport(from, path string) bool {
	elems := strings.Split(path, "/")
	for i := len(elems) - 1; i >= 0; i-- {
		if elems[i] == "internal" {
			root := strings.Join(elems[:i], "/")
			return root != "" && (from == root || strings.HasPrefix(from, root+"/"))
		}
	}
	return true
}

func structRef(own *types.Package, t *types.Struct) (*model.Type, error) {
	ref := &model.Type{Kind: model.Struct}
	for i := range t.NumFields() {
		f := t.Field(i)
		if !f.Exported() && f.Pkg().Path() != own.Path() {
			return nil, fmt.Errorf("a struct type of %s with the unexported field %s, which needs a name of its own", f.Pkg().Path(), f.Name())
		}
		ft, err := typeRef(own, f.Type())
		if err != nil {
			return nil, err
		}
		ref.Fields = append(ref.Fields, model.TypeField{Name: f.Name(), Type: ft, Tag: t.Tag(i), Embedded: f.Embedded()})
	}
	return ref, nil
}

// describe is a type as messages write it: own types bare, others with the
// name of their package.
func describe(own *types.Package, t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == own.Path() {
			return ""
		}
		return p.Name()
	})
}

// named is the named type behind aliases, or nil.
func named(t types.Type) *types.Named {
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// isNamed tells whether t is the type path.name.
func isNamed(t types.Type, path, name string) bool {
	n := named(t)
	return n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path && n.Obj().Name() == name
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

// deref is what a pointer points to, and whether t is one.
func deref(t types.Type) (types.Type, bool) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem(), true
	}
	return t, false
}

// invalid tells whether a part of the type did not resolve.
func invalid(t types.Type) bool {
	seen := map[types.Type]bool{}
	var visit func(t types.Type) bool
	visit = func(t types.Type) bool {
		if t == nil || seen[t] {
			return false
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Basic:
			return t.Kind() == types.Invalid
		case *types.Pointer:
			return visit(t.Elem())
		case *types.Slice:
			return visit(t.Elem())
		case *types.Array:
			return visit(t.Elem())
		case *types.Map:
			return visit(t.Key()) || visit(t.Elem())
		case *types.Named:
			for i := range t.TypeArgs().Len() {
				if visit(t.TypeArgs().At(i)) {
					return true
				}
			}
			_, bad := t.Underlying().(*types.Basic)
			return bad && t.Underlying().(*types.Basic).Kind() == types.Invalid
		case *types.Tuple:
			for v := range t.Variables() {
				if visit(v.Type()) {
					return true
				}
			}
		}
		return false
	}
	return visit(t)
}

// method finds a method of t or, if addressable, of *t.
func method(t types.Type, name string) (sig *types.Signature, pointer bool) {
	for _, pointer := range []bool{false, true} {
		recv := t
		if pointer {
			if types.IsInterface(t) {
				break
			}
			recv = types.NewPointer(t)
		}
		obj, _, _ := types.LookupFieldOrMethod(recv, false, nil, name)
		if fn, ok := obj.(*types.Func); ok {
			return fn.Signature(), pointer
		}
	}
	return nil, false
}

// isBytesMethod tells whether a signature is func(in…) ([]byte, error).
func isBytesMethod(sig *types.Signature, takesBytes bool) bool {
	if sig == nil || sig.Results().Len() != 2 || sig.Variadic() {
		return false
	}
	if !isByteSlice(sig.Results().At(0).Type()) || !isError(sig.Results().At(1).Type()) {
		return false
	}
	if !takesBytes {
		return sig.Params().Len() == 0
	}
	return sig.Params().Len() == 1 && isByteSlice(sig.Params().At(0).Type())
}

func isByteSlice(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}
