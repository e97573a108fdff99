package house

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// TestARenamedModuleKeepsItsKindsWithTheSQLOfTheDocs takes the statement of
// docs/errors.md to a ledger whose programs have moved to another module.
func TestARenamedModuleKeepsItsKindsWithTheSQLOfTheDocs(t *testing.T) {
	rename := statementsOf(t, "## Whose a kind is", 1)[0]
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	program := func(module string) idem.Contract[payment, charged] {
		return idem.Define(idem.NewLedger(store), paymentOf(module, func(context.Context, *idem.Run, payment) (charged, error) {
			return charged{"first"}, nil
		}))
	}
	if _, err := program("example.com/old").Do(t.Context(), payment{"1"}); err != nil {
		t.Fatal(err)
	}
	moved := program("example.com/new")
	if _, err := moved.Do(t.Context(), payment{"1"}); !errors.Is(err, idem.ErrKindTaken) {
		t.Fatalf("error is %v, want %v", err, idem.ErrKindTaken)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(rename, sql.Named("module", "example.com/new"), sql.Named("was", "example.com/old"), sql.Named("kind", "payment")); err != nil {
		t.Fatal(err)
	}
	if got, err := moved.Do(t.Context(), payment{"1"}); err != nil || !got.Replayed {
		t.Errorf("after the statement: %+v, %v; want what was done under the old name", got, err)
	}
}
