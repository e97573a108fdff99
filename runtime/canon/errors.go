package canon

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// What can be wrong with a value. Every error of this package wraps one of
// these; the text around it names the value by a short prefix at most, since
// inputs may be private.
var (
	ErrInvalidUTF8     = errors.New("not valid UTF-8")
	ErrSurrogate       = errors.New("half of a surrogate pair")
	ErrNotFinite       = errors.New("not a finite number that JSON can hold")
	ErrTimeRange       = errors.New("year outside 0 to 9999")
	ErrPrecision       = errors.New("precision is not second, millisecond, microsecond or nanosecond")
	ErrDigits          = errors.New("more than 100 digits")
	ErrNotExact        = errors.New("not a whole number of minor units")
	ErrDuplicateMember = errors.New("two members of an object have the same name")
	ErrDepth           = errors.New("nested deeper than 100")
	ErrSyntax          = errors.New("syntax error")
	ErrNotURL          = errors.New("not an absolute URL")
	ErrNotEmail        = errors.New("not an e-mail address")
	ErrType            = errors.New("type has no canonical form")

	// ErrEmpty is for callers: an identity of which nothing is left after
	// normalising. No function here returns it; see [Empty].
	ErrEmpty = errors.New("empty identity")
)

// ElementError says where inside a value something was wrong.
type ElementError struct {
	// Path is in Go's notation, without a leading dot: Lines[3].Price, or
	// ["first name"] for the member of a map.
	Path string
	Err  error
}

func (e *ElementError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *ElementError) Unwrap() error { return e.Err }

// At returns err with step put in front of the path it already has. A step is a
// field's name, or an index or name in brackets. At(step, nil) is nil.
func At(step string, err error) error {
	if err == nil {
		return nil
	}
	inner, ok := err.(*ElementError) // not As: only the outermost path can grow
	if !ok {
		return &ElementError{Path: step, Err: err}
	}
	if len(inner.Path) > 0 && inner.Path[0] != '[' {
		step += "."
	}
	return &ElementError{Path: step + inner.Path, Err: inner.Err}
}

// shown is how much of a value an error message may repeat.
const shown = 16

// show quotes the beginning of a value for an error message.
func show(s string) string {
	if len(s) <= shown {
		return fmt.Sprintf("%q", s)
	}
	end := shown
	for end > shown-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:end], len(s))
}
