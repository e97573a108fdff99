package house

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
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

// decide is what docs/errors.md shows, to the letter.
func decide(ctx context.Context, ledger *idem.Ledger[*sql.Tx], id idem.WorkID) error {
	seen, err := ledger.Inspect(ctx, id)
	if err != nil {
		return err
	}
	for _, e := range seen.Undecided() { // what to look for
		fmt.Printf("%s %s: %s, key %s, asked for with %s\n", e.Name, e.Per, e.LastError, e.Key, e.Input.Data)
	}
	decision := idem.Decision{ID: id, Seen: seen.Revision(), Who: "ann@example.com", Why: "theirs is in the books"}
	resolved, err := ledger.Resolve(ctx, decision, idem.Outcome{
		Effect: "charge", Verdict: idem.VerdictApplied,
		Result: []byte(`{"Ref": "theirs"}`), ExternalRef: "theirs",
	})
	for _, warning := range resolved.Warnings {
		fmt.Println("careful:", warning)
	}
	return err
}

// TestUnknownWorkIsDecidedAsTheDocsDo takes the code of docs/errors.md to work whose
// charge nobody knows about.
func TestUnknownWorkIsDecidedAsTheDocsDo(t *testing.T) {
	shown := blocks(section(t, read(t, "docs/errors.md"), "## Deciding about unknown work"), "go")
	if len(shown) != 1 || !strings.Contains(read(t, "internal/house/resolve_test.go"), "\n"+shown[0]) {
		t.Errorf("the test runs other code than the docs show:\n%s", shown)
	}
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
	if err := decide(t.Context(), ledger, mustBeUnknown(t, contract)); err != nil {
		t.Fatal(err)
	}
	answersWith(t, contract, "theirs")
	if calls != 1 {
		t.Errorf("%d charges, want 1", calls)
	}
}

// mustBeUnknown is work whose charge was cut off.
func mustBeUnknown(t *testing.T, contract idem.Contract[payment, charged]) idem.WorkID {
	t.Helper()
	_, err := contract.Do(t.Context(), payment{"1"})
	e, ok := errors.AsType[*idem.Error](err)
	if !ok || e.Reason != idem.ErrOutcomeUnknown {
		t.Fatalf("got %v", err)
	}
	return e.ID
}

// answersWith is asked by other work with the same message, and by the work itself.
func answersWith(t *testing.T, contract idem.Contract[payment, charged], want string) {
	t.Helper()
	for _, in := range []payment{{"2"}, {"1"}} {
		if result, err := contract.Do(t.Context(), in); err != nil || result.Value.Ref != want {
			t.Errorf("%v: got %+v, %v, want %s", in, result, err, want)
		}
	}
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
