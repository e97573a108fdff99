package canon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// slowJSON is AppendJSON written another way: encoding/json reads, UTF-16 is
// really made to sort by, and NFC is always the long way. ok is false where
// canon has to refuse. stable is false if the result holds a float whose text is
// that of an integer beyond 2^53−1, which a second reading takes for one.
func slowJSON(raw []byte) (text string, stable, ok bool) {
	if !utf8.Valid(raw) || !json.Valid(raw) || hasLoneSurrogate(raw) {
		return "", false, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	o := oracle{decoder: d, stable: true}
	text, err := o.value(0)
	return text, o.stable, err == nil
}

type oracle struct {
	decoder *json.Decoder
	stable  bool
}

func (o *oracle) value(depth int) (string, error) {
	token, err := o.decoder.Token()
	if err != nil {
		return "", err
	}
	switch v := token.(type) {
	case nil:
		return "null", nil
	case bool:
		return fmt.Sprint(v), nil
	case string:
		return quote(longNFC(strings.Trim(v, string(whiteSpace)))), nil
	case json.Number:
		return o.number(string(v))
	case json.Delim:
		if depth == 100 {
			return "", ErrDepth
		}
		if v == '[' {
			return o.array(depth + 1)
		}
		return o.object(depth + 1)
	}
	return "", fmt.Errorf("token %T", token)
}

func (o *oracle) array(depth int) (string, error) {
	var elements []string
	for o.decoder.More() {
		element, err := o.value(depth)
		if err != nil {
			return "", err
		}
		elements = append(elements, element)
	}
	_, err := o.decoder.Token()
	return "[" + strings.Join(elements, ",") + "]", err
}

func (o *oracle) object(depth int) (string, error) {
	members := map[string]string{}
	full := map[string]bool{}
	for o.decoder.More() {
		token, err := o.decoder.Token()
		if err != nil {
			return "", err
		}
		name := token.(string)
		if full[longNFC(name)] {
			return "", ErrDuplicateMember
		}
		full[longNFC(name)] = true
		written, _ := nfcName(name)
		if members[written], err = o.value(depth); err != nil {
			return "", err
		}
	}
	if _, err := o.decoder.Token(); err != nil {
		return "", err
	}
	var names []string
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	for i, name := range names {
		names[i] = quote(name) + ":" + members[name]
	}
	return "{" + strings.Join(names, ",") + "}", nil
}

func (o *oracle) number(lit string) (string, error) {
	if !strings.ContainsAny(lit, ".eE") {
		n, err := strconv.ParseInt(lit, 10, 64)
		if err != nil || n > maxSafe || n < -maxSafe {
			return `"` + lit + `"`, nil
		}
		return strconv.FormatInt(n, 10), nil
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		return "", err
	}
	if f == 0 {
		return "0", nil
	}
	if abs := math.Abs(f); abs > maxSafe && abs < 1e21 {
		o.stable = false
	}
	text, err := json.Marshal(f) // ECMAScript's text too, but for -0
	return string(text), err
}

func longNFC(s string) string { return composeRunes(decompose(s)) }

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if escape, ok := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}[r]; ok {
			b.WriteString(escape)
		} else if r < ' ' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// hasLoneSurrogate looks at the escapes of valid JSON.
func hasLoneSurrogate(raw []byte) bool {
	var units []uint16 // other text is a unit of 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			units = append(units, 0)
			continue
		}
		i++
		if raw[i] != 'u' {
			units = append(units, 0)
			continue
		}
		unit, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
		if err != nil {
			panic(errors.New("escape in valid JSON: " + err.Error()))
		}
		units = append(units, uint16(unit))
		i += 4
	}
	for i := 0; i < len(units); i++ {
		switch {
		case units[i]>>10 == 0xDC00>>10:
			return true
		case units[i]>>10 == 0xD800>>10:
			if i++; i == len(units) || units[i]>>10 != 0xDC00>>10 {
				return true
			}
		}
	}
	return false
}
