package canon

import (
	"crypto/sha256"
	"math/big"
	"runtime"
	"testing"
	"time"
)

// A derivation keeps its preimage on the stack. One function that lets dst
// escape would cost every derivation an allocation, so each is tried with a
// buffer of its own.
func TestFixedShapesAllocateNothing(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	n := big.NewInt(1001)
	decimal, name, accented, blank := "1234.50", "acme-industries", "Café Français", "  acme "
	payload := []byte("payload")
	for what, derive := range map[string]func() error{
		"AppendString": func() error {
			var buf [128]byte
			dst, err := AppendString(buf[:0], name)
			return used(dst, err)
		},
		"AppendString, not ASCII": func() error {
			var buf [128]byte
			dst, err := AppendString(buf[:0], accented)
			return used(dst, err)
		},
		"AppendString, to trim": func() error {
			var buf [128]byte
			dst, err := AppendString(buf[:0], blank)
			return used(dst, err)
		},
		"AppendStringExact": func() error {
			var buf [128]byte
			dst, err := AppendStringExact(buf[:0], accented)
			return used(dst, err)
		},
		"AppendText": func() error {
			var buf [128]byte
			dst, err := AppendText(buf[:0], accented)
			return used(dst, err)
		},
		"AppendTextExact": func() error {
			var buf [128]byte
			dst, err := AppendTextExact(buf[:0], accented)
			return used(dst, err)
		},
		"numbers": func() error {
			var buf [128]byte
			dst := AppendInt(buf[:0], -1001)
			dst = AppendUint(dst, 1<<60)
			dst = AppendBool(dst, true)
			dst, err := AppendFloat64(dst, 0.1)
			if err == nil {
				dst, err = AppendFloat32(dst, 1e-7)
			}
			return used(dst, err)
		},
		"AppendNumber": func() error {
			var buf [128]byte
			dst, err := AppendNumber(buf[:0], "1.50")
			return used(dst, err)
		},
		"AppendTime": func() error {
			var buf [128]byte
			dst, err := AppendTime(buf[:0], at, time.Nanosecond)
			return used(dst, err)
		},
		"AppendBytes": func() error {
			var buf [128]byte
			return used(AppendBytes(buf[:0], payload), nil)
		},
		"AppendBigInt": func() error {
			var buf [128]byte
			dst, err := AppendBigInt(buf[:0], n)
			return used(dst, err)
		},
		"AppendDecimal": func() error {
			var buf [128]byte
			dst, err := AppendDecimal(buf[:0], decimal)
			return used(dst, err)
		},
		"AppendMinorUnits": func() error {
			var buf [128]byte
			dst, err := AppendMinorUnits(buf[:0], decimal, 2)
			return used(dst, err)
		},
		"AppendKey, Empty and Unquote": func() error {
			var buf [128]byte
			dst := AppendKey(buf[:0], "name")
			if Empty(dst) {
				return ErrEmpty
			}
			return used(Unquote(dst, 0), nil)
		},
	} {
		if err := derive(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if allocs := testing.AllocsPerRun(100, func() { _ = derive() }); allocs != 0 {
			t.Errorf("%s: %v allocations", what, allocs)
		}
	}
}

// Values of other shapes allocate, but not the buffer: it is large enough here to
// be seen in the number of bytes.
func TestValuesReadAtRunTimeLeaveTheBufferOnTheStack(t *testing.T) {
	id := marshaledText("018f3d2a-0000-7000-8000-0242ac120002")
	raw := []byte(`{"a":[1,"x"]}`)
	for what, derive := range map[string]func() error{
		"AppendTextMarshaler": func() error {
			var buf [32 << 10]byte
			dst, err := AppendTextMarshaler(buf[:0], id)
			return used(dst, err)
		},
		"AppendCanonical": func() error {
			var buf [32 << 10]byte
			dst, err := AppendCanonical(buf[:0], money("1"))
			return used(dst, err)
		},
		"AppendJSON": func() error {
			var buf [32 << 10]byte
			dst, err := AppendJSON(buf[:0], raw)
			return used(dst, err)
		},
		"AppendAny": func() error {
			var buf [32 << 10]byte
			dst, err := AppendAny(buf[:0], id)
			return used(dst, err)
		},
	} {
		const runs = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			if err := derive(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 16<<10 {
			t.Errorf("%s allocates %d bytes", what, each)
		}
	}
}

func used(dst []byte, err error) error {
	if sha256.Sum256(dst) == [32]byte{} {
		return ErrEmpty
	}
	return err
}
