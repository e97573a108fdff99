package model_test

import (
	"testing"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

func form(op model.Op) *model.Form { return &model.Form{Op: op, Type: &model.Type{Name: "T"}} }

func object(members ...*model.Member) *model.Form {
	return &model.Form{Op: model.OpStruct, Type: &model.Type{Name: "T"}, Func: true, Members: members}
}

func member(wire, path string, f *model.Form) *model.Member {
	return &model.Member{Wire: wire, Path: path, Form: f}
}

func with(op model.Op, change func(*model.Form)) *model.Form {
	f := form(op)
	change(f)
	return f
}

// tree is a type that contains itself through a pointer, by way of a slice.
func tree(label model.Op) *model.Form {
	root := object(member("label", "Label", form(label)))
	list := &model.Form{Op: model.OpSlice, Type: &model.Type{Kind: model.Slice}}
	list.Elem = &model.Form{Op: model.OpPointer, Type: &model.Type{Kind: model.Pointer}, Elem: root}
	root.Members = append(root.Members, member("children", "Children", list))
	return root
}

func TestShapeTellsEncodingsApart(t *testing.T) {
	forms := map[string]*model.Form{
		"string":      object(member("a", "A", form(model.OpString))),
		"other name":  object(member("b", "A", form(model.OpString))),
		"two":         object(member("a", "A", form(model.OpString)), member("b", "B", form(model.OpString))),
		"int":         object(member("a", "A", form(model.OpInt))),
		"float":       object(member("a", "A", form(model.OpFloat64))),
		"exact":       object(member("a", "A", with(model.OpString, func(f *model.Form) { f.Exact = true }))),
		"normalised":  object(member("a", "A", with(model.OpString, func(f *model.Form) { f.Steps = []contracts.Normalizer{{Name: contracts.Lower}} }))),
		"second":      object(member("a", "A", with(model.OpTime, func(f *model.Form) { f.Precision = time.Second }))),
		"microsecond": object(member("a", "A", with(model.OpTime, func(f *model.Form) { f.Precision = time.Microsecond }))),
		"minor":       object(member("a", "A", with(model.OpMinor, func(f *model.Form) { f.Digits = 2 }))),
		"list":        object(member("a", "A", with(model.OpSlice, func(f *model.Form) { f.Elem = form(model.OpString) }))),
		"map":         object(member("a", "A", with(model.OpMap, func(f *model.Form) { f.Elem = form(model.OpString) }))),
		"pointer":     object(member("a", "A", with(model.OpPointer, func(f *model.Form) { f.Elem = form(model.OpString) }))),
		"nested":      object(member("a", "A", object(member("a", "A", form(model.OpString))))),
		"tree":        tree(model.OpString),
		"int tree":    tree(model.OpInt),
	}
	seen := map[string]string{}
	for name, f := range forms {
		shape := model.Shape(f)
		if len(shape) != 64 {
			t.Errorf("%s: shape %q is no SHA-256", name, shape)
		}
		if other, ok := seen[shape]; ok {
			t.Errorf("%s and %s have the same shape: %s", name, other, model.Describe(f))
		}
		seen[shape] = name
	}
}

func TestShapeIgnoresGoNames(t *testing.T) {
	a, b := object(member("id", "ID", form(model.OpString))), object(member("id", "OrderID", form(model.OpString)))
	b.Type = &model.Type{Pkg: "example.com/other", Name: "Renamed"}
	if model.Shape(a) != model.Shape(b) {
		t.Errorf("%s and %s", model.Describe(a), model.Describe(b))
	}
	a, b = tree(model.OpString), tree(model.OpString)
	if model.Shape(a) != model.Shape(b) {
		t.Error("two readings of one recursive type have two shapes")
	}
}

func TestRecursionIsFound(t *testing.T) {
	root := tree(model.OpString)
	outer := object(member("tree", "Tree", root), member("leaf", "Leaf", object()))
	model.MarkRecursive(outer)
	if !root.Recursive {
		t.Error("a tree is not found to contain itself")
	}
	if outer.Recursive || outer.Members[1].Form.Recursive {
		t.Error("what only holds a tree, or stands beside one, is said to contain itself")
	}
	// A list of itself has no struct on the way, and needs a function all the same.
	list := &model.Form{Op: model.OpSlice, Type: &model.Type{Name: "Forest"}}
	list.Elem = list
	model.MarkRecursive(list)
	if !list.Recursive || !list.Func {
		t.Errorf("type Forest []Forest: recursive %v, function %v", list.Recursive, list.Func)
	}
}

// Functions are shared between forms of one type, and Go takes structs without
// names for one type only if their tags are the same.
func TestStructsWithoutNamesAreTheSameTypeOnlyWithTheSameTags(t *testing.T) {
	tagged := func(tag string) *model.Type {
		return &model.Type{Kind: model.Struct, Fields: []model.TypeField{{Name: "A", Type: &model.Type{Name: "string"}, Tag: tag}}}
	}
	if a, b := tagged(`json:"a"`).String(), tagged(`json:"b"`).String(); a == b {
		t.Errorf("both are %s", a)
	}
}

func TestStructIsNeverEmptyOnlyWithANumberThatIsAlwaysThere(t *testing.T) {
	number, text := &model.Form{Op: model.OpInt}, &model.Form{Op: model.OpString}
	of := func(members ...*model.Member) *model.Form { return &model.Form{Op: model.OpStruct, Members: members} }
	behindNil := []model.Step{{Name: "Base", Pointer: true}, {Name: "N"}}
	for name, test := range map[string]struct {
		form *model.Form
		want bool
	}{
		"texts alone":               {of(&model.Member{Form: text}, &model.Member{Form: text}), false},
		"a number among them":       {of(&model.Member{Form: text}, &model.Member{Form: number}), true},
		"a number inside a struct":  {of(&model.Member{Form: of(&model.Member{Form: number})}), true},
		"a number behind a pointer": {of(&model.Member{Form: &model.Form{Op: model.OpPointer, Elem: number}}), false},
		"of an embedded pointer":    {of(&model.Member{Form: number, Steps: behindNil}), false},
		"nothing at all":            {of(), false},
	} {
		if got := test.form.NeverEmpty(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
