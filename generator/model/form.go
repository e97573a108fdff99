package model

import (
	"slices"
	"strconv"
	"time"

	"github.com/idemgen/idem/contracts"
)

// Op is how a value is written in canonical form: a row of the table of types.
type Op int

// The rows.
const (
	OpString   Op = iota // also with Exact and Steps
	OpInt                // signed; also time.Duration
	OpUint               //
	OpFloat64            //
	OpFloat32            //
	OpBool               //
	OpBytes              // []byte, as base64
	OpTime               // to Precision
	OpBigInt             // big.Int; Addr if the value is no pointer
	OpDecimal            // a decimal type, by its String method
	OpNumber             // json.Number
	OpRawJSON            // json.RawMessage
	OpAny                // an empty interface
	OpAppender           // AppendCanonical; nil is null
	OpText               // MarshalText; nil is null
	OpMinor              // minor_units: Digits, of a string, a json.Number or a decimal
	OpPointer            // nil is null, else Elem
	OpSlice              // Elem
	OpArray              // Len times Elem
	OpMap                // string keys; Elem
	OpIntMap             // integer keys; Elem
	OpStruct             // Members
)

// Form is how values of a type are written. Forms of recursive types form a
// circle.
type Form struct {
	Op   Op
	Type *Type

	Exact     bool                   // strings as they are
	Steps     []contracts.Normalizer // of strings, without exact, precisions and minor_units; url has the Params of drop_params, sorted
	Precision time.Duration          // OpTime
	Digits    int                    // OpMinor
	From      Op                     // OpMinor: OpString, OpNumber or OpDecimal
	Addr      bool                   // the method has a pointer receiver, or a pointer is wanted

	Len     int64 // OpArray
	Elem    *Form
	Members []*Member // OpStruct, sorted by UTF-16 code units of Wire
	// LeftOut are the fields of the type that are not written: without them nobody
	// could tell a field that has gone from one that does not count here.
	LeftOut []Field

	// Func says that the form becomes a function of its own: structs that have a
	// name, and whatever contains itself.
	Func bool
	// Recursive says that the form contains itself, so that a value can be deeper
	// than any stack.
	Recursive bool
	// Own says that the form is that of one contract's field rather than that of
	// the type everywhere: a normaliser or a choice of fields is at work in it.
	Own bool
}

// Field is a field by its two names.
type Field struct {
	Wire string // that of Go if it has none in JSON
	Path string // Go notation
}

// Member is a member of an object.
type Member struct {
	Wire  string // in NFC
	Path  string // Go notation, for messages
	Steps []Step // Pointer is only set for embedded pointers: the member's own is in Form
	Form  *Form
}

// Fallible tells whether writing the form can fail.
func (f *Form) Fallible() bool {
	switch f.Op {
	case OpInt, OpUint, OpBool, OpBytes:
		return false
	case OpPointer:
		return f.Elem.Func || f.Elem.Fallible()
	}
	return true
}

// Brackets are how an array is described: with its length, since what is delivered
// in fewer elements is written in as many as the array has.
func (f *Form) Brackets() string { return "[" + strconv.FormatInt(f.Len, 10) + "]" }

// NeverEmpty tells whether no value of the form is an empty identity: numbers
// and truth values, of which zero is a value, and structs that always hold one. A
// json.Number may be "", which is no number.
func (f *Form) NeverEmpty() bool {
	switch f.Op {
	case OpInt, OpUint, OpFloat64, OpFloat32, OpBool, OpMinor, OpDecimal:
		return true
	case OpStruct: // which holds itself behind a pointer or in a list only
		return slices.ContainsFunc(f.Members, func(m *Member) bool {
			behindNil := slices.ContainsFunc(m.Steps, func(s Step) bool { return s.Pointer })
			return !behindNil && m.Form.NeverEmpty()
		})
	}
	return false
}

// Textual tells whether the form is a JSON string whose text can be written
// without quotes directly.
func (f *Form) Textual() bool { return f.Op == OpString }

// MarkRecursive finds the forms that contain themselves among those that can be
// reached from root.
func MarkRecursive(root *Form) {
	for _, f := range reachable(root) {
		for _, child := range f.children() {
			if slicesContains(reachable(child), f) {
				f.Recursive = true
				break
			}
		}
		if f.Recursive && f.Type != nil && f.Type.Kind == Named {
			f.Func = true
		}
	}
}

func slicesContains(forms []*Form, f *Form) bool {
	for _, g := range forms {
		if g == f {
			return true
		}
	}
	return false
}

// reachable lists root and all forms inside it, each once, in a fixed order.
func reachable(root *Form) []*Form {
	seen := map[*Form]bool{}
	var list []*Form
	var visit func(f *Form)
	visit = func(f *Form) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		list = append(list, f)
		for _, child := range f.children() {
			visit(child)
		}
	}
	visit(root)
	return list
}

func (f *Form) children() []*Form {
	var list []*Form
	if f.Elem != nil {
		list = append(list, f.Elem)
	}
	for _, m := range f.Members {
		list = append(list, m.Form)
	}
	return list
}
