package analyzers

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func TestTheAnalyzersAreValid(t *testing.T) {
	all, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := analysis.Validate(all); err != nil {
		t.Error(err)
	}
}

func TestEachRuleHasAFolderOfItsNameAndACompletePage(t *testing.T) {
	for _, d := range Docs() {
		for _, name := range []string{"doc.go", "rule.go", "rule_test.go"} {
			if _, err := os.Stat(filepath.Join(d.Name, name)); err != nil {
				t.Error(err)
			}
		}
		for what, text := range map[string]string{"title": d.Title, "what": d.What, "why": d.Why, "silent": d.Silent, "fails": d.Fails, "passes": d.Passes, "fix": d.Fix} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: nothing is said under %s", d.Name, what)
			}
		}
		if strings.ContainsAny(d.Title, "\n.") {
			t.Errorf("%s: the title is one line without full stop: %q", d.Name, d.Title)
		}
	}
}

// TestTheExamplesOfEachPageAreAsItSays runs each rule over its own page's code.
func TestTheExamplesOfEachPageAreAsItSays(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string][]byte{}
	for _, d := range Docs() {
		for kind, code := range map[string]string{"fails": d.Fails, "passes": d.Passes} {
			overlay[filepath.Join(dir, "page", d.Name, kind, "page.go")] = []byte("package page\n" + code + "\n")
			if d.Beside != "" {
				overlay[filepath.Join(dir, "page", d.Name, kind, "page_idem.go")] = []byte(d.Beside)
			}
		}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Overlay: overlay}, "./page/...")
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) != 2*len(Docs()) {
		t.Fatalf("loaded %d packages for %d pages", len(pkgs), len(Docs()))
	}
	all, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze(all, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range graph.Roots {
		for _, e := range act.Package.Errors {
			t.Errorf("%s does not compile: %v", act.Package.PkgPath, e)
		}
		_, page, _ := strings.Cut(act.Package.PkgPath, "/page/")
		name, kind, _ := strings.Cut(page, "/")
		if want := name == act.Analyzer.Name && kind == "fails"; want != (len(act.Diagnostics) > 0) {
			t.Errorf("%s on what %s %s: got %v", act.Analyzer.Name, kind, name, act.Diagnostics)
		}
	}
}

var update = flag.Bool("update", false, "write docs/idemlint.md")

// TestTheDocumentationHoldsThePageOfEachRule holds all below "## Rules"; what stands
// above is written by hand.
func TestTheDocumentationHoldsThePageOfEachRule(t *testing.T) {
	const name, heading = "../docs/idemlint.md", "\n## Rules\n"
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	above, got, found := strings.Cut(string(src), heading)
	if !found {
		t.Fatalf("%s has no heading %q", name, heading)
	}
	var want strings.Builder
	for _, d := range Docs() {
		want.WriteString("\n" + d.Markdown())
	}
	if *update {
		if err := os.WriteFile(name, []byte(above+heading+want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("run go test ./analyzers -run Documentation -update: (-want +got)\n%s", diff)
	}
}

// TestThePageOnPrecisionAddsUp holds that what is counted there is judged, and that no
// rule is on of which more than one in ten findings is wrong.
func TestThePageOnPrecisionAddsUp(t *testing.T) {
	page, err := os.ReadFile("../docs/precision.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "(docs/precision.md)") {
		t.Error("README.md does not lead to docs/precision.md")
	}
	_, table, _ := strings.Cut(string(page), "\n## Findings\n")
	table, _, _ = strings.Cut(table, "\n## ")
	names := map[string]bool{}
	for _, d := range Docs() {
		names[d.Name] = true
	}
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if name := strings.Trim(cells[0], "`"); !names[name] {
			t.Errorf("no rule %s", name)
		}
		var n []int
		for _, c := range cells[1:] {
			i, err := strconv.Atoi(c)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			n = append(n, i)
		}
		if len(n) != 5 || n[0] != n[1]+n[2]+n[3] {
			t.Errorf("%s does not add up", line)
		} else if kept := n[1] + n[2] + n[4]; n[4]*10 > kept {
			t.Errorf("%s is wrong in more than one of ten findings", cells[0])
		}
	}
	if rows < 5 {
		t.Errorf("%d rules in the table", rows)
	}
}
