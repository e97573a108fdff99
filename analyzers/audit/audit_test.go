package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/idemgen/idem/analyzers/audit"
	"github.com/idemgen/idem/analyzers/driver"
)

var update = flag.Bool("update", false, "write what is expected anew")

// The test binary is the tool that go vet starts.
func TestMain(m *testing.M) {
	if driver.IsUnit(os.Args[1:]) {
		os.Exit(driver.Unit(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// run audits a folder.
func run(t *testing.T, dir string, packages ...string) *audit.Report {
	t.Helper()
	tool, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	r, err := audit.Run(context.Background(), audit.Options{Tool: tool, Dir: dir, Packages: packages})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unpack writes the files of an archive to a folder.
func unpack(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range a.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func archive(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAuditsInEachFormat holds each scenario against what it is expected to give in
// each format; with -update it writes that.
func TestAuditsInEachFormat(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range names {
		name := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, unpack(t, archive(t, name)))
			for _, format := range audit.Formats() {
				var got bytes.Buffer
				if err := audit.Write(&got, r, format, 100); err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", name+"."+extension(format)), got.Bytes())
			}
		})
	}
}

func extension(format string) string {
	switch format {
	case "text":
		return "txt"
	case "markdown":
		return "md"
	}
	return format
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", name, diff)
	}
}

// shop is the report of the scenario that has all kinds of entry points, from its
// golden file, so that its tests cost nothing.
func shop(t *testing.T) *audit.Report {
	t.Helper()
	data, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	r := new(audit.Report)
	if err := dec.Decode(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func entry(t *testing.T, r *audit.Report, name string) audit.Entry {
	t.Helper()
	i := slices.IndexFunc(r.Entries, func(e audit.Entry) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("no entry point %q", name)
	}
	return r.Entries[i]
}

func TestJSONReadsBackAsTheReport(t *testing.T) {
	r := shop(t)
	var b bytes.Buffer
	if err := audit.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/shop.json", b.Bytes())
	if r.Version != audit.Version {
		t.Errorf("version %d", r.Version)
	}
}

func TestEntryPointsAreSortedByWhatADuplicateCosts(t *testing.T) {
	var costs []audit.Cost
	for _, e := range shop(t).Entries {
		costs = append(costs, e.Cost)
	}
	if !slices.IsSortedFunc(costs, func(a, b audit.Cost) int {
		return slices.Index(audit.Costs(), a) - slices.Index(audit.Costs(), b)
	}) || len(costs) < 5 {
		t.Errorf("in the order %v", costs)
	}
}

func TestAKeyIsFollowedThroughInterfacesToWhereItIsMade(t *testing.T) {
	id := entry(t, shop(t), "POST /webhooks/refund").Identity
	if len(id.Sources) == 0 || id.Sources[0].From != `"refund-" + event in API.refund` || id.Verdict != audit.IdentityStable {
		t.Errorf("%+v", id)
	}
}

func TestAKeyThatIsNewOnEveryAttemptGuardsNothing(t *testing.T) {
	e := entry(t, shop(t), "POST /orders")
	if e.Open != audit.Money || e.Identity.Verdict != audit.IdentityNew || e.Effects[0].Guard.Kind != audit.GuardBroken {
		t.Errorf("%+v", e)
	}
	if len(e.Findings) != 1 || e.Findings[0].Rule != "randomkey" {
		t.Errorf("findings: %+v", e.Findings)
	}
}

func TestOnlyAnEntryPointThatAsksAModelSpeaksOfOne(t *testing.T) {
	for _, e := range shop(t).Entries {
		if asks := e.Name == "reply:draft"; asks != (e.Model != nil) {
			t.Errorf("%s: %+v", e.Name, e.Model)
		}
	}
}

func TestWhatIsPutAsideIsWhereFailedWorkGoes(t *testing.T) {
	f := entry(t, shop(t), "Jobs.Consume").Failure
	if f.Goes.Verdict != audit.Yes || f.Goes.Pos == nil || f.Sees.Verdict != audit.NotSeen {
		t.Errorf("%+v", f)
	}
}

func TestABatchOfWhichOneItemHasAnEntryPointOfItsOwnCanBeRepeatedInPart(t *testing.T) {
	if a := entry(t, shop(t), "@daily").Replay; a.Verdict != audit.Partly || !strings.Contains(a.Text, "Jobs.Chat") {
		t.Errorf("%+v", a)
	}
}

// TestContractsGuardTheEffectsOfTheExamples audits the examples of this module.
func TestContractsGuardTheEffectsOfTheExamples(t *testing.T) {
	r := run(t, "../..", "./examples/...")
	contracts := 0
	for _, e := range r.Entries {
		if e.Open != audit.None {
			t.Errorf("%s: %s without guard", e.Name, e.Open)
		}
		if e.Kind != "contract" {
			continue
		}
		contracts++
		for _, x := range e.Effects {
			if x.Guard.Kind != audit.GuardLedger || !strings.Contains(x.Guard.Text, e.Name) {
				t.Errorf("%s: %s: %+v", e.Name, x.Name, x.Guard)
			}
		}
	}
	if contracts != 3 || r.Problems != "" {
		t.Errorf("%d contracts; %s", contracts, r.Problems)
	}
	i := slices.IndexFunc(r.Entries, func(e audit.Entry) bool { return strings.HasPrefix(e.Name, "POST /webhooks/") })
	if i < 0 || len(r.Entries[i].Runs) != 1 || r.Entries[i].Runs[0].Contract != "order_paid" {
		t.Errorf("the webhook: %d", i)
	}
}

func TestEachWayInIsFound(t *testing.T) {
	data, err := os.ReadFile("testdata/kinds.json")
	if err != nil {
		t.Fatal(err)
	}
	r := new(audit.Report)
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{ // kind and guard of the first effect
		"Bank/Pay":      {"rpc", audit.GuardMemory},
		"invite":        {"command", audit.GuardNone},
		"orders":        {"queue", audit.GuardNone},
		"main.handle":   {"lambda", audit.GuardClaim},
		"web.Summarise": {"http", audit.GuardClaim},
		"web.invite":    {"http", audit.GuardSearch},
		"jobs.Tick":     {"schedule", audit.GuardNone},
		"jobs.Import":   {"schedule", audit.GuardNone},
		"jobs.Report":   {"schedule", audit.GuardClaim},
	} {
		e := entry(t, r, name)
		if len(e.Effects) == 0 || e.Kind != want[0] || e.Effects[0].Guard.Kind != want[1] {
			t.Errorf("%s is %s: %+v", name, e.Kind, e.Effects)
		}
	}
	if e := entry(t, r, "orders"); e.Func != "jobs.Work" {
		t.Errorf("the deliveries are taken by %s", e.Func)
	}
	for _, name := range []string{"web.search", "jobs.Preview"} { // asks; pure
		if !slices.ContainsFunc(r.Quiet, func(q audit.Quiet) bool { return q.Name == name }) {
			t.Errorf("%s is not among those without effects", name)
		}
	}
}
