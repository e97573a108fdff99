package canon

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

// AppendAny appends a value whose type is known at run time only: what decoding
// JSON gives (nil, bool, string, json.Number, float64, []any, map[string]any)
// and, as in a typed field, the other numbers of Go, []byte, []string,
// map[string]string, json.RawMessage, time.Duration, *big.Int and what
// implements [Appender] or encoding.TextMarshaler.
//
// Any other type is [ErrType], with the path to it: this is no reflection of
// structs, whose names and normalisers only a contract knows. A time.Time is
// among them, since nothing here declares its precision. Other errors are those
// of the function for the type, and [ErrDepth] for nesting over 100, which a
// value that contains itself has.
func AppendAny(dst []byte, v any) ([]byte, error) {
	return anyAppender{text: AppendString[string], json: AppendJSON}.appendTo(dst, v)
}

// AppendAnyExact is [AppendAny] with strings as they are. Names of members are
// in NFC all the same.
func AppendAnyExact(dst []byte, v any) ([]byte, error) {
	return anyAppender{text: AppendStringExact[string], json: AppendJSONExact}.appendTo(dst, v)
}

// anyAppender is how strings and raw JSON are written.
type anyAppender struct {
	text func([]byte, string) ([]byte, error)
	json func([]byte, []byte) ([]byte, error)
}

// appendTo keeps dst out of a recursion in which it would escape.
func (a anyAppender) appendTo(dst []byte, v any) ([]byte, error) {
	value, err := a.append(nil, v, 0)
	if err != nil {
		return dst, err
	}
	return append(dst, value...), nil
}

func (a anyAppender) append(dst []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return AppendBool(dst, v), nil
	case string:
		return a.text(dst, v)
	case []any:
		elem, err := a.nested(depth)
		if err != nil {
			return dst, err
		}
		return AppendSlice(dst, v, elem)
	case map[string]any:
		elem, err := a.nested(depth)
		if err != nil {
			return dst, err
		}
		return AppendMap(dst, v, elem)
	case []string:
		return AppendSlice(dst, v, a.text)
	case map[string]string:
		return AppendMap(dst, v, a.text)
	case []byte:
		return AppendBytes(dst, v), nil
	case json.RawMessage:
		return a.json(dst, v)
	}
	if out, ok, err := appendAnyNumber(dst, v); ok {
		return out, err
	}
	return a.appendMethod(dst, v)
}

// nested returns the function for what is inside an array or object that is
// itself depth deep.
func (a anyAppender) nested(depth int) (func([]byte, any) ([]byte, error), error) {
	if depth == maxDepth {
		return nil, ErrDepth
	}
	return func(dst []byte, v any) ([]byte, error) { return a.append(dst, v, depth+1) }, nil
}

// appendMethod appends a type that knows its text.
func (a anyAppender) appendMethod(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case time.Time, *time.Time:
		return dst, fmt.Errorf("%T without a declared precision: %w", v, ErrType)
	case Appender:
		return AppendCanonical(dst, v)
	case encoding.TextMarshaler:
		text, null, err := marshalText(v)
		if null {
			return append(dst, "null"...), nil
		}
		if err != nil {
			return dst, err
		}
		return a.text(dst, text)
	}
	return dst, fmt.Errorf("%T: %w", v, ErrType)
}

// appendAnyNumber reports in ok whether v is a number.
func appendAnyNumber(dst []byte, v any) (out []byte, ok bool, err error) {
	switch v := v.(type) {
	case float64:
		dst, err = AppendFloat64(dst, v)
	case float32:
		dst, err = AppendFloat32(dst, v)
	case json.Number:
		dst, err = AppendNumber(dst, v)
	case *big.Int:
		dst, err = AppendBigInt(dst, v)
	case int:
		dst = AppendInt(dst, int64(v))
	case int8:
		dst = AppendInt(dst, int64(v))
	case int16:
		dst = AppendInt(dst, int64(v))
	case int32:
		dst = AppendInt(dst, int64(v))
	case int64:
		dst = AppendInt(dst, v)
	case time.Duration:
		dst = AppendInt(dst, int64(v))
	case uint:
		dst = AppendUint(dst, uint64(v))
	case uint8:
		dst = AppendUint(dst, uint64(v))
	case uint16:
		dst = AppendUint(dst, uint64(v))
	case uint32:
		dst = AppendUint(dst, uint64(v))
	case uint64:
		dst = AppendUint(dst, v)
	case uintptr:
		dst = AppendUint(dst, uint64(v))
	default:
		return dst, false, nil
	}
	return dst, true, err
}
