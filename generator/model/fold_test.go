package model_test

import (
	"testing"
	"time"

	"github.com/idemgen/idem/generator/model"
)

// treeOf is a tree whose root has one precision and every node below another.
func treeOf(root, below time.Duration, own bool) *model.Form {
	node := func(precision time.Duration, kids *model.Form) *model.Form {
		at := with(model.OpTime, func(f *model.Form) { f.Precision, f.Own = precision, own })
		f := object(member("at", "At", at), member("kids", "Kids", kids))
		f.Own = own
		return f
	}
	list := func() *model.Form {
		return with(model.OpSlice, func(f *model.Form) { f.Own = own })
	}
	kids, inner := list(), list()
	inner.Elem = node(below, inner)
	kids.Elem = inner.Elem
	return node(root, kids)
}

func TestFoldMakesOneFunctionOfDepthsThatAreAlike(t *testing.T) {
	f := model.Fold(treeOf(time.Second, time.Second, true))
	if kids := f.Members[1].Form; kids.Elem != f {
		t.Error("a node is written by another function than its root, which is alike")
	}
	before := treeOf(time.Second, time.Millisecond, true)
	text := model.Describe(before)
	f = model.Fold(before)
	if kids := f.Members[1].Form; kids.Elem == f || kids.Elem.Members[1].Form.Elem != kids.Elem {
		t.Error("a node is written like its root, which has another precision")
	}
	if got := model.Describe(f); got != text {
		t.Errorf("what is written has changed from %s to %s", text, got)
	}
}

func TestFoldLeavesWhatContractsShare(t *testing.T) {
	f := treeOf(time.Second, time.Second, false)
	kids := f.Members[1].Form.Elem
	if model.Fold(f); f.Members[1].Form.Elem != kids {
		t.Error("a form that other contracts may use was changed")
	}
}
