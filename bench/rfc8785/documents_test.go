package rfc8785

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf16"
)

// documents writes random JSON as far from canonical as JSON can be, and now and
// then what is no JSON.
type documents struct {
	*rand.Rand
	b strings.Builder
}

func (d *documents) next() []byte {
	d.b.Reset()
	if d.IntN(500) == 0 {
		depth := 95 + d.IntN(10)
		return []byte(strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth))
	}
	d.space()
	d.value(3)
	d.space()
	doc := []byte(d.b.String())
	if d.IntN(4) > 0 {
		return doc
	}
	for range 1 + d.IntN(3) {
		doc = d.damage(doc)
	}
	return doc
}

// damage changes, removes, repeats or inserts a byte or two.
func (d *documents) damage(doc []byte) []byte {
	if len(doc) == 0 {
		return doc
	}
	i := d.IntN(len(doc))
	junk := []string{"\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\x00", "\x7f", "\xff", "\xc3", "\\ud800", "\\udc00", "null", " ", "\ufeff", "\u00a0"}[d.IntN(22)]
	switch d.IntN(4) {
	case 0:
		return append(doc[:i:i], doc[i+1:]...)
	case 1:
		return append(doc[:i:i], append([]byte(junk), doc[i:]...)...)
	case 2:
		return append(doc[:i:i], append([]byte(junk), doc[i+1:]...)...)
	}
	j := i + d.IntN(len(doc)-i)
	return append(doc[:j:j], doc[i:]...)
}

func (d *documents) space() { d.b.WriteString([]string{"", "", " ", "\n\t", "\r\n"}[d.IntN(5)]) }

func (d *documents) value(depth int) {
	kind := d.IntN(9)
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0:
		d.b.WriteString([]string{"null", "true", "false"}[d.IntN(3)])
	case 1, 2, 3:
		d.b.WriteString(d.number())
	case 4, 5:
		d.quoted()
	case 6, 7:
		d.list('{', '}', func() {
			d.quoted()
			d.space()
			d.b.WriteByte(':')
			d.space()
			d.value(depth - 1)
		})
	default:
		d.list('[', ']', func() { d.value(depth - 1) })
	}
}

func (d *documents) list(start, end byte, entry func()) {
	d.b.WriteByte(start)
	for i := range d.IntN(5) {
		if i > 0 {
			d.b.WriteByte(',')
		}
		d.space()
		entry()
		d.space()
	}
	d.b.WriteByte(end)
}

func (d *documents) number() string {
	switch d.IntN(8) {
	case 0:
		return strconv.FormatInt(int64(d.Uint64()), 10)
	case 1:
		return fmt.Sprint(int64(1)<<53 + int64(d.IntN(5)) - 3)
	case 2:
		return strconv.Itoa(d.IntN(2000) - 1000)
	case 3:
		return []string{"0", "-0", "0.0", "-0.0", "-0e5", "1e400", "-1e309", "1e-400", "5e-324", "1.7976931348623157e308", "1e21", "1e20", "999999999999999999999", "1E+2", "1.50", "100000000000000000000.0", "9007199254740993.0", "0.000001", "1e-7"}[d.IntN(19)]
	case 4, 5:
		f := math.Float64frombits(d.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return "1.5"
		}
		return strconv.FormatFloat(f, "eEfg"[d.IntN(4)], -1, 64)
	case 6:
		return strconv.FormatFloat(d.NormFloat64()*1e6, 'f', d.IntN(25), 64)
	}
	digits := strings.Repeat(strconv.Itoa(d.IntN(1e9)+1), 1+d.IntN(4))
	return digits + []string{"", ".5", "e3", "e-12", "." + digits, "E+0"}[d.IntN(6)]
}

// letters are few, so that names meet, and are what escapes, sorts by UTF-16,
// trims and composes. Code points that NFC takes apart for good are left out:
// their names are a rule of idem's own, which other tests hold.
var letters = []string{"a", "b", "c", "aa", "A", "1", " ", "\t", "/", "\"", "\\", "\u0001", "\u001f", "\u007f", "\u0085", "\u00a0", "\u00e9", "e", "\u0301", "\u0323", "\u05d3\u05bc", "\u2028", "\u20ac", "\u3000", "\ue000", "\uff5e", "\uffff", "\U0001F600", "\U00010000", "<"}

func (d *documents) quoted() {
	d.b.WriteByte('"')
	for range d.IntN(4) {
		for _, r := range letters[d.IntN(len(letters))] {
			d.letter(r)
		}
	}
	d.b.WriteByte('"')
}

func (d *documents) letter(r rune) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '/': `\/`}[r]
	switch {
	case short != "" && d.IntN(2) == 0:
		d.b.WriteString(short)
	case r < ' ' || r == '"' || r == '\\' || d.IntN(4) == 0:
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&d.b, []string{`\u%04x`, `\u%04X`}[d.IntN(2)], unit)
		}
	default:
		d.b.WriteRune(r)
	}
}
