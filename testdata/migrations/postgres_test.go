package migrations

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	atlas "ariga.io/atlas/sql/migrate"
	atlaspostgres "ariga.io/atlas/sql/postgres"
	gomigrate "github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/idemgen/idem/generator/migrate"
	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

var server = pgtest.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// pgFolder is a folder that has a migration of the application already, with
// idem's behind it, and a database.
func pgFolder(t *testing.T, format, name, content string) (dir, at string) {
	t.Helper()
	dir, _ = withUsers(t, name, content)
	if _, err := migrate.Write(migrate.Options{Dialect: "postgres", Format: format, Dir: dir, Now: first}); err != nil {
		t.Fatal(err)
	}
	return dir, server.Database(t)
}

func pgPool(t *testing.T, at string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func pgDB(t *testing.T, at string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// pgTables is everything in the ledger's schema, a line for each thing.
func pgTables(t *testing.T, at string) []string {
	t.Helper()
	rows, err := pgPool(t, at).Query(t.Context(), `
		SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' || a.attcollation || coalesce(' ' || pg_get_expr(d.adbin, d.adrelid), '') || coalesce(' ' || c.reloptions::text, '')
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relnamespace = to_regnamespace('idem') AND c.relkind IN ('r', 'v')
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'idem'
		UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = to_regnamespace('idem')
		UNION ALL SELECT viewname || ' ' || definition FROM pg_views WHERE schemaname = 'idem'
		UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = to_regnamespace('idem')
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantPgLedger opens the database as a ledger, and finds what the store makes
// itself.
func wantPgLedger(t *testing.T, at string) {
	t.Helper()
	if _, err := postgres.Open(t.Context(), pgPool(t, at)); err != nil {
		t.Fatalf("it is no ledger: %v", err)
	}
	own := server.Database(t)
	if err := postgres.Migrate(t.Context(), pgPool(t, own)); err != nil {
		t.Fatal(err)
	}
	got, want := pgTables(t, at), pgTables(t, own)
	if len(want) < 50 || !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The store has nothing to add.
	if err := postgres.Migrate(t.Context(), pgPool(t, at)); err != nil {
		t.Errorf("the store's own migration after the tool's: %v", err)
	}
}

func wantNoPgLedger(t *testing.T, at string) {
	t.Helper()
	if got := pgTables(t, at); len(got) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(got, "\n"))
	}
	if _, err := postgres.Open(t.Context(), pgPool(t, at)); !errors.Is(err, idem.ErrSchema) {
		t.Errorf("opened with error %v, want ErrSchema", err)
	}
}

func TestPostgresPlain(t *testing.T) {
	dir, at := pgFolder(t, "plain", "0000_users.sql", "create table users (id int);\n")
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		script, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pgDB(t, at).ExecContext(t.Context(), string(script)); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	wantPgLedger(t, at)
}

func TestPostgresGoose(t *testing.T) {
	dir, at := pgFolder(t, "goose", "00004_users.sql", "-- +goose Up\ncreate table users (id int);\n-- +goose Down\ndrop table users;\n")
	provider, err := goose.NewProvider(goose.DialectPostgres, pgDB(t, at), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := provider.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantPgLedger(t, at)
		if _, err := provider.DownTo(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		wantNoPgLedger(t, at)
	}
}

func TestPostgresGolangMigrate(t *testing.T) {
	dir, at := pgFolder(t, "golang-migrate", "000041_users.up.sql", "create table users (id int);\n")
	m, err := gomigrate.New("file://"+dir, strings.Replace(at, "postgres://", "pgx5://", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if sourceErr, dbErr := m.Close(); sourceErr != nil || dbErr != nil {
			t.Error(sourceErr, dbErr)
		}
	}()
	for range 2 {
		if err := m.Up(); err != nil {
			t.Fatal(err)
		}
		wantPgLedger(t, at)
		if err := m.Steps(-1); err != nil {
			t.Fatal(err)
		}
		wantNoPgLedger(t, at)
	}
}

func TestPostgresAtlas(t *testing.T) {
	dir, at := withUsers(t, "20240102030405_users.sql", "create table users (id int);\n")
	local, err := atlas.NewLocalDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := local.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	if err := atlas.WriteSumFile(local, sum); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Write(migrate.Options{Dialect: "postgres", Format: "atlas", Dir: dir, Now: first}); err != nil {
		t.Fatal(err)
	}
	at = server.Database(t)
	driver, err := atlaspostgres.Open(pgDB(t, at))
	if err != nil {
		t.Fatal(err)
	}
	executor, err := atlas.NewExecutor(driver, local, new(revisions))
	if err != nil {
		t.Fatal(err)
	}
	if err := executor.ExecuteN(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wantPgLedger(t, at)
}
