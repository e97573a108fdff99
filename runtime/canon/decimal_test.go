package canon

import (
	"errors"
	"strings"
	"testing"
)

func TestDecimalsAreInPlainNotation(t *testing.T) {
	nines := strings.Repeat("9", 100)
	for in, want := range map[string]string{
		"10.50": "10.5", "10.5": "10.5", "+10.5": "10.5", "1.05e1": "10.5", "105E-1": "10.5", "0010.5": "10.5",
		"0": "0", "-0": "0", "0.00": "0", "-0.0e5": "0", "0e999999999999999999": "0", "000": "0",
		"100": "100", "1E+2": "100", "-1e2": "-100", "10.0": "10", ".5": "0.5", "5.": "5",
		"0.001": "0.001", "1e-3": "0.001", "-12.340e-2": "-0.1234", "1200e-2": "12", "1200e-3": "1.2",
		nines: nines, "-" + nines: "-" + nines, "1e99": "1" + strings.Repeat("0", 99),
		"1e-99":                                   "0." + strings.Repeat("0", 98) + "1",
		"1." + strings.Repeat("0", 500):           "1",
		strings.Repeat("0", 500) + "1":            "1",
		"1" + strings.Repeat("0", 500) + "e-500":  "1",
		"0." + strings.Repeat("0", 500) + "1e501": "1",
	} {
		got, err := AppendDecimal([]byte("x"), in)
		if err != nil || string(got) != `x"`+want+`"` {
			t.Errorf("%s: %s (%v), want %q", in, got, err, want)
		}
	}
}

func TestDecimalsOfOver100DigitsAreErrors(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("9", 101), "1e100", "1e-100", "0." + strings.Repeat("9", 100), "1e999999999999999999999", "1e18446744073709551617", "-1e-999999999999999999999",
		strings.Repeat("1", 60) + "." + strings.Repeat("1", 41),
	} {
		if got, err := AppendDecimal([]byte("x"), in); !errors.Is(err, ErrDigits) || string(got) != "x" {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

func TestWhatIsNoDecimalIsASyntaxError(t *testing.T) {
	for _, in := range []string{"", "-", "+", ".", "-.", "e5", "1e", "1e+", "1ee5", "1.2.3", "1,5", "NaN", "Infinity", "0x10", "1_000", " 1", "1 ", "--1", "1/3", "1e5x", "1e1.5"} {
		if got, err := AppendDecimal([]byte("x"), in); !errors.Is(err, ErrSyntax) || string(got) != "x" {
			t.Errorf("%q: %s, %v", in, got, err)
		}
	}
}

func TestMinorUnitsAreExactOrAnError(t *testing.T) {
	for _, c := range []struct {
		in     string
		digits int
		want   string
		err    error
	}{
		{"10.50", 2, "1050", nil},
		{"10.5", 2, "1050", nil},
		{"10", 2, "1000", nil},
		{"1e1", 2, "1000", nil},
		{"-0.01", 2, "-1", nil},
		{"-0", 2, "0", nil},
		{"0.00000", 2, "0", nil},
		{"10.500", 2, "1050", nil},
		{"500", 0, "500", nil},
		{"90071992547409.91", 2, "9007199254740991", nil},
		{"90071992547409.92", 2, `"9007199254740992"`, nil},
		{"10", 18, `"10000000000000000000"`, nil},
		{"10.505", 2, "", ErrNotExact},
		{"0.5", 0, "", ErrNotExact},
		{"1e-99999999999999", 2, "", ErrNotExact},
		{"1e99", 2, "", ErrDigits},
		{"10.50 EUR", 2, "", ErrSyntax},
		{"10,50", 2, "", ErrSyntax},
		{"", 2, "", ErrSyntax},
		{"1", -1, "", ErrDigits},
		{"1", 101, "", ErrDigits},
	} {
		got, err := AppendMinorUnits([]byte("x"), c.in, c.digits)
		if !errors.Is(err, c.err) || string(got) != "x"+c.want {
			t.Errorf("%s in %d: %s, %v", c.in, c.digits, got, err)
		}
	}
}
