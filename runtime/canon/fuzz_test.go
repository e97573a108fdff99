package canon

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
)

func FuzzAppendJSON(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,1.0,1e2,-0,9007199254740993,1e21,1e-7],"a":{"d":null,"c":[true,false]}}`,
		`[" Cafe\u0301 ","\ud83d\ude00","\u0000\b\/","` + "\ufeff\u00a0x\u3000" + `"]`,
		`{"\u0061":1,"a":2}`, `{"` + "\ufb33" + `":1,"😀":2}`, `{"` + "e\u0301" + `":1,"é":2}`, `"\ud83d"`, "\"\xff\"", `[1,]`, "\ufeff{}",
		`"a` + strings.Repeat("\u0301\u0323", 40) + `"`, strings.Repeat("[", 101) + strings.Repeat("]", 101), `123456789012345680000.0`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, stable, ok := slowJSON(raw)
		got, err := AppendJSON([]byte("x"), raw)
		if err != nil {
			if ok {
				t.Fatalf("%q: %v, but is %s", raw, err, want)
			}
			if string(got) != "x" {
				t.Fatalf("%q: left %q after %v", raw, got, err)
			}
			return
		}
		if got = got[1:]; !ok || string(got) != want {
			t.Fatalf("%q: %s, want %s (%v)", raw, got, want, ok)
		}
		if !json.Valid(got) {
			t.Fatalf("%q: %s is not valid", raw, got)
		}
		if again, err := AppendJSON(nil, got); err != nil || stable && string(again) != string(got) {
			t.Fatalf("%q: %s, and once more %s (%v)", raw, got, again, err)
		}
		checkEmpty(t, got)
		if text := string(Unquote(append([]byte("x"), got...), 1)); len(got) > 0 && got[0] == '"' {
			var s string
			if err := json.Unmarshal(got, &s); err != nil || text != "x"+s {
				t.Fatalf("%s: text %q, want %q (%v)", got, text, s, err)
			}
		}
	})
}

// checkEmpty compares Empty with what decoding finds.
func checkEmpty(t *testing.T, value []byte) {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return // a number beyond float64 cannot be, but a deep value can
	}
	if got, want := Empty(value), saysNothing(v); got != want {
		t.Fatalf("Empty(%s) = %v", value, got)
	}
}

func saysNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == "" || v == "0001-01-01T00:00:00Z"
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, member := range v {
			if !saysNothing(member) {
				return false
			}
		}
		return true
	}
	return false
}

func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"HTTPS://Shop.Example:443/a/../b/?utm_source=x&b=2&a=1&fbclid=z#frag", "http://bücher.example./%7e?%41=&&b", "http://u:p@[::1]:8080/x y",
		"https://a/%2e%2E/..//./", "http://faß。de:080/?a=b=c", "ftp://xn--bcher-kva:21", "http://a\u0323\u0301\u200d.de/", "mailto:a@b", "http://ａ/?é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := URL(in, "drop")
		if err != nil {
			if !errors.Is(err, ErrNotURL) || got != "" {
				t.Fatalf("%q: %q, %v", in, got, err)
			}
			return
		}
		if again, err := URL(got, "drop"); err != nil || again != got {
			t.Fatalf("%q: %s, and once more %s (%v)", in, got, again, err)
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7f {
				t.Fatalf("%q: %q is not printable ASCII", in, got)
			}
		}
		if strings.ContainsAny(got, "#\\") {
			t.Fatalf("%q: %q", in, got)
		}
		if text, err := AppendText(nil, got); err != nil || string(text) != got {
			t.Fatalf("%q: %q as text is %q (%v)", in, got, text, err)
		}
	})
}

func FuzzEmail(f *testing.F) {
	for _, seed := range []string{" Jo@Example.COM ", "a@b@c", `"a b"@X`, "jo@ΒÜCHER", "", "@", "İ@İ", "a@\u212a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := Email(in)
		if err != nil {
			if !errors.Is(err, ErrNotEmail) || got != "" {
				t.Fatalf("%q: %q, %v", in, got, err)
			}
			return
		}
		if again, err := Email(got); err != nil || again != got {
			t.Fatalf("%q: %q, and once more %q (%v)", in, got, again, err)
		}
	})
}

func FuzzAppendDecimal(f *testing.F) {
	for _, seed := range []string{"10.50", "-0.0", "1e-3", "+.5", "5.", "1E+99", "1e-99", "00.100e2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := AppendDecimal(nil, in)
		if err != nil {
			return
		}
		text := string(Unquote(got, 0))
		want, ok := new(big.Rat).SetString(strings.TrimSuffix(in, "."))
		if have, ok2 := new(big.Rat).SetString(text); ok && (!ok2 || have.Cmp(want) != 0) {
			t.Fatalf("%q: %s", in, text)
		}
		if again, err := AppendDecimal(nil, text); err != nil || string(Unquote(again, 0)) != text {
			t.Fatalf("%q: %s, and once more %s (%v)", in, text, again, err)
		}
		if strings.ContainsAny(text, "eE+") || strings.Contains(text, ".") && strings.HasSuffix(text, "0") {
			t.Fatalf("%q: %s is not plain", in, text)
		}
	})
}
