package canon

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func TestIntegersBeyondTheSafeRangeAreStringsOfDigits(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", -7: "-7", 1001: "1001",
		1<<53 - 1: "9007199254740991", 1 << 53: `"9007199254740992"`, 1<<53 + 1: `"9007199254740993"`,
		-(1<<53 - 1): "-9007199254740991", -(1 << 53): `"-9007199254740992"`,
		math.MaxInt64: `"9223372036854775807"`, math.MinInt64: `"-9223372036854775808"`,
	} {
		if got := string(AppendInt([]byte("x"), n)); got != "x"+want {
			t.Errorf("AppendInt(%d) = %s", n, got)
		}
		if n < 0 {
			continue
		}
		if got := string(AppendUint([]byte("x"), uint64(n))); got != "x"+want {
			t.Errorf("AppendUint(%d) = %s", n, got)
		}
	}
	if got := string(AppendUint(nil, math.MaxUint64)); got != `"18446744073709551615"` {
		t.Errorf("AppendUint of the largest = %s", got)
	}
}

func TestBoolsAreWords(t *testing.T) {
	if got := string(AppendBool(AppendBool(nil, true), false)); got != "truefalse" {
		t.Error(got)
	}
}

// The table of RFC 8785, appendix B.
func TestFloatsHaveTheTextOfRFC8785(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		got, err := AppendFloat64([]byte("x"), math.Float64frombits(bits))
		if err != nil || string(got) != "x"+want {
			t.Errorf("%016x: %s (%v), want %s", bits, got, err, want)
		}
	}
}

func TestFloatsHaveTheTextOfAnECMAScriptEngine(t *testing.T) {
	golden(t, "testdata/numbers.txt", " ", func(in, want string) {
		bits, err := strconv.ParseUint(in, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendFloat64(nil, math.Float64frombits(bits))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", in, got, err, want)
		}
	})
}

func TestFloat32IsTheShortestOfItsWidth(t *testing.T) {
	for f, want := range map[float32]string{
		0: "0", float32(math.Copysign(0, -1)): "0", 1: "1", -1.5: "-1.5",
		0.1: "0.1", 16777216: "16777216", 3.4028235e38: "3.4028235e+38", 1e-45: "1e-45",
		1e21: "1e+21", 9.999999e20: "999999900000000000000", 1e-6: "0.000001", 9.999999e-7: "9.999999e-7",
	} {
		got, err := AppendFloat32([]byte("x"), f)
		if err != nil || string(got) != "x"+want {
			t.Errorf("%v: %s (%v), want %s", f, got, err, want)
		}
	}
}

func TestNumbersThatAreNotFiniteAreErrors(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, err := AppendFloat64([]byte("x"), f); !errors.Is(err, ErrNotFinite) || string(got) != "x" {
			t.Errorf("float64 %v: %s, %v", f, got, err)
		}
		if got, err := AppendFloat32([]byte("x"), float32(f)); !errors.Is(err, ErrNotFinite) || string(got) != "x" {
			t.Errorf("float32 %v: %s, %v", f, got, err)
		}
	}
	for _, n := range []json.Number{"1e309", "-1e309", "1.5e99999999999999999999"} {
		if got, err := AppendNumber([]byte("x"), n); !errors.Is(err, ErrNotFinite) || string(got) != "x" {
			t.Errorf("number %s: %s, %v", n, got, err)
		}
	}
}

func TestUntypedNumbersAreIntegersOnlyIfWrittenSo(t *testing.T) {
	long := strings.Repeat("9", 500)
	for in, want := range map[string]string{
		"": "null", "0": "0", "-0": "0", "1": "1", "-1": "-1", "1.0": "1", "1e2": "100", "1.50": "1.5", "-0.0": "0", "0e5": "0",
		"9007199254740991": "9007199254740991", "9007199254740992": `"9007199254740992"`,
		"-9007199254740991": "-9007199254740991", "-9007199254740993": `"-9007199254740993"`,
		"10000000000000000": `"10000000000000000"`, long: `"` + long + `"`,
		"9007199254740993.0": "9007199254740992", "1E400e": "", "1e-400": "0", "1e21": "1e+21", "1E+2": "100", "123456789012345680000.0": "123456789012345680000",
	} {
		got, err := AppendNumber([]byte("x"), json.Number(in))
		if want == "" {
			if !errors.Is(err, ErrSyntax) {
				t.Errorf("%s: %s, %v", in, got, err)
			}
			continue
		}
		if err != nil || string(got) != "x"+want {
			t.Errorf("%s: %s (%v), want %s", in, got, err, want)
		}
	}
}

func TestWhatIsNoJSONNumberIsASyntaxError(t *testing.T) {
	for _, in := range []string{"+1", "01", "-01", "00", ".5", "5.", "1e", "1e+", "-", "--1", "1_000", "0x10", "Inf", "NaN", " 1", "1 ", "1,5", "１", "1.e3", "e5"} {
		if got, err := AppendNumber([]byte("x"), json.Number(in)); !errors.Is(err, ErrSyntax) || string(got) != "x" {
			t.Errorf("number %q: %s, %v", in, got, err)
		}
		if got, err := AppendJSON([]byte("x"), []byte("["+in+"]")); in != " 1" && in != "1 " && in != "1,5" && (!errors.Is(err, ErrSyntax) || string(got) != "x") {
			t.Errorf("JSON [%s]: %s, %v", in, got, err)
		}
	}
}

func TestBigIntegersAreStringsAndDiffer(t *testing.T) {
	pow := func(e int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(e), nil) }
	minus := func(n *big.Int) *big.Int { return new(big.Int).Neg(n) }
	largest := new(big.Int).Sub(pow(100), big.NewInt(1))
	for _, c := range []struct {
		n    *big.Int
		want string
	}{
		{nil, "null"},
		{new(big.Int), `"0"`},
		{big.NewInt(-5), `"-5"`},
		{big.NewInt(1001), `"1001"`},
		{big.NewInt(math.MinInt64), `"-9223372036854775808"`},
		{pow(20), `"1` + strings.Repeat("0", 20) + `"`},
		{largest, `"` + strings.Repeat("9", 100) + `"`},
		{minus(largest), `"-` + strings.Repeat("9", 100) + `"`},
	} {
		got, err := AppendBigInt([]byte("x"), c.n)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%v: %s (%v), want %s", c.n, got, err, c.want)
		}
	}
	for _, n := range []*big.Int{pow(100), minus(pow(100)), new(big.Int).Lsh(big.NewInt(1), 1<<20)} {
		if got, err := AppendBigInt([]byte("x"), n); !errors.Is(err, ErrDigits) || string(got) != "x" {
			t.Errorf("integer of %d bits: %s, %v", n.BitLen(), got, err)
		}
	}
}
