package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func replace(t *testing.T, name, old, text string) {
	t.Helper()
	src := readFile(t, name)
	if !strings.Contains(src, old) {
		t.Fatalf("%s holds no %q", name, old)
	}
	writeFile(t, name, strings.Replace(src, old, text, 1))
}

func TestABaselineLeavesOutWhatItHoldsWhereverItHasMoved(t *testing.T) {
	dir := module(t, faulty)
	file, known := filepath.Join(dir, "sub", "m.go"), filepath.Join(dir, "known.json")
	if code, out, stderr := lint(t, "-C", dir, "-write-baseline", known); code != exitClean || out+stderr != "" {
		t.Fatalf("writing: %d\n%s%s", code, out, stderr)
	}
	if text := readFile(t, known); !strings.Contains(text, `"file": "sub/m.go"`) || !strings.Contains(text, `"rule": "randomkey"`) {
		t.Errorf("written:\n%s", text)
	}
	replace(t, file, "func F", "// A line more.\n\nfunc F")
	if code, out, stderr := lint(t, "-C", dir, "-baseline", known); code != exitClean || out+stderr != "" {
		t.Errorf("moved: %d\n%s%s", code, out, stderr)
	}
	replace(t, file, "\t"+faulty, "\t"+faulty+"\n\t"+faulty)
	if code, out, _ := lint(t, "-C", dir, "-baseline", known); code != exitFindings || strings.Count(out, "randomkey") != 1 {
		t.Errorf("one more of the same: %d\n%s", code, out)
	}
}

func TestNoBaselineIsWrittenOfWhatCouldNotBeLookedAt(t *testing.T) {
	dir := module(t, `r.Header.Set("Idempotency-Key", 1)`)
	known := filepath.Join(dir, "known.json")
	code, _, stderr := lint(t, "-C", dir, "-write-baseline", known)
	if code != exitErrors || !strings.Contains(stderr, "known.json is not written") {
		t.Errorf("%d\n%s", code, stderr)
	}
	if _, err := os.Stat(known); err == nil {
		t.Error("it is written")
	}
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestNewFromReportsOnlyWhatHasChanged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := module(t, faulty)
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "-q", "-m", "first")
	file := filepath.Join(dir, "sub", "m.go")
	replace(t, file, "func F", "// A line more.\nfunc F")
	if code, out, stderr := lint(t, "-C", dir, "-new-from", "HEAD"); code != exitClean || out+stderr != "" {
		t.Errorf("moved: %d\n%s%s", code, out, stderr)
	}
	replace(t, file, "\t"+faulty, "\t"+faulty+"\n\t"+faulty)
	if code, out, _ := lint(t, "-C", dir, "-new-from", "HEAD"); code != exitFindings || strings.Count(out, "randomkey") != 1 || !strings.Contains(out, "m.go:11:") {
		t.Errorf("changed: %d\n%s", code, out)
	}
	writeFile(t, filepath.Join(dir, "sub", "neu \"ü\".go"), strings.Replace(readFile(t, file), "func F", "func G", 1))
	gitIn(t, dir, "add", ".")
	if code, out, _ := lint(t, "-C", dir, "-new-from", "HEAD"); code != exitFindings || strings.Count(out, "randomkey") != 3 {
		t.Errorf("a new file: %d\n%s", code, out)
	}
	gitIn(t, dir, "reset", "-q")
	if code, out, _ := lint(t, "-C", dir, "-new-from", "HEAD"); code != exitFindings || strings.Count(out, "randomkey") != 3 {
		t.Errorf("a file that git does not know: %d\n%s", code, out)
	}
	for revision, want := range map[string]string{"nosuch": "the repository has no such revision", "--output=x": "not a revision"} {
		if code, _, stderr := lint(t, "-C", dir, "-new-from="+revision); code != exitErrors || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d\n%s", revision, code, stderr)
		}
	}
}

// fixable is a module with findings that suggest a fix.
func fixable(t *testing.T, body string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n\nrequire github.com/idemgen/idem v0.0.0\n\nreplace github.com/idemgen/idem => ./idem\n")
	writeFile(t, filepath.Join(dir, "idem", "go.mod"), "module github.com/idemgen/idem\n\ngo 1.26\n")
	writeFile(t, filepath.Join(dir, "idem", "runtime", "r.go"), "package runtime\n\ntype Call struct{}\n\nfunc (Call) Key() string { return \"\" }\n")
	file = filepath.Join(dir, "m.go")
	writeFile(t, file, "package m\n\nimport (\n\t\"crypto/rand\"\n\t\"net/http\"\n\n\tidem \"github.com/idemgen/idem/runtime\"\n)\n\n"+body)
	return dir, file
}

func TestFixAppliesFixesAndReportsTheRest(t *testing.T) {
	dir, file := fixable(t, `// Pay pays „ä“.
func Pay(call idem.Call, r *http.Request) {
	r.Header.Set("Idempotency-Key", rand.Text())
}

func other(r *http.Request) {
	r.Header.Set("Idempotency-Key", rand.Text())
}
`)
	code, out, stderr := lint(t, "-C", dir, "-fix", ".")
	if code != exitFindings || strings.Count(out, "randomkey") != 1 || !strings.Contains(out, "m.go:16:") || stderr != "idemlint: fixed 1 of 2 findings\n" {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
	if text := readFile(t, file); !strings.Contains(text, `r.Header.Set("Idempotency-Key", call.Key())`) || !strings.Contains(text, `"crypto/rand"`) {
		t.Errorf("fixed:\n%s", text)
	}
}

func TestFixTakesAwayImportsThatAreLeftWithoutUse(t *testing.T) {
	dir, file := fixable(t, "func Pay(call idem.Call, r *http.Request) {\n\tr.Header.Set(\"Idempotency-Key\", rand.Text())\n}\n")
	if code, out, stderr := lint(t, "-C", dir, "-fix", "."); code != exitClean || out != "" || stderr != "idemlint: fixed 1 of 1 findings\n" {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
	want := "package m\n\nimport (\n\t\"net/http\"\n\n\tidem \"github.com/idemgen/idem/runtime\"\n)\n\nfunc Pay(call idem.Call, r *http.Request) {\n\tr.Header.Set(\"Idempotency-Key\", call.Key())\n}\n"
	if text := readFile(t, file); text != want {
		t.Errorf("fixed:\n%s", text)
	}
}

// readSARIF reads a file after it has been held against the schema. The library
// reads it; it has the schema as well, but only for what it writes itself.
func readSARIF(t *testing.T, name string) *sarif.Report {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sarif.json", sarifSchema(t)); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Fatal(err)
	}
	log, err := sarif.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func sarifSchema(t *testing.T) any {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || schema != nil {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		if schema, err = jsonschema.UnmarshalJSON(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return false
	})
	return schema
}

func TestSARIFHoldsToItsSchema(t *testing.T) {
	dir, _ := fixable(t, "func Pay(call idem.Call, r *http.Request) {\n\tkey := /* „𝛿“ */ rand.Text()\n\tr.Header.Set(\"Idempotency-Key\", key)\n}\n")
	name := filepath.Join(dir, "out.sarif")
	if code, _, stderr := lint(t, "-C", dir, "-sarif", name, "."); code != exitFindings || stderr != "" {
		t.Fatalf("%d\n%s", code, stderr)
	}
	run := readSARIF(t, name).Runs[0]
	if len(run.Results) != 1 || len(run.Invocations) != 1 || !*run.Invocations[0].ExecutionSuccessful {
		t.Fatalf("%d results, %d invocations", len(run.Results), len(run.Invocations))
	}
	r := run.Results[0]
	rule := run.Tool.Driver.Rules[r.RuleIndex]
	if *r.RuleID != "randomkey" || *rule.ID != "randomkey" || rule.Help.Markdown == nil || rule.HelpURI == nil {
		t.Errorf("rule %s at %d", *r.RuleID, r.RuleIndex)
	}
	at := r.Locations[0].PhysicalLocation
	if *at.ArtifactLocation.URI != "m.go" || *at.ArtifactLocation.URIBaseID != "SRCROOT" {
		t.Errorf("in %s of %s", *at.ArtifactLocation.URI, *at.ArtifactLocation.URIBaseID)
	}
	if *at.Region.StartLine != 11 || *at.Region.StartColumn != 20 || *at.Region.EndColumn != 31 {
		t.Errorf("at %d:%d-%d", *at.Region.StartLine, *at.Region.StartColumn, *at.Region.EndColumn)
	}
	if len(r.RelatedLocations) != 1 || *r.RelatedLocations[0].PhysicalLocation.Region.StartLine != 12 {
		t.Errorf("%d related locations", len(r.RelatedLocations))
	}
	if len(r.Fixes) != 1 || *r.Fixes[0].ArtifactChanges[0].Replacements[0].InsertedContent.Text != "call.Key()" || *r.Fixes[0].ArtifactChanges[0].Replacements[0].DeletedRegion.StartColumn != 20 {
		t.Errorf("%d fixes", len(r.Fixes))
	}
}

func TestSARIFSaysWhatCouldNotBeLookedAt(t *testing.T) {
	dir := module(t, `r.Header.Set("Idempotency-Key", 1)`)
	name := filepath.Join(dir, "out.sarif")
	if code, _, _ := lint(t, "-C", dir, "-sarif", name); code != exitErrors {
		t.Errorf("%d", code)
	}
	i := readSARIF(t, name).Runs[0].Invocations[0]
	if *i.ExecutionSuccessful || len(i.ToolExecutionNotifications) != 1 || !strings.Contains(*i.ToolExecutionNotifications[0].Message.Text, "cannot use 1") {
		t.Errorf("%+v", i)
	}
}
