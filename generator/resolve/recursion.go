package resolve

import (
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/model"
)

// A type may contain itself, and no list of paths names every depth. So what a
// contract says about the first occurrence of a type inside itself holds for all
// that are deeper: of a tree, normalize: {At: …} is about its root and
// {Children.At: …} about every node below.

// frame is a type in which the contract chooses, while its form is made.
type frame struct {
	t     types.Type
	c     *choice
	all   bool
	form  *model.Form
	inner bool // the type is open further out too

	// forms of types inside in which nothing is chosen, but which may lead back
	forms map[string]*model.Form
}

func (b *builder) isOpen(t types.Type) bool {
	for _, f := range b.open {
		if named(t) != nil && types.Identical(f.t, t) {
			return true
		}
	}
	return false
}

// recurring lists the types inside themselves in which the contract chooses, the
// innermost first.
func (b *builder) recurring() []*frame {
	var frames []*frame
	for _, f := range slices.Backward(b.open) {
		if f.inner && f.all && len(f.c.children) > 0 {
			frames = append(frames, f)
		}
	}
	return frames
}

// inside is the form of a type in which the contract chooses nothing: that of the
// same type further out, if that one is inside itself, or one that leads there.
func (b *builder) inside(t types.Type, path string, decl types.Object) *model.Form {
	frames := b.recurring()
	for _, r := range frames {
		if types.Identical(r.t, t) {
			b.circles = true
			return r.form
		}
	}
	for _, r := range frames {
		if !leadsTo(t, r.t, map[types.Type]bool{}) {
			continue
		}
		if r.forms == nil {
			r.forms = map[string]*model.Form{}
		}
		f := b.whole(r.forms, t, path, decl)
		f.Own = true
		return f
	}
	return b.whole(b.shared, t, path, decl)
}

// fold makes depths that are alike one, once the form is whole.
func (b *builder) fold(f *model.Form) *model.Form {
	if b.circles && len(b.errs)+len(b.norms) == 0 {
		return model.Fold(f)
	}
	return f
}

// leadsTo tells whether values of t can hold values of target.
func leadsTo(t, target types.Type, seen map[types.Type]bool) bool {
	if types.Identical(t, target) {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return leadsTo(u.Elem(), target, seen)
	case *types.Slice:
		return leadsTo(u.Elem(), target, seen)
	case *types.Array:
		return leadsTo(u.Elem(), target, seen)
	case *types.Map:
		return leadsTo(u.Elem(), target, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if leadsTo(f.Type(), target, seen) {
				return true
			}
		}
	}
	return false
}

// wayBack is a path of fields from a struct type to itself, or "".
func wayBack(t types.Type) string {
	type step struct {
		t    types.Type
		path []string
	}
	seen := map[types.Type]bool{}
	for queue := []step{{t, nil}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		s, ok := at.t.Underlying().(*types.Struct)
		if !ok || seen[at.t] {
			continue
		}
		seen[at.t] = true
		for f := range s.Fields() {
			next := step{inner(f.Type(), true), append(at.path[:len(at.path):len(at.path)], f.Name())}
			switch {
			case !f.Exported():
			case types.Identical(next.t, t):
				return strings.Join(next.path, ".")
			default:
				queue = append(queue, next)
			}
		}
	}
	return ""
}

// structAt is a struct whose fields are at work, and where it stands.
type structAt struct {
	t    types.Type
	path string
}

// deeper says how a hint about a field of the struct at work has to go on, if its
// type contains itself: where else the field is, or what the path covers.
func (b *builder) deeper(path string) (also, why string) {
	if len(b.structs) == 0 {
		return "", ""
	}
	at := b.structs[len(b.structs)-1]
	for _, s := range b.structs[:len(b.structs)-1] {
		if types.Identical(s.t, at.t) {
			return "", ", which covers every " + describe(b.own, at.t) + " further in"
		}
	}
	back := wayBack(at.t)
	if back == "" {
		return "", ""
	}
	field := strings.TrimPrefix(strings.TrimPrefix(path, at.path), ".")
	return plainPath(join(join(at.path, back), field)), "; " + describe(b.own, at.t) + " contains itself, and a path through " + back + " covers every one further in"
}

// plainPath is a path as contracts write it.
func plainPath(path string) string { return strings.ReplaceAll(path, "[]", "") }
