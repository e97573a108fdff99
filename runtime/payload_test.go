package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func TestAContractsReleaseIsRecordedBeforeTheLedgers(t *testing.T) {
	w := newWorld(t, idem.WithRelease("program v2"))
	for id, release := range map[string]string{"own": "contract v1", "ledger's": ""} {
		s := spec(func(context.Context, *idem.Run, order) (receipt, error) { return receipt{}, nil })
		s.Release = release
		if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"attempt_log", "work_log"} {
		for _, release := range []string{"contract v1", "program v2"} {
			if n := w.rows(`select count(*) from `+table+` where release = ?`, release); n != 1 {
				t.Errorf("%s has %d rows of %s, want 1", table, n, release)
			}
		}
	}
}

// unstorable is an input that no encoder takes.
type unstorable struct {
	ID    string
	Reply chan string
}

func noPayload(handle func(ctx context.Context, run *idem.Run, in unstorable) (receipt, error)) idem.Spec[unstorable, receipt] {
	s := spec(nil)
	return idem.Spec[unstorable, receipt]{
		Kind: s.Kind, Version: s.Version, Module: s.Module, Digest: s.Digest,
		ID: func(in unstorable) (idem.WorkID, error) { return orderID(order{ID: in.ID}) },
		Payload: idem.Payload[unstorable]{Shape: "unstorable/1", Append: func(dst []byte, in unstorable) ([]byte, error) {
			return appendOrder(dst, order{ID: in.ID, Amount: int64(cap(in.Reply))})
		}},
		Window: s.Window, Response: s.Response, Retry: s.Retry, Lease: s.Lease, Timeout: s.Timeout,
		NoPayload: true, Handle: handle,
	}
}

// Nothing of the input is in the ledger but a hash: it need not survive an
// encoder, work is tried again with what is delivered again, and another payload
// is noticed all the same.
func TestAnInputThatIsNotStoredIsTriedAgainAsItIsDelivered(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			attempts := 0
			s := noPayload(func(_ context.Context, _ *idem.Run, in unstorable) (receipt, error) {
				attempts++
				if attempts == 1 {
					return receipt{}, errors.New("not now")
				}
				in.Reply <- "reached"
				return receipt{Ref: "r"}, nil
			})
			s.OneTransaction = oneTx
			c := idem.Define(w.ledger, s)
			in := unstorable{ID: "1", Reply: make(chan string, 1)}
			_, err := c.Do(t.Context(), in)
			w.due(err)
			_, err = c.Do(t.Context(), unstorable{ID: "1", Reply: make(chan string, 2)})
			wantIs(t, err, idem.ErrPayloadMismatch)
			if _, err := c.Do(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			select {
			case <-in.Reply:
			case <-time.After(time.Second):
				t.Error("the handler did not get what was delivered")
			}
			if n := w.rows(`select count(*) from work_log where payload is null and payload_codec = '' and payload_hash is not null`); n != 1 {
				t.Error("the payload is in the ledger")
			}
		})
	}
}

// What is redacted reaches the handler and the effect, takes part in the hashes,
// and is not stored.
func TestWhatIsRedactedIsHandledAndNotStored(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			hide := func(in order) order { in.Amount = 0; return in }
			e := w.effect("charge")
			e.Redact = hide
			call := func(_ context.Context, in order) (receipt, error) {
				if in.Amount != 5 {
					t.Errorf("the effect got %+v", in)
				}
				return receipt{Ref: "r"}, nil
			}
			e.Call = func(ctx context.Context, _ idem.Call, in order) (receipt, error) { return call(ctx, in) }
			g := idem.Repeatable(e)
			if oneTx {
				e.Call = nil
				g = idem.Transaction(w.ledger, e, func(ctx context.Context, _ idem.TxCall[*sql.Tx], in order) (receipt, error) { return call(ctx, in) })
			}
			s := spec(one(g))
			s.OneTransaction, s.Redact = oneTx, hide
			c := idem.Define(w.ledger, s)
			if _, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
				t.Fatal(err)
			}
			_, err := c.Do(t.Context(), order{ID: "1", Amount: 6})
			wantIs(t, err, idem.ErrPayloadMismatch)
			for _, query := range []string{
				`select count(*) from work_log where payload_codec = 'redacted' and payload = cast('{"id":"1","amount":0}' as blob)`,
				`select count(*) from work_view where payload = '{"id":"1","amount":0}'`,
				`select count(*) from effect_log where input_codec = 'redacted' and input = cast('{"id":"1","amount":0}' as blob)`,
			} {
				if n := w.rows(query); n != 1 {
					t.Errorf("%d rows: %s", n, query)
				}
			}
		})
	}
}
