package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/idemgen/idem"

// rooms says which rooms of this module a room may import, tests aside. A room is
// a folder and all below it, unless a longer path has an entry of its own; every
// room may import itself.
var rooms = map[string][]string{
	"cmd":                    {"generator", "generator/migrate", "analyzers", "runtime", "runtime/sqlite"},
	"contracts":              {},
	"contracts/lock":         {"contracts"},
	"generator/migrate":      {"internal/pgschema"},
	"generator":              {"contracts", "contracts/lock", "internal/directive", "runtime/canon"},
	"analyzers":              {"internal/directive"},
	"internal/directive":     {},
	"internal/house":         {},
	"internal/pgtest":        {},
	"internal/pgschema":      {},
	"runtime":                {"runtime/canon"},
	"runtime/canon":          {},
	"runtime/sqlite":         {"runtime", "runtime/internal"},
	"runtime/postgres":       {"runtime", "runtime/internal", "internal/pgschema"},
	"runtime/storetest":      {"runtime"},
	"runtime/idemtest":       {"runtime", "runtime/internal/crash"},
	"runtime/internal":       {},
	"runtime/internal/crash": {"runtime"},
	"examples":               {"runtime", "runtime/canon", "runtime/sqlite", "runtime/postgres"},
}

func room(dir string) (string, bool) {
	for dir != "." {
		if _, ok := rooms[dir]; ok {
			return dir, true
		}
		dir = filepath.ToSlash(filepath.Dir(dir))
	}
	return "", false
}

func TestImportsGoOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name == "bench" || strings.HasPrefix(name, ".") && path != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		seen++
		return checkFile(t, path, filepath.ToSlash(filepath.Dir(rel)))
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no files were looked at")
	}
}

func checkFile(t *testing.T, path, dir string) error {
	from, ok := room(dir)
	if !ok {
		t.Errorf("%s: no room is known for this folder: say in rooms what it may import", path)
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		inside, ok := strings.CutPrefix(imported, module+"/")
		if !ok {
			continue
		}
		to, ok := room(inside)
		if !ok || to != from && !slices.Contains(rooms[from], to) {
			t.Errorf("%s: %s may not import %s", path, from, inside)
		}
	}
	return nil
}

// TestUsersPullInLittle holds what generated code and the SQLite store bring into
// a program: none of what the generator and the linter need.
func TestUsersPullInLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", module+"/runtime", module+"/runtime/canon", module+"/runtime/sqlite").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	allowed := []string{
		module, "golang.org/x/text", "golang.org/x/net", "modernc.org/sqlite",
		// what modernc.org/sqlite needs
		"github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime",
		"github.com/remyoudompheng/bigfft", "golang.org/x/sys", "modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory",
	}
	for _, m := range modules {
		if !slices.Contains(allowed, m) {
			t.Errorf("a user's program pulls in %s", m)
		}
	}
	if !slices.Contains(modules, "modernc.org/sqlite") {
		t.Errorf("only saw %v", modules)
	}
}

// TestNoProgramCarriesWhatIsForTests holds that what only tests need, package
// testing with its flags included, stays out of programs.
func TestNoProgramCarriesWhatIsForTests(t *testing.T) {
	programs := []string{"/cmd/...", "/examples/...", "/runtime", "/runtime/sqlite", "/runtime/postgres"}
	args := []string{"list", "-deps"}
	for _, p := range programs {
		args = append(args, module+p)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, p := range []string{"testing", module + "/runtime/idemtest", module + "/runtime/storetest", module + "/runtime/internal/crash"} {
		if slices.Contains(packages, p) {
			t.Errorf("a program imports %s", p)
		}
	}
	if !slices.Contains(packages, module+"/runtime/sqlite") {
		t.Errorf("only saw %d packages", len(packages))
	}
}
