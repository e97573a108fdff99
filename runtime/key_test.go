package idem_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
)

func secret(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + 1)
	}
	return b
}

func mustKey(t testing.TB, secret []byte) idem.Key {
	t.Helper()
	key, err := idem.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyedWorkIDsAreHMACs(t *testing.T) {
	for _, size := range []int{32, 33, 63, 64, 65, 131, 1000} {
		for _, length := range []int{0, 1, 55, 56, 63, 64, 119, 255, 256, 257, 5000} {
			message := bytes.Repeat([]byte("é1"), length)[:length]
			mac := hmac.New(sha256.New, secret(size))
			_, _ = mac.Write(message) // never fails
			want := hex.EncodeToString(mac.Sum(nil))
			if got := idem.HashKeyedWorkID(mustKey(t, secret(size)), message).String(); got != want {
				t.Errorf("key of %d bytes, text of %d: %s, want %s", size, length, got, want)
			}
		}
	}
}

// The text was made by OpenSSL: printf 'invoice:v1:450789469' | openssl dgst
// -sha256 -mac HMAC -macopt hexkey:….
func TestKeyedWorkIDIsWhatOtherProgramsDerive(t *testing.T) {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	const want = "e34c97d1b8d596230d2e8e6adede5b61249207068c4ec9ff5f30a67f8780f3f1"
	if got := idem.HashKeyedWorkID(mustKey(t, key), []byte("invoice:v1:450789469")).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestKeysThatAreNoSecretAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		secret []byte
		want   string
	}{
		"nothing":           {nil, "want 32 random bytes or more, got 0"},
		"too short":         {secret(31), "want 32 random bytes or more, got 31"},
		"never filled in":   {make([]byte, 32), "all 32 bytes are the same, was it never filled in?"},
		"one byte repeated": {bytes.Repeat([]byte("x"), 64), "all 64 bytes are the same"},
	} {
		key, err := idem.NewKey(test.secret)
		if !errors.Is(err, idem.ErrKey) || !strings.Contains(err.Error(), test.want) || !key.IsZero() {
			t.Errorf("%s: %v, %v", name, key, err)
		}
	}
}

func TestKeyIsCopied(t *testing.T) {
	bytes := secret(32)
	key := mustKey(t, bytes)
	before := idem.HashKeyedWorkID(key, []byte("text"))
	clear(bytes)
	if idem.HashKeyedWorkID(key, []byte("text")) != before {
		t.Error("the key changed with the caller's bytes")
	}
}

func TestKeyShowsNothingOfItself(t *testing.T) {
	raw := []byte("a secret that nobody must print!")
	key := mustKey(t, raw)
	holder := struct {
		Name   string
		Key    idem.Key
		Ptr    *idem.Key
		hidden idem.Key
	}{"n", key, &key, key}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%U", "%b", "%t", "%p", "%e", "%w"} {
		for _, v := range []any{key, &key, holder, &holder, []idem.Key{key}, map[string]idem.Key{"k": key}} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	fmt.Fprintln(&out, key.String(), holder.hidden)
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("started", "key", key, "holder", holder, "pointer", &key)
	}
	text, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	if !strings.Contains(out.String(), "idem.Key(hidden)") {
		t.Errorf("does not tell that there is a key:\n%s", out.String())
	}
	inner := make([]byte, len(raw))
	for i := range raw {
		inner[i] = raw[i] ^ 0x36
	}
	for _, part := range []string{
		string(raw), "secret", hex.EncodeToString(raw), hex.EncodeToString(inner), string(inner),
		strings.Trim(fmt.Sprint(raw), "[]"), strings.Trim(fmt.Sprint(inner[:8]), "[]"),
	} {
		if strings.Contains(strings.ToLower(out.String()), strings.ToLower(part)) {
			t.Errorf("shows %q:\n%s", part, out.String())
		}
	}
	if got := (idem.Key{}).String(); got != "idem.Key(none)" {
		t.Errorf("no key is %s", got)
	}
}

func keyedOrderID(key idem.Key, o order) (idem.WorkID, error) {
	var buf [256]byte
	b, err := canon.AppendText(append(buf[:0], "order:v1:"...), o.ID)
	if err != nil {
		return idem.WorkID{}, idem.IdentityError("order", "ID", err)
	}
	return idem.HashKeyedWorkID(key, b), nil
}

// keyedSpec is a keyed contract over the ledger.
func (w *world) keyedSpec(ledger *idem.Ledger[*sql.Tx]) idem.Spec[order, receipt] {
	s := spec(one(idem.Once(w.effect("mail"), idem.Ask)))
	s.ID, s.Keyed = idem.KeyedID(ledger, keyedOrderID), true
	return s
}

func TestKeyedDerivationAllocatesNothing(t *testing.T) {
	key, in := mustKey(t, secret(32)), order{ID: "450789469"}
	var id idem.WorkID
	allocs := testing.AllocsPerRun(100, func() {
		var err error
		if id, err = keyedOrderID(key, in); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 || id.IsZero() {
		t.Errorf("%v allocations for %s", allocs, id)
	}
}

func TestKeyedContractOnALedgerWithoutAKeySaysSoInEveryCall(t *testing.T) {
	w := newWorld(t)
	keyed := idem.Define(w.ledger, w.keyedSpec(w.ledger))
	const want = "order: the key of keyed identities does not fit: the identity is keyed, and the ledger was made without a key; make one with idem.NewKey and pass idem.WithKey to idem.NewLedger"
	for range 2 {
		_, err := keyed.Do(t.Context(), order{ID: "a"})
		_, errID := keyed.ID(order{ID: "a"})
		for _, err := range []error{err, errID} {
			wantIs(t, err, idem.ErrKey)
			if err.Error() != want || idem.ShouldAck(err) {
				t.Errorf("%v (acknowledged: %v)", err, idem.ShouldAck(err))
			}
		}
	}
	if _, err := idem.KeyedID(w.ledger, keyedOrderID)(order{ID: "a"}); !errors.Is(err, idem.ErrKey) {
		t.Errorf("the derivation itself says %v", err)
	}
	w.wantCalls(0)
}

func TestAnotherKeyIsRefusedBeforeItMakesEverythingNew(t *testing.T) {
	first, second := mustKey(t, secret(32)), mustKey(t, secret(33))
	w := newWorld(t, idem.WithKey(first))
	keyed := idem.Define(w.ledger, w.keyedSpec(w.ledger))
	done, err := keyed.Do(t.Context(), order{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}

	other := w.open(idem.WithKey(second))
	stranger := idem.Define(other, w.keyedSpec(other))
	for range 2 {
		_, err := stranger.Do(t.Context(), order{ID: "a"})
		if e := wantIs(t, err, idem.ErrKey); idem.ShouldAck(e) || !strings.Contains(e.Error(), "under another key") {
			t.Errorf("%v (acknowledged: %v)", e, idem.ShouldAck(e))
		}
	}
	if _, err := stranger.ID(order{ID: "a"}); !errors.Is(err, idem.ErrKey) {
		t.Errorf("the ID under the wrong key is told: %v", err)
	}
	w.wantCalls(1)

	// What is not keyed goes on, and so does the first key.
	s := spec(one(idem.Once(w.effect("mail"), idem.Ask)))
	if _, err := idem.Define(other, s).Do(t.Context(), order{ID: "a"}); err != nil {
		t.Error(err)
	}
	third := w.open(idem.WithKey(first))
	again, err := idem.Define(third, w.keyedSpec(third)).Do(t.Context(), order{ID: "a"})
	if err != nil || !again.Replayed || again.ID != done.ID {
		t.Errorf("%+v, %v", again, err)
	}
	w.wantCalls(2)
}

func TestOfTwoKeysAtTheFirstStartOneWins(t *testing.T) {
	w := newWorld(t)
	const each = 8
	var mu sync.Mutex
	won := map[byte]int{}
	var wg sync.WaitGroup
	for i := range 2 * each {
		key := mustKey(t, append([]byte{byte(i % 2)}, secret(32)...))
		ledger := w.open(idem.WithKey(key))
		contract := idem.Define(ledger, w.keyedSpec(ledger))
		wg.Go(func() {
			_, err := contract.Do(context.Background(), order{ID: "a"})
			switch {
			case err == nil:
				mu.Lock()
				won[byte(i%2)]++
				mu.Unlock()
			case !errors.Is(err, idem.ErrKey):
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || won[0]+won[1] != each {
		t.Errorf("processes that went on, by key: %v", won)
	}
	w.wantCalls(1)
}

func TestRegisterTellsAtTheStartThatAKeyDoesNotFit(t *testing.T) {
	w := newWorld(t)
	if err := w.ledger.Register(t.Context()); err != nil {
		t.Errorf("a ledger on which nothing is keyed: %v", err)
	}
	idem.Define(w.ledger, w.keyedSpec(w.ledger))
	wantIs(t, w.ledger.Register(t.Context()), idem.ErrKey)
	right, wrong := w.open(idem.WithKey(mustKey(t, secret(32)))), w.open(idem.WithKey(mustKey(t, secret(33))))
	for _, ledger := range []*idem.Ledger[*sql.Tx]{right, wrong} {
		idem.Define(ledger, w.keyedSpec(ledger))
	}
	if err := right.Register(t.Context()); err != nil {
		t.Error(err)
	}
	wantIs(t, wrong.Register(t.Context()), idem.ErrKey)
}

// keyless cannot be asked for a key at first.
type keyless struct {
	idem.Store[*sql.Tx]
	down bool
}

var errDown = errors.New("down")

func (k *keyless) KeyCheck(ctx context.Context, mine idem.Hash) (idem.Hash, error) {
	if k.down {
		return idem.Hash{}, errDown
	}
	return k.Store.KeyCheck(ctx, mine)
}

func TestNothingIsClaimedBeforeTheKeyIsKnownToBeRight(t *testing.T) {
	w := newWorld(t)
	store := &keyless{Store: w.store, down: true}
	ledger := idem.NewLedger[*sql.Tx](store, idem.WithKey(mustKey(t, secret(32))))
	keyed := idem.Define(ledger, w.keyedSpec(ledger))
	_, err := keyed.Do(t.Context(), order{ID: "a"})
	if wantIs(t, err, idem.ErrLedger); !errors.Is(err, errDown) {
		t.Errorf("does not say why: %v", err)
	}
	w.wantCalls(0)
	store.down = false
	if _, err := keyed.Do(t.Context(), order{ID: "a"}); err != nil {
		t.Error(err)
	}
	w.wantCalls(1)
}

func TestLedgerKeepsNoByteOfTheKey(t *testing.T) {
	raw := []byte("a secret that nobody must store!")
	w := newWorld(t, idem.WithKey(mustKey(t, raw)))
	if _, err := idem.Define(w.ledger, w.keyedSpec(w.ledger)).Do(t.Context(), order{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(w.path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	check := false
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, raw[:16]) || bytes.Contains(content, raw[16:]) {
			t.Errorf("%s holds the key", file)
		}
		mac := hmac.New(sha256.New, raw)
		_, _ = mac.Write([]byte("idem key check")) // never fails
		check = check || bytes.Contains(content, mac.Sum(nil))
	}
	if !check {
		t.Error("no file holds the check value: the test looks in the wrong place")
	}
}

func TestOperatorForgetsTheKeyByClearingItsCheck(t *testing.T) {
	w := newWorld(t, idem.WithKey(mustKey(t, secret(32))))
	if _, err := idem.Define(w.ledger, w.keyedSpec(w.ledger)).Do(t.Context(), order{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	next := w.open(idem.WithKey(mustKey(t, secret(33))))
	contract := idem.Define(next, w.keyedSpec(next))
	_, err := contract.Do(t.Context(), order{ID: "a"})
	wantIs(t, err, idem.ErrKey)

	db, err := sql.Open("sqlite", w.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(`UPDATE ledger_meta SET key_check = NULL`); err != nil {
		t.Fatal(err)
	}
	if _, err := contract.Do(t.Context(), order{ID: "a"}); err != nil {
		t.Error(err)
	}
	if _, err := contract.ID(order{ID: "a"}); err != nil {
		t.Error(err)
	}
	w.wantCalls(2) // under the new key it is new work, as the documentation says
}

// A program that was started with the wrong key, or with none, must not bury the
// parents of keyed work, nor leave rows by names that the right key does not know.
func TestParentOfKeyedWorkOutlivesAProgramWithoutTheRightKey(t *testing.T) {
	right := idem.WithKey(mustKey(t, secret(32)))
	for name, opts := range map[string][]idem.Option{"without a key": nil, "with another key": {idem.WithKey(mustKey(t, secret(33)))}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, right)
			parent := func(l *idem.Ledger[*sql.Tx]) idem.Contract[order, receipt] {
				s := w.keyedSpec(l)
				s.Kind = "child"
				return family(l, s)
			}
			if _, err := parent(w.ledger).Do(t.Context(), order{ID: "the first to use the key"}); err != nil {
				t.Fatal(err)
			}
			wrong := parent(w.open(opts...))
			for range 8 { // more often than it has attempts
				_, err := wrong.Do(t.Context(), order{ID: "a"})
				if !errors.Is(err, idem.ErrKey) {
					t.Fatalf("%v does not say that the key is wrong", err)
				}
				w.due(err)
			}
			w.wantCalls(1)
			w.wantRows(0, `select count(*) from effect_log where state <> 'done'`)
			result, err := parent(w.ledger).Do(t.Context(), order{ID: "a"})
			if err != nil || result.Replayed {
				t.Errorf("%+v, %v", result, err)
			}
			w.wantCalls(2)
		})
	}
}
