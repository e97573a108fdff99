package fingerprint

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
)

func form(op model.Op) *model.Form { return &model.Form{Op: op, Type: &model.Type{Name: "T"}} }

func with(op model.Op, change func(*model.Form)) *model.Form {
	f := form(op)
	change(f)
	return f
}

func around(op model.Op, elem *model.Form) *model.Form {
	return with(op, func(f *model.Form) { f.Elem = elem })
}

func normal(op model.Op, names ...contracts.NormalizerName) *model.Form {
	return with(op, func(f *model.Form) {
		for _, n := range names {
			if n == contracts.Exact {
				f.Exact = true
			} else {
				f.Steps = append(f.Steps, contracts.Normalizer{Name: n})
			}
		}
	})
}

// typed is a form of a type with a name in a package.
func typed(op model.Op, pkg, name string) *model.Form {
	return with(op, func(f *model.Form) { f.Type = &model.Type{Pkg: pkg, Name: name} })
}

func pointerTo(f *model.Form) *model.Form {
	f.Type = &model.Type{Kind: model.Pointer, Elem: f.Type}
	return f
}

func object(members ...*model.Member) *model.Form {
	return with(model.OpStruct, func(f *model.Form) { f.Members, f.Func = members, true })
}

func member(wire string, f *model.Form) *model.Member {
	return &model.Member{Wire: wire, Path: strings.ToUpper(wire), Steps: []model.Step{{Name: strings.ToUpper(wire)}}, Form: f}
}

func shape(f *model.Form) string {
	d := &describer{module: "example.com/app"}
	var lines []string
	for _, m := range d.members(f) {
		lines = append(lines, m.Path+": "+m.Type)
	}
	return strings.Join(lines, "\n")
}

func TestEachEncodingHasItsWord(t *testing.T) {
	cases := []struct {
		form *model.Form
		want string
	}{
		{form(model.OpString), "string"},
		{normal(model.OpString, contracts.Trim, contracts.Lower, contracts.Trim), "string lower"},
		{normal(model.OpString, contracts.Exact, contracts.Trim), "string exact trim"},
		{normal(model.OpString, contracts.Lower, contracts.CollapseSpace), "string lower collapse_space"},
		{
			with(model.OpString, func(f *model.Form) {
				f.Steps = []contracts.Normalizer{{Name: contracts.URL, Params: []contracts.Value[string]{{V: "größe"}, {V: "lower"}}}, {Name: contracts.Lower}}
			}), "string url -gr%C3%B6%C3%9Fe -lower lower",
		},
		{form(model.OpInt), "int"},
		{form(model.OpUint), "int"},
		{form(model.OpFloat64), "float64"},
		{form(model.OpFloat32), "float32"},
		{form(model.OpBool), "bool"},
		{form(model.OpBytes), "base64"},
		{with(model.OpTime, func(f *model.Form) { f.Precision = time.Second }), "time second"},
		{with(model.OpTime, func(f *model.Form) { f.Precision = time.Millisecond }), "time millisecond"},
		{with(model.OpTime, func(f *model.Form) { f.Precision = time.Microsecond }), "time microsecond"},
		{with(model.OpTime, func(f *model.Form) { f.Precision = time.Nanosecond }), "time nanosecond"},
		{form(model.OpBigInt), "decimal"},
		{form(model.OpDecimal), "decimal"},
		{form(model.OpNumber), "number"},
		{form(model.OpRawJSON), "json"},
		{normal(model.OpAny, contracts.Exact), "json exact"},
		{with(model.OpMinor, func(f *model.Form) { f.Digits, f.From = 2, model.OpDecimal }), "minor_units 2"},
		{with(model.OpMinor, func(f *model.Form) { f.Steps = []contracts.Normalizer{{Name: contracts.Digits}} }), "minor_units 0 digits"},
		{typed(model.OpText, "", "Own"), "text"},
		{typed(model.OpText, "example.com/app/ids", "Own"), "text"},
		{typed(model.OpText, "example.com/apple", "ID"), "text example.com/apple.ID"},
		{typed(model.OpText, "github.com/gofrs/uuid/v5", "UUID"), "text github.com/gofrs/uuid.UUID"},
		{typed(model.OpAppender, "example.com/lib", "ID"), "canonical example.com/lib.ID"},
		{around(model.OpPointer, form(model.OpInt)), "int"},
		{around(model.OpSlice, form(model.OpInt)), "[] int"},
		{around(model.OpMap, around(model.OpIntMap, form(model.OpBool))), "{}{} bool"},
		{object(member("b", form(model.OpInt)), member("c", form(model.OpBool))), "b int, c bool"},
		{object(), "nothing"},
	}
	d := &describer{module: "example.com/app"}
	second := &describer{module: "example.com/app/v2"}
	if got := second.encoded(typed(model.OpText, "example.com/app/v2", "ID")); got != "text" {
		t.Errorf("a type at the root of a module at version 2: got %q", got)
	}
	for _, c := range cases {
		if got := d.encoded(c.form); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestAnObjectIsAListOfPaths(t *testing.T) {
	address := object(member("city", form(model.OpString)), member("zip", form(model.OpInt)))
	embedded := member("in", form(model.OpInt))
	embedded.Steps = []model.Step{{Name: "Embedded", Pointer: true}, {Name: "In"}}
	root := object(
		member("a b", form(model.OpString)),
		member("a.b", form(model.OpString)),
		member("billing", address),
		embedded,
		member("empty", object()),
		member("ip", pointerTo(typed(model.OpText, "net/netip", "Addr"))),
		member("lines", around(model.OpSlice, around(model.OpPointer, object(member("n", form(model.OpInt)))))),
		member("shipping", around(model.OpPointer, address)),
	)
	want := strings.TrimSpace(`
"a b": string
"a.b": string
billing.city: string
billing.zip: int
empty: nothing
in?: int
ip?: text net/netip.Addr
lines[]?.n: int
shipping?: like billing`)
	if diff := cmp.Diff(want, shape(root)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// chain is a type that contains itself by way of n types that are alike.
func chain(n int) *model.Form {
	first := object()
	last := first
	for range n - 1 {
		next := object()
		last.Members = []*model.Member{member("next", around(model.OpPointer, next))}
		last = next
	}
	last.Members = []*model.Member{member("next", around(model.OpPointer, first))}
	return first
}

func TestWhichTypesAreSharedDoesNotCount(t *testing.T) {
	line := func() *model.Form { return object(member("sku", form(model.OpString))) }
	shared := line()
	one := object(member("a", shared), member("b", shared))
	two := object(member("a", line()), member("b", line()))
	if diff := cmp.Diff(shape(one), shape(two)); diff != "" {
		t.Errorf("one type used twice, and two types that are alike (-one +two)\n%s", diff)
	}
	want := "next?: like $"
	for n := 1; n < 4; n++ {
		if got := shape(chain(n)); got != want {
			t.Errorf("a circle of %d types: got\n%s\nwant\n%s", n, got, want)
		}
	}
	forest := form(model.OpSlice)
	forest.Elem = forest
	if got := shape(object(member("forest", forest))); got != "forest[]: like forest" {
		t.Errorf("type Forest []Forest: got %s", got)
	}
}

func TestManyCirclesHaveAShortDescription(t *testing.T) {
	// Each of 60 types holds all of them: written out, that has no end.
	types := make([]*model.Form, 60)
	for i := range types {
		types[i] = object()
	}
	for i, f := range types {
		for j, g := range types {
			f.Members = append(f.Members, member("m"+string(rune('A'+(i*7+j)%58)), around(model.OpPointer, g)))
		}
		f.Members = append(f.Members, member("z", typed(model.OpText, "example.com/lib", "T"+string(rune('A'+i)))))
	}
	if n := strings.Count(shape(types[0]), "\n"); n > 60*61 {
		t.Errorf("%d lines", n)
	}
}

// drawForm draws a tree of forms.
func drawForm(t *rapid.T, depth int) *model.Form {
	ops := []model.Op{model.OpString, model.OpInt, model.OpBool, model.OpPointer, model.OpSlice, model.OpMap, model.OpStruct}
	if depth == 0 {
		ops = ops[:3]
	}
	f := form(rapid.SampledFrom(ops).Draw(t, "op"))
	switch f.Op {
	case model.OpPointer, model.OpSlice, model.OpMap:
		f.Elem = drawForm(t, depth-1)
	case model.OpStruct:
		for _, wire := range []string{"a", "b.c", "d"}[:rapid.IntRange(0, 3).Draw(t, "members")] {
			f.Members = append(f.Members, member(wire, drawForm(t, depth-1)))
		}
	}
	return f
}

func copyOf(f *model.Form) *model.Form {
	c := *f
	c.Members = nil
	if f.Elem != nil {
		c.Elem = copyOf(f.Elem)
	}
	for _, m := range f.Members {
		c.Members = append(c.Members, member(m.Wire, copyOf(m.Form)))
	}
	return &c
}

// TestDescriptionsAreEqualExactlyIfEncodingsAre compares with the shape of
// payloads, which writes out what it meets.
func TestDescriptionsAreEqualExactlyIfEncodingsAre(t *testing.T) {
	plain := func(f *model.Form) string {
		f = copyOf(f)
		for _, g := range reachable(f) {
			g.Func = false
		}
		return model.Describe(f)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := object(member("x", drawForm(t, 3)))
		b := object(member("x", drawForm(t, 3)))
		if (shape(a) == shape(b)) != (plain(a) == plain(b)) {
			t.Fatalf("%s\n%s\nand\n%s\n%s", plain(a), shape(a), plain(b), shape(b))
		}
		if shape(copyOf(a)) != shape(a) {
			t.Fatal("a copy is described otherwise")
		}
	})
}

func TestFieldsAreFoundUnderEitherName(t *testing.T) {
	inner := object(&model.Member{Wire: "zip code", Path: "Zip", Form: form(model.OpString)})
	c := &model.Contract{Payload: object(
		&model.Member{Wire: "id", Path: "OrderID", Form: form(model.OpString)},
		&model.Member{Wire: "to", Path: "Base.To", Form: around(model.OpPointer, inner)},
		&model.Member{Wire: "own", Path: "Own", Form: form(model.OpText)},
		&model.Member{Wire: "list", Path: "List", Form: around(model.OpSlice, inner)},
	)}
	c.Payload.LeftOut = []model.Field{{Wire: "trace", Path: "Base.TraceID"}}
	c.Effects = []*model.Effect{{
		Spec:    &contracts.Effect{Name: contracts.Value[string]{V: "send"}},
		Payload: object(&model.Member{Wire: "cc", Path: "Cc", Form: form(model.OpString)}),
	}}
	cases := []struct {
		effect, field, wire string
		want                bool
	}{
		{"", "OrderID", "gone", true},
		{"", "Gone", "id", true},
		{"", "Gone", "gone", false},
		{"", "To.Zip", "gone", true},
		{"", "Base.To.Zip", "gone", true},
		{"", "Embedded.OrderID", "gone", true},
		{"", "To.Street", "gone", false},
		{"", "Gone", `to."zip code"`, true},
		{"", "TraceID", "gone", true},
		{"", "Base.TraceID", "gone", true},
		{"", "Gone", "trace", true},
		{"", "TraceID.Part", "gone", true},
		{"", "Gone", "trace.part", true},
		{"", "", "trace", true},
		{"", "", "gone", false},
		{"", "Gone", "to.zip", false},
		{"", "OrderID.Part", "gone", false},
		{"", "Own.Anything", "gone", true},
		{"", "List.Zip", "gone", false},
		{"send", "Cc", "gone", true},
		{"send", "OrderID", "id", false},
		{"nobody", "Gone", "gone", true},
	}
	for _, tc := range cases {
		if got := Has(c, tc.effect, lock.Part{Field: tc.field, Wire: tc.wire}); got != tc.want {
			t.Errorf("effect %q, %s or %s: got %v", tc.effect, tc.field, tc.wire, got)
		}
	}
	endless := form(model.OpPointer)
	endless.Elem = endless
	if Has(&model.Contract{Payload: endless}, "", lock.Part{Field: "A", Wire: "a"}) {
		t.Error("type P *P has a field")
	}
}
