package main

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// words are what joins, quotes, trims and composes: few, so that two inputs often
// differ in where something stands and in nothing else.
var words = []string{"a", "b", "ab", "A", "\"", "\\", ",", "[", "]", "{", "}", ":", "null", "true", "1", "0", " ", "e", "\u0301", "\u00e9", "\u0323", "\u1e69", "\u2028", "\u0000", "\u001f", "\U0001F600", "<", "\u00df", "\u0130", "\ufb01"}

func word(r *rand.Rand) string {
	s := ""
	for range pick(r, 0, 1, 1, 2, 2, 2, 3, 3) {
		s += pick(r, words...)
	}
	return s
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fill makes a random value.
func fill(r *rand.Rand, v reflect.Value, as string, depth int) {
	v.SetZero()
	switch v.Interface().(type) {
	case time.Time:
		nanos := pick(r, 0, 0, 1, 999, 1000, 1e6, 987654321)
		v.Set(reflect.ValueOf(start.Add(time.Duration(r.IntN(3))*time.Second + time.Duration(nanos)).In(zone(r))))
		return
	case json.Number:
		v.SetString(pick(r, numbers...))
		return
	case *big.Int:
		v.Set(reflect.ValueOf(pick(r, nil, big.NewInt(0), big.NewInt(-7), big.NewInt(1<<53), new(big.Int).Lsh(big.NewInt(1), 100))))
		return
	case json.RawMessage:
		v.SetBytes([]byte(write(r, document(r, 3))))
		return
	}
	many := r.IntN(3)
	if depth > 3 {
		many = 0
	}
	switch v.Kind() {
	case reflect.Interface:
		if d := document(r, 3); d != nil {
			v.Set(reflect.ValueOf(d))
		}
	case reflect.String:
		v.SetString(text(r, as))
	case reflect.Pointer:
		if many > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), as, depth+1)
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(r, 0, 1, -1, 0.1, 1e21, 1e-7, 123456789.5, 123456789.25, 9007199254740993, 3.4e38))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), many, many))
		for i := range many {
			fill(r, v.Index(i), as, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), as, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range many {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, as, depth+1)
			fill(r, elem, as, depth+1)
			if !hasName(v, key) {
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), v.Type().Field(i).Tag.Get("as"), depth+1)
		}
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.Uint64:
		v.SetUint(pick[uint64](r, 0, 1, 1<<53-1, 1<<53, 1<<53+1, 1<<64-1))
	case reflect.Int64:
		v.SetInt(pick[int64](r, 0, 1, -1, 1<<53-1, 1<<53, -1<<53, 1<<63-1))
	default:
		v.SetInt(pick[int64](r, 0, 1, -1, 7, 100, -128))
	}
}

// hasName tells whether a map has the key in another form.
func hasName(m, key reflect.Value) bool {
	for _, k := range m.MapKeys() {
		if reflect.DeepEqual(name(k), name(key)) {
			return true
		}
	}
	return false
}

func zone(r *rand.Rand) *time.Location {
	return pick(r, time.UTC, time.FixedZone("", r.IntN(24*4)*900-11*3600))
}

// change makes one field another, or two change places.
func change(r *rand.Rand, v reflect.Value) {
	i, j := r.IntN(v.NumField()), r.IntN(v.NumField())
	if v.Field(i).Type() == v.Field(j).Type() && v.Type().Field(i).Tag == v.Type().Field(j).Tag && i != j {
		kept := reflect.New(v.Field(i).Type()).Elem()
		kept.Set(v.Field(i))
		v.Field(i).Set(v.Field(j))
		v.Field(j).Set(kept)
		return
	}
	as := v.Type().Field(i).Tag.Get("as")
	if s := v.Field(i); s.Kind() == reflect.String && s.Type() != reflect.TypeFor[json.Number]() && (as == "" || as == "exact" || as == "lower") && r.IntN(2) == 0 {
		// Hardly another text: whether it is, its kind decides.
		s.SetString(pick(r, s.String()+" ", norm.NFD.String(s.String()), norm.NFC.String(s.String()), strings.ToUpper(s.String()), s.String()+"a"))
		return
	}
	fill(r, v.Field(i), as, 2)
}

// vary writes the value otherwise, so that it is the same work.
func vary(r *rand.Rand, v reflect.Value, as string) {
	if v.Kind() == reflect.Interface {
		if d := varyDocument(r, v.Interface()); d != nil {
			v.Set(reflect.ValueOf(d))
		}
		return
	}
	switch x := v.Interface().(type) {
	case time.Time:
		precision := precisions[as]
		if precision == 0 {
			return
		}
		floor := x.Truncate(precision)
		v.Set(reflect.ValueOf(floor.Add(time.Duration(r.Int64N(int64(precision)))).In(zone(r))))
		return
	case json.Number:
		v.SetString(varyNumber(r, string(x)))
		return
	case *big.Int:
		if x != nil {
			v.Set(reflect.ValueOf(new(big.Int).Set(x)))
		}
		return
	case json.RawMessage:
		v.SetBytes([]byte(write(r, varyDocument(r, read(x)))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(varyText(r, v.String(), as))
	case reflect.Pointer:
		if !v.IsNil() {
			vary(r, v.Elem(), as)
		}
	case reflect.Float32, reflect.Float64:
		if v.Float() == 0 && r.IntN(2) == 0 {
			v.SetFloat(minusZero)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(pick(r, reflect.Zero(v.Type()), reflect.MakeSlice(v.Type(), 0, 1)))
		}
		if v.Type().Elem().Kind() != reflect.Uint8 {
			varyItems(r, v, as)
		}
	case reflect.Array:
		varyItems(r, v, as)
	case reflect.Map:
		varyMap(r, v, as)
	case reflect.Struct:
		for i := range v.NumField() {
			vary(r, v.Field(i), v.Type().Field(i).Tag.Get("as"))
		}
	}
}

var minusZero = math.Copysign(0, -1)

func varyItems(r *rand.Rand, v reflect.Value, as string) {
	for i := range v.Len() {
		vary(r, v.Index(i), as)
	}
}

// varyMap puts the entries into a map that was filled in another order.
func varyMap(r *rand.Rand, v reflect.Value, as string) {
	if v.Len() == 0 {
		v.Set(pick(r, reflect.Zero(v.Type()), reflect.MakeMap(v.Type())))
		return
	}
	other := reflect.MakeMap(v.Type())
	keys := v.MapKeys()
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, key := range keys {
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.Set(key)
		e.Set(v.MapIndex(key))
		if k.Kind() == reflect.String {
			k.SetString(otherForm(r, k.String())) // names are not trimmed
		}
		vary(r, e, as)
		other.SetMapIndex(k, e)
	}
	v.Set(other)
}
