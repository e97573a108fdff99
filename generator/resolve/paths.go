package resolve

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// fieldPath is a path of Go names in the types.
type fieldPath struct {
	path  string
	chain []*types.Var // every field on the way, embedded ones that Go lets out included
	steps []model.Step // as code writes them
	tag   string       // the last field's name in its json tag, if it has one
}

func (p *fieldPath) last() *types.Var { return p.chain[len(p.chain)-1] }

// pathError says what is wrong with a path, and where the type is declared.
type pathError struct {
	msg  string
	decl types.Object // may be nil
}

// follow finds a path in a type. With through, slices, arrays and maps on the
// way stand for their elements.
func follow(own *types.Package, root types.Type, path string, through bool) (*fieldPath, *pathError) {
	p := &fieldPath{path: path}
	t := root
	for name := range strings.SplitSeq(path, ".") {
		if msg := unselectable(own, t, name, through); msg != "" {
			return nil, &pathError{msg, nil}
		}
		t = inner(t, through)
		obj, index, _ := types.LookupFieldOrMethod(t, true, own, name)
		field, ok := obj.(*types.Var)
		if !ok {
			return nil, noField(own, t, obj, name)
		}
		if !field.Exported() {
			return nil, &pathError{fmt.Sprintf("field %s of %s is not exported, so that it gets lost where the input is stored", name, describe(own, t)), field}
		}
		p.add(t, index, name)
		t = field.Type()
	}
	return p, nil
}

// lost is a field on the path that encoding/json leaves out, or nil: by its
// tag, or because another field has its name.
func (p *fieldPath) lost(root types.Type, through bool) *types.Var {
	t := root
	for rest := p.chain; len(rest) > 0; {
		t = inner(t, through)
		s, ok := t.Underlying().(*types.Struct)
		if !ok || knowsJSON(t) {
			return nil
		}
		fields, _ := jsonFields(s)
		n := jsonPrefix(fields, rest)
		if n == 0 {
			return rest[len(rest)-1]
		}
		t, rest = rest[n-1].Type(), rest[n:]
	}
	return nil
}

// jsonPrefix is how much of the chain is one of the fields, or a part of what
// embedding lets out.
func jsonPrefix(fields []jsonField, chain []*types.Var) int {
	for _, f := range fields {
		n := min(len(f.chain), len(chain))
		if slices.Equal(f.chain[:n], chain[:n]) {
			return n
		}
	}
	return 0
}

// inner is the type whose fields a selector sees.
func inner(t types.Type, through bool) types.Type {
	for range maxNesting { // type T []T has no end
		u, isPointer := deref(t)
		if isPointer {
			t = u
			continue
		}
		if !through {
			return t
		}
		switch u := t.Underlying().(type) {
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		default:
			return t
		}
	}
	return t
}

// unselectable says why code cannot select a field of t, or ask first whether
// t is nil: of pointers Go goes through one, and only through one without a name.
func unselectable(own *types.Package, t types.Type, name string, through bool) string {
	elem, isPointer := deref(t)
	_, again := deref(elem)
	switch {
	case isPointer && again && !through:
		return fmt.Sprintf("field %s cannot be selected from %s, a pointer to a pointer: use a struct or a pointer to one", name, describe(own, t))
	case isNamedPointer(t), isNamedPointer(elem):
		return fmt.Sprintf("field %s cannot be selected from %s, a pointer type with a name: use a struct or a pointer to one", name, describe(own, t))
	}
	return ""
}

func isNamedPointer(t types.Type) bool {
	n := named(t)
	if n == nil {
		return false
	}
	_, ok := n.Underlying().(*types.Pointer)
	return ok
}

// add notes one selector of the path. Embedded fields are written out only
// where a pointer among them may be nil.
func (p *fieldPath) add(t types.Type, index []int, name string) {
	var chain []*types.Var
	var steps []model.Step
	pointer := false
	for _, i := range index {
		u, _ := deref(t)
		s, ok := u.Underlying().(*types.Struct)
		if !ok {
			return
		}
		f := s.Field(i)
		_, isPointer := deref(f.Type())
		if len(chain) < len(index)-1 && isPointer {
			pointer = true
		}
		chain = append(chain, f)
		p.tag, _ = tagOf(s.Tag(i))
		steps = append(steps, model.Step{Name: f.Name(), Pointer: isPointer})
		t = f.Type()
	}
	p.chain = append(p.chain, chain...)
	if !pointer {
		steps = steps[len(steps)-1:]
	}
	p.steps = append(p.steps, steps...)
}

// noField says that there is no such field, and which one may be meant.
func noField(own *types.Package, t types.Type, obj types.Object, name string) *pathError {
	e := &pathError{}
	if n := named(t); n != nil {
		e.decl = n.Obj()
	}
	switch {
	case obj != nil:
		e.msg = fmt.Sprintf("%s is a method of %s: want a field", name, describe(own, t))
		return e
	case invalid(t):
		e.msg = fmt.Sprintf("the type that should have the field %s does not resolve", name)
		return e
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		e.msg = fmt.Sprintf("%s has no field %s: it is no struct", describe(own, t), name)
		return e
	}
	if _, index, _ := types.LookupFieldOrMethod(t, true, own, name); index != nil {
		e.msg = fmt.Sprintf("several embedded structs of %s have a field %s, so that neither Go nor JSON knows which one is meant: give one of them another name", describe(own, t), name)
		return e
	}
	e.msg = fmt.Sprintf("type %s has no field %s%s", describe(own, t), name, contracts.DidYouMean(name, fieldNames(t)))
	return e
}

// fieldNames lists the fields that a selector on t may name, sorted.
func fieldNames(t types.Type) []string {
	names := map[string]bool{}
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		t, _ = deref(t)
		s, ok := t.Underlying().(*types.Struct)
		if !ok || seen[t] {
			return
		}
		seen[t] = true
		for f := range s.Fields() {
			if f.Exported() {
				names[f.Name()] = true
			}
			if f.Embedded() {
				visit(f.Type())
			}
		}
	}
	visit(t)
	return slices.Sorted(maps.Keys(names))
}
