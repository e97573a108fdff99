package canon

import (
	"fmt"
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

// appendTime formats seconds since the beginning of year 0.
func appendTime(dst []byte, second uint64, nano uint32) []byte {
	year, month, day := civilDate(uint32(second / secondsPerDay))
	clock := uint32(second % secondsPerDay)
	minute := clock / 60
	century := year / 100

	var b [len(`"0000-00-00T00:00:00.000000000Z"`)]byte
	b[0] = '"'
	putPair(&b, 1, century)
	putPair(&b, 3, year-century*100)
	b[5] = '-'
	putPair(&b, 6, month)
	b[8] = '-'
	putPair(&b, 9, day)
	b[11] = 'T'
	putPair(&b, 12, minute/60)
	b[14] = ':'
	putPair(&b, 15, minute%60)
	b[17] = ':'
	putPair(&b, 18, clock-minute*60)
	n := 20
	if nano != 0 {
		n = putFraction(&b, n, nano)
	}
	b[n] = 'Z'
	b[n+1] = '"'
	return append(dst, b[:n+2]...)
}

// putFraction writes the point and the digits of nano, which is not zero, up to
// the last that is not 0. It returns the index after them.
func putFraction(b *[32]byte, at int, nano uint32) int {
	b[at] = '.'
	for i := at + 9; i > at; i-- {
		b[i] = byte('0' + nano%10)
		nano /= 10
	}
	end := at + 10
	for b[end-1] == '0' {
		end--
	}
	return end
}

func putPair(b *[32]byte, at int, n uint32) {
	b[at] = byte('0' + n/10)
	b[at+1] = byte('0' + n%10)
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
