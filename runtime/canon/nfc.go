package canon

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// nfc returns s, which is valid UTF-8, in Unicode's Normalization Form C.
//
// x/text writes the "stream-safe" variant: after 30 combining marks in a row it
// inserts a joiner that no other language's NFC inserts, and two different
// strings would meet. Long runs of marks therefore go another way.
func nfc(s string) string {
	if norm.NFC.QuickSpanString(s) == len(s) {
		return s
	}
	if !hasLongRun(s) {
		return norm.NFC.String(s)
	}
	return composeRunes(decompose(s))
}

// nfcName returns the name of a member in NFC, but for the code points that NFC
// has no composed form of (U+FB33 and other presentation forms, U+212B): those
// stay, as the published vectors have them, and odd tells of them. Two names
// that are one in full NFC are an error all the same; see meet.
func nfcName(s string) (name string, odd bool) {
	if norm.NFC.QuickSpanString(s) == len(s) {
		return s, false
	}
	var out []byte
	start := 0
	for i, r := range s {
		if norm.NFC.IsNormalString(string(r)) {
			continue
		}
		end := i + utf8.RuneLen(r)
		out = append(out, nfc(s[start:i])...)
		out = append(out, s[i:end]...)
		start, odd = end, true
	}
	return string(append(out, nfc(s[start:])...)), odd
}

// meet returns a name that two of names are in NFC. The names come from nfcName.
func meet(names []string) (name string, ok bool) {
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = nfc(name)
	}
	slices.Sort(full)
	for i := 1; i < len(full); i++ {
		if full[i-1] == full[i] {
			return full[i], true
		}
	}
	return "", false
}

func isASCII[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hasLongRun reports whether so many code points in a row attach to what is
// before them that x/text might count over 30 marks. A starter decomposes into
// at most three marks, any other code point into two, so up to 12 are safe.
func hasLongRun(s string) bool {
	run := 0
	for i := 0; i < len(s); {
		p := norm.NFC.PropertiesString(s[i:])
		if p.BoundaryBefore() {
			run = 0
		} else if run++; run > 12 {
			return true
		}
		i += p.Size()
	}
	return false
}

// mark is a code point with its canonical combining class.
type mark struct {
	r     rune
	class uint8
}

// decompose returns s in NFD.
func decompose(s string) []mark {
	out := make([]mark, 0, len(s))
	ordered := 0 // everything before it is a starter or in order
	for i, r := range s {
		p := norm.NFD.PropertiesString(s[i:])
		text := string(p.Decomposition())
		if text == "" {
			text = norm.NFD.String(string(r)) // Hangul has no table entry
		}
		for _, d := range text {
			class := norm.NFD.PropertiesString(string(d)).CCC()
			if class == 0 {
				sortMarks(out[ordered:])
				ordered = len(out) + 1
			}
			out = append(out, mark{d, class})
		}
	}
	sortMarks(out[min(ordered, len(out)):])
	return out
}

func sortMarks(m []mark) {
	slices.SortStableFunc(m, func(a, b mark) int { return int(a.class) - int(b.class) })
}

// composeRunes is the canonical composition algorithm (Unicode 3.11, D117).
func composeRunes(in []mark) string {
	out := make([]rune, 0, len(in))
	starter := -1    // index in out
	last := 0        // class of the last code point kept after the starter
	adjacent := true // nothing was kept between the starter and here
	for _, m := range in {
		blocked := !adjacent && last >= int(m.class)
		if starter >= 0 && !blocked {
			if c, ok := composePair(out[starter], m.r); ok {
				out[starter] = c
				continue
			}
		}
		out = append(out, m.r)
		last, adjacent = int(m.class), false
		if m.class == 0 {
			starter, adjacent = len(out)-1, true
		}
	}
	return string(out)
}

// composePair returns the code point that a and b together are, if there is one.
func composePair(a, b rune) (rune, bool) {
	text := norm.NFC.String(string([]rune{a, b}))
	r, size := utf8.DecodeRuneInString(text)
	return r, size == len(text)
}
