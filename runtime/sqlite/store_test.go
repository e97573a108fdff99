package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
	"github.com/idemgen/idem/runtime/storetest"
)

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T, clock func() time.Time) idem.Store[*sql.Tx] {
		// The suite is about meaning, so it need not wait for the disk.
		return openStore(t, newLedger(t), sqlite.WithClock(clock), sqlite.WithSynchronous(sqlite.Normal))
	})
}

// newLedger makes a file with the ledger's tables and returns its path.
func newLedger(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger with 100% ?odd# name.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func openStore(t testing.TB, path string, opts ...sqlite.Option) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
