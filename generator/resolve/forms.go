package resolve

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/runtime/canon"
)

// payloadPrecision is that of times in payload hashes whose precision no
// contract declares: what a database keeps.
const payloadPrecision = time.Microsecond

// usage is what a form is for.
type usage int

const (
	forIdentity usage = iota // volatile fields and times without precision are refused
	forInput                 // volatile fields are left out; what JSON loses is refused
	forUnstored              // of an input that nobody reads back: what JSON loses is left out too
	forEffect                // volatile fields are left out
	forPer                   // of once_per: like identity
	forHonored               // of an identity that was: volatile fields are in it if they were
)

// choice is what a contract says about a field and those inside it.
type choice struct {
	children map[*types.Var]*choice
	norm     *contracts.Normalize
	picked   bool // hash.fields
	dropped  bool // hash.except
	some     bool // a field inside is picked
	stable   bool // allow_volatile
}

func (c *choice) child(f *types.Var) *choice {
	if c == nil {
		return nil
	}
	return c.children[f]
}

// at makes the choice at the end of a path.
func (c *choice) at(chain []*types.Var) *choice {
	for _, f := range chain {
		if c.children == nil {
			c.children = map[*types.Var]*choice{}
		}
		if c.children[f] == nil {
			c.children[f] = &choice{}
		}
		c = c.children[f]
	}
	return c
}

// formError says why a type has no canonical form.
type formError struct {
	path string // Go notation
	msg  string
	decl types.Object

	invalid bool // the type does not resolve, which the type checker can explain
}

// builder makes forms for one use in one contract. Forms of types that no
// choice touches are shared between contracts.
type builder struct {
	own     *types.Package
	use     usage
	shared  map[string]*model.Form
	made    []string   // what this builder has added to shared
	structs []structAt // at work, the outermost first
	open    []*frame   // types at work in which the contract chooses, the outermost first
	depth   int        // of types inside each other
	circles bool       // a form leads back to one that the contract chose
	errs    []formError
	norms   []normError
}

// normError is a normaliser that does not fit.
type normError struct {
	step contracts.Value[contracts.Normalizer]
	msg  string
	decl types.Object
}

func (b *builder) fail(path string, decl types.Object, format string, args ...any) *model.Form {
	b.errs = append(b.errs, formError{path: path, msg: fmt.Sprintf(format, args...), decl: decl})
	return &model.Form{Op: model.OpBool, Type: &model.Type{Name: "bool"}}
}

// form is how values of t are written. c is what the contract says about them,
// or nil; all says that every field counts, because one around it was picked.
func (b *builder) form(t types.Type, c *choice, all bool, path string, decl types.Object) *model.Form {
	if invalid(t) {
		f := b.fail(path, decl, "the type does not resolve")
		b.errs[len(b.errs)-1].invalid = true
		return f
	}
	if c == nil && all {
		return b.inside(t, path, decl)
	}
	// A choice goes through slices and pointers, of which a type may be made
	// without end.
	if b.depth++; b.depth > maxNesting {
		b.depth = 0
		return b.fail(strings.TrimRight(path, "[]"), decl, "the type contains itself where the contract chooses")
	}
	f := &model.Form{}
	b.open = append(b.open, &frame{t: t, c: c, all: all, form: f, inner: b.isOpen(t)})
	*f = *b.build(t, c, all, path, decl)
	b.open = b.open[:len(b.open)-1]
	b.depth = max(b.depth-1, 0)
	f.Own = true
	return f
}

// whole is the form of a type in which nothing is chosen, once for each type.
func (b *builder) whole(forms map[string]*model.Form, t types.Type, path string, decl types.Object) *model.Form {
	key := fmt.Sprintf("%d %s", b.use, types.TypeString(t, nil))
	if f := forms[key]; f != nil {
		return f
	}
	f := &model.Form{}
	forms[key] = f
	b.made = append(b.made, key)
	*f = *b.build(t, nil, true, path, decl)
	return f
}

// forget leaves no form behind that came with errors: the next contract that needs
// it is to hear of them too, with its own paths.
func (b *builder) forget() {
	if len(b.errs) > 0 {
		for _, key := range b.made {
			delete(b.shared, key)
		}
	}
	b.made = nil
}

// maxNesting is how deep a contract may reach into a type.
const maxNesting = 100

func (b *builder) build(t types.Type, c *choice, all bool, path string, decl types.Object) *model.Form {
	before := len(b.errs)
	f := b.row(t, c, all, path, decl)
	ref, err := typeRef(b.own, t)
	if err != nil && len(b.errs) == before {
		return b.fail(path, decl, "the type holds %s", err)
	}
	f.Type = ref
	return f
}

// row finds the first row of the table that fits the type.
func (b *builder) row(t types.Type, c *choice, all bool, path string, decl types.Object) *model.Form {
	f := &model.Form{}
	if b.known(f, t) || b.methods(f, t, path, decl) {
		if c != nil && len(c.children) > 0 {
			return b.fail(path, decl, "%s writes itself as a whole, so that nothing inside it can be chosen or normalised", describe(b.own, t))
		}
		return b.normalize(f, c, t, path, decl)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if !basic(f, u) {
			return b.noForm(t, path, decl)
		}
	case *types.Interface:
		if !u.Empty() {
			return b.fail(path, decl, "what the interface %s holds has no canonical form: use a concrete type, or add AppendCanonical or MarshalText to the interface", describe(b.own, t))
		}
		f.Op = model.OpAny
	case *types.Pointer:
		f.Op, f.Elem = model.OpPointer, b.form(u.Elem(), c, all, path, decl)
		return f
	case *types.Slice:
		if types.Identical(u.Elem(), types.Typ[types.Byte]) {
			f.Op = model.OpBytes
			break
		}
		f.Op, f.Elem = model.OpSlice, b.form(u.Elem(), c, all, path+"[]", decl)
		return f
	case *types.Array:
		f.Op, f.Len, f.Elem = model.OpArray, u.Len(), b.form(u.Elem(), c, all, path+"[]", decl)
		return f
	case *types.Map:
		if f.Op = mapOp(u); f.Op == model.OpStruct {
			return b.fail(path, decl, "the keys of %s are neither strings nor integers, and JSON has no others", describe(b.own, t))
		}
		f.Elem = b.form(u.Elem(), c, all, path+"[]", decl)
		return f
	case *types.Struct:
		return b.structForm(f, t, u, c, all, path, decl)
	default:
		return b.noForm(t, path, decl)
	}
	return b.normalize(f, c, t, path, decl)
}

func (b *builder) noForm(t types.Type, path string, decl types.Object) *model.Form {
	return b.fail(path, decl, "%s has no canonical form: use a type that JSON can hold, or give the type AppendCanonical", describe(b.own, t))
}

// known fills in the types that have a row of their own.
func (b *builder) known(f *model.Form, t types.Type) bool {
	if p, ok := deref(t); ok && isNamed(p, "math/big", "Int") {
		f.Op = model.OpBigInt
		return true
	}
	n := named(t)
	if n == nil || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() + "." + n.Obj().Name() {
	case "time.Time":
		f.Op = model.OpTime
	case "time.Duration":
		f.Op = model.OpInt
	case "math/big.Int":
		f.Op, f.Addr = model.OpBigInt, true
	case "encoding/json.Number":
		f.Op = model.OpNumber
	case "encoding/json.RawMessage", "encoding/json/jsontext.Value":
		f.Op = model.OpRawJSON
	default:
		if !isDecimal(n) {
			return false
		}
		f.Op = model.OpDecimal
	}
	return true
}

// decimals are decimal types whose String method tells the value, by import
// path without a major version.
var decimals = map[string]string{
	"github.com/shopspring/decimal":     "Decimal",
	"github.com/cockroachdb/apd":        "Decimal",
	"github.com/ericlagergren/decimal":  "Big",
	"github.com/govalues/decimal":       "Decimal",
	"github.com/alpacahq/alpacadecimal": "Decimal",
	"github.com/quagmt/udecimal":        "Decimal",
}

func isDecimal(n *types.Named) bool {
	path := n.Obj().Pkg().Path()
	if i := strings.LastIndexByte(path, '/'); i > 0 && isMajor(path[i+1:]) {
		path = path[:i]
	}
	name, ok := decimals[path]
	return ok && name == n.Obj().Name()
}

// methods fills in types that know their own form.
func (b *builder) methods(f *model.Form, t types.Type, path string, decl types.Object) bool {
	if _, isPointer := deref(t); isPointer && named(t) == nil {
		// A pointer whose method set has the method: nil is null, as canon says.
		elem, _ := deref(t)
		if isSpecial(elem) {
			return false
		}
	}
	if b.borrows(t, path, decl) {
		return true
	}
	if why := unreadable(t); why != "" && b.use == forInput {
		b.fail(path, decl, "%s %s: it would be lost when the work is tried again from what was stored", describe(b.own, t), why)
		return true
	}
	if sig, pointer := method(t, "AppendCanonical"); isBytesMethod(sig, true) {
		f.Op, f.Addr = model.OpAppender, pointer
		return true
	}
	if sig, pointer := method(t, "MarshalText"); isBytesMethod(sig, false) {
		f.Op, f.Addr = model.OpText, pointer
		return true
	}
	if sig, _ := method(t, "MarshalJSON"); isBytesMethod(sig, false) {
		b.fail(path, decl, "%s has MarshalJSON only, which two encoders may call for two texts: give it AppendCanonical or MarshalText", describe(b.own, t))
		return true
	}
	return false
}

// isSpecial tells whether a type has a row above that of methods, so that a
// pointer to it must not be taken by its methods.
func isSpecial(t types.Type) bool {
	n := named(t)
	if n == nil || n.Obj().Pkg() == nil {
		return false
	}
	return (&builder{}).known(&model.Form{}, t)
}

// basic fills in the predeclared types.
func basic(f *model.Form, u *types.Basic) bool {
	switch info := u.Info(); {
	case u.Kind() == types.Float64:
		f.Op = model.OpFloat64
	case u.Kind() == types.Float32:
		f.Op = model.OpFloat32
	case info&types.IsUnsigned != 0:
		f.Op = model.OpUint
	case info&types.IsInteger != 0:
		f.Op = model.OpInt
	case info&types.IsBoolean != 0:
		f.Op = model.OpBool
	case info&types.IsString != 0:
		f.Op = model.OpString
	default:
		return false
	}
	return true
}

// mapOp is OpMap or OpIntMap; OpStruct for keys that are neither.
func mapOp(m *types.Map) model.Op {
	k, ok := m.Key().Underlying().(*types.Basic)
	switch {
	case !ok || k.Kind() == types.Uintptr:
		return model.OpStruct
	case k.Info()&types.IsString != 0:
		return model.OpMap
	case k.Info()&types.IsInteger != 0:
		return model.OpIntMap
	}
	return model.OpStruct
}

func (b *builder) structForm(f *model.Form, t types.Type, u *types.Struct, c *choice, all bool, path string, decl types.Object) *model.Form {
	if field := foreignHidden(b.own, u); field != nil {
		return b.fail(path, decl, "%s has the unexported field %s and none of the methods AppendCanonical and MarshalText: use a type of this package that has one", describe(b.own, t), field.Name())
	}
	if c != nil && c.norm != nil {
		b.misfit(c.norm.Steps[0], t, decl, ", a struct: name the fields in it that are")
	}
	b.structs = append(b.structs, structAt{t, path})
	defer func() { b.structs = b.structs[:len(b.structs)-1] }()
	f.Op, f.Func = model.OpStruct, named(t) != nil
	fields, dropped := jsonFields(u)
	if b.use == forInput {
		for _, l := range dropped {
			b.fail(join(path, l.field.Name()), l.field, "the field %s, so that it would be lost when the work is tried again from what was stored (payload: none stores nothing)", l.why)
		}
	}
	for _, jf := range fields {
		if p := hiddenPointer(jf.chain); p != nil && b.use == forInput {
			b.fail(join(path, jf.field().Name()), p, "the field comes from the embedded *%s, which is not exported, so that encoding/json cannot read it back: embed a struct, or export the type", p.Name())
			continue
		}
		if m := b.member(t, jf, c, all, path); m != nil {
			f.Members = append(f.Members, m)
		} else {
			f.LeftOut = append(f.LeftOut, model.Field{Wire: jf.wire, Path: memberPath(b.own, t, jf)})
		}
	}
	for _, l := range dropped {
		f.LeftOut = append(f.LeftOut, model.Field{Wire: l.field.Name(), Path: l.field.Name()})
	}
	slices.SortFunc(f.Members, func(x, y *model.Member) int { return canon.CompareNames(x.Wire, y.Wire) })
	for i, m := range f.Members {
		if i > 0 && f.Members[i-1].Wire == m.Wire {
			b.fail(join(path, m.Path), nil, "the field %+q has the name of %+q once both are in NFC: give one of the two another name", m.Path, f.Members[i-1].Path)
		}
	}
	return f
}

// leaveOut says how a volatile field gets out of a key.
var leaveOut = map[usage]string{
	forIdentity: "leave it out with except, choose the fields that count, or say with allow_volatile why this one is stable",
	forPer:      "choose a field that does not",
}

// member is one member of an object, or nil if it is left out.
func (b *builder) member(t types.Type, jf jsonField, c *choice, all bool, path string) *model.Member {
	field := jf.field()
	for _, v := range jf.chain {
		c = c.child(v)
		if c != nil && c.dropped {
			return nil
		}
		all = all || c != nil && c.picked
	}
	if !all && (c == nil || !c.some) {
		return nil
	}
	if b.use == forUnstored && isCode(field.Type()) {
		return nil
	}
	goPath := memberPath(b.own, t, jf)
	full := join(path, goPath)
	if why := volatile(field.Name(), jf.wire, field.Type()); why != "" && b.use != forHonored && (c == nil || !c.stable) {
		if b.use == forIdentity || b.use == forPer {
			b.fail(full, field, "the field looks like %s, which differs between deliveries of the same work: %s", why, leaveOut[b.use])
		}
		return nil
	}
	m := &model.Member{Wire: jf.wire, Path: goPath, Steps: memberSteps(b.own, t, jf)}
	if c.whole() {
		c = nil
	}
	m.Form = b.form(field.Type(), c, all, full, field)
	return m
}

// whole tells whether the contract says nothing about how the field's value is
// written, nor about what is inside it.
func (c *choice) whole() bool { return c != nil && c.norm == nil && len(c.children) == 0 }

// isCode tells whether values of the type are functions or channels, which are
// part of no comparison.
func isCode(t types.Type) bool {
	t, _ = deref(t)
	switch t.Underlying().(type) {
	case *types.Signature, *types.Chan:
		return true
	}
	return false
}

// memberPath is the shortest Go path to a promoted field.
func memberPath(own *types.Package, t types.Type, jf jsonField) string {
	var names []string
	for _, s := range memberSteps(own, t, jf) {
		names = append(names, s.Name)
	}
	return strings.Join(names, ".")
}

// memberSteps are the selectors that lead to a field: its name alone if Go
// finds it by that and no pointer is on the way.
func memberSteps(own *types.Package, t types.Type, jf jsonField) []model.Step {
	pointer := false
	var steps []model.Step
	for i, v := range jf.chain {
		_, isPointer := deref(v.Type())
		embeddedPointer := isPointer && i < len(jf.chain)-1
		pointer = pointer || embeddedPointer
		steps = append(steps, model.Step{Name: v.Name(), Pointer: embeddedPointer})
	}
	if obj, _, _ := types.LookupFieldOrMethod(t, true, own, jf.field().Name()); obj == jf.field() && !pointer {
		steps = steps[len(steps)-1:]
	}
	return steps
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// foreignHidden is an unexported field of another package's struct, or nil.
func foreignHidden(own *types.Package, u *types.Struct) *types.Var {
	for f := range u.Fields() {
		if !f.Exported() && f.Name() != "_" && f.Pkg().Path() != own.Path() {
			return f
		}
	}
	return nil
}
