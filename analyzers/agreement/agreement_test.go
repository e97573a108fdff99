package agreement

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"gopkg.in/yaml.v3"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/driver"
	"github.com/idemgen/idem/analyzers/golangci"
	"github.com/idemgen/idem/analyzers/gopls/lsptest"
)

// The test binary is the tool that go vet starts.
func TestMain(m *testing.M) {
	if driver.IsUnit(os.Args[1:]) {
		os.Exit(driver.Unit(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// modules are what the drivers are compared on: the packages of the rules' tests,
// and a module whose findings come over several packages and another module.
func modules(t *testing.T) map[string]string {
	t.Helper()
	corpus, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("testdata/packages.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"the rules' tests": corpus, "several packages": dir}
}

// finding is how findings are compared: position, rule and message in one line.
func finding(file string, line, column int, rule, message string) string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", filepath.ToSlash(file), line, column, rule, message)
}

func same(t *testing.T, want, got map[string]bool) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("idemlint (-), it (+):\n%s", diff)
	}
	t.Logf("%d findings", len(got))
}

func TestAllDriversFindTheSame(t *testing.T) {
	all := modules(t)
	want := map[string]map[string]bool{}
	for name, dir := range all {
		want[name] = standalone(t, dir)
		if len(want[name]) < 5 {
			t.Fatalf("%s: only %d findings", name, len(want[name]))
		}
	}
	for driver, run := range map[string]func(t *testing.T) func(t *testing.T, dir string) map[string]bool{
		"go vet":        func(*testing.T) func(*testing.T, string) map[string]bool { return goVet },
		"golangci-lint": golangciLint,
		"gopls":         editor,
	} {
		t.Run(driver, func(t *testing.T) {
			findings := run(t)
			for name, dir := range all {
				t.Run(name, func(t *testing.T) {
					expected := want[name]
					if driver == "go vet" {
						expected = unnamed(expected)
					}
					same(t, expected, findings(t, dir))
				})
			}
		})
	}
}

// standalone is what idemlint reports.
func standalone(t *testing.T, dir string) map[string]bool {
	t.Helper()
	report, err := driver.Run(context.Background(), driver.Options{Tool: os.Args[0], Dir: dir, Packages: []string{"./..."}})
	if err != nil || report.Errors != "" || len(report.Notes) > 0 {
		t.Fatal(err, report.Errors, report.Notes)
	}
	found := map[string]bool{}
	for _, f := range report.Findings {
		found[finding(driver.Relative(dir, f.Pos.File), f.Pos.Line, f.Pos.Column, f.Rule, f.Message)] = true
	}
	return found
}

// goVet is what go vet prints for people, which names no rules.
func goVet(t *testing.T, dir string) map[string]bool {
	t.Helper()
	cmd := exec.Command("go", "vet", "-vettool="+os.Args[0], "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := regexp.MustCompile(`^(.+\.go):(\d+:\d+): (.*)$`)
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		m := printed.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m == nil && strings.HasPrefix(line, "# "), m != nil && strings.HasPrefix(m[3], "\t"):
			// a package, or a related place
		case m == nil:
			t.Errorf("go vet says %s", line)
		default:
			found[fmt.Sprintf("%s:%s: %s", filepath.ToSlash(driver.Relative(dir, m[1])), m[2], m[3])] = true
		}
	}
	return found
}

// unnamed are findings without their rules.
func unnamed(findings map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for f := range findings {
		parts := strings.SplitN(f, ": ", 3)
		rest[parts[0]+": "+parts[2]] = true
	}
	return rest
}

// editor has gopls look at every file, as if each were open.
func editor(t *testing.T) func(*testing.T, string) map[string]bool {
	tool := lsptest.Gopls(t)
	return func(t *testing.T, dir string) map[string]bool {
		t.Helper()
		c, err := lsptest.Start(t.Context(), tool, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		var rules []string
		for _, d := range analyzers.Docs() {
			rules = append(rules, d.Name)
		}
		found := map[string]bool{}
		for _, file := range goFiles(t, dir) {
			if err := c.Open(file); err != nil {
				t.Fatal(err)
			}
			diagnostics, err := c.Diagnostics(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range diagnostics {
				if slices.Contains(rules, d.Source) {
					line, column := c.Position(file, d.Range.Start)
					found[finding(driver.Relative(dir, file), line, column, d.Source, d.Message)] = true
				}
			}
		}
		return found
	}
}

// goFiles are those of the module in a folder and of no other.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != dir {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(name, ".go") {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const golangciVersion = "v2.15.0"

const golangciMain = `package main

import (
	"os"

	"github.com/golangci/golangci-lint/v2/pkg/commands"

	_ "github.com/idemgen/idem/analyzers/golangci"
)

func main() {
	if err := commands.Execute(commands.BuildInfo{Version: "` + golangciVersion + `"}); err != nil {
		os.Exit(3)
	}
}
`

// golangciLint builds a golangci-lint with the plugin, which takes minutes: it runs
// if IDEM_TEST_GOLANGCI is set.
func golangciLint(t *testing.T) func(*testing.T, string) map[string]bool {
	if os.Getenv("IDEM_TEST_GOLANGCI") == "" {
		t.Skip("IDEM_TEST_GOLANGCI is not set")
	}
	tool := buildGolangci(t)
	return func(t *testing.T, dir string) map[string]bool {
		t.Helper()
		scratch := t.TempDir()
		config := filepath.Join(scratch, "golangci.yml")
		if err := os.WriteFile(config, golangciConfig(t, dir), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(tool, "run", "--config", config, "--path-mode", "abs", "--issues-exit-code", "0", "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOLANGCI_LINT_CACHE="+filepath.Join(scratch, "cache"))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var result struct {
			Issues []struct {
				Text string
				Pos  struct {
					Filename     string
					Line, Column int
				}
			}
		}
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&result); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found := map[string]bool{}
		for _, i := range result.Issues {
			rule, message, _ := strings.Cut(i.Text, ": ")
			found[finding(driver.Relative(dir, i.Pos.Filename), i.Pos.Line, i.Pos.Column, rule, message)] = true
		}
		return found
	}
}

// golangciConfig runs the linter alone, with the catalogue that the other drivers
// read from a file.
func golangciConfig(t *testing.T, dir string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, analyzers.ConfigName))
	if err != nil {
		t.Fatal(err)
	}
	var catalogue any
	if err := yaml.Unmarshal(src, &catalogue); err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	text, err := yaml.Marshal(m{
		"version": "2",
		"linters": m{
			"default": "none", "enable": []string{golangci.Name},
			"settings": m{"custom": m{golangci.Name: m{"type": "module", "description": "effects that happen twice", "settings": m{"catalogue": catalogue}}}},
		},
		"issues": m{"max-issues-per-linter": 0, "max-same-issues": 0, "uniq-by-line": false},
		"output": m{"show-stats": false, "formats": m{"json": m{"path": "stdout"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func buildGolangci(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/golangci\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/golangci/golangci-lint/v2 " + golangciVersion + "\n\tgithub.com/idemgen/idem v0.0.0\n)\n\nreplace github.com/idemgen/idem => " + root + "\n",
		"main.go": golangciMain,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := filepath.Join(dir, "golangci-lint")
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", tool, "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	return tool
}
