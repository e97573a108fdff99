package generator_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator"
)

// vectorCase is how one of the published vectors looks as contract and Go code.
type vectorCase struct {
	name     string // in key-vectors.json
	identity string // YAML
	fields   string // of the input
	value    string // of the input, as Go
	decls    string
}

// vectorCases cover every vector. The decimal package is a stand-in at the path
// of a well-known one, which is by what the generator knows decimal types.
var vectorCases = []vectorCase{
	{"single string key", `{key: OrderID}`, `OrderID string`, `OrderID: "  450789469 "`, ``},
	{"single string key, version 2", `{key: OrderID}`, `OrderID string`, `OrderID: "450789469"`, ``},
	{"single int key", `{key: Number}`, `Number int64`, `Number: 1001`, ``},
	{"list key", `{key: [PatientID, ReportID, Type]}`, `PatientID, ReportID, Type string`, `PatientID: "p-17", ReportID: "r-2209", Type: "lab_results_ready"`, ``},
	{"list key keeps boundaries apart 1", `{key: [A, B]}`, `A, B string`, `A: "ab", B: "c"`, ``},
	{"list key keeps boundaries apart 2", `{key: [A, B]}`, `A, B string`, `A: "a", B: "bc"`, ``},
	{"scope and single key", `{key: OrderID, scope: TenantID}`, `OrderID, TenantID string`, `OrderID: "450789469", TenantID: "acme"`, ``},
	{"hash, members sorted", `{hash: {}}`, "B int `json:\"b\"`\nA int `json:\"a\"`", `A: 1, B: 2`, ``},
	{
		"hash, nested, unicode, NFC", `{hash: {}}`,
		"Name string `json:\"name\"`\nTags []string `json:\"tags\"`\nAddr Address `json:\"addr\"`",
		`Name: "Cafe\u0301", Tags: []string{"x", "y"}, Addr: Address{Zip: "0150", City: "Oslo"}`,
		"type Address struct {\nZip string `json:\"zip\"`\nCity string `json:\"city\"`\n}",
	},
	{"hash, int beyond 2^53-1 is a string", `{hash: {}}`, "ID int64 `json:\"id,string\"`", `ID: 9007199254740993`, ``},
	{"hash, int at 2^53-1 is a number", `{hash: {}}`, "ID int64 `json:\"id\"`", `ID: 9007199254740991`, ``},
	{
		"hash, floats", `{hash: {}}`,
		"A Float `json:\"a\"`\nB Float `json:\"b\"`\nC Float `json:\"c\"`\nD Float `json:\"d\"`\nE Float `json:\"e\"`", `A: 1.0, B: 1e21, C: 1e-7, D: Float(tenth + fifth), E: Float(math.Copysign(0, -1))`,
		"type Float float64\nvar tenth, fifth = 0.1, 0.2",
	},
	{
		"hash, decimal types are plain strings", `{hash: {}}`, "Amount decimal.Decimal `json:\"amount\"`",
		`Amount: decimal.RequireFromString("10.50")`, "",
	},
	{"hash, time in UTC", `{hash: {}, normalize: {At: [nanosecond]}}`, "At time.Time `json:\"at\"`", `At: when`, whenDecl},
	{"hash, time at second precision", `{hash: {}, normalize: {At: [second]}}`, "At time.Time `json:\"at\"`", `At: when`, whenDecl},
	{
		// All of it is empty, which no identity may be: only the text can be compared.
		"hash, nil pointer and missing are null; nil and empty slice are []", `{hash: {}}`,
		"Lines []string `json:\"lines,omitempty\"`\nNote *string `json:\"note,omitempty\"`", ``,
		`func deriveText(in Input) (idem.WorkID, error) {
			if _, err := formID(in); !errors.Is(err, canon.ErrEmpty) {
				return idem.WorkID{}, fmt.Errorf("want an empty identity, got %v", err)
			}
			b, err := appendInput([]byte("form:v1:"), in)
			return idem.HashWorkID(b), err
		}`,
	},
	{"hash, utf-16 member order", `{key: M}`, "M map[string]int", `M: map[string]int{"\ufb33": 1, "\U0001f600": 2}`, ``},
	{"hash, escapes", `{hash: {}}`, "S string `json:\"s\"`", `S: "a\u0001\"\\\b\f\n\r\t/\u2028<>&"`, ``},
	{
		"hash, untyped numbers", `{key: M}`, "M map[string]json.RawMessage",
		"M: map[string]json.RawMessage{`a`: raw(`1`), `b`: raw(`1.0`), `c`: raw(`1e2`), `d`: raw(`9007199254740993`), `e`: raw(`1.50`)}",
		"func raw(s string) json.RawMessage { return json.RawMessage(s) }",
	},
	{"trim list", `{key: OrderID}`, `OrderID string`, `OrderID: "\ufeff\u0085 450789469\u3000"`, ``},
	{"lower without context", `{key: Street, normalize: {Street: [lower]}}`, `Street string`, `Street: "ΟΔΟΣ"`, ``},
	{
		"uuid as key", `{key: ID}`, `ID uuid.UUID`, `ID: uuid.MustParse("018F3D2A-0000-7000-8000-0242AC120002")`, "",
	},
	{"partition and offset zero", `{key: [Topic, Partition, Offset]}`, "Topic string\nPartition int32\nOffset int64", `Topic: "orders"`, ``},
	{"hash, float32", `{hash: {}}`, "A float32 `json:\"a\"`", `A: 0.1`, ``},
	{"hash with scope", `{hash: {fields: [A]}, scope: Tenant}`, "A int `json:\"a\"`\nTenant string", `A: 1, Tenant: "acme"`, ``},
	{"url normaliser", `{key: URL, normalize: {URL: [url]}}`, `URL string`, `URL: "HTTPS://Shop.Example:443/a/../b/?utm_source=x&b=2&a=1&fbclid=z#frag"`, ``},
}

const decimalStandIn = `package decimal

type Decimal struct{ text string }

func RequireFromString(text string) Decimal { return Decimal{text} }

func (d Decimal) String() string { return d.text }
`

const whenDecl = `var when = time.Date(2026, 1, 2, 3, 4, 5, 120e6, time.FixedZone("", 2*60*60))`

type vectorFile struct {
	WorkIDs []struct {
		Name    string
		Kind    string
		Version int
		WorkID  string `json:"work_id"`
	} `json:"work_ids"`
}

func TestPublishedKeyVectorsPassThroughGeneratedCode(t *testing.T) {
	src, err := os.ReadFile("../runtime/canon/testdata/key-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors vectorFile
	if err := json.Unmarshal(src, &vectors); err != nil {
		t.Fatal(err)
	}
	cases := map[string]vectorCase{}
	for _, c := range vectorCases {
		cases[c.name] = c
	}
	dir := newModule(t)
	writeFile(t, filepath.Join(dir, "decimal", "go.mod"), "module github.com/shopspring/decimal\n")
	writeFile(t, filepath.Join(dir, "decimal", "decimal.go"), decimalStandIn)
	goCommand(t, dir, "mod", "edit", "-require=github.com/shopspring/decimal@v1.4.0", "-replace=github.com/shopspring/decimal=./decimal", "-require=github.com/google/uuid@v1.6.0")
	var imports, calls strings.Builder
	for i, v := range vectors.WorkIDs {
		c, ok := cases[v.Name]
		if !ok {
			t.Fatalf("vector %q has no case here", v.Name)
		}
		pkg := fmt.Sprintf("p%02d", i)
		writeVector(t, filepath.Join(dir, pkg), pkg, c, v.Kind, v.Version)
		report, err := generator.Run(t.Context(), generator.Options{Dir: dir, Patterns: []string{"./" + pkg}})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Diagnostics) > 0 {
			t.Fatalf("%s:\n%s", v.Name, report.Diagnostics.Text())
		}
		// Vectors share kinds, with other identities.
		if err := os.Remove(filepath.Join(dir, "idem.lock")); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&imports, "\t%q\n", "example.com/app/"+pkg)
		fmt.Fprintf(&calls, "\tprint(%s.Derive())\n", pkg)
	}
	writeFile(t, filepath.Join(dir, "main.go"), "package main\n\nimport (\n\t\"fmt\"\n"+imports.String()+")\n\nfunc print(id fmt.Stringer, err error) { fmt.Println(id, err) }\n\nfunc main() {\n"+calls.String()+"}\n")
	got := strings.Split(strings.TrimSpace(goCommand(t, dir, "run", ".")), "\n")
	if len(got) != len(vectors.WorkIDs) {
		t.Fatalf("%d vectors, and the program printed %d lines", len(vectors.WorkIDs), len(got))
	}
	for i, v := range vectors.WorkIDs {
		if want := v.WorkID + " <nil>"; got[i] != want {
			t.Errorf("%s: got %s, want %s", v.Name, got[i], want)
		}
	}
}

func writeVector(t *testing.T, dir, pkg string, c vectorCase, kind string, version int) {
	yaml := fmt.Sprintf(`contracts:
  %s:
    version: %d
    statement: A vector.
    handler: Handle
    identity: %s
    window: forever
    response: {when_done: no_op, while_running: no_op, other_payload: error}
`, kind, version, c.identity)
	src := "package " + pkg + "\n\nimport (\n\t\"context\"\n\t\"fmt\"\n"
	if strings.Contains(c.decls, "idem.") {
		src += "\tidem \"github.com/idemgen/idem/runtime\"\n"
	}
	for _, imp := range []string{"encoding/json", "errors", "math", "time", "github.com/idemgen/idem/runtime/canon", "github.com/google/uuid", "github.com/shopspring/decimal"} {
		if strings.Contains(c.fields+c.value+c.decls, imp[strings.LastIndex(imp, "/")+1:]+".") {
			src += fmt.Sprintf("\t%q\n", imp)
		}
	}
	src += ")\n\n"
	src += "type Input struct {\n" + c.fields + "\n}\n\n" + c.decls + "\n\n"
	src += "func Handle(context.Context, Input) (string, error) { return \"\", nil }\n\n"
	name := contracts.MethodName(kind)
	derive := strings.ToLower(name[:1]) + name[1:] + "ID"
	if strings.Contains(c.decls, "deriveText") {
		derive = "deriveText"
	}
	src += "func Derive() (fmt.Stringer, error) { return " + derive + "(Input{" + c.value + "}) }\n"
	writeFile(t, filepath.Join(dir, "keys.idem.yaml"), yaml)
	writeFile(t, filepath.Join(dir, "input.go"), src)
}

// newModule makes a module outside this one that uses it, as a user's does.
func newModule(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\ngo 1.26.0\n\nrequire github.com/idemgen/idem v0.0.0\n\nreplace github.com/idemgen/idem => "+root+"\n")
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.sum"), string(sum))
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	return dir
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
