package house

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"regexp"
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
	statements := statementsOf(t, "## Deciding about unknown work, by hand", 5)
	due := statements[4]
	for name, test := range map[string]struct {
		decide, message string
		want            string
		calls           int
	}{
		"it happened":       {statements[0], statements[2], "theirs", 1},
		"it did not happen": {statements[1], statements[3], "second", 2},
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
			decide(t, path, test.decide, id)
			decide(t, path, test.message, id)
			decide(t, path, due, id)
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

// chargeOnce is a contract with one attempt, whose first charge is cut off.
func chargeOnce(ledger *idem.Ledger[*sql.Tx], calls *int) idem.Contract[payment, charged] {
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

// decide runs a statement of the docs and demands that it changes one row.
func decide(t *testing.T, path, statement string, id idem.WorkID) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	values := map[string]any{"work_id": id.String(), "effect": "charge", "result": `{"Ref":"theirs"}`, "ref": "theirs"}
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
