package summary

import (
	"go/token"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Origin is one place that a value comes from: something new, a parameter of the
// function, or what a caller outside the program sent.
type Origin struct {
	Volatile catalogue.Volatile // empty: a parameter
	Param    catalogue.Place    // if Volatile is empty
	Field    string             // of the parameter
	Partial  bool               // on some paths the value comes from elsewhere
	Hashed   bool               // it went through a hash
	Encoded  bool               // it was encoded with all its exported fields
	Part     bool               // only a field of the value comes from there
	Entity   bool               // it was read from a field that identifies a thing made here
	Pos      token.Pos          // the call in this function that it comes from, if it is no parameter
	Way      []string           // from the source to here
}

// New tells whether the origin differs between two attempts of one process.
func (o Origin) New() bool { return o.Volatile.New() }

// Origins are sorted, without two that differ in their ways only.
type Origins []Origin

// maxOrigins bounds how many are kept, those that come first in their order, so
// that none depends on who asked first: a text that is put together from thousands
// of new values would have thousands, and each step of it again.
const maxOrigins = 64

func compareOrigins(a, b Origin) int {
	return first(strings.Compare(string(a.Volatile), string(b.Volatile)), int(a.Param)-int(b.Param), strings.Compare(a.Field, b.Field),
		truth(a.Partial, b.Partial), truth(a.Hashed, b.Hashed), truth(a.Encoded, b.Encoded), truth(a.Part, b.Part), truth(a.Entity, b.Entity), int(a.Pos-b.Pos))
}

// Add puts one in.
func (os *Origins) Add(o Origin) {
	put((*[]Origin)(os), o, compareOrigins, func(o Origin) []string { return o.Way })
	if len(*os) > maxOrigins {
		*os = (*os)[:maxOrigins]
	}
}

// AddAll puts all in.
func (os *Origins) AddAll(more Origins) {
	for _, o := range more {
		os.Add(o)
	}
}

// Given are the parameters among the origins of a field, as those of the whole
// struct. A struct is as given as its fields are, and only its fields are new: a
// key read from one is not new because the time of creation beside it is.
func (os Origins) Given() Origins {
	var all Origins
	for _, o := range os {
		if o.Volatile == "" {
			o.Part = true
			all.Add(o)
		}
	}
	return all
}

// Has tells whether one of them meets a condition.
func (os Origins) Has(f func(Origin) bool) bool {
	for _, o := range os {
		if f(o) {
			return true
		}
	}
	return false
}

// Beside leaves out what is put into a value on some paths only, which is where
// nothing else has been put there: a default.
func (os Origins) Beside(branches []Origins, settled []bool) Origins {
	given := false
	for i, b := range branches {
		given = given || !settled[i] && !b.Has(Origin.New)
	}
	if !given {
		return os
	}
	return slices.DeleteFunc(slices.Clone(os), func(o Origin) bool { return o.New() && o.Partial })
}

// Either are the origins of a value that comes from one of several places, of
// which settled say that they are constants (an empty string, say) and do not
// count. What is new in some of them only is partial.
func Either(branches []Origins, settled []bool) Origins {
	total, fresh := 0, 0
	for i, b := range branches {
		if settled[i] {
			continue
		}
		total++
		if b.Has(func(o Origin) bool { return o.New() && !o.Partial }) {
			fresh++
		}
	}
	var all Origins
	for _, b := range branches {
		for _, o := range b {
			if o.New() && fresh < total {
				o.Partial = true
			}
			all.Add(o)
		}
	}
	return all
}
