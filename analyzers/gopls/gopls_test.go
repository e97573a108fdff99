package gopls

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheGoplsIsTheNewestThatFitsTheGoAtHand(t *testing.T) {
	for _, test := range []struct{ goVersion, toolchain, want, failure string }{
		{"go1.26.8", "local", "v0.23.0", ""},
		{"go1.26.8 X:nocoverageredesign", "local", "v0.23.0", ""},
		{"go1.27.0", "local", "v0.24.0", ""},
		{"go1.99", "auto", "v0.24.0", ""},
		{"devel go1.28-abcdef", "local", "v0.24.0", ""},
		{"go1.25.3", "auto", "v0.23.0", ""},
		{"go1.25.3", "local", "", "gopls v0.23.0, the oldest that the rules fit, needs go1.26; this is go1.25.3: use a newer Go, or let the go command fetch one (GOTOOLCHAIN=auto)"},
	} {
		got, err := choose(test.goVersion, test.toolchain)
		failure := ""
		if err != nil {
			failure = err.Error()
		}
		if got != test.want || failure != test.failure {
			t.Errorf("%s, GOTOOLCHAIN=%s: %s, %s", test.goVersion, test.toolchain, got, failure)
		}
	}
}

func TestWhatKeepsItFromBeingBuiltIsSaid(t *testing.T) {
	out := filepath.Join(t.TempDir(), "gopls")
	for _, test := range []struct {
		name    string
		env     map[string]string
		options Options
		want    []string
	}{
		{"no file", nil, Options{}, []string{"-o FILE"}},
		{"no network", map[string]string{"GOMODCACHE": t.TempDir(), "GOPROXY": "off", "GOFLAGS": "-modcacherw"}, Options{Output: out, Version: "v0.23.0"},
			[]string{"golang.org/x/tools/gopls@v0.23.0 is not in the module cache and cannot be downloaded", "GOPROXY=off", "go mod download golang.org/x/tools/gopls@v0.23.0"}},
		{"no such version", map[string]string{"GOPROXY": "off"}, Options{Output: out, Version: "v0.0.99"}, []string{"golang.org/x/tools/gopls@v0.0.99"}},
		{"no go command", map[string]string{"PATH": t.TempDir()}, Options{Output: out}, []string{"the go command is not to be found"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			err := Build(context.Background(), test.options)
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %s", err, want)
				}
			}
		})
	}
}

func TestAGoplsOfAnotherMakeIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := fits(dir); err == nil || !strings.Contains(err.Error(), "no list of analyzers") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "analysis.go"), []byte("package settings\n\nvar AllAnalyzers = f()\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fits(dir); err == nil || !strings.Contains(err.Error(), "v0.24.0, v0.23.0") {
		t.Error(err)
	}
}

// TestTheRulesCompileWithTheToolsOfGopls builds them, alone, as they are built into
// the oldest gopls that they fit.
func TestTheRulesCompileWithTheToolsOfGopls(t *testing.T) {
	dir := t.TempDir()
	if err := writeOwn(dir, "go 1.26.0\n\nrequire (\n\tgolang.org/x/tools v0.47.1-0.20260707181000-a299dadba899\n\tgopkg.in/yaml.v3 v3.0.1\n)\n"); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join("..", "..", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-mod=mod", "./analyzers")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
