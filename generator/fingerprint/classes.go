package fingerprint

import (
	"fmt"
	"strings"

	"github.com/idemgen/idem/generator/model"
)

// classes numbers the forms that are reachable from the roots, so that two have
// one number exactly if everything in them is written alike, however deep and
// however their types are shared. They are told apart by their own words first,
// then by the classes of what is inside, until that tells no more apart.
func (d *describer) classes(root *model.Form) map[*model.Form]int {
	forms := reachable(root)
	class := make(map[*model.Form]int, len(forms))
	count := 0
	for {
		numbers := map[string]int{}
		next := make(map[*model.Form]int, len(forms))
		for _, f := range forms {
			s := d.signature(f, class)
			if _, ok := numbers[s]; !ok {
				numbers[s] = len(numbers)
			}
			next[f] = numbers[s]
		}
		if len(numbers) == count {
			return class
		}
		class, count = next, len(numbers)
	}
}

// signature is a form by its own words and the classes of what is inside.
func (d *describer) signature(f *model.Form, class map[*model.Form]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", class[f], d.own(f))
	if f.Elem != nil {
		fmt.Fprintf(&b, " %d", class[f.Elem])
	}
	for _, m := range f.Members {
		fmt.Fprintf(&b, " %s %d", step(m), class[m.Form])
	}
	return b.String()
}

// own is what a form is without what is inside.
func (d *describer) own(f *model.Form) string {
	switch f.Op {
	case model.OpPointer:
		return "?"
	case model.OpSlice:
		return "[]"
	case model.OpArray:
		return f.Brackets()
	case model.OpMap, model.OpIntMap:
		return "{}"
	case model.OpStruct:
		return "object"
	}
	return nullable(f) + d.word(f)
}

func reachable(root *model.Form) []*model.Form {
	seen := map[*model.Form]bool{}
	var list []*model.Form
	var visit func(*model.Form)
	visit = func(f *model.Form) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		list = append(list, f)
		visit(f.Elem)
		for _, m := range f.Members {
			visit(m.Form)
		}
	}
	visit(root)
	return list
}
