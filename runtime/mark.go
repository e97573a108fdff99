package idem

import (
	"crypto/sha256"
	"fmt"
	"math"
	"time"
)

// Mark is the place of work among works about one thing, such as the revisions
// of one invoice. The zero Mark is none.
//
// A series remembers the highest mark that was done for as long as the work which
// set it is remembered. In a transaction of [Store.InTx] what was read of a series
// must hold until the commit.
type Mark struct {
	// Series is the hash of the kind, of how By is counted, and of the thing.
	Series Hash
	// By is the place: more is newer, and the same is not older.
	By int64
}

// IsZero reports that the work has no place in any series.
func (m Mark) IsZero() bool { return m.Series == Hash{} }

// NewMark is the last step of a generated derivation: preimage is the kind, how
// by is counted, and the canonical text of the thing. Only generated code has
// reason to call it, as with the functions below.
func NewMark(preimage []byte, by int64) Mark { return Mark{Series: sha256.Sum256(preimage), By: by} }

// UintMark is n as a place, which databases hold as a signed number.
func UintMark(n uint64) (int64, error) {
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("%d is over %d, the highest number that has a place", n, int64(math.MaxInt64))
	}
	return int64(n), nil
}

// TimeMark is t as a place, counted from 1970 in units of precision, which is a
// second or a thousandth, millionth or billionth of one. Times are cut towards
// the past.
func TimeMark(t time.Time, precision time.Duration) (int64, error) {
	switch year := t.UTC().Year(); {
	case year < 0 || year > 9999:
		return 0, fmt.Errorf("the year %d is not between 0 and 9999", year)
	case precision == time.Nanosecond && (year <= 1677 || year >= 2262):
		return 0, fmt.Errorf("in nanoseconds the year %d has no place: it is not between 1678 and 2261", year)
	}
	switch precision {
	case time.Second:
		return t.Unix(), nil
	case time.Millisecond:
		return t.UnixMilli(), nil
	case time.Microsecond:
		return t.UnixMicro(), nil
	case time.Nanosecond:
		return t.UnixNano(), nil
	}
	return 0, fmt.Errorf("the precision %s is no unit", precision)
}
