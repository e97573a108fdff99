package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
	modernc "modernc.org/sqlite"
)

// uri is how an application names a file whose name has odd signs in it.
func uri(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// openApp opens a file as an application would.
func openApp(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// scalar reads one value.
func scalar[V any](t testing.TB, db *sql.DB, query string, args ...any) V {
	t.Helper()
	var v V
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

type foreignConnector struct{}

func (foreignConnector) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("the foreign driver was asked for a connection")
}
func (foreignConnector) Driver() driver.Driver { return foreignDriver{} }

type foreignDriver struct{}

func (foreignDriver) Open(string) (driver.Conn, error) { return nil, errors.New("not reached") }

func TestHandleOfAnotherDriverIsRefused(t *testing.T) {
	db := sql.OpenDB(foreignConnector{})
	defer db.Close()
	for what, err := range map[string]error{
		"OpenDB":    func() error { _, err := sqlite.OpenDB(t.Context(), db); return err }(),
		"MigrateDB": sqlite.MigrateDB(t.Context(), db),
	} {
		if err == nil || !strings.Contains(err.Error(), "drops the locks") {
			t.Errorf("%s: got %v, want an explanation of why", what, err)
		}
	}
}

// A driver of the same type that somebody made themselves is the same library.
func TestHandleOfAnotherNameForTheSameDriverIsTaken(t *testing.T) {
	path := newLedger(t)
	connector, err := modernc.NewConnector(uri(path))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	s, err := sqlite.OpenDB(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestDatabaseWithoutAFileIsRefused(t *testing.T) {
	for _, dsn := range []string{":memory:", "file::memory:?cache=shared", "file:app?mode=memory&cache=shared", ""} {
		if _, err := sqlite.OpenDB(t.Context(), openApp(t, dsn)); err == nil || !strings.Contains(err.Error(), "needs a file") {
			t.Errorf("OpenDB of %q: got %v, want that it needs a file", dsn, err)
		}
	}
	for _, path := range []string{":memory:", "", "file::memory:"} {
		if _, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "needs a file") {
			t.Errorf("Open of %q: got %v, want that it needs a file", path, err)
		}
		if err := sqlite.Migrate(t.Context(), path); err == nil || !strings.Contains(err.Error(), "needs a file") {
			t.Errorf("Migrate of %q: got %v, want that it needs a file", path, err)
		}
	}
	if _, err := sqlite.Open(t.Context(), "file:app.db?_pragma=synchronous(OFF)"); err == nil || !strings.Contains(err.Error(), "URI") {
		t.Errorf("Open of a URI: got %v, want that it is one", err)
	}
}

func TestMissingFileIsNotCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "misspelt.db")
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, idem.ErrSchema) || !strings.Contains(err.Error(), "Migrate") {
		t.Errorf("got %v, want ErrSchema and what to do", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was created (%v)", err)
	}
}

func TestSchemaThatDoesNotFitSaysWhatToDo(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "app.db")
	mustExec(t, openApp(t, empty), `CREATE TABLE orders (id INTEGER PRIMARY KEY)`)
	newer, older := newLedger(t), newLedger(t)
	mustExec(t, openApp(t, uri(newer)), `UPDATE ledger_meta SET schema_version = 9, min_runtime = 8`)
	mustExec(t, openApp(t, uri(older)), `UPDATE ledger_meta SET schema_version = 0, min_runtime = 0`)
	for path, want := range map[string]string{empty: "call sqlite.Migrate", older: "sqlite.Migrate", newer: "update it"} {
		_, err := sqlite.Open(t.Context(), path)
		if !errors.Is(err, idem.ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: got %v, want ErrSchema and %q", err, want)
		}
	}
	if err := sqlite.Migrate(t.Context(), newer); !errors.Is(err, idem.ErrSchema) {
		t.Errorf("Migrate of newer tables: got %v, want ErrSchema", err)
	}
}

func TestNewerSchemaThatAllowsThisProgramIsOpened(t *testing.T) {
	path := newLedger(t)
	s := openStore(t, path)
	err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
		_, err := s.Tx().ExecContext(ctx, `UPDATE ledger_meta SET schema_version = 9`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
}

func TestWriterIsDurable(t *testing.T) {
	for want, opts := range map[int][]sqlite.Option{2: nil, 1: {sqlite.WithSynchronous(sqlite.Normal)}} {
		s := openStore(t, newLedger(t), opts...)
		err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			var journal string
			var synchronous int
			err := errors.Join(
				s.Tx().QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal),
				s.Tx().QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous))
			if journal != "wal" || synchronous != want {
				t.Errorf("journal_mode %s, synchronous %d, want wal and %d", journal, synchronous, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestForeignKeysAreEnforcedAsTheApplicationsHandleDoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	on, off := openApp(t, path+"?_pragma=foreign_keys(1)"), openApp(t, path)
	mustExec(t, off, `CREATE TABLE orders (id INTEGER PRIMARY KEY); CREATE TABLE lines (order_id INTEGER REFERENCES orders)`)
	for name, test := range map[string]struct {
		open func() (*sqlite.Store, error)
		want bool
	}{
		"handle with":         {func() (*sqlite.Store, error) { return sqlite.OpenDB(t.Context(), on) }, true},
		"handle without":      {func() (*sqlite.Store, error) { return sqlite.OpenDB(t.Context(), off) }, false},
		"option over handle":  {func() (*sqlite.Store, error) { return sqlite.OpenDB(t.Context(), off, sqlite.WithForeignKeys(true)) }, true},
		"path alone":          {func() (*sqlite.Store, error) { return sqlite.Open(t.Context(), path) }, true},
		"path with an option": {func() (*sqlite.Store, error) { return sqlite.Open(t.Context(), path, sqlite.WithForeignKeys(false)) }, false},
	} {
		s, err := test.open()
		if err != nil {
			t.Fatal(err)
		}
		err = s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			_, err := s.Tx().ExecContext(ctx, `INSERT INTO lines (order_id) VALUES (7)`)
			return err
		})
		if enforced := err != nil; enforced != test.want {
			t.Errorf("%s: foreign keys enforced: %t (%v), want %t", name, enforced, err, test.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFileReplacedUnderTheHandleIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "app.db"), filepath.Join(dir, "other.db")
	for _, p := range []string{path, other} {
		if err := sqlite.Migrate(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	db := openApp(t, path)
	db.SetMaxOpenConns(1) // which stays on the old file
	scalar[string](t, db, `SELECT ledger_id FROM ledger_meta`)
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.OpenDB(t.Context(), db); err == nil {
		s.Close()
		t.Error("the store was opened on another ledger than the application's")
	} else if !strings.Contains(err.Error(), "replaced") {
		t.Errorf("got %v, want that the file was replaced", err)
	}
}

func TestNothingIsAcknowledgedInAFileThatIsGone(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"deleted": os.Remove,
		"replaced by a backup": func(path string) error {
			backup := path + ".backup"
			return errors.Join(sqlite.Migrate(t.Context(), backup), os.Rename(backup, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newLedger(t)
			s := openStore(t, path)
			mustWin(t, s, claimOf("before", 1))
			if err := lose(path); err != nil {
				t.Skip("this system does not let go of an open file: ", err)
			}
			claimed, err := s.Claim(t.Context(), claimOf("after", 1))
			if claimed.Won || !errors.Is(err, idem.ErrLedger) {
				t.Errorf("won %t, %v", claimed.Won, err)
			}
		})
	}
}
