package canon

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func appendInt(dst []byte, n int) ([]byte, error) { return AppendInt(dst, int64(n)), nil }

func TestBytesAreStandardBase64(t *testing.T) {
	for in, want := range map[string]string{"": `""`, "\xff\xfe": `"//4="`, "\xfb\xff\xbf": `"+/+/"`} {
		if got := string(AppendBytes([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("%x: %s", in, got)
		}
	}
	if got := string(AppendBytes(nil, nil)); got != `""` {
		t.Errorf("nil: %s", got)
	}
}

func TestNilAndEmptyContainersAreAlike(t *testing.T) {
	same := func(name, want string, got1 []byte, err1 error, got2 []byte, err2 error) {
		t.Helper()
		if err1 != nil || err2 != nil || string(got1) != want || string(got2) != want {
			t.Errorf("%s: %s (%v) and %s (%v), want %s", name, got1, err1, got2, err2, want)
		}
	}
	a, err1 := AppendSlice(nil, nil, appendInt)
	b, err2 := AppendSlice(nil, []int{}, appendInt)
	same("slice", "[]", a, err1, b, err2)
	a, err1 = AppendMap[string](nil, nil, appendInt)
	b, err2 = AppendMap(nil, map[string]int{}, appendInt)
	same("map", "{}", a, err1, b, err2)
	a, err1 = AppendIntMap[int](nil, nil, appendInt)
	b, err2 = AppendIntMap(nil, map[int]int{}, appendInt)
	same("map of integers", "{}", a, err1, b, err2)
}

func TestSlicesKeepTheirOrder(t *testing.T) {
	got, err := AppendSlice([]byte("x"), []int{3, 1, 2}, appendInt)
	if err != nil || string(got) != "x[3,1,2]" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestMapsAreSortedByUTF16CodeUnits(t *testing.T) {
	// The example of RFC 8785, 3.2.3, with a name that is a prefix of another.
	m := map[string]int{"\u20ac": 1, "\r": 2, "\ufb2a": 3, "1": 4, "\U0001F600": 5, "\u0080": 6, "\u00f6": 7, "11": 8, "": 9}
	got, err := AppendMap([]byte("x"), m, appendInt)
	want := "x{\"\":9,\"\\r\":2,\"1\":4,\"11\":8,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb2a\":3}"
	if err != nil || string(got) != want {
		t.Errorf("%s (%v)\nwant %s", got, err, want)
	}
}

func TestIntegerKeysAreSortedAsText(t *testing.T) {
	got, err := AppendIntMap(nil, map[int64]int{10: 1, 9: 2, -1: 3, 9007199254740993: 4, 0: 5}, appendInt)
	if err != nil || string(got) != `{"-1":3,"0":5,"10":1,"9":2,"9007199254740993":4}` {
		t.Errorf("%s, %v", got, err)
	}
	got, err = AppendIntMap(nil, map[uint64]int{1<<64 - 1: 1}, appendInt)
	if err != nil || string(got) != `{"18446744073709551615":1}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestNamesAreInNFCAndNeverTrimmed(t *testing.T) {
	m := map[string]int{" Cafe\u0301": 1}
	got, err := AppendMap(nil, m, appendInt)
	if err != nil || string(got) != `{" Café":1}` {
		t.Errorf("map: %s, %v", got, err)
	}
	for name, appendJSON := range map[string]func([]byte, []byte) ([]byte, error){"trimmed": AppendJSON, "exact": AppendJSONExact} {
		got, err = appendJSON(nil, []byte(`{" Cafe\u0301":1}`))
		if err != nil || string(got) != `{" Café":1}` {
			t.Errorf("JSON, %s: %s, %v", name, got, err)
		}
	}
}

func TestNamesThatMeetInNFCAreAnError(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"composed and decomposed", "Café", "Cafe\u0301"},
		{"marks in another order", "a\u0323\u0301", "a\u0301\u0323"},
		{"a presentation form", "\ufb33", "\u05d3\u05bc"},
		{"a presentation form and more", "e\u0301\ufb33", "é\u05d3\u05bc"},
		{"Ångström and Å", "\u212b", "\u00c5"},
	} {
		got, err := AppendMap([]byte("x"), map[string]int{c.a: 1, c.b: 2, "other": 3}, appendInt)
		if !errors.Is(err, ErrDuplicateMember) || string(got) != "x" {
			t.Errorf("%s: map %s, %v", c.name, got, err)
		}
		got, err = AppendJSON([]byte("x"), []byte(`{"`+c.a+`":1,"other":3,"`+c.b+`":2}`))
		if !errors.Is(err, ErrDuplicateMember) || string(got) != "x" {
			t.Errorf("%s: JSON %s, %v", c.name, got, err)
		}
		got, err = AppendAny([]byte("x"), map[string]any{c.a: 1, c.b: 2})
		if !errors.Is(err, ErrDuplicateMember) || string(got) != "x" {
			t.Errorf("%s: any %s, %v", c.name, got, err)
		}
	}
}

func TestErrorsNameThePathToTheValue(t *testing.T) {
	inner := func(dst []byte, m map[string]string) ([]byte, error) {
		return AppendMap(dst, m, AppendString[string])
	}
	_, err := AppendSlice(nil, []map[string]string{nil, {"first name": "\xff"}}, inner)
	err = At("Order", At("Lines", err))
	want := `Order.Lines[1]["first name"]: string "\xff": not valid UTF-8`
	if err == nil || err.Error() != want || !errors.Is(err, ErrInvalidUTF8) {
		t.Errorf("%v\nwant %s", err, want)
	}
	var at *ElementError
	if !errors.As(err, &at) || at.Path != `Order.Lines[1]["first name"]` {
		t.Errorf("path %+v", at)
	}
	if At("Order", nil) != nil {
		t.Error("a path makes an error of none")
	}
}

func TestTextMarshalersAreStrings(t *testing.T) {
	for _, c := range []struct {
		in   interface{ MarshalText() ([]byte, error) }
		want string
	}{
		{netip.MustParseAddr("2001:DB8::1"), `"2001:db8::1"`},
		{marshaledText("  Cafe\u0301 "), `"Café"`},
		{big.NewFloat(1.5), `"1.5"`},
		{(*big.Float)(nil), "null"},
		{nil, "null"},
	} {
		got, err := AppendTextMarshaler([]byte("x"), c.in)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%v: %s (%v), want %s", c.in, got, err, c.want)
		}
	}
	got, err := AppendTextMarshalerExact(nil, marshaledText(" e\u0301"))
	if err != nil || string(got) != "\" e\u0301\"" {
		t.Errorf("exact: %s, %v", got, err)
	}
	if got, err := AppendTextMarshaler([]byte("x"), failing{}); !errors.Is(err, errFailing) || string(got) != "x" {
		t.Errorf("a failing MarshalText: %s, %v", got, err)
	}
}

var errFailing = errors.New("cannot")

type failing struct{}

func (failing) MarshalText() ([]byte, error)               { return []byte("x"), errFailing }
func (failing) AppendCanonical(dst []byte) ([]byte, error) { return append(dst, '1'), errFailing }

// money is an Appender that writes what it holds.
type money string

func (m money) AppendCanonical(dst []byte) ([]byte, error) { return append(dst, m...), nil }

func TestAnAppenderMustAppendOneJSONValue(t *testing.T) {
	for _, in := range []money{`1`, `"EUR 10"`, `{"amount":"10.5","currency":"EUR"}`, `[1,2]`, `null`} {
		got, err := AppendCanonical([]byte("x"), in)
		if err != nil || string(got) != "x"+string(in) {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for in, want := range map[money]error{
		"": ErrSyntax, "1,2": ErrSyntax, `1 `: ErrSyntax, ` 1`: ErrSyntax, `"a`: ErrSyntax, `{"a":1`: ErrSyntax, `],[`: ErrSyntax,
		"\"\xff\"": ErrInvalidUTF8, `{"a":1,"a":2}`: ErrDuplicateMember, money(strings.Repeat("[", 101)): ErrDepth,
	} {
		if got, err := AppendCanonical([]byte("x"), in); !errors.Is(err, want) || string(got) != "x" {
			t.Errorf("%q: %s, %v, want %v", in, got, err, want)
		}
	}
	if got, err := AppendCanonical([]byte("x"), failing{}); !errors.Is(err, errFailing) || string(got) != "x" {
		t.Errorf("a failing method: %s, %v", got, err)
	}
	if got, err := AppendCanonical([]byte("x"), (*money)(nil)); err != nil || string(got) != "xnull" {
		t.Errorf("nil: %s, %v", got, err)
	}
}

func TestEachRowOfUntypedValuesIsWrittenAsItsTypedField(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, "null"}, {true, "true"}, {false, "false"}, {" a ", `"a"`},
		{1, "1"}, {int8(-8), "-8"}, {int16(16), "16"}, {int32(32), "32"}, {int64(1 << 53), `"9007199254740992"`},
		{uint(1), "1"}, {uint8(8), "8"}, {uint16(16), "16"}, {uint32(32), "32"}, {uint64(1 << 53), `"9007199254740992"`}, {uintptr(3), "3"},
		{1.0, "1"}, {0.1, "0.1"}, {float32(0.1), "0.1"},
		{json.Number("1.50"), "1.5"}, {json.Number("9007199254740993"), `"9007199254740993"`},
		{json.RawMessage(`{"b":1.0,"a":" x "}`), `{"a":"x","b":1}`}, {json.RawMessage(nil), "null"},
		{[]byte{0xff}, `"/w=="`}, {time.Second, "1000000000"},
		{big.NewInt(7), `"7"`}, {(*big.Int)(nil), "null"},
		{netip.MustParseAddr("::1"), `"::1"`}, {money("[1]"), "[1]"}, {(*big.Float)(nil), "null"},
		{[]any{}, "[]"}, {[]any(nil), "[]"}, {map[string]any(nil), "{}"}, {[]string{" a"}, `["a"]`}, {map[string]string{"b": "1 ", "a": "2"}, `{"a":"2","b":"1"}`},
		{map[string]any{"b": []any{1, "x", nil}, "a": map[string]any{}}, `{"a":{},"b":[1,"x",null]}`},
	} {
		got, err := AppendAny([]byte("x"), c.in)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%T %v: %s (%v), want %s", c.in, c.in, got, err, c.want)
		}
	}
}

func TestExactKeepsStringsInsideUntypedValues(t *testing.T) {
	in := map[string]any{"a": " x", "b": []string{"y "}, "c": json.RawMessage(`" z"`), "d": marshaledText("w "), "e": map[string]string{"f": " "}}
	got, err := AppendAnyExact(nil, in)
	if err != nil || string(got) != `{"a":" x","b":["y "],"c":" z","d":"w ","e":{"f":" "}}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestATypeThatCannotBeSeenIsAnErrorWithItsPath(t *testing.T) {
	type customer struct{ Name string }
	for _, c := range []struct {
		in   any
		want string
	}{
		{map[string]any{"lines": []any{1, customer{}}}, `["lines"][1]: canon.customer: type has no canonical form`},
		{func() {}, `func(): type has no canonical form`},
		{[]any{make(chan int)}, `[0]: chan int: type has no canonical form`},
		{[]any{time.Time{}}, `[0]: time.Time without a declared precision: type has no canonical form`},
		{new(time.Time), `*time.Time without a declared precision: type has no canonical form`},
		{complex(1, 2), `complex128: type has no canonical form`},
	} {
		got, err := AppendAny([]byte("x"), c.in)
		if !errors.Is(err, ErrType) || err.Error() != c.want || string(got) != "x" {
			t.Errorf("%s, %v\nwant %s", got, err, c.want)
		}
	}
}

func TestAValueThatContainsItselfIsTooDeep(t *testing.T) {
	list := []any{nil}
	list[0] = list
	if got, err := AppendAny([]byte("x"), list); !errors.Is(err, ErrDepth) || string(got) != "x" {
		t.Errorf("%s, %v", got, err)
	}
	object := map[string]any{}
	object["self"] = object
	if got, err := AppendAny([]byte("x"), object); !errors.Is(err, ErrDepth) || string(got) != "x" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestNestingOf100IsTheLimitForValuesToo(t *testing.T) {
	nested := func(depth int) any {
		var v any = 1
		for range depth {
			v = []any{v}
		}
		return v
	}
	if _, err := AppendAny(nil, nested(100)); err != nil {
		t.Error(err)
	}
	if _, err := AppendAny(nil, nested(101)); !errors.Is(err, ErrDepth) {
		t.Error(err)
	}
}
