package main

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

var precisions = map[string]time.Duration{"second": time.Second, "millisecond": time.Millisecond}

// plain is what a value says: equal for two values exactly if they are the same
// work by the table of types in the documentation.
func plain(v reflect.Value, as string) any {
	switch {
	case as == "-":
		return nil
	case v.Kind() == reflect.Interface:
		return plainDocument(v.Interface())
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Truncate(precisions[as]).UnixNano()
	case json.Number:
		return plainNumber(string(x))
	case *big.Int:
		if x == nil {
			return nil
		}
		return x.String()
	case json.RawMessage:
		return plainDocument(read(x))
	case []byte:
		return string(x)
	}
	switch v.Kind() {
	case reflect.String:
		return plainText(v.String(), as)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return []any{plain(v.Elem(), as)}
	case reflect.Bool:
		return v.Bool()
	case reflect.Float32, reflect.Float64:
		return v.Float() + 0 // of which -0 is 0
	case reflect.Slice, reflect.Array:
		list := []any{}
		for i := range v.Len() {
			list = append(list, plain(v.Index(i), as))
		}
		return list
	case reflect.Map:
		object := map[any]any{}
		for k, e := range v.Seq2() {
			object[name(k)] = plain(e, as)
		}
		return object
	case reflect.Struct:
		object := map[any]any{}
		for i := range v.NumField() {
			object[v.Type().Field(i).Name] = plain(v.Field(i), v.Type().Field(i).Tag.Get("as"))
		}
		return object
	}
	if v.CanUint() {
		return v.Uint()
	}
	return v.Int()
}

// name is what a map's key says.
func name(k reflect.Value) any {
	if k.Kind() == reflect.String {
		return norm.NFC.String(k.String())
	}
	return k.Int()
}

// plainNumber is an integer that a float64 holds exactly as a float64, a larger
// one as its digits, which is what a text of those digits says too, and any other
// number as a float64.
func plainNumber(literal string) any {
	if !strings.ContainsAny(literal, ".eE") {
		n, ok := new(big.Int).SetString(literal, 10)
		if !ok {
			fatal("%q is no integer", literal)
		}
		if n.CmpAbs(big.NewInt(1<<53-1)) > 0 {
			return n.String()
		}
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		fatal("%v", err)
	}
	return f + 0
}

func plainDocument(v any) any {
	switch v := v.(type) {
	case string:
		return plainText(v, "")
	case json.Number:
		return plainNumber(string(v))
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, plainDocument(e))
		}
		return list
	case map[string]any:
		object := map[any]any{}
		for k, e := range v {
			object[norm.NFC.String(k)] = plainDocument(e)
		}
		return object
	}
	return v
}
