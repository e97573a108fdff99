package migrations

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	atlassqlite "ariga.io/atlas/sql/sqlite"
	gomigrate "github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/sqlite"
	_ "github.com/golang-migrate/migrate/v4/source/file"
	"github.com/pressly/goose/v3"

	"github.com/idemgen/idem/generator/migrate"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

var first = time.Date(2026, 11, 29, 19, 30, 15, 0, time.UTC)

func write(t *testing.T, format, dir string) {
	t.Helper()
	files, err := migrate.Write(migrate.Options{Dialect: "sqlite", Format: format, Dir: dir, Now: first})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("nothing was written")
	}
}

func openDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
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

// wantLedger opens the file as a ledger, and finds the tables that the store
// makes itself.
func wantLedger(t *testing.T, path string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatalf("it is no ledger: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	own := filepath.Join(t.TempDir(), "own.db")
	if err := sqlite.Migrate(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if got, want := tables(t, path), tables(t, own); !slices.Equal(got, want) {
		t.Errorf("got the tables\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The store has nothing to add, and leaves it as it is.
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Errorf("the store's own migration after the tool's: %v", err)
	}
}

// tables are the definitions of the ledger's tables, indexes and views; those of
// the tools are left out.
func tables(t *testing.T, path string) []string {
	t.Helper()
	rows, err := openDB(t, path).QueryContext(t.Context(), `select sql from sqlite_master
		where sql is not null and name not like 'goose%' and tbl_name not in ('schema_migrations', 'users') and name not like 'sqlite%' order by name`)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return all
}

func wantNoLedger(t *testing.T, path string) {
	t.Helper()
	if got := tables(t, path); len(got) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(got, "\n"))
	}
	if store, err := sqlite.Open(t.Context(), path); !errors.Is(err, idem.ErrSchema) {
		t.Errorf("opened %v with error %v, want ErrSchema", store, err)
	}
}

// withUsers is a folder that has a migration of the application already.
func withUsers(t *testing.T, name, content string) (dir, db string) {
	t.Helper()
	root := t.TempDir()
	dir = filepath.Join(root, "migrations")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(root, "app.db")
}

func TestPlain(t *testing.T) {
	root := t.TempDir()
	dir, path := filepath.Join(root, "migrations"), filepath.Join(root, "app.db")
	write(t, "plain", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		script, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openDB(t, path).ExecContext(t.Context(), string(script)); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	wantLedger(t, path)
}

func TestGoose(t *testing.T) {
	dir, path := withUsers(t, "00004_users.sql", "-- +goose Up\ncreate table users (id);\n-- +goose Down\ndrop table users;\n")
	write(t, "goose", dir)
	provider, err := goose.NewProvider(goose.DialectSQLite3, openDB(t, path), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	up := func() {
		t.Helper()
		if _, err := provider.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		if version, err := provider.GetDBVersion(t.Context()); err != nil || version != 5 {
			t.Errorf("version %d, %v", version, err)
		}
		wantLedger(t, path)
	}
	up()
	if _, err := provider.DownTo(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	wantNoLedger(t, path)
	up()
}

func TestGolangMigrate(t *testing.T) {
	dir, path := withUsers(t, "000041_users.up.sql", "create table users (id);\n")
	write(t, "golang-migrate", dir)
	m, err := gomigrate.New("file://"+dir, "sqlite://"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if sourceErr, dbErr := m.Close(); sourceErr != nil || dbErr != nil {
			t.Error(sourceErr, dbErr)
		}
	}()
	up := func() {
		t.Helper()
		if err := m.Up(); err != nil {
			t.Fatal(err)
		}
		if version, dirty, err := m.Version(); err != nil || version != 42 || dirty {
			t.Errorf("version %d, dirty %v, %v", version, dirty, err)
		}
		wantLedger(t, path)
	}
	up()
	if err := m.Steps(-1); err != nil {
		t.Fatal(err)
	}
	wantNoLedger(t, path)
	up()
}

func TestAtlas(t *testing.T) {
	dir, path := withUsers(t, "20240102030405_users.sql", "create table users (id int);\n")
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
	write(t, "atlas", dir)
	if err := atlas.Validate(local); err != nil {
		t.Fatalf("atlas.sum: %v", err)
	}
	driver, err := atlassqlite.Open(openDB(t, path))
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
	wantLedger(t, path)
}

// TestAtlasSumIsThatOfAtlas compares the digests of folders of many kinds.
func TestAtlasSumIsThatOfAtlas(t *testing.T) {
	for _, files := range []map[string]string{
		{},
		{"1_a.sql": "create table a (id int);\n"},
		{"1_a.sql": "create table a (id int);\n", "2_b.sql": "", "10_c.sql": "-- ü\r\n", "README.md": "no migration"},
		{"1_a.sql": "-- atlas:sum ignore\n\ncreate table a (id int);\n", "2_b.sql": "-- atlas:sum  ignore", "3_c.sql": "--\n-- atlas:sum ignore\n"},
		{"1_a.sql": "-- atlas:txmode none\n\nselect 1;\n", "2_b.sql": "atlas:sum ignored\n"},
	} {
		dir := t.TempDir()
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
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
		// Refuses unless it finds the same digest.
		write(t, "atlas", dir)
		if err := atlas.Validate(local); err != nil {
			t.Errorf("%v: %v", files, err)
		}
	}
}

// revisions keeps atlas's record of what was applied.
type revisions struct{ all []*atlas.Revision }

func (r *revisions) Ident() *atlas.TableIdent { return &atlas.TableIdent{Name: "revisions"} }

func (r *revisions) ReadRevisions(context.Context) ([]*atlas.Revision, error) { return r.all, nil }

func (r *revisions) ReadRevision(_ context.Context, version string) (*atlas.Revision, error) {
	for _, rev := range r.all {
		if rev.Version == version {
			return rev, nil
		}
	}
	return nil, atlas.ErrRevisionNotExist
}

func (r *revisions) WriteRevision(_ context.Context, rev *atlas.Revision) error {
	r.all = slices.DeleteFunc(r.all, func(old *atlas.Revision) bool { return old.Version == rev.Version })
	r.all = append(r.all, rev)
	return nil
}

func (r *revisions) DeleteRevision(_ context.Context, version string) error {
	r.all = slices.DeleteFunc(r.all, func(old *atlas.Revision) bool { return old.Version == version })
	return nil
}
