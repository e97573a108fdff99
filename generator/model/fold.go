package model

import "fmt"

// Fold makes one form of all that are written alike, among those that root
// reaches: a type that contains itself, and in which a contract says the same of
// every depth, is then one function that calls itself. Forms that several
// contracts share are left as they are. It gives the form that stands for root.
func Fold(root *Form) *Form {
	forms := reachable(root)
	class := alike(forms)
	first := map[int]*Form{}
	for _, f := range forms {
		if known := first[class[f]]; known == nil || known.Own && !f.Own {
			first[class[f]] = f
		}
	}
	for _, f := range forms {
		if !f.Own {
			continue
		}
		if f.Elem != nil {
			f.Elem = first[class[f.Elem]]
		}
		for _, m := range f.Members {
			m.Form = first[class[m.Form]]
		}
	}
	return first[class[root]]
}

// alike numbers forms so that two have one number exactly if they are the same but
// for where they stand. They are told apart by what they are themselves first, and
// then by what is inside, until that tells no more apart.
func alike(forms []*Form) map[*Form]int {
	class, count := map[*Form]int{}, 0
	for {
		numbers, next := map[string]int{}, map[*Form]int{}
		for _, f := range forms {
			s := f.signature(class)
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

func (f *Form) signature(class map[*Form]int) string {
	s := fmt.Sprintf("%d %d %s %t %d %d %d %t %t %q", class[f], f.Op, f.Type, f.Exact, f.Precision, f.Digits, f.From, f.Addr, f.Func, f.LeftOut)
	for _, step := range f.Steps {
		s += " " + StepWord(step)
	}
	if f.Elem != nil {
		s += fmt.Sprintf(" of %d", class[f.Elem])
	}
	for _, m := range f.Members {
		s += fmt.Sprintf(" %q %q %v %d", m.Wire, m.Path, m.Steps, class[m.Form])
	}
	return s
}
