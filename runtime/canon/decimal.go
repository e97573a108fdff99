package canon

import (
	"fmt"
	"math/big"
	"strconv"
)

// maxDigits is how many digits the plain text of a decimal may have.
const maxDigits = 100

// AppendBigInt appends n as a string of digits whatever its size, since readers
// disagree on large numbers; nil is null. The error is [ErrDigits].
func AppendBigInt(dst []byte, n *big.Int) ([]byte, error) {
	if n == nil {
		return append(dst, "null"...), nil
	}
	if n.IsInt64() {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, n.Int64(), 10)
		return append(dst, '"'), nil
	}
	// 10^100−1 has 333 bits: longer ones need no conversion to be refused.
	if n.BitLen() > 333 {
		return dst, fmt.Errorf("integer of %d bits: %w", n.BitLen(), ErrDigits)
	}
	text := n.String()
	if digits := len(text) - (1-n.Sign())/2; digits > maxDigits {
		return dst, fmt.Errorf("integer of %d digits: %w", digits, ErrDigits)
	}
	return appendPlain(dst, text), nil
}

// AppendDecimal appends the text of a decimal as a string in plain notation:
// 10.50, +10.5 and 1.05e1 are all "10.5". The error is [ErrSyntax], or
// [ErrDigits] if the plain text would have more than 100 digits.
func AppendDecimal(dst []byte, text string) ([]byte, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(dst, '"')
	dst, err = d.appendPlain(dst)
	if err != nil {
		return dst[:start], fmt.Errorf("decimal %s: %w", show(text), err)
	}
	return append(dst, '"'), nil
}

// AppendMinorUnits appends the decimal in text, which has no white space around
// it, as a count of its 10^-digits: "10.5" in 2 digits is 1050. The result is an
// integer, so this normaliser can only be the last. digits is 0 to 100. The
// error is [ErrNotExact], [ErrSyntax], or [ErrDigits].
func AppendMinorUnits(dst []byte, text string, digits int) ([]byte, error) {
	if digits < 0 || digits > maxDigits {
		return dst, fmt.Errorf("minor units of %d digits: %w", digits, ErrDigits)
	}
	d, err := parseDecimal(text)
	if err != nil {
		return dst, err
	}
	if !d.isZero() {
		d.exponent += digits
		if d.exponent < 0 {
			return dst, fmt.Errorf("amount %s in %d minor digits: %w", show(text), digits, ErrNotExact)
		}
	}
	var buf [maxDigits + 1]byte
	plain, err := d.appendPlain(buf[:0])
	if err != nil {
		return dst, fmt.Errorf("amount %s: %w", show(text), err)
	}
	return appendIntegerLiteral(dst, string(plain)), nil
}

// decimal is ±coefficient × 10^exponent. The coefficient is the digits of head
// and tail, with neither leading nor trailing zeros; zero has none at all, and no
// sign.
type decimal struct {
	negative   bool
	head, tail string
	exponent   int
}

func (d *decimal) isZero() bool { return d.head == "" && d.tail == "" }

// parseDecimal reads [+-] digits [. digits] [e [+-] digits] with at least one
// digit before the exponent.
func parseDecimal(text string) (decimal, error) {
	var d decimal
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		d.negative = text[i] == '-'
		i++
	}
	point := scanDigits(text, i)
	whole, fraction, end := text[i:point], "", point
	if point < len(text) && text[point] == '.' {
		end = scanDigits(text, point+1)
		fraction = text[point+1 : end]
	}
	exponent, ok := parseExponent(text[end:])
	if !ok || whole == "" && fraction == "" {
		return decimal{}, fmt.Errorf("decimal %s: %w", show(text), ErrSyntax)
	}
	d.setDigits(whole, fraction, exponent)
	return d, nil
}

// exponentLimit bounds exponents where arithmetic on them cannot overflow and
// no text is long enough to bring the result back within 100 digits.
const exponentLimit = 1 << 40

func parseExponent(text string) (int, bool) {
	if text == "" {
		return 0, true
	}
	if text[0]|0x20 != 'e' || len(text) == 1 {
		return 0, false
	}
	text = text[1:]
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	if text == "" || scanDigits(text, 0) != len(text) {
		return 0, false
	}
	n := 0
	for i := range len(text) {
		n = min(n*10+int(text[i]-'0'), exponentLimit)
	}
	if negative {
		n = -n
	}
	return n, true
}

// setDigits gives d the value whole.fraction × 10^exponent.
func (d *decimal) setDigits(whole, fraction string, exponent int) {
	fraction = trimZerosRight(fraction)
	d.exponent = exponent - len(fraction)
	if fraction == "" {
		kept := trimZerosRight(whole)
		d.exponent += len(whole) - len(kept)
		whole = kept
	}
	d.head, d.tail = trimZerosLeft(whole), fraction
	if d.head == "" {
		d.tail = trimZerosLeft(fraction)
	}
	if d.isZero() {
		*d = decimal{}
	}
}

func trimZerosLeft(s string) string {
	for s != "" && s[0] == '0' {
		s = s[1:]
	}
	return s
}

func trimZerosRight(s string) string {
	for s != "" && s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	return s
}

// appendPlain appends d without exponent, or returns ErrDigits before it has
// written anything.
func (d *decimal) appendPlain(dst []byte) ([]byte, error) {
	n := len(d.head) + len(d.tail)
	whole := n + d.exponent  // digits before the point
	digits := max(n, whole)  // of 12.5, 12 and 1200
	if n > 0 && whole <= 0 { // of 0.0125
		digits = 1 - d.exponent
	}
	if digits > maxDigits {
		return dst, ErrDigits
	}
	if d.negative {
		dst = append(dst, '-')
	}
	switch {
	case n == 0:
		dst = append(dst, '0')
	case whole <= 0:
		dst = append(dst, '0', '.')
		dst = append(dst, zeros[:-whole]...)
		dst = d.appendDigits(dst, 0, n)
	case whole < n:
		dst = d.appendDigits(dst, 0, whole)
		dst = append(dst, '.')
		dst = d.appendDigits(dst, whole, n)
	default:
		dst = d.appendDigits(dst, 0, n)
		dst = append(dst, zeros[:whole-n]...)
	}
	return dst, nil
}

// appendDigits appends the digits of the coefficient from one index to another.
func (d *decimal) appendDigits(dst []byte, from, to int) []byte {
	n := len(d.head)
	dst = append(dst, d.head[min(from, n):min(to, n)]...)
	return append(dst, d.tail[max(from-n, 0):max(to-n, 0)]...)
}

const zeros = "0000000000" + "0000000000" + "0000000000" + "0000000000" + "0000000000" +
	"0000000000" + "0000000000" + "0000000000" + "0000000000" + "0000000000"
