package house

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

var server = pgtest.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// TestUnknownWorkIsDecidedInPostgres has a message go with its effect.
func TestUnknownWorkIsDecidedInPostgres(t *testing.T) {
	for name, test := range map[string]struct {
		outcome idem.Outcome
		want    string
		calls   int
	}{
		"it happened":       {idem.Outcome{Effect: "charge", Verdict: idem.VerdictApplied, Result: []byte(`{"Ref": "theirs"}`)}, "theirs", 1},
		"it did not happen": {idem.Outcome{Effect: "charge", Verdict: idem.VerdictNotApplied}, "second", 2},
	} {
		t.Run(name, func(t *testing.T) {
			pool, err := pgxpool.New(t.Context(), server.Database(t))
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			if err := postgres.Migrate(t.Context(), pool); err != nil {
				t.Fatal(err)
			}
			store, err := postgres.Open(t.Context(), pool)
			if err != nil {
				t.Fatal(err)
			}
			ledger := idem.NewLedger(store)
			calls := 0
			contract := chargeOnce(ledger, &calls)
			id := mustBeUnknown(t, contract)
			seen, err := ledger.Inspect(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			decision := idem.Decision{ID: id, Seen: seen.Revision(), Who: "ann", Why: "looked"}
			if _, err := ledger.Resolve(t.Context(), decision, test.outcome); err != nil {
				t.Fatal(err)
			}
			answersWith(t, contract, test.want)
			if calls != test.calls {
				t.Errorf("%d charges, want %d", calls, test.calls)
			}
			if err := ledger.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
