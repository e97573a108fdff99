package migrate

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "copy the migrations of the stores; the run fails if any changed, so that somebody looks at it")

var now = time.Date(2026, 11, 29, 19, 30, 15, 0, time.UTC)

// The generator's copy and what the store applies itself are the same bytes.
func TestMigrationsAreThoseOfTheStore(t *testing.T) {
	for _, dialect := range Dialects() {
		t.Run(dialect, func(t *testing.T) { wantMigrationsOfStore(t, dialect) })
	}
}

// What the way up makes, the way down removes. The tools of testdata/migrations show
// it on databases.
func TestTheWayDownDropsEveryTable(t *testing.T) {
	made, dropped := regexp.MustCompile(`(?m)^CREATE (?:TABLE|VIEW) (\S+)`), regexp.MustCompile(`(?m)^DROP (?:TABLE|VIEW) (\S+);`)
	for _, dialect := range Dialects() {
		list, err := migrations(dialect)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if diff := cmp.Diff(namesIn(made, m.up), namesIn(dropped, m.down)); diff != "" {
				t.Errorf("%s %s (-made +dropped)\n%s", dialect, m.name, diff)
			}
		}
	}
}

func namesIn(pattern *regexp.Regexp, script string) []string {
	var names []string
	for _, m := range pattern.FindAllStringSubmatch(script, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

func wantMigrationsOfStore(t *testing.T, dialect string) {
	store := "../../runtime/" + dialect + "/migrations"
	entries, err := os.ReadDir(store)
	if err != nil || len(entries) == 0 {
		t.Fatalf("no migrations in %s: %v", store, err)
	}
	list, err := migrations(dialect)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list {
		names = append(names, m.name+".sql")
		if m.up == "" || m.down == "" {
			t.Errorf("%s goes one way only", m.name)
		}
	}
	var want []string
	for _, e := range entries {
		want = append(want, e.Name())
		theirs, err := os.ReadFile(filepath.Join(store, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dialect, e.Name())
		if mine, err := os.ReadFile(copied); err != nil || !bytes.Equal(mine, theirs) {
			t.Errorf("%s is not that of the store (%v); go test ./generator/migrate -update copies it", copied, err)
			if *update {
				if err := os.WriteFile(copied, theirs, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the store's migrations and those that are written, each with its .down.sql (-store +written)\n%s", diff)
	}
}

// write runs Write and tells its outcome as lines of text.
func write(t *testing.T, dir, format string) string {
	t.Helper()
	files, err := Write(Options{Dialect: "sqlite", Format: format, Dir: dir, Now: now})
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), dir, "DIR")
	}
	var lines []string
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%s %s", f.Change, f.Name))
	}
	return strings.Join(lines, "\n")
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// snapshot is every file of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

func TestNumbersGoOnInTheMannerOfTheFolder(t *testing.T) {
	for _, test := range []struct {
		format string
		there  []string
		want   string
	}{
		{"plain", nil, "written idem_0001_ledger.sql"},
		{"plain", []string{"0007_users.sql"}, "written idem_0001_ledger.sql"},
		{"goose", nil, "written 00001_idem_0001_ledger.sql"},
		{"goose", []string{"00001_users.sql", "00009_orders.sql", "notes.txt"}, "written 00010_idem_0001_ledger.sql"},
		{"goose", []string{"00001_users.sql", "00007_backfill.go"}, "written 00008_idem_0001_ledger.sql"},
		{"goose", []string{"001_users.sql"}, "written 002_idem_0001_ledger.sql"},
		{"goose", []string{"99999_users.sql"}, "written 100000_idem_0001_ledger.sql"},
		{"goose", []string{"20240102030405_users.sql"}, "written 20261129193015_idem_0001_ledger.sql"},
		{"goose", []string{"20300102030405_users.sql"}, "written 20300102030406_idem_0001_ledger.sql"},
		{"golang-migrate", nil, "written 000001_idem_0001_ledger.up.sql\nwritten 000001_idem_0001_ledger.down.sql"},
		{"golang-migrate", []string{"000041_users.up.sql", "000041_users.down.sql"}, "written 000042_idem_0001_ledger.up.sql\nwritten 000042_idem_0001_ledger.down.sql"},
		{"golang-migrate", []string{"1500360784_users.up.sql"}, "written 1795980615_idem_0001_ledger.up.sql\nwritten 1795980615_idem_0001_ledger.down.sql"},
		{"atlas", nil, "written 20261129193015_idem_0001_ledger.sql"},
		{"goose", []string{"9223372036854775808_users.sql"}, "error: the number of 9223372036854775808_users.sql is too large to go on from"},
		{"liquibase", nil, `error: unknown format "liquibase": want one of plain, goose, golang-migrate, atlas`},
	} {
		dir := filepath.Join(t.TempDir(), "db", "migrations")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range test.there {
			put(t, dir, name, "select 1;\n")
		}
		if got := write(t, dir, test.format); got != test.want {
			t.Errorf("%s beside %v: got\n%s\nwant\n%s", test.format, test.there, got, test.want)
		}
	}
}

func TestFileThatIsThereIsNeverChanged(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			first := write(t, dir, format)
			if !strings.HasPrefix(first, "written ") {
				t.Fatal(first)
			}
			before := snapshot(t, dir)
			if got, want := write(t, dir, format), strings.ReplaceAll(first, "written", "kept"); sortedLines(got) != sortedLines(want) {
				t.Errorf("the second time: got\n%s\nwant\n%s", got, want)
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Errorf("changed:\n%s", diff)
			}
			if format == "atlas" {
				return // whose digest would not fit: see below
			}
			for name := range before {
				put(t, dir, name, "-- mine\n")
			}
			if got, want := write(t, dir, format), strings.ReplaceAll(first, "written", "differs"); sortedLines(got) != sortedLines(want) {
				t.Errorf("after a change: got\n%s\nwant\n%s", got, want)
			}
			for name, content := range snapshot(t, dir) {
				if content != "-- mine\n" {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestHalfOfAMigrationIsTold(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "golang-migrate")
	if err := os.Remove(filepath.Join(dir, "000001_idem_0001_ledger.up.sql")); err != nil {
		t.Fatal(err)
	}
	want := "error: 000001_idem_0001_ledger.down.sql is there and 000001_idem_0001_ledger.up.sql, which belongs to it, is not: put it back"
	if got := write(t, dir, "golang-migrate"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.Remove(filepath.Join(dir, "000001_idem_0001_ledger.down.sql")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "golang-migrate")
	if err := os.Remove(filepath.Join(dir, "000001_idem_0001_ledger.down.sql")); err != nil {
		t.Fatal(err)
	}
	if got, want := write(t, dir, "golang-migrate"), "kept 000001_idem_0001_ledger.up.sql"; got != want {
		t.Errorf("without the way back: got %q, want %q", got, want)
	}
}

// A checkout may have other line ends, and the team may have renumbered.
func TestMigrationIsKnownByItsName(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "goose")
	content := snapshot(t, dir)["00001_idem_0001_ledger.sql"]
	if err := os.Remove(filepath.Join(dir, "00001_idem_0001_ledger.sql")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "00031_idem_0001_ledger.sql", strings.ReplaceAll(content, "\n", "\r\n"))
	if got, want := write(t, dir, "goose"), "kept 00031_idem_0001_ledger.sql"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLaterMigrationsFollow(t *testing.T) {
	list := []migration{{"0001_ledger", "up 1\n", "down 1\n"}, {"0002_runs", "up 2\n", "down 2\n"}, {"0003_audit", "up 3\n", "down 3\n"}}
	f, err := formatNamed("goose")
	if err != nil {
		t.Fatal(err)
	}
	names := func(dir folder) string {
		_, pending, err := plan(f, list, dir, Options{Dir: t.TempDir(), Now: now})
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, p := range pending {
			names = append(names, p.name)
		}
		return strings.Join(names, " ")
	}
	if got, want := names(folder{}), "00001_idem_0001_ledger.sql 00002_idem_0002_runs.sql 00003_idem_0003_audit.sql"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := names(folder{names: []string{"20990101000000_idem_0002_runs.sql"}}), "20990101000000_idem_0002_runs.sql is there and 0001_ledger, which comes before it, is not: put it back, or begin a new folder"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAtlasSumThatDoesNotFitIsNotReplaced(t *testing.T) {
	const hash = "run atlas migrate hash first"
	dir := t.TempDir()
	put(t, dir, "20240101000000_users.sql", "create table users (id);\n")
	if got := write(t, dir, "atlas"); !strings.Contains(got, hash) {
		t.Errorf("without a sum: %s", got)
	}
	put(t, dir, sumName, emptySum)
	if got := write(t, dir, "atlas"); !strings.Contains(got, hash) {
		t.Errorf("with another sum: %s", got)
	}
	if err := writeSum(dir); err != nil {
		t.Fatal(err)
	}
	if got, want := write(t, dir, "atlas"), "written 20261129193015_idem_0001_ledger.sql"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := checkSum(dir); err != nil {
		t.Errorf("after writing: %v", err)
	}
}

func TestUnsupportedDialectsAreRefused(t *testing.T) {
	for dialect, want := range map[string]string{
		"mysql":   `unknown dialect "mysql": want one of sqlite, postgres`,
		"":        `unknown dialect "": want one of sqlite, postgres`,
		"sqlite/": `unknown dialect "sqlite/": want one of sqlite, postgres`,
	} {
		dir := filepath.Join(t.TempDir(), "new")
		if _, err := Write(Options{Dialect: dialect, Format: "plain", Dir: dir, Now: now}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", dialect, err, want)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: the folder was made", dialect)
		}
	}
}

// A half-written pair would be applied half.
func TestNothingIsLeftAfterAnError(t *testing.T) {
	dir := t.TempDir()
	files := []newFile{{"a.sql", "a"}, {"b.sql", "b"}}
	put(t, dir, "b.sql", "mine")
	if err := writeAll(dir, files, nil); err == nil {
		t.Error("wrote over a file")
	}
	if diff := cmp.Diff(map[string]string{"b.sql": "mine"}, snapshot(t, dir)); diff != "" {
		t.Errorf("left behind:\n%s", diff)
	}
}
