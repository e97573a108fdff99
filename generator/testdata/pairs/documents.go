package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
)

// numbers are JSON literals.
var numbers = []string{"0", "1", "-7", "1001", "0.5", "1e2", "100", "1.50", "9007199254740991", "9007199254740993", "9007199254740992.0", "-0", "12345678901234567890"}

// document makes a value of untyped JSON.
func document(r *rand.Rand, depth int) any {
	kind := r.IntN(8)
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3:
		return json.Number(pick(r, numbers...))
	case 4:
		return pick(r, word(r), "9007199254740993", "1")
	case 5:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = document(r, depth-1)
		}
		return list
	}
	object := map[string]any{}
	seen := map[string]bool{}
	for range r.IntN(4) {
		name := word(r)
		if one := norm.NFC.String(name); !seen[one] {
			seen[one] = true
			object[name] = document(r, depth-1)
		}
	}
	return object
}

// varyDocument is the same value with texts and numbers written otherwise.
func varyDocument(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case string:
		return padded(r, otherForm(r, v))
	case json.Number:
		return json.Number(varyNumber(r, string(v)))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = varyDocument(r, v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, e := range v {
			object[otherForm(r, name)] = varyDocument(r, e)
		}
		return object
	}
	return v
}

// varyNumber writes small numbers otherwise; of large ones the literal tells
// whether they are integers.
func varyNumber(r *rand.Rand, literal string) string {
	others := map[string][]string{"1": {"1.0", "10e-1", "0.1e1"}, "0": {"-0", "0.0", "0e9"}, "-0": {"0", "-0.0"}, "100": {"1e2", "100.00"}, "1e2": {"100", "1E+2"}, "0.5": {"5e-1", "0.50"}, "1.50": {"1.5", "15e-1"}}[literal]
	return pick(r, append(others, literal)...)
}

// write is the value as JSON in a random format.
func write(r *rand.Rand, v any) string {
	space := pick(r, "", " ", "\n\t", "\r\n")
	switch v := v.(type) {
	case string:
		return space + quoted(r, v) + space
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, write(r, e))
		}
		return space + "[" + strings.Join(parts, ",") + space + "]"
	case map[string]any:
		var parts []string
		names := slices.Sorted(maps.Keys(v)) // the same seed is to give the same text
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			parts = append(parts, space+quoted(r, name)+space+":"+write(r, v[name]))
		}
		return space + "{" + strings.Join(parts, space+",") + space + "}"
	case json.Number:
		return space + string(v)
	}
	return fmt.Sprintf("%s%s", space, map[any]string{nil: "null", true: "true", false: "false"}[v])
}

func quoted(r *rand.Rand, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		if c < ' ' || c == '"' || c == '\\' || r.IntN(4) == 0 {
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, pick(r, `\u%04x`, `\u%04X`), unit)
			}
		} else {
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// read parses what write wrote.
func read(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		fatal("%s: %v", raw, err)
	}
	return v
}
