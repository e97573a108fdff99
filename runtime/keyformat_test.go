package idem_test

import (
	"context"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// The texts were made by a program in another language.
func TestKeysAreWrittenAsTheProviderWantsThem(t *testing.T) {
	const key = "b0038c9917f9382a611580c16c8d3d635f169f7e6c0c245094ecaffddb8f8970"
	all, none := strings.Repeat("ff", 32), strings.Repeat("00", 32)
	tests := []struct {
		name   string
		format idem.KeyFormat
		sum    string
		want   string
	}{
		{"hex", idem.KeyFormat{}, key, key},
		{"uuid", idem.KeyUUID(), key, "b0038c99-17f9-882a-a115-80c16c8d3d63"},
		{"uuid of ones", idem.KeyUUID(), all, "ffffffff-ffff-8fff-bfff-ffffffffffff"},
		{"uuid of zeros", idem.KeyUUID(), none, "00000000-0000-8000-8000-000000000000"},
		{"base62:22", idem.KeyBase62(22), key, "YnCvu7eLYLBACRFJKfpasK"},
		{"base62:32", idem.KeyBase62(32), key, "yFExxNk6m2YnCvu7eLYLBACRFJKfpasK"},
		{"base62:43", idem.KeyBase62(43), key, "fjm3Y3Fpa6nyFExxNk6m2YnCvu7eLYLBACRFJKfpasK"},
		{"base62:43 of ones", idem.KeyBase62(43), all, "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"},
		{"base62 of 61", idem.KeyBase62(22), strings.Repeat("00", 31) + "3d", strings.Repeat("0", 21) + "z"},
	}
	for _, test := range tests {
		sum, err := hex.DecodeString(test.sum)
		if err != nil {
			t.Fatal(err)
		}
		if got := idem.KeyTextForTest(test.format, [32]byte(sum)); got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.name, test.sum, got, test.want)
		}
	}
}

func TestAKeyTooShortToTellEffectsApartIsRefused(t *testing.T) {
	for _, digits := range []int{-1, 0, 1, 21, 44} {
		w := newWorld(t)
		e := w.effect("charge")
		e.KeyFormat = idem.KeyBase62(digits)
		_, err := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(e, time.Hour)))).Do(t.Context(), order{ID: "1"})
		if !errors.Is(err, idem.ErrContract) || !strings.Contains(err.Error(), "KeyFormat") {
			t.Errorf("%d digits: %v", digits, err)
		}
		w.wantCalls(0)
	}
}

// A deploy between two attempts may change the format of keys. The provider
// knows the call by the key that it got.
func TestAKeyThatWasSentIsSentAgainAsItWas(t *testing.T) {
	guards := map[string]func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt]{
		"idempotency_key": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			return idem.IdempotencyKey(e, time.Hour)
		},
		"find_first": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] {
			find := func(ctx context.Context, call idem.Call, in order) (out receipt, found bool, err error) {
				out, err = e.Call(ctx, call, in) // which notes the key
				return out, err == nil, err
			}
			return idem.FindFirst(e, find, time.Millisecond)
		},
		"once, repeat": func(e idem.Effect[order, receipt]) *idem.Guarded[order, receipt] { return idem.Once(e, idem.Repeat) },
	}
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var keys []string
			attempt := func(format idem.KeyFormat, answer error) error {
				e := w.effect("charge")
				e.KeyFormat = format
				e.Call = func(_ context.Context, call idem.Call, _ order) (receipt, error) {
					keys = append(keys, call.Key())
					return receipt{Ref: "r"}, answer
				}
				_, err := idem.Define(w.ledger, spec(one(guard(e)))).Do(t.Context(), order{ID: "1"})
				return err
			}
			w.due(attempt(idem.KeyUUID(), idem.Unknown(errors.New("timeout"))))
			if err := attempt(idem.KeyBase62(22), nil); err != nil {
				t.Fatal(err)
			}
			if len(keys) != 2 || keys[0] != keys[1] || !regexp.MustCompile(`^[0-9a-f]{8}-.{27}$`).MatchString(keys[0]) {
				t.Errorf("the keys were %v", keys)
			}
		})
	}
}

// What is known not to have happened is nobody's yet: the new format holds.
func TestAnEffectThatDidNothingStartsWithTheNewFormat(t *testing.T) {
	w := newWorld(t)
	var keys []string
	attempt := func(format idem.KeyFormat, answer error) error {
		e := w.effect("charge")
		e.KeyFormat = format
		e.Call = func(_ context.Context, call idem.Call, _ order) (receipt, error) {
			keys = append(keys, call.Key())
			return receipt{Ref: "r"}, answer
		}
		_, err := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(e, time.Hour)))).Do(t.Context(), order{ID: "1"})
		return err
	}
	w.due(attempt(idem.KeyFormat{}, idem.NotApplied(errors.New("refused connection"))))
	if err := attempt(idem.KeyUUID(), nil); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 || len(keys[0]) != 64 || len(keys[1]) != 36 {
		t.Errorf("the keys were %v", keys)
	}
}
