package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
	"github.com/idemgen/idem/runtime/storetest"
)

// newDB is the application's handle.
func newDB(t testing.TB) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	t.Cleanup(func() {
		// Whatever was done with it, everything that was taken from it is back.
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections were not given back", n)
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func openDB(t testing.TB, db *sql.DB, opts ...postgres.Option) *postgres.DBStore {
	t.Helper()
	if err := postgres.MigrateDB(t.Context(), db, opts...); err != nil {
		t.Fatal(err)
	}
	addChecks(t, newPool(t), opts...)
	s, err := postgres.OpenDB(t.Context(), db, opts...)
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

// On partitioned tables, for the sake of both.
func TestStoreConformsOverDatabaseSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole suite")
	}
	pool := newPool(t)
	db := newDB(t)
	storetest.Run(t, func(t *testing.T, clock func() time.Time) idem.Store[*sql.Tx] {
		c := newClocked[*sql.Tx](t, pool, clock)
		c.Store = openDB(t, db, append(c.opts, postgres.WithPartitions(3))...)
		return c
	})
}

// dbApp is an application on database/sql, with a table of its own.
type dbApp struct {
	db    *sql.DB
	store *postgres.DBStore
	table string
}

func newDBApp(t *testing.T) dbApp {
	t.Helper()
	pool := newPool(t)
	schema := newSchema(t, pool)
	db := newDB(t)
	a := dbApp{db, openDB(t, db, postgres.WithSchema(schema)), pgx.Identifier{schema}.Sanitize() + ".orders"}
	a.exec(t, db, `CREATE TABLE $ (note text UNIQUE)`)
	return a
}

type execer interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// exec puts the table where $ stands.
func (a dbApp) exec(t *testing.T, on execer, text string) {
	t.Helper()
	if _, err := on.ExecContext(t.Context(), strings.ReplaceAll(text, "$", a.table)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func (a dbApp) rows(t *testing.T) (n int) {
	t.Helper()
	if err := a.db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+a.table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWritesThroughDatabaseSQLCommitWithTheEffectOrNotAtAll(t *testing.T) {
	a := newDBApp(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, test := range []struct {
		name string
		ctx  context.Context
		end  func(tx *sql.Tx) error
		want error
		rows int
	}{
		{"a success", t.Context(), func(*sql.Tx) error { return nil }, nil, 1},
		{"an error", t.Context(), func(*sql.Tx) error { return errors.ErrUnsupported }, errors.ErrUnsupported, 0},
		{"a context that ends", ctx, func(*sql.Tx) error { cancel(); return nil }, context.Canceled, 0},
		{"a statement that failed", t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`SELECT 1/0`)
			if err == nil {
				t.Error("the statement did not fail")
			}
			return nil // an application that does not look at the error
		}, idem.ErrLedger, 0},
		{"an application that rolls back", t.Context(), func(tx *sql.Tx) error { return tx.Rollback() }, idem.ErrLedger, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := a.rows(t)
			c := claimOf(fmt.Sprint(i), 1)
			err := a.store.InTx(test.ctx, func(ctx context.Context, s idem.Session[*sql.Tx]) error {
				if _, err := s.Claim(ctx, c); err != nil {
					t.Fatal(err)
				}
				a.exec(t, s.Tx(), fmt.Sprintf(`INSERT INTO $ VALUES ('%d')`, i))
				if _, err := s.WriteEffect(ctx, effectOf(c.Fence, idem.EffectDone)); err != nil {
					t.Fatal(err)
				}
				return test.end(s.Tx())
			})
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			work, err := a.store.Lookup(t.Context(), c.ID)
			if err != nil || (work.State == idem.StateRunning) != (test.rows == 1) {
				t.Errorf("the work is %q, %v", work.State, err)
			}
			if rows := a.rows(t) - before; rows != test.rows {
				t.Errorf("%d rows were written, want %d", rows, test.rows)
			}
		})
	}
}

func TestSavepointsUndoWritesThroughDatabaseSQL(t *testing.T) {
	a := newDBApp(t)
	err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
		a.exec(t, s.Tx(), `INSERT INTO $ VALUES ('kept')`)
		err := s.Savepoint(ctx, func(context.Context) error {
			a.exec(t, s.Tx(), `INSERT INTO $ VALUES ('undone')`)
			return errors.ErrUnsupported
		})
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("savepoint: %v", err)
		}
		return nil
	})
	if err != nil || a.rows(t) != 1 {
		t.Errorf("%d rows, %v, want the one from outside the savepoint", a.rows(t), err)
	}
}

func TestAPanicGivesTheConnectionBack(t *testing.T) {
	a := newDBApp(t)
	func() {
		defer func() {
			if p := recover(); p != "oh" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = a.store.InTx(t.Context(), func(context.Context, idem.Session[*sql.Tx]) error { panic("oh") })
	}()
	if n := a.db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are in use", n)
	}
}

func TestAHandleOfAnotherDriverIsRefused(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = postgres.OpenDB(t.Context(), db)
	if err == nil || !strings.Contains(err.Error(), "the handle's driver is *sqlite.Driver, and has to be that of github.com/jackc/pgx/v5/stdlib") {
		t.Errorf("got %v", err)
	}
}
