package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
	"github.com/idemgen/idem/runtime/storetest"
)

var (
	server = pgtest.New()
	long   = flag.Bool("long", false, "run the suite in every mode that pgx has")
)

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// TestStoreConforms runs in the mode that pgx chooses itself. The one for poolers which
// know no prepared statements at all is left to [TestStoreConformsBehindAPooler] where
// there is a pooler. What lies between is asked for with -long.
func TestStoreConforms(t *testing.T) {
	modes := []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement}
	switch {
	case testing.Short():
	case *long:
		modes = append(modes, pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeCacheDescribe)
	case !pgtest.HasPooler():
		modes = append(modes, pgx.QueryExecModeSimpleProtocol)
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			pool := newPool(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			storetest.Run(t, func(t *testing.T, clock func() time.Time) idem.Store[pgx.Tx] {
				return openClocked(t, pool, clock)
			})
		})
	}
}

// newPool is the application's pool.
func newPool(t testing.TB, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 16
	for _, c := range change {
		c(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// newSchema is the name of a schema that is not there yet, and gone after the test.
func newSchema(t testing.TB, pool *pgxpool.Pool) string {
	t.Helper()
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	name := `ledger "100%" $1 ' ` + hex.EncodeToString(random[:])
	t.Cleanup(func() {
		mustExec(t, pool, `DROP SCHEMA IF EXISTS `+pgx.Identifier{name}.Sanitize()+` CASCADE`)
	})
	return name
}

// mustExec is used after the test as well, when its context is over.
func mustExec(t testing.TB, pool *pgxpool.Pool, text string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(context.WithoutCancel(t.Context()), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func scalar[T any](t testing.TB, pool *pgxpool.Pool, text string, args ...any) (v T) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), text, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// addChecks has the server refuse rows that cannot be.
func addChecks(t testing.TB, pool *pgxpool.Pool, opts ...postgres.Option) {
	t.Helper()
	text, err := os.ReadFile("testdata/checks.sql")
	if err != nil {
		t.Fatal(err)
	}
	script, err := postgres.InSchema(string(text), opts...)
	if err != nil {
		t.Fatal(err)
	}
	const already = "42710" // duplicate_object
	var e *pgconn.PgError
	if _, err := pool.Exec(t.Context(), "BEGIN READ WRITE; "+script+"; COMMIT", pgx.QueryExecModeSimpleProtocol); err != nil && (!errors.As(err, &e) || e.Code != already) {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, pool *pgxpool.Pool, opts ...postgres.Option) *postgres.Store {
	t.Helper()
	if err := postgres.Migrate(t.Context(), pool, opts...); err != nil {
		t.Fatal(err)
	}
	addChecks(t, pool, opts...)
	s, err := postgres.Open(t.Context(), pool, opts...)
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

// openClocked opens a store in a schema of its own, whose clock is a table.
func openClocked(t testing.TB, pool *pgxpool.Pool, clock func() time.Time, opts ...postgres.Option) idem.Store[pgx.Tx] {
	t.Helper()
	c := newClocked[pgx.Tx](t, pool, clock)
	c.Store = openStore(t, pool, append(opts, c.opts...)...)
	return c
}

// newClocked makes the schema and the clock of a store, which is still to be opened.
func newClocked[Tx any](t testing.TB, pool *pgxpool.Pool, clock func() time.Time) *clocked[Tx] {
	t.Helper()
	schema := newSchema(t, pool)
	quoted := pgx.Identifier{schema}.Sanitize()
	mustExec(t, pool, `CREATE SCHEMA `+quoted)
	mustExec(t, pool, `CREATE TABLE `+quoted+`.clock (now timestamptz NOT NULL)`)
	mustExec(t, pool, `INSERT INTO `+quoted+`.clock VALUES ($1)`, clock())
	mustExec(t, pool, `CREATE FUNCTION `+quoted+`.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT now FROM `+quoted+`.clock $$`)
	h := &hands{clock: clock, shows: clock(), set: func(now time.Time) {
		mustExec(t, pool, `UPDATE `+quoted+`.clock SET now = $1`, now)
	}}
	return &clocked[Tx]{hands: h, opts: []postgres.Option{postgres.WithSchema(schema), postgres.WithClock(quoted + `.now()`)}}
}

// hands move a database's clock to where the test's is.
type hands struct {
	clock func() time.Time
	set   func(now time.Time)

	mu    sync.Mutex
	shows time.Time
}

func (h *hands) move() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.clock(); !now.Equal(h.shows) {
		h.set(now)
		h.shows = now
	}
}

// clocked is a store whose clock is moved before it is called.
type clocked[Tx any] struct {
	idem.Store[Tx]
	*hands
	opts []postgres.Option
}

func (s *clocked[Tx]) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	s.move()
	return s.Store.Lookup(ctx, id)
}

func (s *clocked[Tx]) LookupAll(ctx context.Context, ids []idem.WorkID) ([]idem.Work, error) {
	s.move()
	return s.Store.LookupAll(ctx, ids)
}

func (s *clocked[Tx]) Register(ctx context.Context, contracts []idem.Registration) ([]idem.Registration, error) {
	s.move()
	return s.Store.Register(ctx, contracts)
}

func (s *clocked[Tx]) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[Tx]) error) error {
	s.move()
	return s.Store.InTx(ctx, func(ctx context.Context, session idem.Session[Tx]) error {
		return fn(ctx, &clockedSession[Tx]{Session: session, moving: moving{session, s.hands}})
	})
}

func (s *clocked[Tx]) Inspect(ctx context.Context, id idem.WorkID) (idem.Inspection, error) {
	s.move()
	return s.Store.Inspect(ctx, id)
}

func (s *clocked[Tx]) Amend(ctx context.Context, id idem.WorkID, decide func(idem.Inspection) (idem.Amendment, error)) error {
	s.move()
	return s.Store.Amend(ctx, id, decide)
}

func (s *clocked[Tx]) Expired(ctx context.Context, limit int) ([]idem.WorkID, error) {
	s.move()
	return s.Store.Expired(ctx, limit)
}

func (s *clocked[Tx]) Purge(ctx context.Context, ids []idem.WorkID) (idem.Purged, error) {
	s.move()
	return s.Store.Purge(ctx, ids)
}

func (s *clocked[Tx]) PurgeMemory(ctx context.Context, limit int) (idem.Purged, error) {
	s.move()
	return s.Store.PurgeMemory(ctx, limit)
}

func (s *clocked[Tx]) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	return moving{s.Store, s.hands}.Claim(ctx, c)
}

func (s *clocked[Tx]) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return moving{s.Store, s.hands}.WriteEffect(ctx, e)
}

func (s *clocked[Tx]) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return moving{s.Store, s.hands}.End(ctx, e)
}

func (s *clocked[Tx]) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	return moving{s.Store, s.hands}.Renew(ctx, leases)
}

type clockedSession[Tx any] struct {
	idem.Session[Tx]
	moving moving
}

func (s *clockedSession[Tx]) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	return s.moving.Claim(ctx, c)
}

func (s *clockedSession[Tx]) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return s.moving.WriteEffect(ctx, e)
}

func (s *clockedSession[Tx]) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return s.moving.End(ctx, e)
}

func (s *clockedSession[Tx]) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	return s.moving.Renew(ctx, leases)
}

// moving is the writes of a store or of a session.
type moving struct {
	w idem.Writer
	*hands
}

func (m moving) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	m.move()
	return m.w.Claim(ctx, c)
}

func (m moving) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	m.move()
	return m.w.WriteEffect(ctx, e)
}

func (m moving) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	m.move()
	return m.w.End(ctx, e)
}

func (m moving) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	m.move()
	return m.w.Renew(ctx, leases)
}

// Behind a pooler that gives each transaction another connection, whatever a
// transaction leaves on its connection is somebody else's.
func TestNothingOutlivesATransaction(t *testing.T) {
	const left = `SELECT
		(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'),
		(SELECT count(*) FROM pg_listening_channels()),
		(SELECT count(*) FROM pg_prepared_statements),
		(SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND pg_table_is_visible(oid)),
		(SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM pg_settings WHERE source = 'session')`
	type leftovers struct {
		locks, channels, statements, tables int
		settings                            string
	}
	var mu sync.Mutex
	var before leftovers
	seen := 0
	look := func(conn *pgx.Conn) (found leftovers) {
		row := conn.QueryRow(context.WithoutCancel(t.Context()), left)
		if err := row.Scan(&found.locks, &found.channels, &found.statements, &found.tables, &found.settings); err != nil {
			t.Errorf("what is left: %v", err)
		}
		return found
	}
	pool := newPool(t, func(c *pgxpool.Config) {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
		c.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
			mu.Lock()
			defer mu.Unlock()
			before = look(conn)
			return nil
		}
		c.AfterRelease = func(conn *pgx.Conn) bool {
			mu.Lock()
			defer mu.Unlock()
			seen++
			if found := look(conn); found != before {
				t.Errorf("left on the connection: %+v, and %+v was there", found, before)
			}
			return false // nobody gets this connection again
		}
	})
	s := openStore(t, pool, postgres.WithSchema(newSchema(t, newPool(t))))
	for i := range 3 {
		c := claimOf("a", byte(i+1))
		c.Version, c.Predecessors = 2, []idem.Predecessor{{ID: idem.HashWorkID([]byte("former")), Version: 1}}
		claimed := mustWin(t, s, c)
		fence := idem.Fence{ID: claimed.Work.ID, Token: c.Token}
		if _, err := s.WriteEffect(t.Context(), effectOf(fence, idem.EffectStarted)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Renew(t.Context(), []idem.Lease{{Fence: fence, For: time.Minute}}); err != nil {
			t.Fatal(err)
		}
		err := s.InTx(t.Context(), func(ctx context.Context, session idem.Session[pgx.Tx]) error {
			_, err := session.End(ctx, idem.End{Fence: fence, State: idem.StateFailed})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pool.Close() // waits for what looks at released connections
	if seen < 12 {
		t.Errorf("only %d connections were looked at", seen)
	}
}

// A lease that one machine's clock has begun must not be judged by another's.
func TestNoClockOfTheProgramIsRead(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		read++
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, selector.Sel.Name) {
				t.Errorf("%s reads time.%s", path, selector.Sel.Name)
			}
			return true
		})
	}
	if read < 5 {
		t.Errorf("only %d files were read", read)
	}
}
