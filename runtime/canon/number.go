package canon

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// maxSafe is the largest integer that every JSON reader keeps: beyond it a
// number is a string of digits.
const maxSafe = 1<<53 - 1

// AppendInt appends n, as a string of digits beyond ±(2^53−1).
func AppendInt(dst []byte, n int64) []byte {
	if -maxSafe <= n && n <= maxSafe {
		return strconv.AppendInt(dst, n, 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '"')
}

// AppendUint appends n, as a string of digits beyond 2^53−1.
func AppendUint(dst []byte, n uint64) []byte {
	if n <= maxSafe {
		return strconv.AppendUint(dst, n, 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, '"')
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte {
	return strconv.AppendBool(dst, b)
}

// AppendFloat64 appends the text that ECMAScript gives f. The error is
// [ErrNotFinite].
func AppendFloat64(dst []byte, f float64) ([]byte, error) {
	if n := int64(f); float64(n) == f && -maxSafe <= n && n <= maxSafe {
		return strconv.AppendInt(dst, n, 10), nil // also turns -0 into 0
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, notFinite(f)
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	return appendExponent(dst, f, 64), nil
}

// AppendFloat32 is [AppendFloat64] with the shortest text that identifies f
// among the values of float32.
func AppendFloat32(dst []byte, f float32) ([]byte, error) {
	wide := float64(f)
	if math.IsNaN(wide) || math.IsInf(wide, 0) {
		return dst, notFinite(wide)
	}
	if f == 0 {
		return append(dst, '0'), nil
	}
	// The limits are compared as float32: the float32 nearest to 1e-6 is less
	// than 1e-6, and its text is still 0.000001.
	if abs := float32(math.Abs(wide)); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, wide, 'f', -1, 32), nil
	}
	return appendExponent(dst, wide, 32), nil
}

// appendExponent appends f as 1.5e-7 or 1e+21: strconv's text without the zero
// that it puts before an exponent of one digit.
func appendExponent(dst []byte, f float64, bits int) []byte {
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

func notFinite(f float64) error {
	return fmt.Errorf("float %v: %w", f, ErrNotFinite)
}

// AppendNumber appends a JSON number: an integer literal as an integer, without
// limit of size; any other as the float64 it denotes. The empty Number, which
// decoding leaves for a member that is missing or null, is null. The error is
// [ErrSyntax] or, for a number too large for a float64, [ErrNotFinite].
func AppendNumber(dst []byte, n json.Number) ([]byte, error) {
	if n == "" {
		return append(dst, "null"...), nil
	}
	end, integer := scanNumber(n)
	if end != len(n) || end == 0 {
		return dst, fmt.Errorf("number %s: %w", show(string(n)), ErrSyntax)
	}
	return appendLiteral(dst, string(n), integer)
}

// appendLiteral appends a number that scanNumber has accepted.
func appendLiteral(dst []byte, lit string, integer bool) ([]byte, error) {
	if integer {
		return appendIntegerLiteral(dst, lit), nil
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		return dst, fmt.Errorf("number %s: %w", show(lit), ErrNotFinite)
	}
	return AppendFloat64(dst, f)
}

func appendIntegerLiteral(dst []byte, lit string) []byte {
	digits := lit
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "0" {
		return append(dst, '0')
	}
	const limit = "9007199254740991"
	if len(digits) < len(limit) || len(digits) == len(limit) && digits <= limit {
		return append(dst, lit...)
	}
	return appendPlain(dst, lit)
}

// scanNumber returns the length of the JSON number that s begins with, 0 if
// there is none, and whether it is an integer literal.
func scanNumber[T ~string | ~[]byte](s T) (end int, integer bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole := scanDigits(s, i)
	if whole == i || s[i] == '0' && whole > i+1 {
		return 0, false
	}
	i, integer = whole, true
	if i < len(s) && s[i] == '.' {
		fraction := scanDigits(s, i+1)
		if fraction == i+1 {
			return 0, false
		}
		i, integer = fraction, false
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		exponent := scanDigits(s, i)
		if exponent == i {
			return 0, false
		}
		i, integer = exponent, false
	}
	return i, integer
}

// scanDigits returns the index of the first byte from i on that is no digit.
func scanDigits[T ~string | ~[]byte](s T, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}
