package resolve

import (
	"cmp"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// jsonField is a field of a struct as encoding/json has it.
type jsonField struct {
	wire   string
	chain  []*types.Var // embedded fields that lead to it, and itself
	tagged bool
}

func (f jsonField) field() *types.Var { return f.chain[len(f.chain)-1] }

// lost is a field that encoding/json drops.
type lost struct {
	field *types.Var
	why   string
}

// jsonFields lists the fields of a struct by the rules of encoding/json:
// embedded structs without a tag give theirs to the outer one; of several with
// one name the least deep wins, then a tagged one, else none has it. The names
// are in NFC, in which two may meet.
func jsonFields(t *types.Struct) (fields []jsonField, dropped []lost) {
	type level struct {
		t     *types.Struct
		chain []*types.Var
	}
	var all []jsonField
	visited := map[*types.Struct]bool{}
	for current := []level{{t, nil}}; len(current) > 0; {
		var next []level
		// A type that is met twice on one level gives its fields twice, so that
		// neither has the name; one met on a level above is hidden by that.
		current = slices.DeleteFunc(current, func(l level) bool { return visited[l.t] })
		for _, l := range current {
			visited[l.t] = true
			for i := range l.t.NumFields() {
				f := l.t.Field(i)
				chain := append(slices.Clone(l.chain), f)
				name, options := tagOf(l.t.Tag(i))
				inner, isStruct := embeddedStruct(f)
				switch {
				case f.Embedded() && !f.Exported() && !isStruct:
					continue
				case !f.Embedded() && !f.Exported():
					if f.Name() != "_" {
						dropped = append(dropped, lost{f, "is not exported"})
					}
					continue
				case name == "-" && options == "":
					dropped = append(dropped, lost{f, `has the tag json:"-"`})
					continue
				case f.Embedded() && isStruct && name == "":
					next = append(next, level{inner, chain})
					continue
				}
				tagged := name != ""
				if !tagged {
					name = f.Name()
				}
				all = append(all, jsonField{name, chain, tagged})
			}
		}
		current = next
	}
	fields = dominant(all)
	for i := range fields {
		fields[i].wire = norm.NFC.String(fields[i].wire)
	}
	return fields, dropped
}

// embeddedStruct is the struct type of an embedded field, through a pointer.
func embeddedStruct(f *types.Var) (*types.Struct, bool) {
	if !f.Embedded() {
		return nil, false
	}
	t, _ := deref(f.Type())
	s, ok := t.Underlying().(*types.Struct)
	return s, ok
}

// tagOf is the name in a json tag, if it is one that encoding/json accepts, and
// whether anything follows it.
func tagOf(tag string) (name, options string) {
	value := reflect.StructTag(tag).Get("json")
	name, options, comma := strings.Cut(value, ",")
	if comma && options == "" {
		options = ","
	}
	if name == "-" && comma {
		return "-", options
	}
	if name != "-" && !validTag(name) {
		name = ""
	}
	return name, options
}

func validTag(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

// distinct tells of a few fields that no two have one name.
func distinct(fields []jsonField) bool {
	const few = 32
	if len(fields) > few {
		return false // who knows
	}
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(g jsonField) bool { return g.wire == f.wire }) {
			return false
		}
	}
	return true
}

// dominant chooses one field for each name, or none.
func dominant(all []jsonField) []jsonField {
	if distinct(all) {
		return all // as nearly always
	}
	byName := map[string][]jsonField{}
	var names []string
	for _, f := range all {
		if byName[f.wire] == nil {
			names = append(names, f.wire)
		}
		byName[f.wire] = append(byName[f.wire], f)
	}
	var fields []jsonField
	for _, name := range names {
		list := byName[name]
		slices.SortStableFunc(list, func(a, b jsonField) int {
			if d := cmp.Compare(len(a.chain), len(b.chain)); d != 0 || a.tagged == b.tagged {
				return d
			}
			if a.tagged {
				return -1
			}
			return 1
		})
		if len(list) > 1 && len(list[0].chain) == len(list[1].chain) && list[0].tagged == list[1].tagged {
			continue
		}
		fields = append(fields, list[0])
	}
	return fields
}
