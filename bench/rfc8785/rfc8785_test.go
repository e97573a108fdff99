package rfc8785

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
	"golang.org/x/text/unicode/norm"

	"github.com/idemgen/idem/runtime/canon"
)

// setting is a number that the environment may set.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text, ok := os.LookupEnv(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestCanonicalJSONAgreesWithRFC8785 writes documents and compares both
// canonicalisers. IDEM_DOCUMENTS says how many, IDEM_SEED with which numbers.
func TestCanonicalJSONAgreesWithRFC8785(t *testing.T) {
	count, seed := setting(t, "IDEM_DOCUMENTS", 20_000), setting(t, "IDEM_SEED", 1)
	d := &documents{Rand: rand.New(rand.NewPCG(uint64(seed), 8785))}
	seen := map[string]int{}
	for i := range count {
		doc := d.next()
		outcome, err := compare(doc)
		if err != nil {
			t.Fatalf("document %d, %+q: %v", i+1, doc, err)
		}
		seen[outcome]++
	}
	t.Logf("%d documents, seed %d", count, seed)
	for _, outcome := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%9d %s", seen[outcome], outcome)
	}
	for _, wanted := range []string{"the same text", "both refuse", "differ by " + largeInteger, "differ by " + nfcName, "idem alone refuses: " + canon.ErrDepth.Error()} {
		if count >= 20_000 && seen[wanted] == 0 {
			t.Errorf("no document came to: %s", wanted)
		}
	}
}

// The three rules of idem that RFC 8785 does not have.
const (
	largeInteger = "an integer beyond 2^53-1, which RFC 8785 rounds and idem writes as digits"
	nfcName      = "a name that is not in NFC"
	untrimmed    = "a text that is not in NFC, or has white space around it"
)

// compare says what both make of a document, and in the error what is not
// explained.
func compare(doc []byte) (string, error) {
	ours, ourErr := canon.AppendJSONExact(nil, doc)
	theirs, theirErr := jcs.Transform(doc)
	switch {
	case ourErr != nil && theirErr != nil:
		return "both refuse", nil
	case ourErr != nil:
		return refused(doc, ourErr)
	}
	// What idem makes of it is what RFC 8785 makes of the document after idem's own
	// rules, always; and where those change nothing, of the document itself.
	exact := &rules{}
	want, err := exact.apply(doc)
	if err != nil || !bytes.Equal(ours, want) {
		return "", fmt.Errorf("is %s, want %s (%v)", ours, want, err)
	}
	usual := &rules{texts: true}
	if want, err = usual.apply(doc); err != nil {
		return "", err
	}
	if normal, err := canon.AppendJSON(nil, doc); err != nil || !bytes.Equal(normal, want) {
		return "", fmt.Errorf("with texts in one form is %s (%v), want %s", normal, err, want)
	}
	switch {
	case theirErr != nil && !exact.used[largeInteger]:
		return "", fmt.Errorf("idem alone accepts: %w", theirErr)
	case theirErr != nil:
		return "idem alone accepts: an integer too large for a float64, which idem writes as digits", nil
	case bytes.Equal(ours, theirs):
		return "the same text", nil
	case len(exact.used) == 0:
		return "", fmt.Errorf("is %s, and %s by RFC 8785: no rule says why", ours, theirs)
	}
	return "differ by " + strings.Join(slices.Sorted(maps.Keys(exact.used)), " and "), nil
}

// refused checks the reason why idem alone refuses a document.
func refused(doc []byte, err error) (string, error) {
	for reason, holds := range map[error]func([]byte) bool{
		canon.ErrInvalidUTF8:     func(doc []byte) bool { return !utf8.Valid(doc) },
		canon.ErrDuplicateMember: hasDuplicates,
		canon.ErrDepth:           func(doc []byte) bool { return depth(doc) > 100 },
	} {
		if errors.Is(err, reason) && holds(doc) {
			return "idem alone refuses: " + reason.Error(), nil
		}
	}
	return "", fmt.Errorf("idem alone refuses: %w", err)
}

func depth(doc []byte) (deepest int) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	for at := 0; ; {
		token, err := dec.Token()
		switch {
		case err != nil:
			return deepest
		case token == json.Delim('[') || token == json.Delim('{'):
			at++
			deepest = max(deepest, at)
		case token == json.Delim(']') || token == json.Delim('}'):
			at--
		}
	}
}

// hasDuplicates tells whether two names of an object are the same in NFC.
func hasDuplicates(doc []byte) bool {
	r := &rules{}
	_, err := r.apply(doc)
	return errors.Is(err, errDuplicate)
}

var errDuplicate = errors.New("two names are the same")

// rules rewrites a document by idem's own rules, after which RFC 8785 is all that
// is left to do. It reads with encoding/json and shares nothing with package canon.
type rules struct {
	texts bool // trimmed and in NFC
	used  map[string]bool
	dec   *json.Decoder
}

func (r *rules) apply(doc []byte) ([]byte, error) {
	r.used, r.dec = map[string]bool{}, json.NewDecoder(bytes.NewReader(doc))
	r.dec.UseNumber()
	text, err := r.value()
	if err != nil {
		return nil, err
	}
	return jcs.Transform([]byte(text))
}

func (r *rules) value() (string, error) {
	token, err := r.dec.Token()
	if err != nil {
		return "", err
	}
	switch v := token.(type) {
	case json.Delim:
		return r.inside(v)
	case json.Number:
		return r.number(string(v)), nil
	case string:
		if r.texts {
			if one := norm.NFC.String(strings.Trim(v, whiteSpace)); one != v {
				r.used[untrimmed] = true
				v = one
			}
		}
		return quote(v)
	}
	text, err := json.Marshal(token)
	return string(text), err
}

// whiteSpace is the list that package canon documents.
const whiteSpace = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

func (r *rules) inside(open json.Delim) (string, error) {
	var parts []string
	names := map[string]bool{}
	for r.dec.More() {
		name := ""
		if open == '{' {
			token, err := r.dec.Token()
			if err != nil {
				return "", err
			}
			key := token.(string)
			one := norm.NFC.String(key)
			if one != key {
				r.used[nfcName] = true
			}
			if names[one] {
				return "", errDuplicate
			}
			names[one] = true
			quoted, err := quote(one)
			if err != nil {
				return "", err
			}
			name = quoted + ":"
		}
		value, err := r.value()
		if err != nil {
			return "", err
		}
		parts = append(parts, name+value)
	}
	end, err := r.dec.Token()
	if err != nil {
		return "", err
	}
	return string(rune(open)) + strings.Join(parts, ",") + end.(json.Delim).String(), nil
}

func (r *rules) number(literal string) string {
	if strings.ContainsAny(literal, ".eE") {
		return literal
	}
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil && -1<<53 < n && n < 1<<53 {
		return literal
	}
	r.used[largeInteger] = true
	return `"` + literal + `"`
}

func quote(s string) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}
