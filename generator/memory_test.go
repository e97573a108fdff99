package generator_test

import (
	"bytes"
	"go/build"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idem/generator"
)

// remembering is a module whose runs are remembered.
type remembering struct {
	dir     string
	options generator.Options
}

// newRemembering makes a module with inputs of every kind, for which a run has
// found that nothing is left to do.
func newRemembering(t *testing.T) *remembering {
	t.Helper()
	m := &remembering{dir: newModule(t)}
	m.options = generator.Options{Dir: m.dir, Memory: filepath.Join(t.TempDir(), "idemgen")}
	for name, content := range map[string]string{
		"shop/shop.idem.yaml":  oneContract,
		"shop/shop.go":         "package shop\n\nimport (\n\t\"context\"\n\n\t\"example.com/app/money\"\n)\n\ntype In struct {\n\tID  string\n\tFee money.Amount\n}\n\nfunc Pay(context.Context, In) (string, error) { return \"\", nil }\n",
		"shop/shop_test.go":    "package shop\n",
		"shop/tagged.go":       "//go:build tagged\n\npackage shop\n",
		"shop/notes.txt":       "Nothing that a run looks at.\n",
		"money/money.go":       "package money\n\nimport \"example.com/app/units\"\n\ntype Amount struct {\n\tCents int64\n\tUnit  units.Unit\n}\n",
		"units/units.go":       "package units\n\ntype Unit string\n",
		"other/other.go":       "package other\n",
		"shop/testdata/old.go": "package old\n",
	} {
		m.write(t, name, content)
	}
	if m.run(t).Remembered {
		t.Fatal("the first run remembers one before it")
	}
	m.wantRemembered(t)
	return m
}

func (m *remembering) write(t *testing.T, name, content string) {
	t.Helper()
	writeFile(t, filepath.Join(m.dir, name), content)
}

func (m *remembering) read(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func (m *remembering) replace(t *testing.T, name, old, new string) {
	t.Helper()
	src := m.read(t, name)
	if !strings.Contains(src, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	m.write(t, name, strings.Replace(src, old, new, 1))
}

func (m *remembering) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func (m *remembering) run(t *testing.T) generator.Report {
	t.Helper()
	r, err := generator.Run(t.Context(), m.options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *remembering) wantRemembered(t *testing.T) {
	t.Helper()
	r := m.run(t)
	if !r.Remembered || r.Contracts != 1 || r.Stats.Imports == 0 || r.Stats.GoListCalls == 0 {
		t.Fatalf("nothing has changed, and it is not known: %+v", r)
	}
	var names []string
	for _, f := range r.Files {
		if f.Change != generator.Unchanged {
			t.Errorf("%s is %s", f.Path, f.Change)
		}
		names = append(names, f.Path)
	}
	if want := []string{"idem.lock", "shop/shop_idem.go", "shop/shop_idem_test.go"}; !slices.Equal(names, want) {
		t.Errorf("reports %q, want %q", names, want)
	}
}

// Each kind of input, changed alone.
func TestEveryInputThatChangesMakesARunLookAgain(t *testing.T) {
	m := newRemembering(t)
	for name, change := range map[string]func(*testing.T){
		"a contract":               func(t *testing.T) { m.replace(t, "shop/shop.idem.yaml", "S.", "Other.") },
		"a comment of a contract":  func(t *testing.T) { m.replace(t, "shop/shop.idem.yaml", "contracts:", "# why\ncontracts:") },
		"a contract file is added": func(t *testing.T) { m.write(t, "shop/more.idem.yaml", "contracts: {}\n") },
		"a contract file is gone":  func(t *testing.T) { m.remove(t, "shop/shop.idem.yaml") },
		"a contract elsewhere":     func(t *testing.T) { m.write(t, "other/other.idem.yaml", oneContract) },
		"a Go file":                func(t *testing.T) { m.replace(t, "shop/shop.go", "ID  string", "ID  int64") },
		"a Go file is added":       func(t *testing.T) { m.write(t, "shop/contracts.go", "package shop\n\ntype Contracts int\n") },
		"a Go file is gone":        func(t *testing.T) { m.remove(t, "shop/shop.go") },
		"a test":                   func(t *testing.T) { m.write(t, "shop/shop_test.go", "package shop\n\ntype Contracts int\n") },
		"a file that tags leave out": func(t *testing.T) {
			m.write(t, "shop/tagged.go", "//go:build tagged || !windows\n\npackage shop\n\ntype Contracts int\n")
		},
		"generated code":            func(t *testing.T) { m.write(t, "shop/shop_idem.go", m.read(t, "shop/shop_idem.go")+"// mine\n") },
		"generated code is gone":    func(t *testing.T) { m.remove(t, "shop/shop_idem.go") },
		"a generated test is gone":  func(t *testing.T) { m.remove(t, "shop/shop_idem_test.go") },
		"what looks generated":      func(t *testing.T) { m.write(t, "shop/late_idem.go", "package shop\n") },
		"idem.lock":                 func(t *testing.T) { m.write(t, "idem.lock", m.read(t, "idem.lock")+"\n") },
		"idem.lock is gone":         func(t *testing.T) { m.remove(t, "idem.lock") },
		"a package that is needed":  func(t *testing.T) { m.replace(t, "money/money.go", "Cents", "Pence") },
		"a package that that needs": func(t *testing.T) { m.replace(t, "units/units.go", "string", "int") },
		"a needed one is broken":    func(t *testing.T) { m.write(t, "units/units.go", "package units\n\ntype Unit = None\n") },
		"the module's name":         func(t *testing.T) { m.replace(t, "go.mod", "example.com/app", "example.com/app2") },
		"the module's Go":           func(t *testing.T) { m.replace(t, "go.mod", "go 1.26.0", "go 1.26.0\n\ntoolchain go1.26.1") },
		"a module within":           func(t *testing.T) { m.write(t, "shop/go.mod", "module example.com/shop\n") },
		"variables of the run":      func(t *testing.T) { m.options.Env = []string{"X=y"} },
		"flags of the go command":   func(t *testing.T) { t.Setenv("GOFLAGS", "-mod=mod -tags=tagged") },
		"another way to compile":    func(t *testing.T) { t.Setenv("GOFLAGS", "-mod=mod -trimpath") },
		"with cgo or without": func(t *testing.T) {
			t.Setenv("CGO_ENABLED", map[bool]string{true: "0", false: "1"}[build.Default.CgoEnabled])
		},
		"a setting of Go's": func(t *testing.T) { t.Setenv("GODEBUG", "gotypesalias=1") },
		"tags":              func(t *testing.T) { m.options.Tags = "tagged" },
		"patterns":          func(t *testing.T) { m.options.Patterns = []string{"./shop"} },
		"the directory":     func(t *testing.T) { m.options.Dir = filepath.Join(m.dir, "shop") },
		"a check":           func(t *testing.T) { m.options.Check = true },
		"no memory":         func(t *testing.T) { m.options.Memory = "" },
	} {
		t.Run(name, func(t *testing.T) {
			files, options := snapshot(t, m.dir), m.options
			change(t)
			if m.run(t).Remembered {
				t.Error("not seen")
			}
			m.options = options
			restore(t, m.dir, files)
		})
		if r := m.run(t); len(r.Diagnostics) > 0 { // else it is remembered, if it was not still
			t.Fatalf("%s: the module is not as it was:\n%s", name, r.Diagnostics.Text())
		}
	}
	m.wantRemembered(t)
}

// What a run does not look at is no reason to look again.
func TestOtherFilesMakeNoRunForget(t *testing.T) {
	m := newRemembering(t)
	m.write(t, "shop/notes.txt", "Changed.\n")
	m.write(t, "shop/.shop.go.swp", "of an editor")
	m.write(t, "shop/testdata/old.go", "package older\n")
	m.write(t, "other/other.go", "package other\n\nvar X int\n")
	m.wantRemembered(t)
}

func TestARunThatWroteNeedNotBeRepeated(t *testing.T) {
	m := newRemembering(t)
	m.replace(t, "shop/shop.idem.yaml", "S.", "Other.")
	m.write(t, "shop/old_idem.go", m.read(t, "shop/shop_idem.go")) // whose contract is gone
	if r := m.run(t); r.Remembered || len(r.Files) != 4 {
		t.Fatalf("%+v", r)
	}
	m.wantRemembered(t)
}

// Errors and warnings are told again.
func TestARunWithDiagnosticsIsNotRemembered(t *testing.T) {
	m := newRemembering(t)
	m.replace(t, "shop/shop.idem.yaml", "window: forever", "window: 30d")
	if m.run(t); len(m.run(t).Diagnostics) > 0 {
		t.Fatal("something is wrong already")
	}
	for _, c := range []struct{ old, new, want string }{
		{"window: 30d", "window: 20d", "warning"}, // work is forgotten earlier
		{"key: ID", "key: Id", "Id"},
	} {
		m.replace(t, "shop/shop.idem.yaml", c.old, c.new)
		r := m.run(t)
		if text := r.Diagnostics.Text(); !strings.Contains(text, c.want) {
			t.Fatalf("want %q in\n%s", c.want, text)
		}
		again := m.run(t)
		if again.Remembered || r.Diagnostics.HasErrors() && again.Diagnostics.Text() != r.Diagnostics.Text() {
			t.Errorf("is remembered as if nothing had been wrong:\n%s", r.Diagnostics.Text())
		}
	}
}

func TestDamagedMemoryIsHarmless(t *testing.T) {
	m := newRemembering(t)
	m.write(t, "shop/shop_idem.go", m.read(t, "shop/shop_idem.go")+"// mine\n")
	path := m.entry(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// An entry that lies: it tells of the file as it is now.
	edited := m.read(t, "shop/shop_idem.go")
	m.run(t)
	m.wantRemembered(t)
	for name, content := range map[string][]byte{
		"empty":     nil,
		"cut":       good[:len(good)/2],
		"no digest": good[bytes.IndexByte(good, '\n')+1:],
		"changed":   bytes.Replace(good, []byte(`"contracts":1`), []byte(`"contracts":2`), 1),
		"nothing":   []byte("{}"),
		"no trace":  append(good[:bytes.IndexByte(good, '\n')+1:bytes.IndexByte(good, '\n')+1], "{}"...),
		"binary":    bytes.Repeat([]byte{0xff, 0}, 1000),
	} {
		if bytes.Equal(content, good) {
			t.Fatal("nothing is damaged")
		}
		m.write(t, "shop/shop_idem.go", edited)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := m.run(t); r.Remembered || m.read(t, "shop/shop_idem.go") == edited {
			t.Errorf("%s: is believed", name)
		}
		m.wantRemembered(t) // and it is mended
	}
}

func TestWithoutAPlaceNothingIsRememberedAndNothingFails(t *testing.T) {
	m := newRemembering(t)
	m.options.Memory = filepath.Join(m.dir, "shop", "notes.txt") // no directory
	for range 2 {
		if r := m.run(t); r.Remembered || len(r.Files) != 3 {
			t.Errorf("%+v", r)
		}
	}
}

func TestRunsAtOnceShareAMemory(t *testing.T) {
	m := newRemembering(t)
	for n := range 4 {
		m.replace(t, "shop/shop.go", "package shop\n", "package shop\n\n// Changed.\n")
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(func() {
				r, err := generator.Run(t.Context(), m.options)
				if err != nil || len(r.Diagnostics) > 0 || len(r.Files) != 3 {
					t.Error(n, err, r.Diagnostics.Text())
				}
			})
		}
		runs.Wait()
		m.wantRemembered(t)
	}
	if left, err := filepath.Glob(filepath.Join(m.options.Memory, "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// entry is the one that there is.
func (m *remembering) entry(t *testing.T) string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(m.options.Memory, "*.run"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries: %q, %v", entries, err)
	}
	return entries[0]
}

// snapshot and restore bring a directory back to what it was.
func snapshot(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func restore(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for path := range snapshot(t, dir) {
		if _, ok := files[path]; !ok {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path := range maps.Keys(files) {
		writeFile(t, path, string(files[path]))
	}
}
