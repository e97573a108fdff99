package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The list of design and documentation, written out once more.
var whiteSpace = []rune{
	0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0x85, 0xA0, 0x1680,
	0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A,
	0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF,
}

func TestWhiteSpaceIsTheListAndNothingElse(t *testing.T) {
	skipUnderRace(t)
	want := map[rune]bool{}
	for _, r := range whiteSpace {
		want[r] = true
	}
	for r := range rune(unicode.MaxRune + 1) {
		if isSpace(r) != want[r] {
			t.Errorf("%U: %v", r, isSpace(r))
		}
	}
	if got := Trim(string(whiteSpace) + "a " + string(whiteSpace) + "b" + string(whiteSpace)); got != "a "+string(whiteSpace)+"b" {
		t.Errorf("%q", got)
	}
}

func TestLowerKnowsNoContext(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "abc": "abc", "ABC-9": "abc-9", "ΟΔΟΣ": "οδοσ", "ÅÉ": "åé", "İI": "ii", "ẞ": "ß", "ǅ": "ǆ", "\u212a": "k", "𐐀": "𐐨", "ꭰ": "ꭰ",
	} {
		if got := Lower(in); got != want {
			t.Errorf("Lower(%q) = %q, want %q", in, got, want)
		}
	}
}

// A new version of Unicode may map what was unassigned, and this digest then
// says so: the change concerns keys made of such code points.
func TestTheTablesBehindKeysAreThoseOfUnicode15(t *testing.T) {
	skipUnderRace(t)
	if unicode.Version != "15.0.0" {
		t.Skipf("tables are of Unicode %s", unicode.Version)
	}
	h := sha256.New()
	for r := range rune(unicode.MaxRune + 1) {
		lower := unicode.ToLower(r)
		if lower != r {
			fmt.Fprintf(h, "%04X %04X\n", r, lower)
		}
		if unicode.ToLower(lower) != lower {
			t.Errorf("%U: lower case of lower case is %U", r, unicode.ToLower(lower))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != lowerDigest {
		t.Errorf("mapping to lower case has changed: %s", got)
	}
	h.Reset()
	for r := range rune(unicode.MaxRune + 1) {
		if nfd := norm.NFD.String(string(r)); nfd != string(r) {
			fmt.Fprintf(h, "%04X %x %x\n", r, nfd, norm.NFC.String(string(r)))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != nfcDigest {
		t.Errorf("NFC has changed: %s", got)
	}
}

const (
	lowerDigest = "59f382a897374c06b30509d27955fad4e655941a5ed9f1e15af87affafc617cf"
	nfcDigest   = "d66c331cf69d44de39947684d0e80c3e694a277b5fd9ee54adc04f36a1be32d5"
)

func TestRunsOfWhiteSpaceCollapse(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a b": "a b", "a \t\u00a0\u3000 b": "a b", "  a  ": " a ", "a\u200bb": "a\u200bb", "\ufeffa": " a",
	} {
		if got := CollapseSpace(in); got != want {
			t.Errorf("CollapseSpace(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDigitsAreASCIIOnly(t *testing.T) {
	for in, want := range map[string]string{"": "", "+47 (22) 33-44": "47223344", "abc": "", "１２3٤": "3"} {
		if got := Digits(in); got != want {
			t.Errorf("Digits(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEmailLowersOnlyTheDomain(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  ": "", " Jo.Doe+x@Example.COM ": "Jo.Doe+x@example.com", "jo@ΒÜCHER.example": "jo@βücher.example",
		`"a b@c"@X.org`: `"a b@c"@x.org`, "jo@[192.0.2.1]": "jo@[192.0.2.1]", "jö@x.org": "jö@x.org",
	} {
		got, err := Email(in)
		if err != nil || got != want {
			t.Errorf("Email(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"jo", "@x.org", "jo@", "Jo <jo@x.org>", "a@x.org, b@y.org", "a@b@c", "jo doe@x.org", "jo@x .org", `"@x.org`, "mailto:jo@x.org"} {
		if got, err := Email(in); !errors.Is(err, ErrNotEmail) || got != "" {
			t.Errorf("Email(%q) = %q, %v", in, got, err)
		}
	}
}

// Without exact: trim and NFC, the normalisers, trim and NFC.
func TestNormalisersComposeInTheOrderOfTheContract(t *testing.T) {
	derive := func(s string, normalisers ...func(string) string) string {
		t.Helper()
		s, err := Clean(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range normalisers {
			s = n(s)
		}
		out, err := AppendText(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	firstWord := func(s string) string { word, _, _ := strings.Cut(s, " "); return word }
	if got := derive("  Main\u00a0 Street ", CollapseSpace, Lower); got != "main street" {
		t.Errorf("%q", got)
	}
	if a, b := derive("A\u3000B", CollapseSpace, firstWord), derive("A\u3000B", firstWord, CollapseSpace); a != "A" || b != "A B" {
		t.Errorf("%q and %q", a, b)
	}
	// Lower-casing makes a composable pair: there is no capital of ẖ.
	if got := derive("H\u0331", Lower); got != "\u1e96" {
		t.Errorf("%+q", got)
	}
}
