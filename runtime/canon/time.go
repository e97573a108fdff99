package canon

import (
	"fmt"
	"slices"
	"time"
)

// The first and the last second of the years 0 to 9999, in Unix time.
const (
	minSecond = -62167219200
	maxSecond = 253402300799
)

const secondsPerDay = 86400

// AppendTime appends t as an RFC 3339 string in UTC with Z, truncated towards
// the past to precision, which is time.Second, Millisecond, Microsecond or
// Nanosecond; its fraction has no trailing zeros. The error is [ErrTimeRange] or
// [ErrPrecision].
func AppendTime(dst []byte, t time.Time, precision time.Duration) ([]byte, error) {
	second := t.Unix()
	if second < minSecond || second > maxSecond {
		return dst, fmt.Errorf("time in year %d: %w", t.UTC().Year(), ErrTimeRange)
	}
	nano := uint32(t.Nanosecond()) // never negative, so cutting it goes towards the past
	switch precision {
	case time.Second:
		nano = 0
	case time.Millisecond:
		nano -= nano % 1e6
	case time.Microsecond:
		nano -= nano % 1e3
	case time.Nanosecond:
	default:
		return dst, fmt.Errorf("precision %v: %w", precision, ErrPrecision)
	}
	return appendTime(dst, uint64(second-minSecond), nano), nil
}

// timeText is the longest text of a time.
type timeText [len(`"0000-00-00T00:00:00.000000000Z"`)]byte

// appendTime formats seconds since the beginning of year 0.
func appendTime(dst []byte, second uint64, nano uint32) []byte {
	year, month, day := civilDate(uint32(second / secondsPerDay))
	clock := uint32(second % secondsPerDay)
	minute := clock / 60
	hour := minute / 60
	century := year / 100

	start := len(dst)
	dst = slices.Grow(dst, len(timeText{}))
	b := (*timeText)(dst[start : start+len(timeText{})]) // written in place
	b[0] = '"'
	b.pair(1, century)
	b.pair(3, year-century*100)
	b[5] = '-'
	b.pair(6, month)
	b[8] = '-'
	b.pair(9, day)
	b[11] = 'T'
	b.pair(12, hour)
	b[14] = ':'
	b.pair(15, minute-hour*60)
	b[17] = ':'
	b.pair(18, clock-minute*60)
	end := 20
	if nano != 0 {
		end = b.fraction(end, nano)
	}
	b[end] = 'Z'
	b[end+1] = '"'
	return dst[:start+end+2]
}

// fraction writes the point and the digits of nano, which is not zero, up to the
// last that is not 0. It returns the index after them.
func (b *timeText) fraction(at int, nano uint32) int {
	b[at] = '.'
	at++
	for scale := uint32(1e6); nano != 0; scale /= 1e3 {
		three := nano / scale
		nano -= three * scale
		b.pair(at, three/10)
		b[at+2] = byte('0' + three%10)
		at += 3
	}
	for b[at-1] == '0' {
		at--
	}
	return at
}

// pair writes the two digits of n.
func (b *timeText) pair(at int, n uint32) {
	tens := n * 103 >> 10 // n/10 for n under 100
	b[at] = byte('0' + tens)
	b[at+1] = byte('0' + n - tens*10)
}

// civilDate converts days since 0000-01-01 to a date of the proleptic Gregorian
// calendar, after Neri and Schneider, "Euclidean affine functions and their
// application to calendar algorithms" (2022). It counts years from March, and
// 400 years more, so that January of year 0 is not negative.
func civilDate(days uint32) (year, month, day uint32) {
	const marchToJanuary, fourCenturies = 60, 146097
	n := 4*(days+fourCenturies-marchToJanuary) + 3
	century := n / fourCenturies
	n = n%fourCenturies | 3
	product := 2939745 * uint64(n)
	yearOfCentury := uint32(product >> 32)
	dayOfYear := uint32(product) / 2939745 / 4
	n = 2141*dayOfYear + 197913
	year, month, day = 100*century+yearOfCentury-400, n>>16, n&0xffff/2141+1
	if dayOfYear >= 306 { // January and February
		year, month = year+1, month-12
	}
	return year, month, day
}
