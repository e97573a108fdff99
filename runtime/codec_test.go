package idem_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

// key is a key that a seed stands for.
func keyOf(t testing.TB, seed string) idem.Key {
	t.Helper()
	sum := sha256.Sum256([]byte(seed))
	key, err := idem.NewKey(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// encryption encrypts with the first of the keys, and knows the others.
func encryption(t testing.TB, current string, former ...string) idem.Codec {
	t.Helper()
	var keys []idem.EncryptionKey
	for _, id := range append([]string{current}, former...) {
		keys = append(keys, idem.EncryptionKey{ID: id, Key: keyOf(t, id)})
	}
	c, err := idem.NewEncryption(keys[0], keys[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// long is an ID that is worth compressing.
var long = strings.Repeat("a long order ID, ", 40)

// charges is a contract of one effect, whose handler fails with each of errs before
// it succeeds.
func (w *world) charges(ledger *idem.Ledger[*sql.Tx], guard func(idem.Effect[order, receipt]) *idem.Guarded[order, receipt], errs ...error) idem.Contract[order, receipt] {
	g := guard(w.effect("charge"))
	return idem.Define(ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		out, err := g.Do(ctx, run, in)
		if err == nil && len(errs) > 0 {
			err, errs = errs[0], errs[1:]
		}
		return out, err
	}))
}

var errNotNow = errors.New("not now")

func TestValuesGoThroughTheStepsAndComeBack(t *testing.T) {
	for _, test := range []struct {
		codecs []idem.Codec
		id     string
		want   string // of payload and input
	}{
		{nil, long, "json"},
		{[]idem.Codec{idem.Gzip()}, "short", "json"},
		{[]idem.Codec{idem.Gzip()}, long, "json+gzip"},
		{[]idem.Codec{encryption(t, "k1")}, "short", "json+aesgcm:k1"},
		{[]idem.Codec{idem.Gzip(), encryption(t, "k1", "k0")}, long, "json+gzip+aesgcm:k1"},
	} {
		for name, oneTx := range map[string]bool{"": false, " in one transaction": true} {
			t.Run(test.want+name, func(t *testing.T) {
				w := newWorld(t, idem.WithCodecs(test.codecs...))
				g := idem.Once(w.effect("charge"), idem.Ask)
				if oneTx {
					e := w.effect("charge")
					e.Call = nil
					g = idem.Transaction(w.ledger, e, func(context.Context, idem.TxCall[*sql.Tx], order) (receipt, error) {
						return receipt{Ref: fmt.Sprint("ref-", w.calls.Add(1))}, nil
					})
				}
				failures := 1
				s := spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
					out, err := g.Do(ctx, run, in)
					if failures--; failures == 0 && !oneTx {
						err = errNotNow
					}
					return receipt{Ref: out.Ref + in.ID}, err
				})
				s.OneTransaction = oneTx
				c := idem.Define(w.ledger, s)
				in := order{ID: test.id, Amount: 5}
				_, err := c.Do(t.Context(), in)
				if !oneTx {
					w.due(err)
					_, err = c.Do(t.Context(), in)
				}
				if err != nil {
					t.Fatal(err)
				}
				result, err := c.Do(t.Context(), in)
				if want := "ref-1" + test.id; err != nil || !result.Replayed || result.Value.Ref != want {
					t.Errorf("a duplicate got %+v, %v, want %q", result, err, want)
				}
				w.wantCalls(1)
				if n := w.rows(`select count(*) from work_log join effect_log using (work_id) where payload_codec = ? and input_codec = ?`, test.want, test.want); n != 1 {
					t.Errorf("payload and input are not stored as %s", test.want)
				}
			})
		}
	}
}

func TestNothingThatIsEncryptedCanBeReadInTheFile(t *testing.T) {
	const secret = "ada@example.com"
	w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
	e := w.effect("charge")
	e.ExternalRef = nil
	e.Call = func(_ context.Context, _ idem.Call, in order) (receipt, error) {
		return receipt{Ref: "for " + in.ID}, nil
	}
	contract := idem.Define(w.ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		g := idem.Once(e, idem.Ask)
		if _, err := g.Do(ctx, run, in); err != nil {
			return receipt{}, err
		}
		in.Amount++ // another input for the same effect
		return g.Do(ctx, run, in)
	}))
	in := order{ID: secret, Amount: 5}
	_, err := contract.Do(t.Context(), in)
	wantIs(t, err, idem.ErrEffectDiverged)
	plain := sha256.Sum256(mustAppend(t, in))
	for _, file := range []string{w.path, w.path + "-wal"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for what, part := range map[string][]byte{"the secret": []byte(secret), "a hash that can be guessed at": plain[:]} {
			if bytes.Contains(content, part) {
				t.Errorf("%s is in %s", what, file)
			}
		}
	}
}

func mustAppend(t *testing.T, in order) []byte {
	t.Helper()
	b, err := appendOrder(nil, in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAnOldKeyReadsAndTheCurrentOneWrites(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "2025")))
	old := w.charges(w.ledger, never)
	if _, err := old.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	rotated := w.charges(w.open(idem.WithCodecs(idem.Gzip(), encryption(t, "2026", "2025"))), never)
	for _, id := range []string{"1", "2"} {
		result, err := rotated.Do(t.Context(), order{ID: id, Amount: 5})
		if err != nil || result.Replayed != (id == "1") || result.Value.Ref != "ref-"+id {
			t.Errorf("%s: %+v, %v", id, result, err)
		}
	}
	for codec, want := range map[string]int{"json+aesgcm:2025": 1, "json+aesgcm:2026": 1} {
		if n := w.rows(`select count(*) from work_log where result_codec = ? and payload_codec = ?`, codec, codec); n != want {
			t.Errorf("%d works are stored as %s, want %d", n, codec, want)
		}
	}
	plain := w.charges(w.open(idem.WithFormerCodecs(encryption(t, "2026", "2025"))), never)
	for _, id := range []string{"1", "2"} {
		if result, err := plain.Do(t.Context(), order{ID: id, Amount: 5}); err != nil || result.Value.Ref != "ref-"+id {
			t.Errorf("%s, read without writing so: %+v, %v", id, result, err)
		}
	}
	w.wantCalls(2)
}

func TestWithoutItsKeyDoneWorkIsDoneAllTheSame(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "2025")))
	if _, err := w.charges(w.ledger, never).Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		opts []idem.Option
		want string
	}{
		"another key": {[]idem.Option{idem.WithCodecs(encryption(t, "2026"))}, `encrypted with the key "2025", and the program has 2026`},
		"no key":      {nil, "json+aesgcm:2025"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.charges(w.open(test.opts...), never).Do(t.Context(), order{ID: "1", Amount: 5})
			e := wantIs(t, err, idem.ErrUnreadable)
			if !strings.Contains(err.Error(), test.want) || e.State != idem.StateDone || e.ExternalRef != "ref-1" || !idem.ShouldAck(err) {
				t.Errorf("%v: state %s, reference %s, to be acknowledged: %t", err, e.State, e.ExternalRef, idem.ShouldAck(err))
			}
			if key, missing := errors.AsType[*idem.UnknownKeyError](err); missing && (key.ID != "2025" || !errors.Is(err, idem.ErrKey)) {
				t.Errorf("the key that is missing is %+v", key)
			}
		})
	}
	w.wantCalls(1)
}

// An attempt that cannot read what an earlier one did is no reason to do it again, nor
// to bury the work, nor to ask a person.
func TestWithoutItsKeyAnEffectIsNotMadeAgainAndTheAttemptIsGivenBack(t *testing.T) {
	for name, swallow := range map[string]bool{"the handler returns the error": false, "the handler swallows it": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, idem.WithCodecs(encryption(t, "2025")))
			in := order{ID: "1", Amount: 5}
			_, err := w.charges(w.ledger, never, errNotNow).Do(t.Context(), in)
			w.due(err)
			left := w.rows(`select budget_left from work_log`)

			without := w.open(idem.WithCodecs(encryption(t, "2026")))
			g := never(w.effect("charge"))
			contract := idem.Define(without, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
				out, err := g.Do(ctx, run, in)
				if !errors.Is(err, idem.ErrUnreadable) {
					t.Errorf("the handler got %v", err)
				}
				if swallow {
					err = nil
				}
				return out, err
			}))
			for range 8 { // more often than the work has attempts
				_, err = contract.Do(t.Context(), in)
				if !strings.Contains(fmt.Sprint(err), `the key "2025"`) {
					t.Errorf("the error does not name the key: %v", err)
				}
				w.due(err)
			}
			if now := w.rows(`select budget_left from work_log`); now != left {
				t.Errorf("%d attempts are left of %d", now, left)
			}
			result, err := w.charges(w.open(idem.WithCodecs(encryption(t, "2026", "2025"))), never).Do(t.Context(), in)
			if err != nil || result.Value.Ref != "ref-1" {
				t.Errorf("with the key: %+v, %v", result, err)
			}
			w.wantCalls(1)
		})
	}
}

func TestWhatWasTamperedWithIsForAPerson(t *testing.T) {
	for name, change := range map[string]string{
		"a bit":               `update effect_log set result = cast(substr(result, 1, length(result) - 1) || x'00' as blob) where effect = 'charge' and work_id = ?1`,
		"another work's":      `update effect_log set result = (select result from effect_log where work_id <> ?1) where effect = 'charge' and work_id = ?1`,
		"its own input":       `update effect_log set result = input where work_id = ?1`,
		"cut short":           `update effect_log set result = x'00' where work_id = ?1`,
		"under another codec": `update effect_log set result = x'1f8b', result_codec = 'json+gzip' where work_id = ?1`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
			contract := w.charges(w.ledger, never, nil, errNotNow)
			if _, err := contract.Do(t.Context(), order{ID: "other", Amount: 5}); err != nil {
				t.Fatal(err)
			}
			in := order{ID: "1", Amount: 5}
			_, err := contract.Do(t.Context(), in)
			w.due(err)
			id, err := contract.ID(in)
			if err != nil {
				t.Fatal(err)
			}
			w.exec(change, id.String())
			_, err = contract.Do(t.Context(), in)
			if e := wantIs(t, err, idem.ErrOutcomeUnknown); !errors.Is(err, idem.ErrTampered) || e.State != idem.StateUnknown {
				t.Errorf("%v, and the work is %s", err, e.State)
			}
			w.wantCalls(2)
		})
	}
}

func TestAResultThatWasTamperedWithIsNotAnsweredWith(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
	contract := w.charges(w.ledger, never)
	for _, id := range []string{"1", "2"} {
		if _, err := contract.Do(t.Context(), order{ID: id, Amount: 5}); err != nil {
			t.Fatal(err)
		}
	}
	id, err := contract.ID(order{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	w.exec(`update work_log set result = (select result from work_log where work_id <> ?1) where work_id = ?1`, id.String())
	_, err = contract.Do(t.Context(), order{ID: "1", Amount: 5})
	if wantIs(t, err, idem.ErrUnreadable); !errors.Is(err, idem.ErrTampered) {
		t.Errorf("got %v", err)
	}
	w.wantCalls(2)
}

func TestPayloadsAreComparedUnderEncryption(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
	contract := w.charges(w.ledger, never, errNotNow)
	_, err := contract.Do(t.Context(), order{ID: "1", Amount: 5})
	w.due(err)
	_, err = contract.Do(t.Context(), order{ID: "1", Amount: 6})
	wantIs(t, err, idem.ErrPayloadMismatch)

	// Under another key the hashes say nothing, and are made anew.
	rotated := w.charges(w.open(idem.WithCodecs(encryption(t, "k2", "k1"))), never)
	if _, err := rotated.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	_, err = rotated.Do(t.Context(), order{ID: "1", Amount: 6})
	wantIs(t, err, idem.ErrPayloadMismatch)
	w.wantCalls(1)
}

// The result of a message belongs to the effect that sent it, and others answer with
// it: from their own rows, which only they can read.
func TestAMessageThatOtherWorkSentIsReadUnderEncryption(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
	c := w.greets(never)
	first, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil {
		t.Fatal(err)
	}
	e := w.effect("notify")
	e.Message = message()
	without := idem.Define(w.open(), spec(one(never(e))))
	_, err = without.Do(t.Context(), order{ID: "2", Amount: 5})
	w.due(err)
	if !strings.Contains(err.Error(), "sent the same message, and its result cannot be read") {
		t.Errorf("without the key: %v", err)
	}
	second, err := c.Do(t.Context(), order{ID: "2", Amount: 5})
	if err != nil || second.Value != first.Value {
		t.Errorf("%+v, %v, want the first one's answer", second, err)
	}
	w.wantCalls(1)
}

func TestARefusalIsReadUnderEncryption(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(encryption(t, "k1")))
	e := w.failing("charge", idem.Permanent(errors.New("declined: card of ada@example.com")))
	in := order{ID: "1", Amount: 5}
	attempts := 0
	define := func(ledger *idem.Ledger[*sql.Tx]) idem.Contract[order, receipt] {
		return idem.Define(ledger, spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
			_, err := never(e).Do(ctx, run, in)
			if attempts++; attempts == 1 {
				return receipt{}, errNotNow
			}
			if errors.Is(err, idem.ErrEffectRefused) {
				err = nil
			}
			return receipt{}, err
		}))
	}
	contract := define(w.ledger)
	_, err := contract.Do(t.Context(), in)
	w.due(err)
	_, err = define(w.open()).Do(t.Context(), in)
	w.due(err)
	if _, err := contract.Do(t.Context(), in); err != nil {
		t.Error(err)
	}
	w.wantCalls(1)
}

func TestWithoutAPayloadNoInputIsStoredEither(t *testing.T) {
	w := newWorld(t)
	e := w.effect("charge")
	s := spec(one(idem.Once(e, idem.Ask)))
	s.NoPayload = true
	if _, err := idem.Define(w.ledger, s).Do(t.Context(), order{ID: "1", Amount: 5}); err != nil {
		t.Fatal(err)
	}
	if n := w.rows(`select count(*) from effect_log where state = 'done' and input is null and input_codec = '' and payload_hash is not null`); n != 1 {
		t.Error("the effect's input is in the ledger")
	}
}

func TestOpenBodyReadsWhatRowsHold(t *testing.T) {
	w := newWorld(t, idem.WithCodecs(idem.Gzip(), encryption(t, "k1")))
	contract := w.charges(w.ledger, never)
	in := order{ID: long, Amount: 5}
	result, err := contract.Do(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	work, err := w.store.Lookup(t.Context(), result.ID)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := w.ledger.OpenBody(work.Payload, idem.Slot{Work: work.ID, Part: idem.PartPayload})
	if want := `{"id":"` + long + `","amount":5}`; err != nil || string(payload) != want {
		t.Errorf("the payload is %s, %v, want %s", payload, err, want)
	}
	twice := gzipped(t, gzipped(t, []byte(`"`+strings.Repeat("0", 1<<20)+`"`)))
	for what, test := range map[string]struct {
		body idem.Body
		at   idem.Slot
		want error
	}{
		"another part":         {work.Payload, idem.Slot{Work: work.ID, Part: idem.PartResult}, idem.ErrTampered},
		"another work's":       {work.Payload, idem.Slot{Work: idem.HashWorkID(nil), Part: idem.PartPayload}, idem.ErrTampered},
		"an effect's":          {work.Payload, idem.Slot{Work: work.ID, Effect: idem.EffectID{Name: "charge"}, Part: idem.PartPayload}, idem.ErrTampered},
		"a key nobody has":     {idem.Body{Codec: "json+aesgcm:k0", Data: work.Payload.Data}, idem.Slot{}, idem.ErrKey},
		"a codec nobody has":   {idem.Body{Codec: "json+zstd", Data: nil}, idem.Slot{}, idem.ErrUnreadable},
		"one step twice":       {idem.Body{Codec: "json+gzip+gzip", Data: twice}, idem.Slot{}, idem.ErrTampered},
		"what was not kept":    {idem.Body{Codec: idem.CodecDropped}, idem.Slot{}, idem.ErrResultDropped},
		"what was not written": {idem.Body{}, idem.Slot{}, nil},
	} {
		if _, err := w.ledger.OpenBody(test.body, test.at); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", what, err, test.want)
		}
	}
}

func gzipped(t *testing.T, value []byte) []byte {
	t.Helper()
	stored, _, err := idem.Gzip().Encode(value, idem.Slot{})
	if err != nil || stored == nil {
		t.Fatalf("%d bytes did not become smaller: %v", len(value), err)
	}
	return stored
}

// named is a codec that only has a name.
type named struct{ name, variant string }

func (n named) Name() string { return n.name }
func (n named) Encode(value []byte, _ idem.Slot) ([]byte, string, error) {
	return value, n.variant, nil
}
func (n named) Decode(stored []byte, _ string, _ idem.Slot) ([]byte, error) { return stored, nil }

func TestCodecsThatNoRowCouldNameAreRefused(t *testing.T) {
	for name, codecs := range map[string][]idem.Codec{
		"without a name":      {named{}},
		"an odd name":         {named{name: "Zstd"}},
		"a step in its name":  {named{name: "a+b"}},
		"the ledger's name":   {named{name: idem.CodecDropped}},
		"two of the same":     {idem.Gzip(), idem.Gzip()},
		"two with other keys": {encryption(t, "k1"), encryption(t, "k2")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, idem.WithCodecs(codecs...))
			_, err := w.charges(w.ledger, never).Do(t.Context(), order{ID: "1", Amount: 5})
			wantIs(t, err, idem.ErrContract)
		})
	}
	w := newWorld(t, idem.WithCodecs(named{"box", "a+b"}))
	_, err := w.charges(w.ledger, never).Do(t.Context(), order{ID: "1", Amount: 5})
	if wantIs(t, err, idem.ErrLedger); idem.ShouldAck(err) || w.rows(`select count(*) from work_log`) != 0 {
		t.Errorf("a variant that no row can name: %v", err)
	}
}

func TestKeysThatNoRowCouldNameAreRefused(t *testing.T) {
	key := func(id string) idem.EncryptionKey { return idem.EncryptionKey{ID: id, Key: keyOf(t, id)} }
	for name, keys := range map[string][]idem.EncryptionKey{
		"without an ID":    {key("")},
		"an odd ID":        {key("a:b")},
		"too long":         {key(strings.Repeat("a", 65))},
		"twice":            {key("a"), key("b"), key("a")},
		"without a secret": {{ID: "a"}},
		"former without":   {key("a"), {ID: "b"}},
	} {
		if _, err := idem.NewEncryption(keys[0], keys[1:]...); !errors.Is(err, idem.ErrKey) {
			t.Errorf("%s: got %v, want ErrKey", name, err)
		}
	}
}

// Equal values are stored differently, whether they are of one work or of two.
func TestEqualValuesDoNotLookEqual(t *testing.T) {
	c := encryption(t, "k1")
	seen := map[string]bool{}
	for _, at := range []idem.Slot{{}, {}, {Work: idem.HashWorkID(nil)}} {
		stored, _, err := c.Encode([]byte("the same"), at)
		if err != nil || seen[hex.EncodeToString(stored)] {
			t.Errorf("%x, %v", stored, err)
		}
		seen[hex.EncodeToString(stored)] = true
	}
}
