package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
	modernc "modernc.org/sqlite"
)

// newApp is an application's database with a ledger in it.
func newApp(t testing.TB) (*sql.DB, *sqlite.Store) {
	t.Helper()
	db := openApp(t, filepath.Join(t.TempDir(), "app.db"))
	if err := sqlite.MigrateDB(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, `CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)`)
	s, err := sqlite.OpenDB(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db, s
}

func claimOf(name string, token byte) idem.Claim {
	return idem.Claim{
		Fence: idem.Fence{ID: idem.HashWorkID([]byte(name)), Token: idem.Token{token}},
		Kind:  "kind", Version: 1, Lease: time.Minute, Budget: 3, Window: idem.For(time.Hour),
		Payload: idem.Body{Codec: idem.CodecJSON, Data: []byte(`{"n":1}`)},
	}
}

func mustWin(t testing.TB, s *sqlite.Store, c idem.Claim) idem.Claimed {
	t.Helper()
	claimed, err := s.Claim(t.Context(), c)
	if err != nil || !claimed.Won {
		t.Fatalf("claim: won %t, %v", claimed.Won, err)
	}
	return claimed
}

func effectOf(f idem.Fence, state idem.EffectState) idem.EffectWrite {
	return idem.EffectWrite{Fence: f, EffectID: idem.EffectID{Name: "draft"}, Guard: idem.GuardTransaction, State: state, Key: "key", Live: true}
}

func doneOf(f idem.Fence) idem.End {
	return idem.End{Fence: f, State: idem.StateDone, Window: idem.For(time.Hour)}
}

func TestApplicationsWritesCommitWithTheEffectOrNotAtAll(t *testing.T) {
	db, s := newApp(t)
	c := claimOf("a", 1)
	mustWin(t, s, c)
	insert := func(fail error) error {
		return s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			if _, err := s.WriteEffect(ctx, effectOf(c.Fence, idem.EffectDone)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Tx().ExecContext(ctx, `INSERT INTO orders (note) VALUES ('draft')`); err != nil {
				t.Fatal(err)
			}
			return fail
		})
	}
	rows := func() string {
		return scalar[string](t, db, `SELECT (SELECT count(*) FROM orders) || ' ' || (SELECT count(*) FROM effect_log)`)
	}
	if err := insert(errors.New("no")); err == nil || rows() != "0 0" {
		t.Errorf("after an error: %v, %s rows, want 0 0", err, rows())
	}
	if err := insert(nil); err != nil || rows() != "1 1" {
		t.Errorf("after a success: %v, %s rows, want 1 1", err, rows())
	}
}

func TestApplicationCannotEndTheLedgersTransaction(t *testing.T) {
	db, s := newApp(t)
	for what, end := range map[string]func(tx *sql.Tx) error{
		"Commit":   (*sql.Tx).Commit,
		"Rollback": (*sql.Tx).Rollback,
		"COMMIT":   func(tx *sql.Tx) error { _, err := tx.Exec(`COMMIT`); return err },
		"ROLLBACK": func(tx *sql.Tx) error { _, err := tx.Exec(`ROLLBACK`); return err },
	} {
		err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			if _, err := s.Tx().ExecContext(ctx, `INSERT INTO orders (note) VALUES (?)`, what); err != nil {
				t.Fatal(err)
			}
			_ = end(s.Tx())
			// What comes after must not commit on its own either.
			_, _ = s.Tx().ExecContext(ctx, `INSERT INTO orders (note) VALUES (?)`, what+", after")
			return nil
		})
		if !errors.Is(err, idem.ErrLedger) {
			t.Errorf("%s: got %v, want ErrLedger", what, err)
		}
	}
	if notes := scalar[string](t, db, `SELECT coalesce(group_concat(note, '; '), '') FROM orders`); notes != "" {
		t.Errorf("committed past the ledger: %s", notes)
	}
	mustWin(t, s, claimOf("a", 1)) // the writer works as before
}

// SQLite ends a transaction by itself in these cases, and leaves the connection
// in autocommit mode.
func TestNothingCommitsAfterSQLiteHasEndedTheTransaction(t *testing.T) {
	db, s := newApp(t)
	mustExec(t, db, `INSERT INTO orders (id, note) VALUES (1, 'first')`)
	for what, spoil := range map[string]func(ctx context.Context, tx *sql.Tx) error{
		"ON CONFLICT ROLLBACK": func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT OR ROLLBACK INTO orders (id) VALUES (1)`)
			return err
		},
		"interrupted statement": func(ctx context.Context, tx *sql.Tx) error {
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			_, err := tx.ExecContext(short, `INSERT INTO orders (note) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`)
			return err
		},
	} {
		c := claimOf(what, 1)
		err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			if err := spoil(ctx, s.Tx()); err == nil {
				t.Errorf("%s: the statement did not fail", what)
			}
			// An application that does not look at the error goes on.
			if _, err := s.Tx().ExecContext(ctx, `INSERT INTO orders (note) VALUES ('stray')`); err == nil {
				t.Errorf("%s: a write after it was taken", what)
			}
			if _, err := s.Claim(ctx, c); !errors.Is(err, idem.ErrLedger) {
				t.Errorf("%s: a claim after it: got %v, want ErrLedger", what, err)
			}
			return nil
		})
		if !errors.Is(err, idem.ErrLedger) {
			t.Errorf("%s: got %v, want ErrLedger", what, err)
		}
		if work, err := s.Lookup(t.Context(), c.ID); err != nil || work.State != "" {
			t.Errorf("%s: the work is %q (%v)", what, work.State, err)
		}
		mustWin(t, s, c)
	}
	if n := scalar[int](t, db, `SELECT count(*) FROM orders`); n != 1 {
		t.Errorf("%d orders, want the first alone", n)
	}
}

func TestWhatASavepointCouldNotUndoIsNotCommitted(t *testing.T) {
	db, s := newApp(t)
	err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
		_ = s.Savepoint(ctx, func(ctx context.Context) error {
			// The application takes the savepoint for its own.
			if _, err := s.Tx().ExecContext(ctx, `INSERT INTO orders (note) VALUES ('stray'); RELEASE idem`); err != nil {
				t.Fatal(err)
			}
			return errors.New("to be undone")
		})
		return nil
	})
	if !errors.Is(err, idem.ErrLedger) {
		t.Errorf("got %v, want ErrLedger", err)
	}
	if n := scalar[int](t, db, `SELECT count(*) FROM orders`); n != 0 {
		t.Errorf("%d orders, want none", n)
	}
}

func TestStoreCalledInsideItsOwnTransactionDoesNotHang(t *testing.T) {
	_, s := newApp(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := s.InTx(ctx, func(ctx context.Context, session idem.Session[*sql.Tx]) error {
		_, claimErr := s.Claim(ctx, claimOf("a", 1))
		_, renewErr := s.Renew(context.WithoutCancel(ctx), []idem.Lease{{Fence: claimOf("a", 1).Fence, For: time.Second}})
		txErr := s.InTx(ctx, func(context.Context, idem.Session[*sql.Tx]) error { return nil })
		for i, err := range []error{claimErr, renewErr, txErr} {
			if !errors.Is(err, idem.ErrInTransaction) {
				t.Errorf("call %d: got %v, want ErrInTransaction", i, err)
			}
		}
		_, err := s.Lookup(ctx, claimOf("a", 1).ID)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestGoexitInsideATransactionGivesTheWriterBack(t *testing.T) {
	_, s := newApp(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			runtime.Goexit() // as a failing assertion of the testing package does
			return nil
		})
	}()
	<-done
	mustWin(t, s, claimOf("a", 1))
}

func TestFullDiskIsAnErrorAndNothingIsHalfWritten(t *testing.T) {
	db, s := newApp(t)
	limit := func(pages int) {
		err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			_, err := s.Tx().ExecContext(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(scalar[int](t, db, `PRAGMA page_count`) + 40)
	big := idem.Body{Codec: "raw", Data: bytes.Repeat([]byte("x"), 30_000)}
	claimed, full := 0, error(nil)
	for i := 0; i < 100 && full == nil; i++ {
		c := claimOf(fmt.Sprint(i), 1)
		c.Payload = big
		if _, full = s.Claim(t.Context(), c); full == nil {
			claimed++
		}
	}
	const sqliteFull = 13
	var cause *modernc.Error
	if !errors.Is(full, idem.ErrLedger) || !errors.As(full, &cause) || cause.Code() != sqliteFull {
		t.Fatalf("got %v, want ErrLedger with SQLITE_FULL", full)
	}
	if claimed == 0 {
		t.Fatal("not even one claim fitted")
	}
	// A write of many rows in one statement and a transaction of many statements.
	err := s.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
		for i := range 100 {
			c := claimOf(fmt.Sprint("tx ", i), 1)
			c.Payload = big
			if _, err := s.Claim(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, idem.ErrLedger) {
		t.Errorf("transaction on a full disk: got %v, want ErrLedger", err)
	}
	for _, table := range []string{"work_log", "attempt_log"} {
		if n := scalar[int](t, db, `SELECT count(*) FROM `+table); n != claimed {
			t.Errorf("%s has %d rows after %d claims", table, n, claimed)
		}
	}
	limit(1 << 30)
	mustWin(t, s, claimOf("with room again", 1))
	if got := scalar[string](t, db, `PRAGMA integrity_check`); got != "ok" {
		t.Errorf("integrity check: %s", got)
	}
}

func TestLockedFileIsAnErrorOfTheLedger(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the busy timeout")
	}
	t.Parallel()
	db, s := newApp(t)
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := s.Claim(short, claimOf("a", 1)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, idem.ErrLedger) {
		t.Errorf("deadline of the caller: got %v, want that it was exceeded", err)
	}
	if waited := time.Since(start); waited > 2*time.Second {
		t.Errorf("the caller's deadline of 50 ms ended after %v", waited)
	}
	if _, err := s.Claim(t.Context(), claimOf("a", 1)); !errors.Is(err, idem.ErrLedger) || !strings.Contains(err.Error(), "SQLITE_BUSY") {
		t.Errorf("lock that stays: got %v, want ErrLedger and SQLITE_BUSY", err)
	}
	if _, err := other.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	mustWin(t, s, claimOf("a", 1))
}
