package canon

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

// AppendString appends s as a JSON string, trimmed and in NFC. The error is
// [ErrInvalidUTF8].
func AppendString[S ~string](dst []byte, s S) ([]byte, error) {
	return appendString(dst, string(s))
}

// AppendStringExact appends s as a JSON string as it is. The error is
// [ErrInvalidUTF8].
func AppendStringExact[S ~string](dst []byte, s S) ([]byte, error) {
	return appendStringExact(dst, string(s))
}

// AppendText appends s trimmed and in NFC, without quotes or escapes: the whole
// body of a key that is one string. The error is [ErrInvalidUTF8].
func AppendText[S ~string](dst []byte, s S) ([]byte, error) {
	return appendText(dst, string(s))
}

// AppendTextExact appends s as it is, without quotes or escapes. The error is
// [ErrInvalidUTF8].
func AppendTextExact[S ~string](dst []byte, s S) ([]byte, error) {
	return appendTextExact(dst, string(s))
}

// Clean returns s trimmed and in NFC: the step before the first normaliser. The
// error is [ErrInvalidUTF8].
func Clean[S ~string](s S) (string, error) {
	return clean(string(s))
}

// AppendKey appends the name of an object's member and the colon. The name is
// the generator's: it is escaped, not normalised.
func AppendKey(dst []byte, name string) []byte {
	return append(appendQuoted(dst, name), ':')
}

// The functions above are wrappers that disappear in their callers; these have
// one instance for all types of string.

// appendString copies while it looks, which is measurably faster for the short
// strings that identifiers are. It has the loop of isPlain, to be found there
// with its reasons.
func appendString(dst []byte, s string) ([]byte, error) {
	n, start := len(s), len(dst)
	if n == 0 || s[0] <= ' ' || s[n-1] <= ' ' {
		return appendStringSlow(dst, s)
	}
	out := slices.Grow(dst, n+2)[:start+n+2]
	to := out[start+1 : start+1+n]
	if n < 8 {
		for i := range to {
			if !plainByte[s[i]] {
				return appendStringSlow(dst, s)
			}
			to[i] = s[i]
		}
	} else {
		for i := 0; i+8 < n; i += 8 {
			w := word(s, i)
			if !plainWord(w) {
				return appendStringSlow(dst, s)
			}
			binary.LittleEndian.PutUint64(to[i:], w)
		}
		w := word(s, n-8)
		if !plainWord(w) {
			return appendStringSlow(dst, s)
		}
		binary.LittleEndian.PutUint64(to[n-8:], w)
	}
	out[start], out[start+n+1] = '"', '"'
	return out, nil
}

func appendStringSlow(dst []byte, s string) ([]byte, error) {
	text, err := clean(s)
	if err != nil {
		return dst, err
	}
	return appendQuoted(dst, text), nil
}

func appendText(dst []byte, s string) ([]byte, error) {
	text, err := clean(s)
	if err != nil {
		return dst, err
	}
	return append(dst, text...), nil
}

func appendTextExact(dst []byte, s string) ([]byte, error) {
	if err := checkUTF8(s); err != nil {
		return dst, err
	}
	return append(dst, s...), nil
}

func clean(s string) (string, error) {
	if s == "" || isPlain(s) {
		return s, nil
	}
	if err := checkUTF8(s); err != nil {
		return "", err
	}
	return nfc(Trim(s)), nil
}

func appendStringExact(dst []byte, s string) ([]byte, error) {
	if err := checkUTF8(s); err != nil {
		return dst, err
	}
	return appendQuoted(dst, s), nil
}

func checkUTF8(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return fmt.Errorf("string %s: %w", show(s), ErrInvalidUTF8)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// isPlain reports that s, which is not empty, is ASCII without white space at
// its ends and without anything that JSON escapes: nearly every identifier
// there is. It reads eight bytes at a time; the last word overlaps the one
// before it.
func isPlain(s string) bool {
	n := len(s)
	if s[0] <= ' ' || s[n-1] <= ' ' {
		return false
	}
	if n < 8 {
		for i := range n {
			if !plainByte[s[i]] {
				return false
			}
		}
		return true
	}
	for i := 0; i+8 < n; i += 8 {
		if !plainWord(word(s, i)) {
			return false
		}
	}
	return plainWord(word(s, n-8))
}

// word compiles to a single load.
func word(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// plainWord reports that no byte of w is over 0x7F, under 0x20, a quote or a
// backslash. Each term sets the high bit of some byte if the word has one such;
// borrows make a false alarm only beside a real one.
func plainWord(w uint64) bool {
	quote := w ^ '"'*ones
	slash := w ^ '\\'*ones
	return (w|(w-' '*ones)|(quote-ones)|(slash-ones))&highs == 0
}

var plainByte = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendPlain appends s, which needs no escapes, between quotes.
func appendPlain(dst []byte, s string) []byte {
	start := len(dst)
	end := start + len(s) + 2
	if end > cap(dst) {
		dst = slices.Grow(dst, len(s)+2)
	}
	dst = dst[:end]
	dst[start] = '"'
	copy(dst[start+1:], s)
	dst[end-1] = '"'
	return dst
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends valid UTF-8 as a JSON string with the escapes of RFC
// 8785: the two-letter ones where JSON has them, \u00xx for other controls, and
// nothing else.
func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || plainByte[c] {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		dst = appendEscape(dst, c)
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
