package migrate

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idem/internal/pgschema"
)

//go:embed sqlite/*.sql postgres/*.sql
var scripts embed.FS

// Options say what to write.
type Options struct {
	// Dialect is that of the database: one of [Dialects].
	Dialect string
	// Format is that of the tool: one of [Formats].
	Format string
	// Dir is the folder of the migrations. It is made if it is not there.
	Dir string
	// Schema is the PostgreSQL schema of the tables, or empty for the usual one.
	Schema string
	// Partitions are how many each table with a row for each piece of work has, in
	// PostgreSQL; zero for whole tables.
	Partitions int
	// Now is the time that numbers are made of where a tool uses times.
	Now time.Time
}

// Change is what became of a file.
type Change string

// What Write did.
const (
	Written Change = "written"
	Kept    Change = "kept" // it was there
	// Differs is kept although its content is not what would be written: somebody
	// has changed it.
	Differs Change = "differs"
)

// File is a file in the folder.
type File struct {
	Name   string
	Change Change
}

// Write adds the migrations that the folder does not have yet. Files that are
// there are not touched, but for the digest that atlas keeps of the folder. After
// an error, files that were written are removed again.
func Write(o Options) ([]File, error) {
	f, err := formatNamed(o.Format)
	if err != nil {
		return nil, err
	}
	list, err := o.migrations()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("make the folder of the migrations: %w", err)
	}
	dir, err := readFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	if f.before != nil {
		if err := f.before(o.Dir); err != nil {
			return nil, err
		}
	}
	files, pending, err := plan(f, list, dir, o)
	if err != nil {
		return nil, err
	}
	if err := writeAll(o.Dir, pending, f.after); err != nil {
		return nil, err
	}
	for _, p := range pending {
		files = append(files, File{p.name, Written})
	}
	return files, nil
}

// migrations are those of the dialect, as the options want them.
func (o Options) migrations() ([]migration, error) {
	list, err := migrations(o.Dialect)
	if err != nil {
		return nil, err
	}
	if o.Schema == "" && o.Partitions == 0 {
		return list, nil
	}
	if o.Dialect != "postgres" {
		return nil, fmt.Errorf("%s has neither schemas nor partitions", o.Dialect)
	}
	schema := cmp.Or(o.Schema, pgschema.Name)
	if err := pgschema.CheckName(schema); err != nil {
		return nil, err
	}
	for i := range list {
		m := &list[i]
		if o.Partitions != 0 {
			if err := pgschema.CheckPartitions(o.Partitions); err != nil {
				return nil, err
			}
			m.up = pgschema.Partitioned(m.up, o.Partitions)
		}
		m.up, m.down = pgschema.InSchema(m.up, schema), pgschema.InSchema(m.down, schema)
	}
	return list, nil
}

// migration is one version of the ledger's schema.
type migration struct {
	name     string // 0001_ledger
	up, down string
}

// Dialects are the databases that there are migrations for.
func Dialects() []string { return []string{"sqlite", "postgres"} }

// migrations are those of a dialect, in order.
func migrations(dialect string) ([]migration, error) {
	if !slices.Contains(Dialects(), dialect) {
		return nil, fmt.Errorf("unknown dialect %q: want one of %s", dialect, strings.Join(Dialects(), ", "))
	}
	names, err := fs.Glob(scripts, dialect+"/*.down.sql")
	if err != nil {
		return nil, fmt.Errorf("list the migrations: %w", err)
	}
	var list []migration
	for _, down := range names { // sorted, as Glob is
		name := strings.TrimSuffix(down, ".down.sql")
		m := migration{name: strings.TrimPrefix(name, dialect+"/")}
		for path, text := range map[string]*string{name + ".sql": &m.up, down: &m.down} {
			b, err := scripts.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("read a migration: %w", err)
			}
			*text = string(b)
		}
		list = append(list, m)
	}
	return list, nil
}

// newFile is a file that will be written.
type newFile struct{ name, content string }

// plan finds out which migrations are there, and names those that are not.
func plan(f format, list []migration, dir folder, o Options) (there []File, pending []newFile, err error) {
	for i, m := range list {
		had := dir.named(m.name)
		if len(had) == 0 {
			number, err := dir.next(f, o.Now)
			if err != nil {
				return nil, nil, err
			}
			pending = append(pending, f.files(number, m)...)
			continue
		}
		if len(pending) > 0 {
			return nil, nil, fmt.Errorf("%s is there and %s, which comes before it, is not: put it back, or begin a new folder", had[0], list[i-1].name)
		}
		if up := lost(had, f.files(numberOf(had[0]), m)); up != "" {
			return nil, nil, fmt.Errorf("%s is there and %s, which belongs to it, is not: put it back", had[0], up)
		}
		for _, name := range had {
			same, err := sameAs(filepath.Join(o.Dir, name), f.files(numberOf(name), m), name)
			if err != nil {
				return nil, nil, err
			}
			change := Differs
			if same {
				change = Kept
			}
			there = append(there, File{name, change})
		}
	}
	return there, pending, nil
}

// lost is the file that makes the tables if only the one that drops them is there,
// else "". The other way round it is a team's choice.
func lost(had []string, files []newFile) string {
	up := files[0].name
	if slices.Contains(had, up) || !slices.ContainsFunc(files, func(f newFile) bool { return slices.Contains(had, f.name) }) {
		return "" // or another tool's format
	}
	return up
}

// sameAs tells whether a file has the content that would be written under its
// name.
func sameAs(path string, files []newFile, name string) (bool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("read a migration: %w", err)
	}
	text := strings.ReplaceAll(string(content), "\r\n", "\n") // a checkout's line ends
	return slices.Contains(files, newFile{name, text}), nil
}

// writeAll writes new files and runs after, and takes all back if any of that
// fails.
func writeAll(dir string, files []newFile, after func(dir string) error) (err error) {
	if len(files) == 0 {
		return nil
	}
	var written []string
	defer func() {
		if err == nil {
			return
		}
		for _, path := range written {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("write a migration: %w", err)
		}
		written = append(written, path)
		_, err = w.WriteString(f.content)
		if err = errors.Join(err, w.Close()); err != nil {
			return fmt.Errorf("write a migration: %w", err)
		}
	}
	if after != nil {
		return after(dir)
	}
	return nil
}

// folder is the names of the files in a folder of migrations, sorted.
type folder struct {
	names []string
	last  string // number that was given last
}

func readFolder(dir string) (folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return folder{}, fmt.Errorf("read the folder of the migrations: %w", err)
	}
	var f folder
	for _, e := range entries {
		if !e.IsDir() {
			f.names = append(f.names, e.Name())
		}
	}
	return f, nil
}

// ours is a file that this package has written, whatever the format.
var ours = regexp.MustCompile(`^(?:[0-9]+_)?idem_([0-9]+_[a-z0-9_]+?)(?:\.up|\.down)?\.sql$`)

// named are the files of a migration.
func (f folder) named(migration string) []string {
	var names []string
	for _, name := range f.names {
		if m := ours.FindStringSubmatch(name); m != nil && m[1] == migration {
			names = append(names, name)
		}
	}
	return names
}
