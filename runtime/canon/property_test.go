package canon

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// text is short and of characters that could break something: few, so that two
// draws are often the same or nearly so.
var text = rapid.StringOf(rapid.SampledFrom([]rune("ab01 ,:\"\\[]{}\n\x01é\u0301e\u0323\u00a0\u05d3\u05bc\ufb33\u212b😀\uffff")))

func draw[T any](t *rapid.T, g *rapid.Generator[T], label string) T { return g.Draw(t, label) }

func TestDifferentListsNeverShareAPreimage(t *testing.T) {
	lists := rapid.SliceOfN(text, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, lists, "a"), draw(t, lists, "b")
		exactA, err1 := AppendSlice(nil, a, AppendStringExact[string])
		exactB, err2 := AppendSlice(nil, b, AppendStringExact[string])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if (string(exactA) == string(exactB)) != slices.Equal(a, b) {
			t.Fatalf("%q and %q: %s and %s", a, b, exactA, exactB)
		}
		for _, list := range [][]string{a, b} {
			for i := range list {
				list[i] = norm.NFC.String(strings.Trim(list[i], string(whiteSpace)))
			}
		}
		trimmedA, err1 := AppendSlice(nil, a, AppendString[string])
		trimmedB, err2 := AppendSlice(nil, b, AppendString[string])
		if err1 != nil || err2 != nil || (string(trimmedA) == string(trimmedB)) != slices.Equal(a, b) {
			t.Fatalf("%q and %q: %s (%v) and %s (%v)", a, b, trimmedA, err1, trimmedB, err2)
		}
	})
}

func TestDifferentObjectsNeverShareAPreimage(t *testing.T) {
	objects := rapid.MapOfN(text, text, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, objects, "a"), draw(t, objects, "b")
		textA, err1 := AppendMap(nil, a, AppendStringExact[string])
		textB, err2 := AppendMap(nil, b, AppendStringExact[string])
		if err1 != nil || err2 != nil {
			return // names that meet
		}
		if (string(textA) == string(textB)) != maps.Equal(written(a), written(b)) {
			t.Fatalf("%q and %q: %s and %s", a, b, textA, textB)
		}
	})
}

func written(m map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range m {
		name, _ = nfcName(name)
		out[name] = value
	}
	return out
}

// document draws values as decoding JSON gives them.
func document(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 && kind > 5 {
		kind = 3
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(strconv.FormatInt(rapid.Int64().Draw(t, "integer"), 10))
	case 3:
		return text.Draw(t, "string")
	case 4, 5:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "float")
	case 6:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = document(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[text.Draw(t, "name")] = document(t, depth-1)
	}
	return object
}

func TestCanonicalTextIsCanonicalisedToItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, err := AppendAny(nil, document(t, 3))
		if err != nil {
			return
		}
		second, err := AppendJSON(nil, first)
		if err != nil || string(second) != string(first) {
			t.Fatalf("%s became %s (%v)", first, second, err)
		}
	})
}

func TestOrderFormatAndNormalFormDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := document(t, 3)
		want, err := AppendAny(nil, v)
		if err != nil {
			return
		}
		raw := scramble(t, v)
		got, err := AppendJSON(nil, []byte(raw))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s is %s (%v), want %s", raw, got, err, want)
		}
		if slow, _, ok := slowJSON([]byte(raw)); !ok || slow != string(want) {
			t.Fatalf("%s is %s (%v) when read slowly, want %s", raw, slow, ok, want)
		}
	})
}

// scramble writes v as JSON that is as far from canonical as JSON can be.
func scramble(t *rapid.T, v any) string {
	space := rapid.SampledFrom([]string{"", " ", "\n\t", "\r\n"}).Draw(t, "space")
	switch v := v.(type) {
	case string:
		return space + scrambleString(t, " "+v+"\u3000", true)
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, scramble(t, e))
		}
		return space + "[" + space + strings.Join(elements, space+",") + "]" + space
	case map[string]any:
		var members []string
		for name, e := range v {
			members = append(members, space+scrambleString(t, name, !strings.ContainsAny(name, "\ufb33\u212b"))+space+":"+scramble(t, e))
		}
		return "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), space+",") + space + "}"
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64)
	case json.Number:
		return string(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func scrambleString(t *rapid.T, s string, decompose bool) string {
	if decompose {
		s = norm.NFD.String(s)
	}
	if rapid.Bool().Draw(t, "escapes") {
		return `"` + escapeAll(s) + `"`
	}
	return quote(s)
}

func escapeAll(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04X`, unit)
	}
	return b.String()
}

func TestTheZoneOfATimeDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(minSecond, maxSecond).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano"))
		zone := time.FixedZone("", rapid.IntRange(-18*3600, 18*3600).Draw(t, "zone"))
		a, err1 := AppendTime(nil, at, time.Nanosecond)
		b, err2 := AppendTime(nil, at.In(zone), time.Nanosecond)
		if err1 != nil || err2 != nil || string(a) != string(b) {
			t.Fatalf("%s (%v) and %s (%v)", a, err1, b, err2)
		}
		var back time.Time
		if err := back.UnmarshalJSON(a); err != nil || !back.Equal(at) {
			t.Fatalf("%s is read as %v (%v), not %v", a, back, err, at)
		}
	})
}

func TestTrackingAndOrderOfAQueryDoNotMatter(t *testing.T) {
	params := rapid.SliceOfN(rapid.SampledFrom([]string{"a=1", "a=2", "b", "c=", "d=%41", "é=ü"}), 0, 5)
	tracking := rapid.SliceOf(rapid.SampledFrom([]string{"utm_source=x", "utm_%69d=1", "fbclid", "gclid=", "_hsmi=2"}))
	rapid.Check(t, func(t *rapid.T) {
		page := "https://shop.example/x"
		kept := draw(t, params, "kept")
		all := rapid.Permutation(append(slices.Clone(kept), draw(t, tracking, "tracking")...)).Draw(t, "order")
		a, err1 := URL(page + "?" + strings.Join(kept, "&"))
		b, err2 := URL("HTTPS://Shop.Example:443/y/../x?" + strings.Join(all, "&") + "#f")
		if err1 != nil || err2 != nil || a != b {
			t.Fatalf("%s (%v) and %s (%v)", a, err1, b, err2)
		}
	})
}

func TestTextOfFloatsRoundTripsAndIsThatOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "ordinary") {
			f = rapid.Float64().Draw(t, "float")
		}
		got, err := AppendFloat64(nil, f)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			if err == nil {
				t.Fatalf("%v is %s", f, got)
			}
			return
		}
		if back, err2 := strconv.ParseFloat(string(got), 64); err != nil || err2 != nil || back != f {
			t.Fatalf("%v is %s (%v), which is %v (%v)", f, got, err, back, err2)
		}
		// encoding/json differs in one value: it writes -0.
		if want, _ := json.Marshal(f); f != 0 && string(want) != string(got) {
			t.Fatalf("%s, but encoding/json writes %s", got, want)
		}
		narrow := float32(f)
		if math.IsInf(float64(narrow), 0) {
			return
		}
		got, err = AppendFloat32(nil, narrow)
		if want, _ := json.Marshal(narrow); err != nil || narrow != 0 && string(want) != string(got) {
			t.Fatalf("float32: %s (%v), but encoding/json writes %s", got, err, want)
		}
	})
}

func TestNormalisersAreIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + text.Draw(t, "more")
		for name, f := range map[string]func(string) string{"Trim": Trim, "Lower": Lower, "CollapseSpace": CollapseSpace, "Digits": Digits, "NFC": nfc} {
			if once := f(s); f(once) != once {
				t.Fatalf("%s: %q, then %q", name, once, f(once))
			}
		}
		once, err := Clean(s)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Clean(once); err != nil || again != once {
			t.Fatalf("Clean: %q, then %q (%v)", once, again, err)
		}
		if nfc(s) != longNFC(s) {
			t.Fatalf("NFC of %+q: %+q and %+q", s, nfc(s), longNFC(s))
		}
	})
}
