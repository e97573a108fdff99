package golangci

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"gopkg.in/yaml.v3"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/driver"
)

// The test binary is the tool that go vet starts.
func TestMain(m *testing.M) {
	if driver.IsUnit(os.Args[1:]) {
		os.Exit(driver.Unit(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func build(t *testing.T, settings any) ([]*analysis.Analyzer, error) {
	t.Helper()
	newPlugin, err := register.GetPlugin(Name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlugin(settings)
	if err != nil {
		return nil, err
	}
	if p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("load mode %s", p.GetLoadMode())
	}
	return p.BuildAnalyzers()
}

func TestSettingsChooseRules(t *testing.T) {
	all := len(analyzers.Docs())
	for _, test := range []struct {
		settings any
		want     int
	}{
		{nil, all},
		{map[string]any{}, all},
		{map[string]any{"rules": []any{"randomkey"}}, 1},
		{map[string]any{"disable": []any{"randomkey"}}, all - 1},
	} {
		got, err := build(t, test.settings)
		if err != nil || len(got) != test.want || analysis.Validate(got) != nil {
			t.Errorf("%v: %d rules, %v", test.settings, len(got), err)
		}
	}
}

func TestWrongSettingsSayWhatIsWrong(t *testing.T) {
	for want, settings := range map[string]any{
		`idemlint: no rule "nosuch"; the rules are randomkey, `: map[string]any{"disable": []any{"nosuch"}},
		`idemlint: no rule is left to run`:                      map[string]any{"rules": []any{"randomkey"}, "disable": []any{"randomkey"}},
		`unknown field "ruels"`:                                 map[string]any{"ruels": []any{"randomkey"}},
		`want a list of packages`:                               map[string]any{"catalogue": map[string]any{"ecosystem": "own", "packages": 1}},
	} {
		if _, err := build(t, settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v", settings, err)
		}
	}
}

// TestNoFindingHasARelatedPlace runs the linter's analyzers over packages where
// the same rules do name related places.
func TestNoFindingHasARelatedPlace(t *testing.T) {
	dir := corpus(t)
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir}, "./randomkey")
	if err != nil {
		t.Fatal(err)
	}
	related := func(all []*analysis.Analyzer) (findings, related int) {
		graph, err := checker.Analyze(all, pkgs, nil)
		if err != nil {
			t.Fatal(err)
		}
		for a := range graph.All() {
			if a.IsRoot {
				findings += len(a.Diagnostics)
				for _, d := range a.Diagnostics {
					related += len(d.Related)
				}
			}
		}
		return findings, related
	}
	plain, err := analyzers.New(analyzers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	linter, err := build(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantFindings, some := related(plain)
	gotFindings, none := related(linter)
	if some == 0 || none != 0 || gotFindings != wantFindings {
		t.Errorf("%d findings with %d related places, and %d with %d in golangci-lint", wantFindings, some, gotFindings, none)
	}
}

func corpus(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
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

// golangciConfig runs the linter alone, with the catalogue of the packages under
// test, which stands in a file that the other drivers read.
func golangciConfig(t *testing.T, dir string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, ".idemlint.yaml"))
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
			"default": "none", "enable": []string{Name},
			"settings": m{"custom": m{Name: m{"type": "module", "description": "effects that happen twice", "settings": m{"catalogue": catalogue}}}},
		},
		"issues": m{"max-issues-per-linter": 0, "max-same-issues": 0, "uniq-by-line": false},
		"output": m{"show-stats": false, "formats": m{"json": m{"path": "stdout"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGolangciLintFindsWhatGoVetFinds builds a golangci-lint with the plugin, which
// takes minutes: it runs if IDEM_TEST_GOLANGCI is set.
func TestGolangciLintFindsWhatGoVetFinds(t *testing.T) {
	if os.Getenv("IDEM_TEST_GOLANGCI") == "" {
		t.Skip("IDEM_TEST_GOLANGCI is not set")
	}
	dir := corpus(t)
	report, err := driver.Run(context.Background(), driver.Options{Tool: os.Args[0], Dir: dir, Packages: []string{"./..."}})
	if err != nil || report.Errors != "" {
		t.Fatal(err, report.Errors)
	}
	want := map[string]bool{}
	for _, f := range report.Findings {
		f.Pos.File = driver.Relative(dir, f.Pos.File)
		want[fmt.Sprintf("%v: %s: %s", f.Pos, f.Rule, f.Message)] = true
	}
	scratch := t.TempDir()
	tool := buildGolangci(t, scratch)
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
	if err := json.NewDecoder(strings.NewReader(string(out))).Decode(&result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]bool{}
	for _, i := range result.Issues {
		at := driver.Position{File: driver.Relative(dir, i.Pos.Filename), Line: i.Pos.Line, Column: i.Pos.Column}
		got[fmt.Sprintf("%v: %s", at, i.Text)] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" || len(want) == 0 {
		t.Errorf("go vet (-), golangci-lint (+):\n%s", diff)
	}
	t.Logf("%d findings", len(want))
}

func buildGolangci(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
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
