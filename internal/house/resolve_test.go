package house

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

type payment struct{ ID string }

type charged struct{ Ref string }

func canonicalPayment(dst []byte, in payment) ([]byte, error) {
	return append(append(append(dst, '"'), in.ID...), '"'), nil
}

var errCutOff = errors.New("cut off")

// statementsOf are the SQL statements of a section of docs/errors.md.
func statementsOf(t *testing.T, heading string, want int) []string {
	t.Helper()
	var statements []string
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section(t, read(t, "docs/errors.md"), heading), -1) {
		statements = append(statements, block[1])
	}
	if len(statements) != want {
		t.Fatalf("%d statements in %q of docs/errors.md, want %d", len(statements), heading, want)
	}
	return statements
}

// TestUnknownWorkIsDecidedWithTheSQLOfTheDocs takes the statements of
// docs/errors.md to work whose charge nobody knows about.
func TestUnknownWorkIsDecidedWithTheSQLOfTheDocs(t *testing.T) {
	statements := statementsOf(t, "## Deciding about unknown work, by hand", 6)
	which, due := statements[0], statements[5]
	for name, test := range map[string]struct {
		decide, message string
		want            string
		calls           int
	}{
		"it happened":       {statements[1], statements[3], "theirs", 1},
		"it did not happen": {statements[2], statements[4], "second", 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			if err := sqlite.Migrate(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			store, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			ledger := idem.NewLedger(store)
			defer func() {
				if err := ledger.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			calls := 0
			contract := chargeOnce(ledger, &calls)
			if _, err := contract.Do(t.Context(), payment{"1"}); !errors.Is(err, idem.ErrOutcomeUnknown) {
				t.Fatalf("got %v", err)
			}
			id, err := contract.ID(payment{"1"})
			if err != nil {
				t.Fatal(err)
			}
			keys := undecided(t, path, which, id)
			if len(keys) != 1 {
				t.Fatalf("the keys %q are to be decided, want one", keys)
			}
			decide(t, path, test.decide, id, keys[0])
			decide(t, path, test.message, id, keys[0])
			decide(t, path, due, id, keys[0])
			// Other work with the same message, and the work itself.
			for _, in := range []payment{{"2"}, {"1"}} {
				result, err := contract.Do(t.Context(), in)
				if err != nil || result.Value.Ref != test.want || calls != test.calls {
					t.Errorf("%v: got %+v, %v after %d calls", in, result, err, calls)
				}
			}
		})
	}
}

// TestWhatIsDecidedOfOneEffectLeavesItsSiblings has two charges of one effect cut
// off at once: what the books say of the one is not true of the other.
func TestWhatIsDecidedOfOneEffectLeavesItsSiblings(t *testing.T) {
	statements := statementsOf(t, "## Deciding about unknown work, by hand", 6)
	for name, statement := range map[string]string{"it happened": statements[1], "it did not happen": statements[2]} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			if err := sqlite.Migrate(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			store, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			ledger := idem.NewLedger(store)
			defer func() {
				if err := ledger.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			contract := chargeHalves(ledger)
			if _, err := contract.Do(t.Context(), payment{"1"}); !errors.Is(err, idem.ErrOutcomeUnknown) {
				t.Fatalf("got %v", err)
			}
			id, err := contract.ID(payment{"1"})
			if err != nil {
				t.Fatal(err)
			}
			keys := undecided(t, path, statements[0], id)
			if len(keys) != 2 {
				t.Fatalf("the keys %q are to be decided, want one for each half", keys)
			}
			decide(t, path, statement, id, keys[0])
			if left := undecided(t, path, statements[0], id); !slices.Equal(left, keys[1:]) {
				t.Errorf("the keys %q are left to be decided, want %q", left, keys[1:])
			}
		})
	}
}

// chargeHalves is a contract that charges both halves of a payment at once, and
// both calls are cut off.
func chargeHalves(ledger *idem.Ledger[*sql.Tx]) idem.Contract[payment, charged] {
	var both sync.WaitGroup
	both.Add(2)
	charge := idem.Once(idem.Effect[payment, charged]{
		Name:    "charge",
		Payload: idem.Payload[payment]{Shape: "1", Append: canonicalPayment},
		Per:     canonicalPayment,
		Call: func(context.Context, idem.Call, payment) (charged, error) {
			both.Done()
			both.Wait() // so that neither is over before the other has begun
			return charged{}, errCutOff
		},
	}, idem.Ask)
	return idem.Define(ledger, paymentOf("example.com/shop", func(ctx context.Context, run *idem.Run, in payment) (charged, error) {
		other := make(chan error, 1)
		go func() {
			_, err := charge.Do(ctx, run, payment{in.ID + "b"})
			other <- err
		}()
		_, err := charge.Do(ctx, run, payment{in.ID + "a"})
		return charged{}, errors.Join(err, <-other)
	}))
}

// chargeOnce is a contract with one attempt, whose first charge is cut off.
func chargeOnce[Tx any](ledger *idem.Ledger[Tx], calls *int) idem.Contract[payment, charged] {
	charge := idem.Once(idem.Effect[payment, charged]{
		Name:    "charge",
		Payload: idem.Payload[payment]{Shape: "1", Append: canonicalPayment},
		Message: &idem.Message[payment]{
			Channel: "mail", TTL: time.Hour,
			To:   func(dst []byte, _ payment) ([]byte, error) { return append(dst, "a@example.com"...), nil },
			Body: func(dst []byte, _ payment) ([]byte, error) { return append(dst, `"charged"`...), nil },
		},
		Call: func(context.Context, idem.Call, payment) (charged, error) {
			if *calls++; *calls == 1 {
				return charged{}, errCutOff
			}
			return charged{"second"}, nil
		},
	}, idem.Ask)
	return idem.Define(ledger, paymentOf("example.com/shop", charge.Do))
}

// paymentOf is a contract of a module.
func paymentOf(module string, do func(ctx context.Context, run *idem.Run, in payment) (charged, error)) idem.Spec[payment, charged] {
	return idem.Spec[payment, charged]{
		Kind: "payment", Version: 1, Module: module, Digest: "d1",
		ID: func(in payment) (idem.WorkID, error) {
			return idem.HashWorkID([]byte("payment:v1:" + in.ID)), nil
		},
		Payload:  idem.Payload[payment]{Shape: "1", Append: canonicalPayment},
		Window:   idem.Forever(),
		Response: idem.Response{WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningError, OtherPayload: idem.OtherPayloadError},
		Retry:    idem.Retry{MaxAttempts: 1, Initial: time.Second, Max: time.Second, Multiplier: 1},
		Lease:    time.Minute,
		Timeout:  time.Minute,
		Handle:   do,
	}
}

// undecided are the keys of the effects that the first statement of the docs finds.
func undecided(t *testing.T, path, statement string, id idem.WorkID) []string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(statement, sql.Named("work_id", id.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var effect, key, input, lastError string
		if err := rows.Scan(&effect, &key, &input, &lastError); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// decide runs a statement of the docs and demands that it changes one row.
func decide(t *testing.T, path, statement string, id idem.WorkID, key string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	values := map[string]any{"work_id": id.String(), "effect_key": key, "result": `{"Ref":"theirs"}`, "ref": "theirs"}
	var args []any
	for _, m := range regexp.MustCompile(`:([a-z_]+)`).FindAllStringSubmatch(statement, -1) {
		args = append(args, sql.Named(m[1], values[m[1]]))
	}
	result, err := db.Exec(statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d rows changed, %v", n, err)
	}
}
