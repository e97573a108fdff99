package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idem/runtime/sqlite"
)

func TestMigratingTwiceChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db := openApp(t, path)
	mustExec(t, db, `CREATE TABLE orders (id INTEGER PRIMARY KEY)`)
	if err := sqlite.MigrateDB(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	id := scalar[string](t, db, `SELECT ledger_id FROM ledger_meta`)
	schema := scalar[string](t, db, `SELECT group_concat(sql, ';') FROM sqlite_master`)
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if got := scalar[string](t, db, `SELECT ledger_id FROM ledger_meta`); got != id {
		t.Errorf("the ledger is another: %s was %s", got, id)
	}
	if got := scalar[string](t, db, `SELECT group_concat(sql, ';') FROM sqlite_master`); got != schema {
		t.Errorf("the schema is another:\n%s\nwas\n%s", got, schema)
	}
}

func TestManyMigrateOneNewFileAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "app.db")
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = sqlite.Migrate(t.Context(), path) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		if n := scalar[int](t, openApp(t, path), `SELECT count(*) FROM ledger_meta`); n != 1 {
			t.Errorf("%d rows in ledger_meta, want 1", n)
		}
	}
}

// The write-ahead log cannot be turned on beside a transaction that is open.
func TestMigrateWaitsForAnApplicationThatWrites(t *testing.T) {
	for what, begin := range map[string]string{"reader": `BEGIN; SELECT count(*) FROM orders`, "writer": `BEGIN IMMEDIATE; INSERT INTO orders DEFAULT VALUES`} {
		path := filepath.Join(t.TempDir(), "app.db")
		db := openApp(t, path)
		mustExec(t, db, `CREATE TABLE orders (id INTEGER PRIMARY KEY)`)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), begin); err != nil {
			t.Fatal(err)
		}
		migrated := make(chan error, 1)
		go func() { migrated <- sqlite.Migrate(t.Context(), path) }()
		select {
		case err := <-migrated:
			t.Errorf("%s: Migrate ended beside it: %v", what, err)
		case <-time.After(200 * time.Millisecond):
			if _, err := conn.ExecContext(t.Context(), `COMMIT`); err != nil {
				t.Error(err)
			}
			if err := <-migrated; err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The tables hold what they must hold whoever writes them: an operator's mistake
// included.
func TestTablesRefuseWhatCannotBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db := openApp(t, path)
	const row = `INSERT INTO work_log (work_id, kind, version, state, attempt, attempt_at, attempt_ended_at, outcome, budget_left, created_at, updated_at) VALUES (printf('%064d', ?1), 'k', 1, 'unknown', 1, 1, 1, 'unknown', 0, 1, 1)`
	mustExec(t, db, row, 1)
	const running = `state = 'running', attempt_ended_at = NULL, outcome = NULL`
	for what, set := range map[string]string{
		"a state of its own":                         `state = 'finished'`,
		"running without a lease's end":              running + `, claim_token = zeroblob(16)`,
		"running without an owner":                   running + `, locked_until = 1`,
		"an owner of work that is over":              `claim_token = zeroblob(16)`,
		"a lease of work that is over":               `locked_until = 1`,
		"failed without a next attempt":              `state = 'failed'`,
		"done without a time":                        `state = 'done'`,
		"an expiry of work that is not":              `expires_at = 1`,
		"a payload without a codec":                  `payload = x'00'`,
		"a result's codec without a value":           `result_codec = 'json'`,
		"an attempt that runs of work that does not": `outcome = NULL, attempt_ended_at = NULL`,
		"an attempt that never began":                `attempt_at = NULL`,
		"an outcome without its time":                `attempt_ended_at = NULL`,
		"running work whose attempt is over":         `state = 'running', locked_until = 1, claim_token = zeroblob(16)`,
		"a budget below zero":                        `budget_left = -1`,
		"text where a number belongs":                `updated_at = 'now'`,
		"a short token":                              running + `, locked_until = 1, claim_token = zeroblob(15)`,
		"a short hash":                               `payload_hash = zeroblob(31)`,
		"a short ID":                                 `work_id = 'abc'`,
	} {
		if _, err := db.ExecContext(t.Context(), `UPDATE work_log SET `+set); err == nil {
			t.Errorf("the table took %s", what)
		}
	}
	if _, err := db.ExecContext(t.Context(), row, 1); err == nil {
		t.Error("the table took the same work twice")
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO ledger_meta SELECT 2, ledger_id, 1, 1, 0 FROM ledger_meta`); err == nil {
		t.Error("the table took a second ledger")
	}
}
