package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// maxWay is how many steps of a way are kept; what is further away is not worth
// reporting, since nobody would follow it.
const maxWay = 12

// Func is the fact about a function. Its slices are sorted and hold no two
// elements that differ in their ways only.
type Func struct {
	New     []New
	Flow    []Flow
	Keys    []Reach
	Hashes  []Reach
	Effects []Effect
	Memory  Memory // marks that it keeps in the process alone
	Clean   bool   // its results are stable whatever goes in; said by the catalogue alone
	Pure    bool   // it has no effects that count, whatever it calls; said by a directive
	Handler string // what work comes in through it: http, queue, schedule, bot or call; said by a directive
}

// New is a result or an argument that is different after each call.
type New struct {
	To       catalogue.Place
	ToField  string // of To; empty: the value itself
	Volatile catalogue.Volatile
	Partial  bool // only on some paths: otherwise the value comes from elsewhere
	Hashed   bool
	Way      []string // from the source to the function itself
}

// Flow is a value that goes through a function.
type Flow struct {
	From    catalogue.Place
	Field   string // of From; empty: the whole value
	To      catalogue.Place
	ToField string // of To, in which alone it is; empty: all of the value
	Hashed  bool
	Encoded bool // with all its exported fields
}

// Reach is a parameter that reaches a key or a hash.
type Reach struct {
	From    catalogue.Place
	Field   string
	Task    bool
	Encoded bool
	Way     []string // from the function called, if any, to the sink
}

// Effect is what a call does to the world outside.
type Effect struct {
	Class catalogue.Class
	Safe  bool     // a second one is harmless
	Model bool     // it asks a language model
	Way   []string // from the function called to the effect; the shortest
}

// AFact marks Func as a fact.
func (*Func) AFact() {}

// Package is the fact that a package has facts about functions, or contracts: what
// imports it directly is worth looking at.
type Package struct {
	Contracts []Contract
}

// AFact marks Package as a fact.
func (*Package) AFact() {}

func (*Package) String() string { return "facts" }

// Field is the fact that directives say something of a struct field.
type Field struct {
	Key      bool
	Volatile catalogue.Volatile
}

// AFact marks Field as a fact.
func (*Field) AFact() {}

func (f *Field) String() string { return fmt.Sprintf("key %v volatile %q", f.Key, f.Volatile) }

func (f *Func) empty() bool {
	return f == nil || len(f.New)+len(f.Flow)+len(f.Keys)+len(f.Hashes)+len(f.Effects) == 0 && f.Memory == 0 && !f.Clean && !f.Pure && f.Handler == ""
}

// String is for analysistest, which compares facts as text.
func (f *Func) String() string {
	var parts []string
	for _, n := range f.New {
		s := fmt.Sprintf("new %s %s %s", at(n.To, n.ToField), n.Volatile, strings.Join(n.Way, "→"))
		if n.Partial {
			s += " partial"
		}
		if n.Hashed {
			s += " hashed"
		}
		parts = append(parts, s)
	}
	for _, l := range f.Flow {
		s := fmt.Sprintf("flow %s→%s", at(l.From, l.Field), at(l.To, l.ToField))
		if l.Encoded {
			s += " encoded"
		}
		if l.Hashed {
			s += " hashed"
		}
		parts = append(parts, s)
	}
	for _, r := range f.Keys {
		parts = append(parts, fmt.Sprintf("key %s %s", at(r.From, r.Field), strings.Join(r.Way, "→")))
	}
	for _, r := range f.Hashes {
		parts = append(parts, fmt.Sprintf("hash %s", at(r.From, r.Field)))
	}
	for _, e := range f.Effects {
		s := fmt.Sprintf("effect %s %s", e.Class, strings.Join(e.Way, "→"))
		if e.Safe {
			s += " safe"
		}
		parts = append(parts, s)
	}
	if f.Memory != 0 {
		parts = append(parts, "memory "+f.Memory.String())
	}
	if f.Pure {
		parts = append(parts, "pure")
	}
	if f.Handler != "" {
		parts = append(parts, "handler "+f.Handler)
	}
	return strings.Join(parts, "; ")
}

func at(p catalogue.Place, field string) string {
	if field == "" {
		return p.String()
	}
	return p.String() + "." + field
}

// shorter tells whether a way is to be preferred: the shorter one, and of two of
// the same length the first in the alphabet, so that no order of visits matters.
func shorter(a, b []string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return slices.Compare(a, b) < 0
}

// put adds an element to a sorted slice, or replaces the one of the same rank if
// its way is shorter. It tells whether the slice has changed.
func put[T any](all *[]T, x T, compare func(a, b T) int, way func(T) []string) bool {
	if len(way(x)) > maxWay {
		return false
	}
	i, found := slices.BinarySearchFunc(*all, x, compare)
	if !found {
		*all = slices.Insert(*all, i, x)
		return true
	}
	if shorter(way(x), way((*all)[i])) {
		(*all)[i] = x
		return true
	}
	return false
}

func (f *Func) addNew(n New) bool {
	// A result that is new on one path and new on another is one finding.
	return put(&f.New, n, func(a, b New) int {
		return first(int(b.To)-int(a.To), strings.Compare(a.ToField, b.ToField), strings.Compare(string(a.Volatile), string(b.Volatile)), truth(a.Hashed, b.Hashed), truth(a.Partial, b.Partial))
	}, func(n New) []string { return n.Way })
}

func (f *Func) addFlow(l Flow) bool {
	return put(&f.Flow, l, func(a, b Flow) int {
		return first(int(b.To)-int(a.To), strings.Compare(a.ToField, b.ToField), int(a.From)-int(b.From), strings.Compare(a.Field, b.Field), truth(a.Hashed, b.Hashed), truth(a.Encoded, b.Encoded))
	}, func(Flow) []string { return nil })
}

func addReach(all *[]Reach, r Reach) bool {
	return put(all, r, func(a, b Reach) int {
		return first(int(a.From)-int(b.From), strings.Compare(a.Field, b.Field), truth(a.Task, b.Task), truth(a.Encoded, b.Encoded))
	}, func(r Reach) []string { return r.Way })
}

func (f *Func) addEffect(e Effect) bool {
	return put(&f.Effects, e, func(a, b Effect) int {
		return first(strings.Compare(string(a.Class), string(b.Class)), truth(a.Safe, b.Safe), truth(a.Model, b.Model))
	}, func(e Effect) []string { return e.Way })
}

func first(orders ...int) int {
	for _, o := range orders {
		if o != 0 {
			return o
		}
	}
	return 0
}

func truth(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
