package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func module(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module example.com/m\n\ngo 1.26\n",
		"sub/m.go": "package sub\n\nimport (\n\t\"net/http\"\n\t\"time\"\n)\n\nfunc F(r *http.Request) {\n\t" + body + "\n}\n\nvar _ = time.Now\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func lint(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("GITHUB_WORKSPACE", "")
	var out, err bytes.Buffer
	p := &program{stdout: &out, stderr: &err, executable: os.Executable}
	code = p.main(context.Background(), args)
	return code, out.String(), err.String()
}

const faulty = `r.Header.Set("Idempotency-Key", time.Now().String())`

func TestFindingsAreExitCode3InEachFormat(t *testing.T) {
	dir := module(t, faulty)
	const message = "key is new on every attempt: time.Now → Idempotency-Key (derive it from the work ID)"
	code, out, stderr := lint(t, "-C", dir)
	if want := "sub/m.go:9:34: " + message + " (randomkey)\n"; code != exitFindings || filepath.ToSlash(out) != want || stderr != "" {
		t.Errorf("text: %d\n%s%s", code, out, stderr)
	}
	code, out, _ = lint(t, "-C", dir, "-format", "github")
	if want := "::warning file=sub/m.go,line=9,col=34,endLine=9,endColumn=53,title=idemlint randomkey::" + message + "\n"; code != exitFindings || out != want {
		t.Errorf("github: %d\n%s", code, out)
	}
	code, out, _ = lint(t, "-C", dir, "-json", "./sub")
	type place struct {
		File         string
		Line, Column int
	}
	var report struct {
		Findings []struct {
			Rule, Message, URL string
			Pos                place
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitFindings || len(report.Findings) != 1 {
		t.Fatalf("json: %d, %v\n%s", code, err, out)
	}
	if f := report.Findings[0]; f.Rule != "randomkey" || f.Pos != (place{"sub/m.go", 9, 34}) || f.Message != message || f.URL == "" {
		t.Errorf("json: %+v", f)
	}
}

func TestCleanCodeIsExitCode0(t *testing.T) {
	if code, out, stderr := lint(t, "-C", module(t, `r.Header.Set("Idempotency-Key", r.URL.Path)`)); code != exitClean || out+stderr != "" {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
}

func TestWhatDoesNotBuildIsExitCode1(t *testing.T) {
	dir := module(t, `r.Header.Set("Idempotency-Key", 1)`)
	for range 2 { // what the go command remembers must say so again
		if code, out, stderr := lint(t, "-C", dir); code != exitErrors || out != "" || !strings.Contains(stderr, "m.go:9:34: cannot use 1") {
			t.Errorf("%d\n%s%s", code, out, stderr)
		}
	}
}

func TestWrongFlagsSayWhatIsKnown(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-format", "xml"}, "-format xml: want text, json or github"},
		{[]string{"-randomkey=maybe"}, "want true or false"},
		{[]string{"-explain", "nosuch"}, `no rule "nosuch"; the rules are randomkey`},
		{[]string{"-nosuch"}, "flag provided but not defined: -nosuch"},
	} {
		if code, _, stderr := lint(t, test.args...); code != exitErrors || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: %d\n%s", test.args, code, stderr)
		}
	}
}

func TestExplainPrintsThePage(t *testing.T) {
	for _, d := range analyzers.Docs() {
		code, out, _ := lint(t, "-explain", d.Name)
		for _, part := range []string{d.Name + ": " + d.Title, strings.TrimSpace(d.Why), strings.TrimSpace(d.Fix), "\t"} {
			if code != exitClean || !strings.Contains(out, part) {
				t.Errorf("%s: %d, no %q in\n%s", d.Name, code, part, out)
			}
		}
	}
}

func TestARuleMayBeTurnedOff(t *testing.T) {
	if code, out, _ := lint(t, "-C", module(t, faulty), "-randomkey=false"); code != exitClean {
		t.Errorf("%d\n%s", code, out)
	}
}
