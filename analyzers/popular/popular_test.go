package popular

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/analyzers/driver"
)

// The test binary is the tool that go vet starts.
func TestMain(m *testing.M) {
	if driver.IsUnit(os.Args[1:]) {
		os.Exit(driver.Unit(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func modules(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

func TestThereAreAHundredModulesEachOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range modules(t) {
		path, version, ok := strings.Cut(m, "@v")
		if !ok || version == "" || seen[path] {
			t.Errorf("%s: want each module once, with its version", m)
		}
		seen[path] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d modules", len(seen))
	}
}

func TestNoModuleMakesARulePanic(t *testing.T) {
	pattern := os.Getenv("IDEM_TEST_POPULAR")
	switch pattern {
	case "":
		t.Skip("IDEM_TEST_POPULAR is not set")
	case "all":
		pattern = "."
	}
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", "off") // some hold a workspace file, and not its other modules
	looked, packages, findings := 0, 0, 0
	for _, m := range modules(t) {
		if !wanted.MatchString(m) {
			continue
		}
		t.Run(m, func(t *testing.T) {
			dir := t.TempDir()
			if err := unpack(m, dir); err != nil {
				t.Fatal(err)
			}
			n := loadable(t, dir)
			if n == 0 {
				t.Fatal("no package of it can be loaded")
			}
			start := time.Now()
			r, err := driver.Run(t.Context(), driver.Options{Tool: os.Args[0], Dir: dir, Packages: []string{"./..."}})
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"panic", "goroutine ", "fault of idemlint"} {
				if strings.Contains(r.Errors, word) {
					t.Errorf("%q in\n%s", word, r.Errors)
				}
			}
			for _, note := range r.Notes {
				t.Errorf("%v: %s", note.Pos, note.Message)
			}
			looked, packages, findings = looked+1, packages+n, findings+len(r.Findings)
			t.Logf("%d packages in %v, %d findings", n, time.Since(start).Round(time.Millisecond), len(r.Findings))
		})
	}
	t.Logf("%d modules, %d packages, %d findings", looked, packages, findings)
}

// unpack copies a module of the proxy, which is then the one that is worked on.
func unpack(module, dir string) error {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return fmt.Errorf("go mod download %s: %w\n%s", module, err, out)
	}
	var m struct{ Dir, Path string }
	if err := json.Unmarshal(out, &m); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		return err
	}
	if err := filepath.WalkDir(dir, writable); err != nil {
		return err
	}
	file := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return os.WriteFile(file, []byte("module "+m.Path+"\n\ngo 1.26\n"), 0o644)
}

// writable lets files be removed again: the module cache is not to be written to.
func writable(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		return os.Chmod(name, 0o755)
	}
	return os.Chmod(name, 0o644)
}

// loadable counts the packages of a module that can be loaded: what some import
// cannot be had.
func loadable(t *testing.T, dir string) int {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-f", "{{if not (or .Error .DepsErrors .Incomplete)}}{{.ImportPath}}{{end}}", "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return len(strings.Fields(string(out)))
}
