package canon

import (
	"bytes"
	"unicode/utf8"
)

// Empty reports whether value, which is canonical, says nothing: "", null, [],
// {}, the zero time, or an object all of whose members are empty. Numbers and
// booleans always say something, zero and false too. It stops at the first leaf
// that is not empty.
//
// The bare text that [AppendText] makes is no canonical value: it is empty if
// its length is 0.
func Empty(value []byte) bool {
	for i := 0; i < len(value); {
		switch value[i] {
		case '{', ',': // only an object gets past its first leaf, so a name follows
			i++
			if i < len(value) && value[i] == '"' {
				i = skipString(value, i) + len(":")
			}
		case '}':
			i++
		default:
			n := emptyLeaf(value[i:])
			if n == 0 {
				return false
			}
			i += n
		}
	}
	return true
}

// emptyLeaf returns the length of the empty leaf that value begins with, or 0.
func emptyLeaf(value []byte) int {
	const zeroTime = `"0001-01-01T00:00:00Z"`
	switch {
	case hasPrefix(value, `""`), hasPrefix(value, `[]`):
		return 2
	case hasPrefix(value, `null`):
		return len(`null`)
	case hasPrefix(value, zeroTime):
		return len(zeroTime)
	}
	return 0
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Unquote makes the canonical value dst[start:] the text of a key of one field:
// a string loses its quotes and escapes, in place; anything else stays.
func Unquote(dst []byte, start int) []byte {
	value := dst[start:]
	if len(value) < 2 || value[0] != '"' {
		return dst
	}
	value = value[1 : len(value)-1]
	if bytes.IndexByte(value, '\\') < 0 {
		return dst[:start+copy(dst[start:], value)]
	}
	end := start
	for i := 0; i < len(value); {
		if value[i] != '\\' {
			dst[end] = value[i]
			end, i = end+1, i+1
			continue
		}
		// The text of an escape is never longer than the escape.
		r, n := unescape(value[i:])
		end = len(utf8.AppendRune(dst[:end], r))
		i += n
	}
	return dst[:end]
}
