package canon

import (
	"encoding"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendBytes appends p as a string of standard base64; nil is "".
func AppendBytes(dst []byte, p []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, p)
	return append(dst, '"')
}

// AppendTextMarshaler appends the text of v as [AppendString] does; a nil
// pointer is null. The error is that of MarshalText, or [ErrInvalidUTF8].
func AppendTextMarshaler[T encoding.TextMarshaler](dst []byte, v T) ([]byte, error) {
	text, null, err := marshalText(v)
	if null {
		return append(dst, "null"...), nil
	}
	if err != nil {
		return dst, err
	}
	return appendString(dst, text)
}

// AppendTextMarshalerExact is [AppendTextMarshaler] as [AppendStringExact] does.
func AppendTextMarshalerExact[T encoding.TextMarshaler](dst []byte, v T) ([]byte, error) {
	text, null, err := marshalText(v)
	if null {
		return append(dst, "null"...), nil
	}
	if err != nil {
		return dst, err
	}
	return appendStringExact(dst, text)
}

// Appender is a type that knows its own canonical form. AppendCanonical appends
// one JSON value, the same for equal values in every process.
type Appender interface {
	AppendCanonical(dst []byte) ([]byte, error)
}

// AppendCanonical appends what v appends, after checking that it is one JSON
// value and no more; a nil pointer is null. The error is that of the method, or
// one of those of [AppendJSON].
func AppendCanonical[T Appender](dst []byte, v T) ([]byte, error) {
	if isNilPointer(v) {
		return append(dst, "null"...), nil
	}
	// Not into dst: what it may do with a slice it is given is unknown.
	value, err := v.AppendCanonical(nil)
	if err != nil {
		return dst, fmt.Errorf("AppendCanonical of %T: %w", v, err)
	}
	if err := checkValue(value); err != nil {
		return dst, fmt.Errorf("AppendCanonical of %T: %w", v, err)
	}
	return append(dst, value...), nil
}

// AppendSlice appends s as an array of what elem appends; nil is [].
func AppendSlice[E any](dst []byte, s []E, elem func([]byte, E) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	dst = append(dst, '[')
	for i, e := range s {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = elem(dst, e); err != nil {
			return dst[:start], At("["+strconv.Itoa(i)+"]", err)
		}
	}
	return append(dst, ']'), nil
}

// AppendMap appends m as an object of what elem appends, names in NFC
// (see the package) and sorted; nil is {}. The error is that of elem, [ErrInvalidUTF8], or
// [ErrDuplicateMember] for two names that are the same in NFC.
func AppendMap[K ~string, V any](dst []byte, m map[K]V, elem func([]byte, V) ([]byte, error)) ([]byte, error) {
	entries := make([]entry[K], 0, len(m))
	anyOdd := false
	for k := range m {
		if !utf8.ValidString(string(k)) {
			return dst, fmt.Errorf("name %s: %w", show(string(k)), ErrInvalidUTF8)
		}
		name, odd := nfcName(string(k))
		anyOdd = anyOdd || odd
		entries = append(entries, entry[K]{name, k})
	}
	if anyOdd {
		if name, ok := meet(names(entries)); ok {
			return dst, duplicate(name)
		}
	}
	return appendEntries(dst, m, entries, elem)
}

// Integer is the types of key that [AppendIntMap] takes.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// AppendIntMap is [AppendMap] for integer keys; their names are their digits,
// sorted as text.
func AppendIntMap[K Integer, V any](dst []byte, m map[K]V, elem func([]byte, V) ([]byte, error)) ([]byte, error) {
	entries := make([]entry[K], 0, len(m))
	for k := range m {
		name := strconv.FormatUint(uint64(k), 10)
		if k < 0 {
			name = strconv.FormatInt(int64(k), 10)
		}
		entries = append(entries, entry[K]{name, k})
	}
	return appendEntries(dst, m, entries, elem)
}

type entry[K comparable] struct {
	name string
	key  K
}

func names[K comparable](entries []entry[K]) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.name
	}
	return out
}

func duplicate(name string) error {
	return fmt.Errorf("name %s: %w", show(name), ErrDuplicateMember)
}

func appendEntries[K comparable, V any](dst []byte, m map[K]V, entries []entry[K], elem func([]byte, V) ([]byte, error)) ([]byte, error) {
	slices.SortFunc(entries, func(a, b entry[K]) int { return CompareNames(a.name, b.name) })
	start := len(dst)
	dst = append(dst, '{')
	for i, e := range entries {
		if i > 0 {
			if entries[i-1].name == e.name {
				return dst[:start], duplicate(e.name)
			}
			dst = append(dst, ',')
		}
		dst = AppendKey(dst, e.name)
		var err error
		if dst, err = elem(dst, m[e.key]); err != nil {
			return dst[:start], At("["+show(e.name)+"]", err)
		}
	}
	return append(dst, '}'), nil
}

// CompareNames orders the names of members as RFC 8785 does, by UTF-16 code
// units. Both are valid UTF-8.
func CompareNames[T ~string | ~[]byte](a, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// UTF-8 has the same order, but for U+E000–FFFF (which begin with EE or
		// EF) against what UTF-16 writes as surrogates (which begins with F0–F4).
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// marshalText reports in null whether v is a nil pointer or interface.
func marshalText(v encoding.TextMarshaler) (text string, null bool, err error) {
	if isNilPointer(v) {
		return "", true, nil
	}
	b, err := v.MarshalText()
	if err != nil {
		return "", false, fmt.Errorf("MarshalText of %T: %w", v, err)
	}
	return string(b), false, nil
}

// isNilPointer also reports a nil interface.
func isNilPointer(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
