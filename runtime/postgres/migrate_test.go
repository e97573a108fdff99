package postgres_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

func TestMigrateTwiceAndAtOnceDoesNothingMore(t *testing.T) {
	pool := newPool(t)
	schema := newSchema(t, pool)
	if _, err := postgres.Open(t.Context(), pool, postgres.WithSchema(schema)); !errors.Is(err, idem.ErrSchema) || !strings.Contains(err.Error(), "postgres.Migrate") {
		t.Fatalf("before it: got %v, want ErrSchema and what to call", err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := postgres.Migrate(t.Context(), pool, postgres.WithSchema(schema)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := scalar[int](t, pool, `SELECT count(*) FROM `+pgx.Identifier{schema}.Sanitize()+`.ledger_meta`); n != 1 {
		t.Errorf("%d ledgers", n)
	}
}

func TestNewerTablesAreLeftAlone(t *testing.T) {
	a := newApp(t)
	schema := strings.ReplaceAll(strings.Trim(a.schema, `"`), `""`, `"`)
	mustExec(t, a.pool, a.sql(`UPDATE $.ledger_meta SET schema_version = 9, min_runtime = 8`))
	if err := postgres.Migrate(t.Context(), a.pool, postgres.WithSchema(schema)); !errors.Is(err, idem.ErrSchema) {
		t.Errorf("migrate: got %v, want ErrSchema", err)
	}
	if _, err := postgres.Open(t.Context(), a.pool, postgres.WithSchema(schema)); !errors.Is(err, idem.ErrSchema) || !strings.Contains(err.Error(), "update it") {
		t.Errorf("open: got %v, want ErrSchema and what to do", err)
	}
	// Newer, and such that older programs may go on.
	mustExec(t, a.pool, a.sql(`UPDATE $.ledger_meta SET min_runtime = 1`))
	if err := postgres.Migrate(t.Context(), a.pool, postgres.WithSchema(schema)); err != nil {
		t.Error(err)
	}
	if _, err := postgres.Open(t.Context(), a.pool, postgres.WithSchema(schema)); err != nil {
		t.Error(err)
	}
}

func TestNamesThatCannotBeAreRefused(t *testing.T) {
	pool := newPool(t)
	for _, name := range []string{"", "a\x00b", strings.Repeat("a", 64)} {
		if err := postgres.Migrate(t.Context(), pool, postgres.WithSchema(name)); err == nil {
			t.Errorf("%q was made a schema", name)
		}
	}
}

// The application's role need not own anything but the schema that it was given,
// and the program that works needs less than the one that migrates.
func TestFewRightsSuffice(t *testing.T) {
	admin := newPool(t)
	schema := newSchema(t, admin)
	quoted := pgx.Identifier{schema}.Sanitize()
	owner, worker := "owner_"+schema[len(schema)-12:], "worker_"+schema[len(schema)-12:]
	for _, role := range []string{owner, worker} {
		mustExec(t, admin, `CREATE ROLE `+role+` LOGIN`)
		t.Cleanup(func() { mustExec(t, admin, `DROP OWNED BY `+role+` CASCADE; DROP ROLE `+role) })
	}
	as := func(role string) *pgxpool.Pool {
		return newPool(t, func(c *pgxpool.Config) { c.ConnConfig.User, c.ConnConfig.Password = role, "" })
	}
	mustExec(t, admin, `CREATE SCHEMA `+quoted+` AUTHORIZATION `+owner)
	if err := postgres.Migrate(t.Context(), as(owner), postgres.WithSchema(schema)); err != nil {
		t.Fatalf("in a schema that is its own: %v", err)
	}
	page, err := os.ReadFile("../../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	grants := regexp.MustCompile(`(?m)^ *GRANT .*;$`).FindAllString(string(page), -1)
	if len(grants) != 2 {
		t.Fatalf("docs/postgres.md has the grants %q", grants)
	}
	for _, grant := range grants {
		mustExec(t, admin, strings.NewReplacer("idem", quoted, "worker", worker).Replace(grant))
	}
	store, err := postgres.Open(t.Context(), as(worker), postgres.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := claimOf("a", 1)
	mustWin(t, store, c)
	if _, err := store.End(t.Context(), doneOf(c.Fence)); err != nil {
		t.Error(err)
	}
	if _, err := store.KeyCheck(t.Context(), idem.Hash{1}); err != nil {
		t.Error(err)
	}
}

func TestPeopleCanReadTheView(t *testing.T) {
	a := newApp(t)
	c := claimOf("a", 1)
	c.Payload = idem.Body{Codec: idem.CodecJSON, Data: []byte(`{"name":"Ünal"}`)}
	mustWin(t, a.store, c)
	e := doneOf(c.Fence)
	e.Result = idem.Body{Codec: idem.CodecJSON, Data: []byte("\"\xff\"")}
	if _, err := a.store.End(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	got := scalar[string](t, a.pool, a.sql(`SELECT payload || ' ' || result || ' ' || state FROM $.work_view WHERE created_at LIKE '2%Z'`))
	if want := `{"name":"Ünal"} "\377" done`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTablesRefuseWhatCannotBe(t *testing.T) {
	a := newApp(t)
	row := a.sql(`INSERT INTO $.work_log (work_id, kind, version, state, attempt, budget_left, created_at, updated_at) VALUES (repeat('0', 64), 'k', 1, 'unknown', 0, 0, now(), now())`)
	mustExec(t, a.pool, row)
	const refused = "23514" // check_violation
	for what, set := range map[string]string{
		"a state of its own":               `state = 'finished'`,
		"running without a lease's end":    `state = 'running', claim_token = decode(repeat('00', 16), 'hex')`,
		"running without an owner":         `state = 'running', locked_until = now()`,
		"an owner of work that is over":    `claim_token = decode(repeat('00', 16), 'hex')`,
		"a lease of work that is over":     `locked_until = now()`,
		"failed without a next attempt":    `state = 'failed'`,
		"done without a time":              `state = 'done'`,
		"an expiry of work that is not":    `expires_at = now()`,
		"a payload without a codec":        `payload = ''`,
		"a result's codec without a value": `result_codec = 'json'`,
		"a budget below zero":              `budget_left = -1`,
		"a short token":                    `state = 'running', locked_until = now(), claim_token = decode(repeat('00', 15), 'hex')`,
		"a short hash":                     `payload_hash = decode(repeat('00', 31), 'hex')`,
		"a short ID":                       `work_id = 'abc'`,
		"an attempt that never began":      `attempt = 1`,
		"an attempt without an outcome":    `attempt = 1, attempt_at = now()`,
		"an outcome of its own":            `attempt_ended_at = now(), outcome = 'finished'`,
	} {
		var e *pgconn.PgError
		if _, err := a.pool.Exec(t.Context(), a.sql(`UPDATE $.work_log SET `)+set); !errors.As(err, &e) || e.Code != refused {
			t.Errorf("the table took %s: %v", what, err)
		}
	}
}

// What programs have the server check as well.
func TestOwnersHaveLeasesAndNobodyElse(t *testing.T) {
	pool := newPool(t)
	schema := newSchema(t, pool)
	if err := postgres.Migrate(t.Context(), pool, postgres.WithSchema(schema)); err != nil {
		t.Fatal(err)
	}
	table := pgx.Identifier{schema, "work_log"}.Sanitize()
	mustExec(t, pool, `INSERT INTO `+table+` (work_id, kind, version, state, attempt, budget_left, created_at, updated_at) VALUES ('a', 'k', 1, 'unknown', 0, 0, now(), now())`)
	for _, set := range []string{
		`state = 'running'`, `state = 'running', claim_token = ''`, `state = 'running', locked_until = now()`,
		`claim_token = ''`, `locked_until = now()`, `claim_token = '', locked_until = now()`,
	} {
		var e *pgconn.PgError
		if _, err := pool.Exec(t.Context(), `UPDATE `+table+` SET `+set); !errors.As(err, &e) || e.Code != "23514" {
			t.Errorf("the table took %s: %v", set, err)
		}
	}
}
