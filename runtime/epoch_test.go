package idem_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// stripe is a provider that stores what it answered under a key, failures too.
type stripe struct {
	stored map[string]error
	fails  []error // the outcomes of calls under new keys, then success
	keys   []string
	made   int
}

func (p *stripe) charge(_ context.Context, call idem.Call, _ order) (receipt, error) {
	p.keys = append(p.keys, call.Key())
	err, known := p.stored[call.Key()]
	if !known {
		if len(p.fails) > 0 {
			err, p.fails = p.fails[0], p.fails[1:]
		}
		if err == nil {
			p.made++
		}
		p.stored[call.Key()] = err
	}
	if err != nil {
		return receipt{}, err
	}
	return receipt{Ref: "charged"}, nil
}

// keyOfEpoch is derived as docs/contract.md says, by nothing of package idem.
func keyOfEpoch(id idem.WorkID, epoch int) string {
	preimage := id.String() + ":charge"
	if epoch > 0 {
		preimage += fmt.Sprintf(":e%d", epoch)
	}
	sum := sha256.Sum256([]byte(preimage))
	return hex.EncodeToString(sum[:])
}

// A stored failure would be answered for as long as the provider remembers the key:
// a call that is known to have done nothing is made again under another one. What
// merely may have done nothing keeps its key.
func TestTheKeyIsRaisedOnlyOnceTheFunctionSaysThatNothingWasApplied(t *testing.T) {
	said := idem.NotApplied(errBoom)
	tests := map[string]struct {
		replays bool
		fails   []error
		epochs  []int // of the keys that the provider gets, attempt by attempt
		reason  error // of the last attempt; nil: done
	}{
		"said, twice":                         {true, []error{said, said}, []int{0, 1, 2}, nil},
		"said in other words":                 {true, []error{fmt.Errorf("charging: %w", said)}, []int{0, 1}, nil},
		"said of each try":                    {true, []error{errors.Join(said, said)}, []int{0, 1}, nil},
		"said of one try, the other refused":  {true, []error{errors.Join(said, errRefused)}, []int{0, 0}, idem.ErrRetryLater},
		"a status":                            {true, []error{status(429)}, []int{0, 0}, idem.ErrRetryLater},
		"not sent, as far as anybody can see": {true, []error{errRefused}, []int{0, 0}, idem.ErrRetryLater},
		"cut off":                             {true, []error{errReset}, []int{0, 0}, idem.ErrRetryLater},
		"said after a call that was cut off":  {true, []error{errReset}, []int{0, 0, 0}, idem.ErrRetryLater},
		"a provider that stores no failures":  {false, []error{said}, []int{0, 0}, idem.ErrRetryLater},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := &stripe{stored: map[string]error{}, fails: test.fails}
			e := w.effect("charge")
			e.Call, e.ReplaysFailures = p.charge, test.replays
			c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(e, 24*time.Hour))))
			in := order{ID: "1", Amount: 5}
			id, err := c.ID(in)
			if err != nil {
				t.Fatal(err)
			}
			for i := range test.epochs {
				if i == 1 && name == "said after a call that was cut off" {
					p.stored[keyOfEpoch(id, 0)] = said
				}
				if _, err = c.Do(t.Context(), in); err != nil && i < len(test.epochs)-1 {
					w.due(err)
				}
			}
			if !errors.Is(err, test.reason) {
				t.Errorf("got %v, want %v", err, test.reason)
			}
			if test.reason == nil && p.made != 1 {
				t.Errorf("%d charges were made, want 1", p.made)
			}
			for i, epoch := range test.epochs {
				if i >= len(p.keys) || p.keys[i] != keyOfEpoch(id, epoch) {
					t.Errorf("call %d has not the key of epoch %d", i+1, epoch)
				}
			}
		})
	}
}

// An attempt that dies after its start with a new key leaves that key in the row: the
// next one asks under it and under no other.
func TestARaisedKeyIsSentAgainAsItWasWhenItsOutcomeIsUnknown(t *testing.T) {
	w := newWorld(t)
	p := &stripe{stored: map[string]error{}, fails: []error{idem.NotApplied(errBoom)}}
	e := w.effect("charge")
	cutOff := false
	e.ReplaysFailures = true
	e.Call = func(ctx context.Context, call idem.Call, in order) (receipt, error) {
		out, err := p.charge(ctx, call, in)
		if len(p.keys) == 2 {
			cutOff = true
			return receipt{}, errReset // the answer is lost
		}
		return out, err
	}
	c := idem.Define(w.ledger, spec(one(idem.IdempotencyKey(e, 24*time.Hour))))
	for range 2 {
		_, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
		w.due(err)
	}
	result, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil || !cutOff || p.made != 1 || len(p.keys) != 3 {
		t.Fatalf("%+v, %v: %d charges under %d keys", result, err, p.made, len(p.keys))
	}
	if p.keys[1] != keyOfEpoch(result.ID, 1) || p.keys[2] != p.keys[1] {
		t.Errorf("the keys were %v", p.keys)
	}
	if n := w.rows(`select key_epoch from effect_log`); n != 1 {
		t.Errorf("key_epoch is %d", n)
	}
}
