package canon

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

func TestUntypedJSONIsWrittenAsTypedFieldsAre(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"white space", " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", `{"a":[1,2]}`},
		{"words", `[true,false,null]`, `[true,false,null]`},
		{"empty containers", `[ { } , [ ] ]`, `[{},[]]`},
		{"numbers", `[1,1.0,1e2,-0,-0.0,1.50,9007199254740993]`, `[1,1,100,0,0,1.5,"9007199254740993"]`},
		{"strings are trimmed", `[" a ","\u00a0b\u3000"]`, `["a","b"]`},
		{"strings are in NFC", `["e\u0301"]`, `["é"]`},
		{"escapes become text", `["\u0041\/\u00e9\ud83d\ude00\u2028."]`, "[\"A/é😀\u2028.\"]"},
		{"controls stay escaped", `["a\u0000\u001F\u0008b\u007f"]`, "[\"a\\u0000\\u001f\\bb\x7f\"]"},
		{"an escaped replacement character is no error", `["\ufffd"]`, "[\"\ufffd\"]"},
		{"members are sorted", `{"b":1,"a":{"d":1,"c":2}}`, `{"a":{"c":2,"d":1},"b":1}`},
		{"sorting moves nested objects", `{"z":{"y":[1,{"b":1,"a":2}],"x":{}},"a":"q"}`, `{"a":"q","z":{"x":{},"y":[1,{"a":2,"b":1}]}}`},
		{"sorting is by text and not by escapes", `{"\n":1,"\t":2,"A":3,"\u0041A":4}`, `{"\t":2,"\n":1,"A":3,"AA":4}`},
		{"a string alone", `"a"`, `"a"`},
		{"null alone", ` null `, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendJSON([]byte("x"), []byte(c.in))
			if err != nil || string(got) != "x"+c.want {
				t.Errorf("%s (%v), want %s", got, err, c.want)
			}
		})
	}
	if got, err := AppendJSON([]byte("x"), nil); err != nil || string(got) != "xnull" {
		t.Errorf("nil: %s, %v", got, err)
	}
	if got, err := AppendJSONExact(nil, []byte(`[" a ","e\u0301"]`)); err != nil || string(got) != "[\" a \",\"e\u0301\"]" {
		t.Errorf("exact: %s, %v", got, err)
	}
}

func TestMalformedJSONIsAnError(t *testing.T) {
	for in, want := range map[string]error{
		"":                         ErrSyntax,
		" ":                        ErrSyntax,
		"\ufeff1":                  ErrSyntax,
		"1 2":                      ErrSyntax,
		"{}{}":                     ErrSyntax,
		"nul":                      ErrSyntax,
		"True":                     ErrSyntax,
		"'a'":                      ErrSyntax,
		"{a:1}":                    ErrSyntax,
		"[1,]":                     ErrSyntax,
		"[,1]":                     ErrSyntax,
		"[1 2]":                    ErrSyntax,
		`{"a":1,}`:                 ErrSyntax,
		`{"a" 1}`:                  ErrSyntax,
		`{"a":}`:                   ErrSyntax,
		`{"a"}`:                    ErrSyntax,
		`{1:2}`:                    ErrSyntax,
		`[1}`:                      ErrSyntax,
		`{"a":1]`:                  ErrSyntax,
		`[`:                        ErrSyntax,
		`[1`:                       ErrSyntax,
		`{"a":1`:                   ErrSyntax,
		`"a`:                       ErrSyntax,
		`"a\`:                      ErrSyntax,
		`"\x"`:                     ErrSyntax,
		`"\u12"`:                   ErrSyntax,
		`"\u12g4"`:                 ErrSyntax,
		"\"a\nb\"":                 ErrSyntax,
		"\"\\na\x00\"":             ErrSyntax,
		"[1] // comment":           ErrSyntax,
		"\v1":                      ErrSyntax,
		"\u00a01":                  ErrSyntax,
		"[\x00]":                   ErrSyntax,
		`"\ud83d"`:                 ErrSurrogate,
		`"\ude00"`:                 ErrSurrogate,
		`"\ud83d\u0041"`:           ErrSurrogate,
		`"\ud83d\ud83d\ude00"`:     ErrSurrogate,
		`{"\ud83d":1}`:             ErrSurrogate,
		"\"\xff\"":                 ErrInvalidUTF8,
		"\"\xed\xa0\xbd\"":         ErrInvalidUTF8,
		`{"a":1,"a":1}`:            ErrDuplicateMember,
		`{"a":1,"b":2,"\u0061":3}`: ErrDuplicateMember,
		`[{"x":{"a":1,"a":2}}]`:    ErrDuplicateMember,
		"1e400":                    ErrNotFinite,
		strings.Repeat("[", 101):   ErrDepth,
		nestedObjects(101):         ErrDepth,
	} {
		got, err := AppendJSON([]byte("x"), []byte(in))
		if !errors.Is(err, want) || string(got) != "x" {
			t.Errorf("%.40q: %s, %v; want %v", in, got, err, want)
		}
	}
}

func TestErrorsOfJSONSayWhere(t *testing.T) {
	_, err := AppendJSON(nil, []byte(`{"a": 1 "b": 2}`))
	if want := `JSON at byte 8: '"' instead of a comma or }: syntax error`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestNestingOf100IsTheLimitForJSON(t *testing.T) {
	for _, in := range []string{strings.Repeat("[", 100) + strings.Repeat("]", 100), nestedObjects(100)} {
		if got, err := AppendJSON(nil, []byte(in)); err != nil || string(got) != in {
			t.Errorf("%.20s…: %v", in, err)
		}
	}
}

func nestedObjects(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

// hostile are documents of about a mebibyte that some reader of JSON takes
// quadratic time or much memory for.
func hostile() map[string]string {
	const size = 1 << 20
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	members := func(name func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, `,"%s":0`, name(i))
		}
		return "{" + b.String()[1:] + "}"
	}
	// 50 levels of objects, each of which has to be put in order around the rest.
	unsorted := strings.Repeat(`{"b":`, 50) + `"` + fill("x") + `"` + strings.Repeat(`,"a":0}`, 50)
	return map[string]string{
		"open arrays":            fill("["),
		"open objects":           fill(`{"a":`),
		"many arrays":            "[" + fill("[],") + "[]]",
		"deep arrays":            "[" + fill(strings.Repeat("[", 99)+strings.Repeat("]", 99)+",") + "0]",
		"a long string":          `"` + fill("x") + `"`,
		"a string of escapes":    `"` + fill(`\u0000`) + `"`,
		"short escapes":          `"` + fill(`\n`) + `x"`,
		"surrogate pairs":        `"` + fill(`\ud83d\ude00`) + `"`,
		"spaces":                 `"` + fill(" ") + `"`,
		"white space":            fill(" ") + "1",
		"one run of marks":       `"a` + fill("\u0301") + `"`,
		"marks to sort":          `"a` + fill("\u0301\u0323\u0334") + `"`,
		"decomposed":             `"` + fill("e\u0301") + `"`,
		"expanding":              `"` + fill("\U0001d160") + `"`,
		"members in order":       members(func(i int) string { return fmt.Sprintf("%07d", i) }),
		"members in reverse":     members(func(i int) string { return fmt.Sprintf("%07d", 9999999-i) }),
		"members mixed":          members(func(i int) string { return fmt.Sprint(uint32(i) * 2654435761) }),
		"names with long starts": members(func(i int) string { return strings.Repeat("x", 1000) + fmt.Sprint(i) }),
		"odd names":              members(func(i int) string { return fmt.Sprint("\u212b", i) }),
		"unsorted and nested":    unsorted,
		"a long integer":         fill("9"),
		"a long fraction":        "0." + fill("9"),
		"a long exponent":        "0e" + fill("9"),
		"short strings":          "[" + fill(`"é ",`) + "0]",
	}
}

func TestHostileJSONTakesLittleTimeAndMemory(t *testing.T) {
	skipUnderRace(t)
	for name, in := range hostile() {
		t.Run(name, func(t *testing.T) {
			raw := []byte(in)
			start := time.Now()
			var err error
			peak := heapGrowth(func() { _, err = AppendJSON(nil, raw) })
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v (%v)", took, err)
			}
			if peak > 64<<20 {
				t.Errorf("took %d MiB (%v)", peak>>20, err)
			}
		})
	}
}

// heapGrowth returns by how much the heap, garbage and all, was at most larger
// during f than before it.
func heapGrowth(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := read()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		highest := before
		for {
			highest = max(highest, read())
			select {
			case <-done:
				peak <- highest
				return
			case <-time.After(100 * time.Microsecond):
			}
		}
	}()
	f()
	close(done)
	return <-peak - before
}

func TestAMillionMembersAreSorted(t *testing.T) {
	skipUnderRace(t)
	const n = 1_000_000
	raw := []byte{'{'}
	for i := range n {
		raw = fmt.Appendf(raw, `"%06d":%d,`, n-1-i, i)
	}
	raw[len(raw)-1] = '}'
	start := time.Now()
	got, err := AppendJSON(nil, raw)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if want := `{"000000":999999,"000001":999998,`; !strings.HasPrefix(string(got), want) || len(got) != len(raw) {
		t.Errorf("begins %.40s, has %d bytes of %d", got, len(got), len(raw))
	}
}

// docs/contract.md says so where it tells what is the same.
func TestUntypedIntegersBeyondTheSafeRangeMeetTheTextOfTheirDigits(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b any
		same bool
	}{
		{"2^53", json.Number("9007199254740992"), "9007199254740992", true},
		{"below -2^53", json.Number("-9007199254740993"), " -9007199254740993", true},
		{"of 30 digits", json.Number("123456789012345678901234567890"), "123456789012345678901234567890", true},
		{"int64 and text", int64(1 << 60), "1152921504606846976", true},
		{"2^53-1, which a float64 holds", json.Number("9007199254740991"), "9007199254740991", false},
		{"1001", json.Number("1001"), "1001", false},
		{"a float beyond it is no integer", json.Number("9007199254740992.0"), "9007199254740992", false},
		{"two neighbours", json.Number("9007199254740992"), json.Number("9007199254740993"), false},
	} {
		a, err1 := AppendAny(nil, test.a)
		b, err2 := AppendAny(nil, test.b)
		if err1 != nil || err2 != nil || (string(a) == string(b)) != test.same {
			t.Errorf("%s: %s (%v) and %s (%v)", test.name, a, err1, b, err2)
		}
		rawA, rawB := marshal(t, test.a), marshal(t, test.b)
		a, err1 = AppendJSON(nil, rawA)
		b, err2 = AppendJSON(nil, rawB)
		if err1 != nil || err2 != nil || (string(a) == string(b)) != test.same {
			t.Errorf("%s as JSON: %s (%v) and %s (%v)", test.name, a, err1, b, err2)
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
