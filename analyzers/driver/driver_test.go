package driver

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idem/analyzers"
)

// The test binary is the tool that go vet starts.
func TestMain(m *testing.M) {
	if IsUnit(os.Args[1:]) {
		os.Exit(Unit(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func run(t *testing.T, dir string, o Options) Report {
	t.Helper()
	o.Tool, o.Dir = os.Args[0], dir
	if o.Packages == nil {
		o.Packages = []string{"./..."}
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func corpus(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestGoVetFindsWhatTheRulesTestsExpect runs over the packages of the rules' tests,
// and holds the findings against the comments that those tests go by.
func TestGoVetFindsWhatTheRulesTestsExpect(t *testing.T) {
	dir := corpus(t)
	r := run(t, dir, Options{})
	if r.Errors != "" || len(r.Notes) > 0 {
		t.Fatalf("errors %q, notes %v", r.Errors, r.Notes)
	}
	found := map[string][]string{}
	for _, f := range r.Findings {
		where := Relative(dir, f.Pos.File)
		if folder, _, _ := strings.Cut(filepath.ToSlash(where), "/"); folder == f.Rule { // each rule's test runs that rule alone
			found[where] = append(found[where], f.Message)
		}
		if !strings.HasPrefix(f.URL, "https://") {
			t.Errorf("%v has no URL", f.Pos)
		}
	}
	expected := wants(t, dir)
	for file, messages := range found {
		if len(messages) != len(expected[file]) {
			t.Errorf("%s: got %d findings, the comments want %d", file, len(messages), len(expected[file]))
		}
	}
	for file, patterns := range expected {
		for _, re := range patterns {
			if !slices.ContainsFunc(found[file], re.MatchString) {
				t.Errorf("%s: nothing matches %s", file, re)
			}
		}
	}
}

// wants reads the expectations of analysistest, those of facts aside.
func wants(t *testing.T, dir string) map[string][]*regexp.Regexp {
	t.Helper()
	all := map[string][]*regexp.Regexp{}
	var files []string
	for _, depth := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(dir, depth, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		where := Relative(dir, name)
		folder, _, _ := strings.Cut(filepath.ToSlash(where), "/")
		if !slices.ContainsFunc(analyzers.Docs(), func(d analyzers.Doc) bool { return d.Name == folder }) {
			continue // of the engine's tests
		}
		for line := range strings.Lines(string(src)) {
			_, rest, _ := strings.Cut(line, " want ")
			for {
				quoted, err := strconv.QuotedPrefix(rest)
				if err != nil {
					break
				}
				pattern, err := strconv.Unquote(quoted)
				if err != nil {
					t.Fatal(err)
				}
				all[where] = append(all[where], regexp.MustCompile(pattern))
				rest = strings.TrimPrefix(rest[len(quoted):], " ")
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no expectations")
	}
	return all
}

// write makes a module of files in a folder of its own.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	goMod  = "module example.com/m\n\ngo 1.26\n"
	faulty = "package m\n\nimport (\n\t\"net/http\"\n\t\"time\"\n)\n\nfunc F(r *http.Request) { r.Header.Set(\"Idempotency-Key\", time.Now().String()) }\n"
)

func TestTestFilesAreLookedAtOnRequest(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": goMod, "m.go": "package m\n", "m_test.go": faulty})
	if r := run(t, dir, Options{}); len(r.Findings) != 0 {
		t.Errorf("got %v", r.Findings)
	}
	if r := run(t, dir, Options{Args: []string{"-tests"}}); len(r.Findings) != 1 {
		t.Errorf("with -tests: got %v", r.Findings)
	}
}

func TestRulesCanBeChosen(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": goMod, "m.go": faulty})
	for _, test := range []struct {
		args []string
		want int
	}{{nil, 1}, {[]string{"-randomkey"}, 1}, {[]string{"-randomkey=false"}, 0}} {
		if r := run(t, dir, Options{Args: test.args}); len(r.Findings) != test.want {
			t.Errorf("%v: got %v", test.args, r.Findings)
		}
	}
}

// TestAUsersCatalogueCounts also holds that a change of it is seen although no Go
// file has changed.
func TestAUsersCatalogueCounts(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod":       goMod,
		"own/own.go":   "package own\n\nfunc Mint() string { return \"\" }\n",
		"pay/pay.go":   "package pay\n\nimport (\n\t\"example.com/m/own\"\n\t\"net/http\"\n)\n\nfunc F(r *http.Request) { r.Header.Set(\"Idempotency-Key\", own.Mint()) }\n",
		"pay/other.go": "package pay\n",
	})
	if r := run(t, dir, Options{}); len(r.Findings) != 0 {
		t.Fatalf("got %v", r.Findings)
	}
	src := "ecosystem: own\npackages:\n  - path: example.com/m/own\n    source:\n      - {name: Mint, volatile: random, reason: asks the server}\n"
	if err := os.WriteFile(filepath.Join(dir, analyzers.ConfigName), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir, Options{})
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "own.Mint → Idempotency-Key") {
		t.Errorf("got %v, %s", r.Findings, r.Errors)
	}
	if err := os.WriteFile(filepath.Join(dir, analyzers.ConfigName), []byte("ecosystem: own\npackages: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := run(t, dir, Options{}); !strings.Contains(r.Errors, analyzers.ConfigName+":2: want a list of packages") {
		t.Errorf("a wrong catalogue: got %q", r.Errors)
	}
}

func TestEachModuleOfAWorkspaceMayHaveACatalogue(t *testing.T) {
	dir := write(t, map[string]string{
		"go.work":      "go 1.26\n\nuse (\n\t./a\n\t./b\n)\n",
		"a/go.mod":     "module example.com/a\n\ngo 1.26\n",
		"a/own/own.go": "package own\n\nfunc Mint() string { return \"\" }\n",
		"b/go.mod":     "module example.com/b\n\ngo 1.26\n",
		"b/b.go":       "package b\n\nimport (\n\t\"example.com/a/own\"\n\t\"net/http\"\n)\n\nfunc F(r *http.Request) { r.Header.Set(\"Idempotency-Key\", own.Mint()) }\n",
	})
	o := Options{Packages: []string{"./a/...", "./b/..."}}
	if r := run(t, dir, o); len(r.Findings) != 0 || r.Errors != "" {
		t.Fatalf("got %v, %s", r.Findings, r.Errors)
	}
	src := "ecosystem: own\npackages:\n  - path: example.com/a/own\n    source:\n      - {name: Mint, volatile: random, reason: asks the server}\n"
	if err := os.WriteFile(filepath.Join(dir, "b", analyzers.ConfigName), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := run(t, dir, o); len(r.Findings) != 1 {
		t.Errorf("got %v, %s", r.Findings, r.Errors)
	}
}

func TestWhatDoesNotBuildIsAnErrorAndTheRestIsLookedAt(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": goMod, "m.go": faulty, "broken/b.go": "package broken\n\nvar x int = \"\"\n"})
	r := run(t, dir, Options{})
	if len(r.Findings) != 1 || !strings.Contains(r.Errors, "broken") {
		t.Errorf("got %v and %q", r.Findings, r.Errors)
	}
}

func TestWhatCannotBeLoadedIsAnErrorAndTheRestIsLookedAt(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": goMod, "m.go": faulty, "broken/b.go": "package broken\n\nimport _ \"example.com/m/nosuch\"\n"})
	r := run(t, dir, Options{})
	if len(r.Findings) != 1 || !strings.Contains(r.Errors, "example.com/m/nosuch") {
		t.Errorf("got %v and %q", r.Findings, r.Errors)
	}
}

func TestFactsOfMethodsAreKnownToWhoDoesNotImportTheirPackage(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod":    goMod,
		"low/l.go":  "package low\n\nimport \"time\"\n\ntype T struct{}\n\nfunc (T) Stamp() string { return time.Now().String() }\n",
		"mid/m.go":  "package mid\n\nimport \"example.com/m/low\"\n\nfunc Get() low.T { return low.T{} }\n",
		"high/h.go": "package high\n\nimport (\n\t\"example.com/m/mid\"\n\t\"net/http\"\n)\n\nfunc F(r *http.Request) { r.Header.Set(\"Idempotency-Key\", mid.Get().Stamp()) }\n",
	})
	r := run(t, dir, Options{})
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "time.Now → T.Stamp → Idempotency-Key") {
		t.Errorf("got %v, %s", r.Findings, r.Errors)
	}
}

func TestGoVetPrintsFindingsAsText(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": goMod, "m.go": faulty})
	cmd := exec.Command("go", "vet", "-vettool="+os.Args[0], "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "m.go:8:59: key is new on every attempt: time.Now → Idempotency-Key") {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestPositionsAreReadFromTheirEnd(t *testing.T) {
	for s, want := range map[string]Position{
		"/a/b.go:3:14": {"/a/b.go", 3, 14},
		`C:\b.go:3:14`: {`C:\b.go`, 3, 14},
		"/a/b.go:3":    {"/a/b.go", 3, 0},
		"/a:b/c.go":    {"/a:b/c.go", 0, 0},
		"":             {},
	} {
		if got := parsePosition(s); got != want {
			t.Errorf("%q: got %+v", s, got)
		}
	}
}

// A package that has nothing to say is not even parsed: of most dependencies a run
// reads no file, which is what makes it cheap.
func TestWhatCannotMatterIsNotParsed(t *testing.T) {
	dir := t.TempDir()
	facts := filepath.Join(dir, "facts")
	for _, test := range []struct {
		name, path, version, imports string
		code                         int
	}{
		{"a dependency that imports nothing of the catalogue", "example.com/dep", "v1.0.0", "strings", 0},
		{"a dependency that does", "example.com/dep", "v1.0.0", "net/http", 1},
		{"a package of the module", "example.com/m", "", "strings", 1},
	} {
		data, err := json.Marshal(unit{
			ID: test.path, Dir: dir, ImportPath: test.path, GoVersion: "go1.26", GoFiles: []string{filepath.Join(dir, "nosuch.go")},
			ModulePath: test.path, ModuleVersion: test.version, ImportMap: map[string]string{test.imports: test.imports},
			VetxOnly: true, VetxOutput: facts,
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg := filepath.Join(dir, "vet.cfg")
		if err := os.WriteFile(cfg, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr strings.Builder
		if code := Unit([]string{cfg}, &stdout, &stderr); code != test.code {
			t.Errorf("%s: %d, want %d\n%s%s", test.name, code, test.code, stdout.String(), stderr.String())
		}
	}
}
