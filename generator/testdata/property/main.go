// This program derives work IDs of random inputs by generated code, and holds
// them against a second derivation that walks the values by reflection and
// shares nothing with the first but SHA-256 and Unicode's tables.
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	idem "github.com/idemgen/idem/runtime"
	"golang.org/x/text/unicode/norm"
)

const rounds = 3000

func main() {
	r := rand.New(rand.NewPCG(1, 2))
	equal := 0
	seen := map[string]string{} // work IDs → what they are made of
	for i := range rounds {
		in := random(r)
		if i%10 == 0 {
			in = Input{Exact: "x", Name: "x"}
		}
		other := clone(in)
		mutate(r, reflect.ValueOf(&other).Elem())
		for _, v := range []Input{in, other} {
			check(seen, "whole:v1:", whole(v))(wholeID(v))
			check(seen, "list:v7:", list(v))(listID(v))
			check(seen, "single:v2:", text(string(v.Name)))(singleID(v))
			check(seen, "number:v1:", string(v.Number))(numberID(v))
		}
		if whole(in) == whole(other) {
			equal++
		}
	}
	if equal == 0 || equal > rounds*9/10 {
		fatal("%d of %d pairs are the same work: the test tries nothing", equal, rounds)
	}
	fmt.Println("fine")
}

func fatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// check compares a derivation with the body that it should have hashed. An
// empty identity is an error of the derivation.
func check(seen map[string]string, prefix, body string) func(idem.WorkID, error) {
	return func(id idem.WorkID, err error) {
		sum := sha256.Sum256([]byte(prefix + body))
		want := hex.EncodeToString(sum[:])
		switch {
		case err == nil && body == "":
			fatal("%s is an identity without anything in it", prefix)
		case err != nil && (body == "" || strings.Contains(body, `""`) || strings.Contains(body, "[]") || strings.Contains(body, "null")):
		case err != nil:
			fatal("%s%s\n%v", prefix, body, err)
		case id.String() != want:
			fatal("%s%s\nhas the ID %s, want %s", prefix, body, id, want)
		case seen[want] != "" && seen[want] != prefix+body:
			fatal("%s%s\nand %s\nare the same work", prefix, body, seen[want])
		}
		seen[want] = prefix + body
	}
}

func whole(in Input) string { return encode(reflect.ValueOf(in), "") }

func list(in Input) string {
	parts := []string{
		quote(in.Exact), quote(text(string(in.Name))), integer(strconv.FormatInt(in.Count, 10)),
		encode(reflect.ValueOf(in.Tags), ""), quote(text(in.Inner.Text)), integer(strconv.FormatUint(in.Large, 10)),
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func encode(v reflect.Value, path string) string {
	switch x := v.Interface().(type) {
	case time.Time:
		precision := map[string]time.Duration{"At": time.Millisecond, "When": time.Second}[path]
		return quote(x.UTC().Truncate(cmp.Or(precision, time.Microsecond)).Format(time.RFC3339Nano))
	case json.Number:
		return cmp.Or(string(x), "null")
	case encoding.TextMarshaler:
		if v.Kind() != reflect.Pointer {
			b, err := x.MarshalText()
			if err != nil {
				fatal("%v", err)
			}
			return quote(string(b))
		}
	case []byte:
		return quote(base64.StdEncoding.EncodeToString(x))
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return encode(v.Elem(), path)
	case reflect.String:
		if path == "Exact" {
			return quote(v.String())
		}
		return quote(text(v.String()))
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	case reflect.Float64:
		return number(v.Float())
	case reflect.Float32:
		return number(float32(v.Float()))
	case reflect.Slice, reflect.Array:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, encode(v.Index(i), "-"))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case reflect.Map:
		members := map[string]string{}
		for k, e := range v.Seq2() {
			members[norm.NFC.String(fmt.Sprint(k))] = encode(e, "-")
		}
		return object(members)
	case reflect.Struct:
		members := map[string]string{}
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			members[cmp.Or(name, f.Name)] = encode(v.FieldByIndex(f.Index), f.Name)
		}
		return object(members)
	}
	if v.CanUint() {
		return integer(strconv.FormatUint(v.Uint(), 10))
	}
	return integer(strconv.FormatInt(v.Int(), 10))
}

func integer(digits string) string {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		fatal("%v", err)
	}
	if n > 1<<53-1 || n < -(1<<53-1) {
		return quote(digits)
	}
	return digits
}

// number relies on encoding/json for what ECMAScript prints.
func number(f any) string {
	b, err := json.Marshal(f)
	if err != nil {
		fatal("%v", err)
	}
	if string(b) == "-0" {
		return "0"
	}
	return string(b)
}

func object(members map[string]string) string {
	var names []string
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
	var parts []string
	for _, name := range names {
		parts = append(parts, quote(name)+":"+members[name])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func text(s string) string { return norm.NFC.String(strings.Trim(s, " \t\u2028\u3000\ufeff")) }

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		fatal("%v", err)
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
}

// Strings are made of what joins, quotes, trims and composes.
var words = []string{"", "a", "b", "ab", "\"", "\\", ",", "[", "]", "{", ":", "null", "1", "0", " ", "\t", "\u3000", "\ufeff", "e", "\u0301", "\u00e9", "\u2028", "\u0000", "\U0001F600", "<"}

func word(r *rand.Rand) string {
	s := ""
	for range r.IntN(4) {
		s += words[r.IntN(len(words))]
	}
	return s
}

func random(r *rand.Rand) Input {
	var in Input
	fill(r, reflect.ValueOf(&in).Elem(), 0)
	return in
}

func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(moment(r)))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf([]netip.Addr{{}, netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(2))}), netip.IPv6Loopback()}[r.IntN(3)]))
		return
	case json.Number:
		v.SetString([]string{"", "0", "1", "1001", "-7"}[r.IntN(5)])
		return
	}
	many := r.IntN(3)
	if depth > 4 {
		many = 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		if many > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.String:
		v.SetString(word(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, 0.1, 1e21, 1e-7, 123456789.5, -2.5e-10, 3.4e38}[r.IntN(9)])
	case reflect.Slice:
		if many > 0 {
			v.Set(reflect.MakeSlice(v.Type(), many-1, many-1))
		}
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		names := map[string]bool{}
		for range many {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, depth+1)
			fill(r, elem, depth+1)
			if name := norm.NFC.String(fmt.Sprint(key)); !names[name] {
				names[name] = true
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth+1)
		}
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.Uint64:
		v.SetUint([]uint64{0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<64 - 1}[r.IntN(6)])
	default:
		v.SetInt([]int64{0, 1, -1, 7, 100, -128}[r.IntN(6)])
		if v.Kind() == reflect.Int64 && r.IntN(2) == 0 {
			v.SetInt([]int64{1<<53 - 1, 1 << 53, -1 << 53, 1<<63 - 1}[r.IntN(4)])
		}
	}
}

func moment(r *rand.Rand) time.Time {
	zone := time.FixedZone("", r.IntN(3)*3600)
	return time.Date(2026, 3, 1, 12, 0, r.IntN(2), []int{0, 1, 999, 1000, 1e6, 987654321}[r.IntN(6)], zone)
}

// mutate fills one field anew, at random.
func mutate(r *rand.Rand, v reflect.Value) { fill(r, v.Field(r.IntN(v.NumField())), 2) }

// clone is shallow: mutate replaces fields and never what they point to.
func clone(in Input) Input { return in }
