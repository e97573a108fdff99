package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator"
)

const scenarios = "../../testdata/scenarios"

// scenarioModule is what the scenarios' module is called; each archive is a folder
// of it, named like the archive.
const scenarioModule = "example.com/app"

// TestScenariosThatAreRefused generates from all archives of folder bad, and holds
// what is said about each against the archive.
func TestScenariosThatAreRefused(t *testing.T) {
	t.Parallel()
	list := loadScenarios(t, "bad")
	groups := makeGroups(t, list)
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			report := g.generate(t)
			for _, s := range g.scenarios {
				t.Run(s.name, func(t *testing.T) {
					diags := g.about(report.Diagnostics, s)
					if !diags.HasErrors() {
						t.Errorf("%s: nothing is wrong with it\n%s", s.path, diags.Text())
					}
					s.hold(t, outputs(diags))
				})
			}
			if rest := g.aboutNone(report.Diagnostics); len(rest) > 0 {
				t.Errorf("of no scenario:\n%s", rest.Text())
			}
		})
	}
}

// TestScenariosThatRun generates from all archives of folder good, builds one
// program of what comes out, and holds what each scenario says when it runs
// against the archive.
func TestScenariosThatRun(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	t.Parallel()
	list := loadScenarios(t, "good")
	groups := makeGroups(t, list)
	got := map[*scenario]map[string][]byte{}
	for _, g := range groups {
		report := g.generate(t)
		for tries := 0; report.Diagnostics.HasErrors() && tries < 2; tries++ {
			g.leaveOutBroken(t, report.Diagnostics)
			report = g.generate(t)
		}
		if report.Diagnostics.HasErrors() {
			t.Fatalf("nothing was generated:\n%s", report.Diagnostics.Text())
		}
		for _, s := range g.scenarios {
			got[s] = outputs(g.about(report.Diagnostics, s))
		}
		if rest := g.aboutNone(report.Diagnostics); len(rest) > 0 {
			t.Errorf("of no scenario:\n%s", rest.Text())
		}
		g.upToDate(t)
	}
	reports := runScenarios(t, groups)
	for _, g := range groups {
		for _, s := range g.scenarios {
			t.Run(s.name, func(t *testing.T) {
				r, ok := reports[s.name]
				switch {
				case !ok:
					t.Fatalf("%s did not run", s.path)
				case r.Failed != "":
					t.Fatalf("%s did not come to its end:\n%s%s", s.path, r.Output, r.Failed)
				}
				got[s]["stdout"] = []byte(r.Output)
				g.addGenerated(t, s, got[s])
				s.hold(t, got[s])
			})
		}
	}
}

// scenario is one archive.
type scenario struct {
	name   string // also the folder of its module
	path   string
	files  map[string][]byte
	before map[string][]byte // what there was in an earlier run, if any
	want   map[string][]byte
	broken bool // has been told of as such
}

// ofModule are files that stand beside go.mod, and make the scenario a module of
// its own.
var ofModule = []string{"go.mod", "go.sum", "idem.lock"}

// alone tells whether the scenario cannot share its module with others.
func (s *scenario) alone() bool {
	return len(s.before) > 0 || slices.ContainsFunc(ofModule, func(name string) bool { return s.files[name] != nil })
}

func loadScenarios(t *testing.T, kind string) []*scenario {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(scenarios, kind, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios found: %v", err)
	}
	var list []*scenario
	kinds := map[string]string{}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &scenario{
			name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path,
			files: map[string][]byte{}, before: map[string][]byte{}, want: map[string][]byte{},
		}
		if !scenarioName.MatchString(s.name) {
			t.Fatalf("%s: a scenario is named like a Go package, with a-z, 0-9 and _", path)
		}
		if first, _, _ := strings.Cut(string(a.Comment), "\n"); !strings.HasPrefix(first, "# ") {
			t.Errorf("%s: begin with a line that says what the scenario is about", path)
		}
		for _, f := range a.Files {
			if name, ok := strings.CutPrefix(f.Name, "_before/"); ok {
				s.before[name] = f.Data
			} else if name, ok := strings.CutPrefix(f.Name, "_want/"); ok {
				s.want[name] = f.Data
			} else {
				s.files[f.Name] = f.Data
			}
		}
		list = append(list, s)
		if !s.alone() {
			s.checkKinds(t, kinds)
		}
	}
	return list
}

var scenarioName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkKinds tells of kinds that two archives have: they are unique in a module.
func (s *scenario) checkKinds(t *testing.T, kinds map[string]string) {
	for name, data := range s.files {
		if !strings.HasSuffix(name, ".idem.yaml") {
			continue
		}
		file, ds := contracts.Parse(name, data)
		if ds.HasErrors() {
			continue
		}
		for _, c := range file.Contracts {
			if other := cmp.Or(kinds[c.Kind.V], s.path); other != s.path {
				t.Fatalf("%s: the kind %s is in %s too, and all scenarios share a module: name kinds after the archive", s.path, c.Kind.V, other)
			}
			kinds[c.Kind.V] = s.path
		}
	}
}

// group is scenarios that share a module.
type group struct {
	name      string
	root      string
	scenarios []*scenario
}

// makeGroups writes the modules: one for all scenarios that can share it, and one
// for each that cannot.
func makeGroups(t *testing.T, list []*scenario) []*group {
	t.Helper()
	shared := &group{name: "all"}
	groups := []*group{shared}
	for _, s := range list {
		if s.alone() {
			groups = append(groups, &group{name: "alone", scenarios: []*scenario{s}})
			continue
		}
		shared.scenarios = append(shared.scenarios, s)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	support, err := os.ReadFile(filepath.Join(scenarios, "support", "scenario.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		g.root = t.TempDir()
		for _, s := range g.scenarios {
			for _, name := range ofModule {
				if data := s.files[name]; data != nil {
					data = bytes.ReplaceAll(data, []byte("$ROOT"), []byte(root))
					writeFiles(t, g.root, map[string][]byte{name: data})
				}
			}
		}
		if err := makeModule(root, g.root); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, filepath.Join(g.root, "scenario"), map[string][]byte{"scenario.go": support})
	}
	return groups
}

// generate brings the module to where the scenarios begin, and runs idemgen.
func (g *group) generate(t *testing.T) generator.Report {
	t.Helper()
	for _, s := range g.scenarios {
		if len(s.before) == 0 {
			continue
		}
		writeFiles(t, filepath.Join(g.root, s.name), s.before)
		if report := g.idemgen(t, false); report.Diagnostics.HasErrors() {
			t.Fatalf("%s: what there was before is wrong:\n%s", s.path, report.Diagnostics.Text())
		}
		for name := range s.before {
			if err := os.Remove(filepath.Join(g.root, s.name, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range g.scenarios {
		files := maps.Clone(s.files)
		for _, name := range ofModule {
			delete(files, name)
		}
		writeFiles(t, filepath.Join(g.root, s.name), files)
	}
	return g.idemgen(t, false)
}

// scenarioEnv keeps the build cache valid from run to run, in other directories
// too, and the network out.
var scenarioEnv = []string{"GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GONOSUMDB=*", "GOWORK=off"}

func (g *group) idemgen(t *testing.T, check bool) generator.Report {
	t.Helper()
	report, err := generator.Run(t.Context(), generator.Options{Dir: g.root, Env: scenarioEnv, Check: check})
	if err != nil {
		t.Fatalf("idemgen: %v", err)
	}
	return report
}

// upToDate holds that a second run finds nothing to do.
func (g *group) upToDate(t *testing.T) {
	t.Helper()
	for _, f := range g.idemgen(t, true).Files {
		if f.Change != generator.Unchanged {
			t.Errorf("%s is %s after it was generated:\n%s", f.Path, f.Change, f.Diff)
		}
	}
	if err := formatted(g.root); err != nil {
		t.Error(err)
	}
}

// leaveOutBroken tells of the scenarios that are wrong and goes on without them.
func (g *group) leaveOutBroken(t *testing.T, diags contracts.Diagnostics) {
	t.Helper()
	g.scenarios = slices.DeleteFunc(g.scenarios, func(s *scenario) bool {
		about := g.about(diags, s)
		if !about.HasErrors() {
			return false
		}
		t.Errorf("%s is wrong:\n%s", s.path, about.Text())
		if err := os.RemoveAll(filepath.Join(g.root, s.name)); err != nil {
			t.Fatal(err)
		}
		return true
	})
}

// about are the diagnostics of one scenario, as if it were a module of its own.
func (g *group) about(diags contracts.Diagnostics, s *scenario) contracts.Diagnostics {
	var own contracts.Diagnostics
	for _, d := range diags {
		if !g.belongs(d, s) {
			continue
		}
		c := *d
		c.File = strings.TrimPrefix(c.File, s.name+"/")
		c.Related = slices.Clone(c.Related)
		for i := range c.Related {
			c.Related[i].File = strings.TrimPrefix(c.Related[i].File, s.name+"/")
		}
		own = append(own, &c)
	}
	return own
}

func (g *group) belongs(d *contracts.Diagnostic, s *scenario) bool {
	return g.name == "alone" || strings.HasPrefix(d.File, s.name+"/")
}

func (g *group) aboutNone(diags contracts.Diagnostics) contracts.Diagnostics {
	var rest contracts.Diagnostics
	for _, d := range diags {
		if !slices.ContainsFunc(g.scenarios, func(s *scenario) bool { return g.belongs(d, s) }) {
			rest = append(rest, d)
		}
	}
	return rest
}

// outputs are the diagnostics in all formats, named as archives name them. No
// diagnostics are no output.
func outputs(diags contracts.Diagnostics) map[string][]byte {
	got := map[string][]byte{}
	if len(diags) == 0 {
		return got
	}
	for name, format := range map[string]string{"stderr": "text", "json": "json", "github": "github"} {
		var out bytes.Buffer
		p := &program{stdout: &out, stderr: &out, getenv: func(string) string { return "" }}
		p.print(&options{format: choiceFlag{value: format}, color: choiceFlag{value: "never"}}, generator.Report{Diagnostics: diags, Contracts: 1}, false)
		got[name] = out.Bytes()
	}
	return got
}

// addGenerated adds those generated files that the archive holds.
func (g *group) addGenerated(t *testing.T, s *scenario, got map[string][]byte) {
	t.Helper()
	for name := range s.want {
		dir := filepath.Join(g.root, s.name)
		if slices.Contains(ofModule, name) {
			dir = g.root
		}
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			got[name] = data
		}
	}
}

// hold compares what came out with what the archive says, and rewrites that with
// -update. Formats other than text, and generated files, are compared if the
// archive has them.
func (s *scenario) hold(t *testing.T, got map[string][]byte) {
	t.Helper()
	names := map[string]bool{"stderr": len(got["stderr"]) > 0, "stdout": len(got["stdout"]) > 0}
	for name := range s.want {
		names[name] = true
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(names)) {
		want := s.want[name]
		if !names[name] || bytes.Equal(got[name], want) && got[name] != nil {
			continue
		}
		changed = true
		if !*update {
			t.Errorf("%s: %s is not as expected (-update accepts it):\n%s", s.path, name, diff.Diff("want", want, "got", got[name]))
		}
	}
	if changed && *update {
		s.rewrite(t, got)
	}
}

func (s *scenario) rewrite(t *testing.T, got map[string][]byte) {
	t.Helper()
	a, err := txtar.ParseFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool {
		name, ok := strings.CutPrefix(f.Name, "_want/")
		return ok && got[name] == nil
	})
	for i, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "_want/"); ok {
			a.Files[i].Data, seen[name] = got[name], true
		}
	}
	for _, name := range []string{"stderr", "stdout"} {
		if len(got[name]) > 0 && !seen[name] {
			a.Files = append(a.Files, txtar.File{Name: "_want/" + name, Data: got[name]})
		}
	}
	if err := os.WriteFile(s.path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s was rewritten: read its diff", s.path)
}

// scenarioReport is what package scenario writes about each.
type scenarioReport struct{ Output, Failed string }

// runScenarios builds one program of all scenarios and runs it. Those that do not
// compile are told of and left out.
func runScenarios(t *testing.T, groups []*group) map[string]scenarioReport {
	t.Helper()
	shared := groups[0]
	for _, g := range groups[1:] {
		for _, s := range g.scenarios {
			if err := os.CopyFS(filepath.Join(shared.root, s.name), os.DirFS(filepath.Join(g.root, s.name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for {
		writeFiles(t, filepath.Join(shared.root, "all"), map[string][]byte{"main.go": mainOfAll(groups)})
		program := filepath.Join(shared.root, "program")
		// The scenarios' packages are compiled as fast as can be: they run for moments.
		out, err := shared.goCommand(t.Context(), "build", "-gcflags=example.com/...=-N -l -dwarf=false", "-ldflags=-s -w", "-o", program, "./all")
		if err == nil {
			return playScenarios(t, program)
		}
		if !tellBroken(t, groups, string(out)) {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
}

func (g *group) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = g.root
	cmd.Env = append(cmd.Environ(), scenarioEnv...)
	return cmd.CombinedOutput()
}

// mainOfAll is the program that runs all scenarios.
func mainOfAll(groups []*group) []byte {
	var b bytes.Buffer
	b.WriteString("package main\n\nimport (\n")
	var calls bytes.Buffer
	for _, g := range groups {
		for _, s := range g.scenarios {
			if !s.broken {
				fmt.Fprintf(&b, "\ts_%s %q\n", s.name, scenarioModule+"/"+s.name)
				fmt.Fprintf(&calls, "\t\t%q: s_%s.Scenario,\n", s.name, s.name)
			}
		}
	}
	fmt.Fprintf(&b, "\t%q\n)\n\nfunc main() {\n\tscenario.Main(map[string]func(*scenario.World){\n%s\t})\n}\n", scenarioModule+"/scenario", calls.Bytes())
	return b.Bytes()
}

// tellBroken tells of the scenarios that the go command could not compile. False
// means that it complains about something else.
func tellBroken(t *testing.T, groups []*group, out string) bool {
	t.Helper()
	found := false
	for _, g := range groups {
		for _, s := range g.scenarios {
			if s.broken || !regexp.MustCompile(`(?m)(?:^|/)`+s.name+`(?:/|$)|\bs_`+s.name+`\b`).MatchString(out) {
				continue
			}
			s.broken, found = true, true
			t.Errorf("%s does not compile:\n%s", s.path, out)
		}
	}
	return found
}

func playScenarios(t *testing.T, program string) map[string]scenarioReport {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Stderr = new(bytes.Buffer)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the scenarios: %v\n%s", err, cmd.Stderr)
	}
	reports := map[string]scenarioReport{}
	if err := json.Unmarshal(out, &reports); err != nil {
		t.Fatalf("read what the scenarios say: %v", err)
	}
	return reports
}

func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
