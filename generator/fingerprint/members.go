package fingerprint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
)

// describer describes the forms of one module.
type describer struct{ module string }

// encoded is a form in one line: its word, or its members.
func (d *describer) encoded(f *model.Form) string {
	members := d.members(f)
	if len(members) == 1 && strings.Trim(members[0].Path, "?") == "" {
		return members[0].Type
	}
	var parts []string
	for _, m := range members {
		parts = append(parts, m.Path+" "+m.Type)
	}
	return strings.Join(parts, ", ")
}

// members lists what is inside a form by paths, sorted.
func (d *describer) members(root *model.Form) []lock.Member {
	l := &lister{describer: d, class: d.classes(root), first: map[int]string{}, open: map[int]string{}}
	l.walk(root, "")
	slices.SortFunc(l.list, func(a, b lock.Member) int { return strings.Compare(a.Path, b.Path) })
	return l.list
}

type lister struct {
	*describer
	class map[*model.Form]int
	first map[int]string // where an object of the class is listed
	open  map[int]string // the same for what is being listed
	list  []lock.Member
}

func (l *lister) add(path, word string) { l.list = append(l.list, lock.Member{Path: path, Type: word}) }

// walk lists a form. An object that is written like one before is not listed
// again: a type with many circles would have no end.
func (l *lister) walk(f *model.Form, path string) {
	class := l.class[f]
	where, ok := l.open[class]
	if !ok && f.Op == model.OpStruct {
		where, ok = l.first[class]
	}
	if ok {
		l.add(path, "like "+cmp.Or(where, whole))
		return
	}
	l.open[class] = path
	defer delete(l.open, class)
	switch f.Op {
	case model.OpPointer:
		l.walk(f.Elem, path+"?")
	case model.OpSlice:
		l.walk(f.Elem, path+"[]")
	case model.OpArray:
		l.walk(f.Elem, path+f.Brackets())
	case model.OpMap, model.OpIntMap:
		l.walk(f.Elem, path+"{}")
	case model.OpStruct:
		l.first[class] = path
		if len(f.Members) == 0 {
			l.add(path, "nothing")
		}
		for _, m := range f.Members {
			l.walk(m.Form, strings.TrimPrefix(path+"."+step(m), "."))
		}
	default:
		l.add(path+nullable(f), l.word(f))
	}
}

// whole stands for the path of what is described.
const whole = "$"

// step is a member's name, and ? if an embedded pointer on the way to it makes it
// null.
func step(m *model.Member) string {
	name := model.WireName(m.Wire)
	if m.Form.Op != model.OpPointer && nullable(m.Form) == "" && slices.ContainsFunc(m.Steps, func(s model.Step) bool { return s.Pointer }) {
		name += "?"
	}
	return name
}

// nullable is ? for a pointer that is written by its own method: nil is null.
func nullable(f *model.Form) string {
	if f.Type != nil && f.Type.Kind == model.Pointer && (f.Op == model.OpText || f.Op == model.OpAppender || f.Op == model.OpBigInt) {
		return "?"
	}
	return ""
}

var precisions = map[time.Duration]contracts.NormalizerName{
	time.Second: contracts.Second, time.Millisecond: contracts.Millisecond,
	time.Microsecond: contracts.Microsecond, time.Nanosecond: contracts.Nanosecond,
}

// word names the encoding of a form without parts. Types that are encoded alike
// have one word: int8 and uint64, or big integers and decimals.
func (d *describer) word(f *model.Form) string {
	switch f.Op {
	case model.OpString:
		return "string" + steps(f)
	case model.OpText:
		return "text" + steps(f) + d.foreign(f.Type)
	case model.OpAppender:
		return "canonical" + d.foreign(f.Type)
	case model.OpInt, model.OpUint:
		return "int"
	case model.OpFloat64:
		return "float64"
	case model.OpFloat32:
		return "float32"
	case model.OpBool:
		return "bool"
	case model.OpBytes:
		return "base64"
	case model.OpTime:
		return "time " + string(precisions[f.Precision])
	case model.OpBigInt, model.OpDecimal:
		return "decimal"
	case model.OpNumber:
		return "number"
	case model.OpRawJSON, model.OpAny:
		return "json" + steps(f)
	case model.OpMinor:
		return "minor_units " + strconv.Itoa(f.Digits) + steps(f)
	}
	panic("fingerprint: form without a word: " + strconv.Itoa(int(f.Op)))
}

// steps are the normalisers that make a difference: what is not exact is trimmed
// first and last.
func steps(f *model.Form) string {
	text := ""
	if f.Exact {
		text = " exact"
	}
	for _, s := range f.Steps {
		if f.Exact || s.Name != contracts.Trim {
			text += " " + model.StepWord(s)
		}
	}
	return text
}

// foreign names a type of another module that writes itself.
func (d *describer) foreign(t *model.Type) string {
	for t.Kind == model.Pointer {
		t = t.Elem
	}
	if name := typeName(t); name != "" && !d.inside(t.Pkg) {
		return " " + name
	}
	return ""
}

// inside tells whether a package is one of the module, whose path may end in its
// major version.
func (d *describer) inside(pkg string) bool {
	rest, ok := strings.CutPrefix(pkg, d.module)
	return ok && (rest == "" || rest[0] == '/')
}

// typeName is a named type of another package without its major version, which
// changes more often than what it writes; "" for others.
func typeName(t *model.Type) string {
	for t.Kind == model.Pointer {
		t = t.Elem
	}
	if t.Kind != model.Named || t.Pkg == "" {
		return ""
	}
	path := t.Pkg
	if i := strings.LastIndexByte(path, '/'); i > 0 && isMajor(path[i+1:]) {
		path = path[:i]
	}
	return path + "." + t.Name
}

func isMajor(s string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(s, "v"), 10, 16)
	return err == nil && s[0] == 'v'
}
