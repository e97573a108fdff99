package canon

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes the escape that s begins with and returns its length; the
// length is 0 if it is none, and the rune is surrogate for half a pair.
func unescape(s []byte) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unescapeHex(s)
	}
	return 0, 0
}

func unescapeHex(s []byte) (r rune, n int) {
	const one, two = len(`\uD83D`), len(`\uD83D\uDE00`)
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, one
	}
	if len(s) >= two && s[one] == '\\' && s[one+1] == 'u' {
		if low, ok := hex4(s[one:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, two
			}
		}
	}
	return surrogate, one
}

// surrogate stands for half a pair: no rune, unlike an escaped U+FFFD.
const surrogate = -1

// hex4 reads the four digits of \uXXXX.
func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 6 {
		return 0, false
	}
	for _, c := range s[2:6] {
		digit, ok := hexValue(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}

func hexValue(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}
