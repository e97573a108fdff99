package house

import (
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

var server = pgtest.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// psqlVariable is how psql is told to put a value in, as a literal.
var psqlVariable = regexp.MustCompile(`:'([a-z_]+)'`)

// TestUnknownWorkIsDecidedWithTheSQLOfThePostgresPage is that of docs/errors.md,
// with the statements of docs/postgres.md.
func TestUnknownWorkIsDecidedWithTheSQLOfThePostgresPage(t *testing.T) {
	statements := blocks(section(t, read(t, "docs/postgres.md"), "## Deciding about unknown work, by hand"), "sql")
	if len(statements) != 6 {
		t.Fatalf("%d statements, want 6", len(statements))
	}
	for name, test := range map[string]struct {
		decide, message string
		want            string
		calls           int
	}{
		"it happened":       {statements[1], statements[3], "theirs", 1},
		"it did not happen": {statements[2], statements[4], "second", 2},
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
			if _, err := contract.Do(t.Context(), payment{"1"}); !errors.Is(err, idem.ErrOutcomeUnknown) {
				t.Fatalf("got %v", err)
			}
			id, err := contract.ID(payment{"1"})
			if err != nil {
				t.Fatal(err)
			}
			values := pgx.NamedArgs{"work_id": id.String(), "result": `{"Ref":"theirs"}`, "ref": "theirs"}
			var effect, key, input, failure string
			which := psqlVariable.ReplaceAllString(statements[0], "@$1")
			if err := pool.QueryRow(t.Context(), which, values).Scan(&effect, &key, &input, &failure); err != nil || effect != "charge" {
				t.Fatalf("effect %s to be decided, %v", effect, err)
			}
			values["effect_key"] = key
			for _, statement := range []string{test.decide, test.message, statements[5]} {
				tag, err := pool.Exec(t.Context(), psqlVariable.ReplaceAllString(statement, "@$1"), values)
				if err != nil || tag.RowsAffected() != 1 {
					t.Fatalf("%s: %d rows changed, %v", statement, tag.RowsAffected(), err)
				}
			}
			for _, in := range []payment{{"2"}, {"1"}} {
				result, err := contract.Do(t.Context(), in)
				if err != nil || result.Value.Ref != test.want || calls != test.calls {
					t.Errorf("%v: got %+v, %v after %d calls", in, result, err, calls)
				}
			}
			if err := ledger.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
