package emit_test

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/emit"
	"github.com/idemgen/idem/generator/model"
)

// TestOutputIsAsGofmtHasIt renders packages with names, texts and types of all
// sizes, which decide where columns stand.
func TestOutputIsAsGofmtHasIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPackage(t)
		outputs, err := emit.Package(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outputs {
			want, err := format.Source(o.Content)
			if err != nil {
				t.Fatalf("%s: %v\n%s", o.Name, err, o.Content)
			}
			if !bytes.Equal(o.Content, want) {
				t.Fatalf("%s (-gofmt +idemgen)\n%s", o.Name, cmp.Diff(string(want), string(o.Content)))
			}
		}
	})
}

// Statements are what people have written, line breaks and all.
func TestACommentHasNoBlanksAtTheEndOfItsLines(t *testing.T) {
	for _, statement := range []string{"\x04\n²", "\n²", "one \n two\t\n", "one\u00a0\n\n  two ", "\u2028\nx"} {
		p := billing()
		p.Files[0].Contracts[0].Spec.Statement = value(statement)
		outputs, err := emit.Package(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outputs {
			want, err := format.Source(o.Content)
			if err != nil || !bytes.Equal(o.Content, want) {
				t.Errorf("%q: %v\n%s", statement, err, cmp.Diff(string(want), string(o.Content)))
			}
		}
	}
}

// anyPackage is the package billing with more contracts, and with other names,
// types and texts.
func anyPackage(t *rapid.T) *model.Package {
	p := billing()
	file := p.Files[0]
	if rapid.Bool().Draw(t, "any transaction") {
		p.Tx = nil
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "contracts") {
		c := billing().Files[0].Contracts[0]
		c.Spec.Kind = value(anyKind.Draw(t, "kind"))
		c.Spec.Statement = value(anyStatement.Draw(t, "statement"))
		c.Spec.Lease = value(anyDuration.Draw(t, "lease"))
		c.Spec.Window = contracts.Window{Duration: anyDuration.Draw(t, "window")}
		c.Receiver = p.Receivers[0]
		c.In = anyType(t, 2)
		c.Out = anyType(t, 1)
		c.Locked = model.Locked{Digest: "d1", NoSample: "for a reason"}
		c.Fakes = rapid.SampledFrom([]string{"", "world"}).Draw(t, "fakes")
		effect := c.Effects[0]
		c.Effects = nil
		for range rapid.IntRange(0, 4).Draw(t, "effects") {
			e := *effect
			spec := *effect.Spec
			spec.Guard = value(rapid.SampledFrom([]contracts.Guard{contracts.Once, contracts.Read, contracts.Transaction, contracts.IdempotencyKey, contracts.Repeatable}).Draw(t, "guard"))
			spec.RemembersFor = value(anyDuration.Draw(t, "remembers"))
			spec.Provider = value(rapid.SampledFrom([]string{"stripe", "a ``quoted'' one", "crm"}).Draw(t, "provider"))
			e.Spec, e.Method = &spec, contracts.MethodName(anyKind.Draw(t, "method"))
			e.In, e.Out = anyType(t, 2), anyType(t, 1)
			c.Effects = append(c.Effects, &e)
		}
		file.Contracts = append(file.Contracts[:i:i], c)
	}
	return p
}

var (
	anyName      = rapid.StringMatching(`[A-ZÄ][a-zß]{0,5}([A-Z][a-z]{1,20}){0,3}`)
	anyKind      = rapid.StringMatching(`[a-z]{1,12}(_[a-z]{1,20}){0,3}`)
	anyTag       = rapid.StringMatching("(json:\"[a-zé`\"]{0,12}(,omitempty)?\")?")
	anyStatement = rapid.OneOf(
		rapid.StringMatching("[A-Z][a-z '`]{0,30}\\."),
		rapid.StringMatching("([A-Z#1*-][.)]?[ \t\n]{0,2}[a-z:`'=\\[\\]]{0,9}[ \t\n]{0,3}){1,6}"),
		rapid.String(),
	).Filter(func(s string) bool { return s != "" })
	anyDuration = rapid.Map(rapid.IntRange(1, 100), func(n int) time.Duration {
		units := []time.Duration{time.Nanosecond, time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour}
		return time.Duration(n) * units[n%len(units)]
	})
)

// anyType is a type as a contract's Go code may have it, structs without a name
// among them.
func anyType(t *rapid.T, depth int) *model.Type {
	kinds := []model.TypeKind{model.Named}
	if depth > 0 {
		kinds = append(kinds, model.Pointer, model.Slice, model.Array, model.Map, model.Struct)
	}
	typ := &model.Type{Kind: rapid.SampledFrom(kinds).Draw(t, "type")}
	switch typ.Kind {
	case model.Named:
		typ.Name = anyName.Draw(t, "name")
		typ.Pkg = rapid.SampledFrom([]string{"", "time", "example.com/shop/v2"}).Draw(t, "package")
		for range rapid.IntRange(0, min(2, depth)).Draw(t, "type arguments") {
			typ.Args = append(typ.Args, anyType(t, depth-1))
		}
	case model.Pointer, model.Slice:
		typ.Elem = anyType(t, depth-1)
	case model.Array:
		typ.Len, typ.Elem = 4, anyType(t, depth-1)
	case model.Map:
		typ.Key, typ.Elem = basic("string"), anyType(t, depth-1)
	case model.Struct:
		for i := range rapid.IntRange(0, 5).Draw(t, "fields") {
			f := model.TypeField{Name: fmt.Sprint(anyName.Draw(t, "field"), i), Type: anyType(t, depth-1), Tag: anyTag.Draw(t, "tag")}
			if f.Type.Kind == model.Named && rapid.Bool().Draw(t, "embedded") {
				f.Embedded = true
			}
			typ.Fields = append(typ.Fields, f)
		}
	}
	if typ.Kind == model.Named && !token.IsIdentifier(typ.Name) {
		t.Fatalf("no name: %q", typ.Name)
	}
	return typ
}
