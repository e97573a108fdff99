package canon

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStringsAreTrimmedInNFCAndEscapedAsInRFC8785(t *testing.T) {
	for _, c := range []struct{ name, in, trimmed, exact string }{
		{"empty", "", `""`, `""`},
		{"one letter", "a", `"a"`, `"a"`},
		{"seven letters", "abcdefg", `"abcdefg"`, `"abcdefg"`},
		{"eight letters", "abcdefgh", `"abcdefgh"`, `"abcdefgh"`},
		{"nine letters", "abcdefghi", `"abcdefghi"`, `"abcdefghi"`},
		{"blank", " \t\n", `""`, `" \t\n"`},
		{"spaces at the ends only", "  a b  ", `"a b"`, `"  a b  "`},
		{"decomposed", "Cafe\u0301", `"Café"`, "\"Cafe\u0301\""},
		{"white space that is not ASCII", "\ufeff\u0085\u00a0a\u2029\u3000", `"a"`, "\"\ufeff\u0085\u00a0a\u2029\u3000\""},
		{"not white space: zero width space, Mongolian vowel separator", "\u200ba\u180e", "\"\u200ba\u180e\"", "\"\u200ba\u180e\""},
		{"controls that JSON names", "a\b\f\n\r\tb", `"a\b\f\n\r\tb"`, `"a\b\f\n\r\tb"`},
		{"controls that it does not", "a\x00\x01\x0b\x1fb", `"a\u0000\u0001\u000b\u001fb"`, `"a\u0000\u0001\u000b\u001fb"`},
		{"delete is not escaped", "a\x7fb", "\"a\x7fb\"", "\"a\x7fb\""},
		{"quote and backslash", `a"\b`, `"a\"\\b"`, `"a\"\\b"`},
		{"quote in a later word", `0123456789"`, `"0123456789\""`, `"0123456789\""`},
		{"solidus, angles and ampersand are not escaped", "</a>&", `"</a>&"`, `"</a>&"`},
		{"line separators inside are not escaped", "a\u2028b", "\"a\u2028b\"", "\"a\u2028b\""},
		{"beyond the basic plane", "a😀", `"a😀"`, `"a😀"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendString([]byte("x"), c.in)
			if err != nil || string(got) != "x"+c.trimmed {
				t.Errorf("trimmed: %s (%v), want %s", got, err, c.trimmed)
			}
			got, err = AppendStringExact([]byte("x"), c.in)
			if err != nil || string(got) != "x"+c.exact {
				t.Errorf("exact: %s (%v), want %s", got, err, c.exact)
			}
		})
	}
}

// The fast path reads words of eight bytes, so every byte is tried at every
// place of strings of every length around one and two words.
func TestEveryByteIsNoticedAtEveryPlace(t *testing.T) {
	skipUnderRace(t)
	for n := 1; n <= 25; n++ {
		for at := range n {
			for c := range 256 {
				in := strings.Repeat("x", at) + string([]byte{byte(c)}) + strings.Repeat("x", n-at-1)
				var want []byte
				if c < utf8.RuneSelf {
					want = appendQuoted([]byte("pre"), Trim(in))
				}
				got, err := AppendString([]byte("pre"), in)
				if (err != nil) != (want == nil) || want != nil && string(got) != string(want) {
					t.Fatalf("%q: %q (%v), want %q", in, got, err, want)
				}
				if plain := isPlain(in); plain != (want != nil && string(want) == `pre"`+in+`"`) {
					t.Fatalf("isPlain(%q) = %v", in, plain)
				}
			}
		}
	}
}

func TestTextIsWithoutQuotesAndEscapes(t *testing.T) {
	for _, c := range []struct{ in, trimmed, exact string }{
		{"450789469", "450789469", "450789469"},
		{"  450789469 ", "450789469", "  450789469 "},
		{`a"b`, `a"b`, `a"b`},
		{"e\u0301", "é", "e\u0301"},
		{" ", "", " "},
	} {
		got, err := AppendText([]byte("k:"), c.in)
		if err != nil || string(got) != "k:"+c.trimmed {
			t.Errorf("AppendText(%q) = %q, %v", c.in, got, err)
		}
		got, err = AppendTextExact([]byte("k:"), c.in)
		if err != nil || string(got) != "k:"+c.exact {
			t.Errorf("AppendTextExact(%q) = %q, %v", c.in, got, err)
		}
	}
}

func TestInvalidUTF8IsAnErrorEverywhere(t *testing.T) {
	const bad = "order \xff\xfe"
	elem := AppendString[string]
	for name, appendBad := range map[string]func([]byte) ([]byte, error){
		"AppendString":        func(dst []byte) ([]byte, error) { return AppendString(dst, bad) },
		"AppendStringExact":   func(dst []byte) ([]byte, error) { return AppendStringExact(dst, bad) },
		"AppendText":          func(dst []byte) ([]byte, error) { return AppendText(dst, bad) },
		"AppendTextExact":     func(dst []byte) ([]byte, error) { return AppendTextExact(dst, bad) },
		"AppendSlice":         func(dst []byte) ([]byte, error) { return AppendSlice(dst, []string{"a", bad}, elem) },
		"AppendMap, value":    func(dst []byte) ([]byte, error) { return AppendMap(dst, map[string]string{"a": bad}, elem) },
		"AppendMap, name":     func(dst []byte) ([]byte, error) { return AppendMap(dst, map[string]string{bad: "a"}, elem) },
		"AppendJSON":          func(dst []byte) ([]byte, error) { return AppendJSON(dst, []byte(`["`+bad+`"]`)) },
		"AppendJSON, name":    func(dst []byte) ([]byte, error) { return AppendJSON(dst, []byte(`{"`+bad+`":1}`)) },
		"AppendJSON, escapes": func(dst []byte) ([]byte, error) { return AppendJSON(dst, []byte(`["\n`+bad+`"]`)) },
		"AppendAny":           func(dst []byte) ([]byte, error) { return AppendAny(dst, []any{bad}) },
		"AppendTextMarshaler": func(dst []byte) ([]byte, error) { return AppendTextMarshaler(dst, marshaledText(bad)) },
		"surrogate in UTF-8":  func(dst []byte) ([]byte, error) { return AppendString(dst, "\xed\xa0\x80") },
		"overlong":            func(dst []byte) ([]byte, error) { return AppendString(dst, "\xc0\xaf") },
	} {
		got, err := appendBad([]byte("before"))
		if !errors.Is(err, ErrInvalidUTF8) {
			t.Errorf("%s: error %v", name, err)
		}
		if string(got) != "before" {
			t.Errorf("%s left %q", name, got)
		}
	}
	if _, err := Clean(bad); !errors.Is(err, ErrInvalidUTF8) {
		t.Errorf("Clean: error %v", err)
	}
	if _, err := URL("https://a/" + bad); !errors.Is(err, ErrInvalidUTF8) {
		t.Errorf("URL: error %v", err)
	}
}

func TestErrorsRepeatOnlyAShortPrefixOfTheValue(t *testing.T) {
	secret := strings.Repeat("x", 20) + "4111111111111111"
	_, err1 := AppendString(nil, secret+"\xff")
	_, err2 := AppendDecimal(nil, secret)
	_, err3 := URL(secret)
	_, err4 := Email(secret)
	_, err5 := AppendJSON(nil, []byte(`{"`+secret+`":1,"`+secret+`":2}`))
	_, err6 := AppendNumber(nil, "1234567890123456789012345678901234567890x")
	for _, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err == nil {
			t.Fatal("no error")
		}
		if strings.Contains(err.Error(), "4111") || len(err.Error()) > 160 {
			t.Errorf("says too much: %v", err)
		}
	}
}

func TestNamesAreEscapedButNotNormalised(t *testing.T) {
	if got := string(AppendKey([]byte("{"), "a\"b ")); got != `{"a\"b ":` {
		t.Errorf("%s", got)
	}
}

type marshaledText string

func (m marshaledText) MarshalText() ([]byte, error) { return []byte(m), nil }
