package resolve

import (
	"go/types"
)

// The methods by which a type writes itself: in canonical form and as JSON. The
// first that a type has is the one that counts.
var (
	canonicalMethods = []string{"AppendCanonical", "MarshalText", "MarshalJSON"}
	jsonMethods      = []string{"MarshalJSON", "MarshalText"}
)

// borrowed is the embedded field from which a struct has the method that
// writes it, if the struct has other fields, which that method knows nothing
// of: two structs that differ in these alone would be written alike.
func borrowed(t types.Type, methods []string) (from, lost *types.Var, name string) {
	t, _ = deref(t)
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil, nil, ""
	}
	for _, name := range methods {
		sig, _ := method(t, name)
		if !isBytesMethod(sig, name == "AppendCanonical") {
			continue
		}
		_, index, _ := types.LookupFieldOrMethod(t, true, nil, name)
		if len(index) < 2 {
			return nil, nil, ""
		}
		for i := range s.NumFields() {
			if i != index[0] && s.Field(i).Name() != "_" {
				return s.Field(index[0]), s.Field(i), name
			}
		}
		return nil, nil, ""
	}
	return nil, nil, ""
}

// borrows reports types whose method is that of an embedded field.
func (b *builder) borrows(t types.Type, path string, decl types.Object) bool {
	from, lost, name := borrowed(t, canonicalMethods)
	if from == nil && b.use == forInput {
		from, lost, name = borrowed(t, jsonMethods)
	}
	if from == nil {
		return false
	}
	b.fail(path, decl, "%s has the %s of the embedded %s, which writes nothing of the field %s: give the embedded field a name, or the type methods of its own",
		describe(b.own, t), name, from.Name(), lost.Name())
	return true
}

// hiddenPointer is an embedded pointer to an unexported struct on the way to a
// field, or nil. encoding/json writes what it points to and cannot read it.
func hiddenPointer(chain []*types.Var) *types.Var {
	for _, f := range chain[:len(chain)-1] {
		if _, isPointer := deref(f.Type()); isPointer && !f.Exported() {
			return f
		}
	}
	return nil
}

// unreadable says why encoding/json cannot read back what it writes of a type,
// or "".
func unreadable(t types.Type) string {
	if i, ok := t.Underlying().(*types.Interface); ok && !i.Empty() {
		return "is an interface with methods, and encoding/json cannot know what to read into it (use a concrete type)"
	}
	has := func(name string) bool {
		sig, _ := method(t, name)
		return sig != nil
	}
	b, _ := t.Underlying().(*types.Basic)
	isString := b != nil && b.Info()&types.IsString != 0 // which is read as what it is
	if has("MarshalText") && !isString && !has("MarshalJSON") && !has("UnmarshalText") && !has("UnmarshalJSON") {
		return "has MarshalText and no UnmarshalText, so that encoding/json cannot read back what it writes"
	}
	return ""
}
