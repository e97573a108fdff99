package generator_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator"
)

// sampleCase is an input that holds the sample of every encoding in it, as
// package fingerprint documents them.
type sampleCase struct {
	kind     string
	identity string // YAML
	fields   string // of the input
	value    string // of the input, as Go
}

const (
	sampleText = `" Sample  Cafe\u0301 "`
	sampleURL  = `"HTTPS://Sample.Example:443/a/../Page?b=2&a=1&utm_source=x#top"`
)

var sampleCases = []sampleCase{
	{"text", `{key: A}`, `A string`, `A: ` + sampleText},
	{"pointer", `{key: A}`, `A *Name`, `A: new(Name(` + sampleText + `))`},
	{"exact", `{key: A, normalize: {A: [exact]}}`, `A string`, `A: ` + sampleText},
	{"exact_lower", `{key: [A], normalize: {A: [exact, lower]}}`, `A string`, `A: ` + sampleText},
	{"collapsed", `{key: A, normalize: {A: [trim, collapse_space, lower]}}`, `A Name`, `A: ` + sampleText},
	{"digits", `{key: A, normalize: {A: [digits]}}`, `A string`, `A: "+47 22 33 44 55"`},
	{"email", `{key: [A], normalize: {A: [email]}}`, `A string`, `A: "Sample@Mail.Example"`},
	{"page", `{key: A, normalize: {A: [url]}}`, `A string`, `A: ` + sampleURL},
	{"page_of_shop", `{key: A, normalize: {A: [url, {drop_params: [ref, "ids[]"]}]}}`, `A string`, `A: "HTTPS://Sample.Example:443/a/../Page?b=2&a=1&utm_source=x&ids%5B%5D=1&ref=1#top"`},
	{"small", `{key: Num}`, `Num int8`, `Num: 42`},
	{"unsigned", `{key: [Num]}`, `Num uint64`, `Num: 42`},
	{"duration", `{key: Num}`, `Num time.Duration`, `Num: 42`},
	{"truth", `{key: [B]}`, `B bool`, `B: true`},
	{"uuid", `{key: ID}`, `ID uuid.UUID`, `ID: uuid.MustParse("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")`},
	{"seconds", `{key: At, normalize: {At: [second]}}`, `At time.Time`, `At: when`},
	{"money", `{key: Sum}`, `Sum decimal.Decimal`, `Sum: decimal.RequireFromString("42")`},
	{"many", `{key: [A, Num], scope: T.ID}`, "A string\nNum int\nT struct { ID string }", `A: ` + sampleText + `, Num: 42, T: struct{ ID string }{` + sampleText + `}`},
	{"map_key", `{key: M}`, `M map[string]int`, `M: map[string]int{"42": 42}`},
	{"scoped_hash", `{hash: {fields: [A]}, scope: T}`, "A, T string", `A: ` + sampleText + `, T: ` + sampleText},
	{
		"everything", `{hash: {}, normalize: {At: [nanosecond], Cents: [minor_units: 2], Parsed: [minor_units: 0], Phone: [digits, minor_units: 1], Page: [lower, url], Lines.SKU: [lower]}}`,
		"A string `json:\"z a\"`\nNote *string `json:\"note,omitempty\"`\nTags []Name\nByNumber map[int8]string\nLines map[string][]Line\nOther Line\n*Embedded\nData []byte\n" +
			"F32 float32\nF64 float64\nRaw json.RawMessage\nAny any\nNumber json.Number\nBig big.Int\nBigger *big.Int\nAddr netip.Addr\nMaybe *netip.Addr\n" +
			"Cents string\nParsed decimal.Decimal\nPhone string\nPage string\nTree Tree\nForest Forest\nAt time.Time\nUpper [1]Upper",
		"A: text, Note: &text, Tags: []Name{Name(text)}, ByNumber: map[int8]string{42: text}, Lines: map[string][]Line{\"42\": {line}}, Other: line, Embedded: &Embedded{Inside: true}, Data: []byte(\"sample\")," +
			"F32: 0.1, F64: 0.1, Raw: json.RawMessage(doc), Any: map[string]any{\"b\": []any{1, \"two\"}, \"a\": nil}, Number: \"42\", Big: *big.NewInt(42), Bigger: big.NewInt(42), Addr: addr, Maybe: &addr," +
			"Cents: \"42\", Parsed: decimal.RequireFromString(\"42\"), Phone: \"42\", Page: " + sampleURL + ", Tree: Tree{Label: text, Mirror: []*Tree{nil}}, Forest: Forest{}, At: when, Upper: [1]Upper{{text}}",
	},
	{"thread", `{hash: {}, normalize: {T.At: [second], T.Kids.At: [second]}}`, `T Thread`, `T: Thread{when, []*Thread{nil}}`},
	{"threads", `{key: T, normalize: {T.At: [second], T.Kids.At: [millisecond]}}`, `T Thread`, `T: Thread{when, []*Thread{{when, nil}}}`},
	{"keyed", `{key: A, keyed: true}`, `A string`, `A: ` + sampleText},
	{"own", `{key: ID}`, `ID Own`, ``}, // which has no sample
}

const sampleDecls = `
type Name string

type Line struct {
	SKU string
	N   uint16 ` + "`json:\",string\"`" + `
}

type Embedded struct{ Inside bool }

type Tree struct {
	Label       string
	Left, Right *Tree
	Mirror      []*Tree
	ByName      map[Name]Tree
}

type Forest []Forest

type Thread struct {
	At   time.Time
	Kids []*Thread
}

type Upper struct{ Value string }

type Own struct{ Text string }

func (o Own) MarshalText() ([]byte, error) { return []byte(o.Text), nil }

func (o *Own) UnmarshalText(text []byte) error { o.Text = string(text); return nil }

var (
	text = " Sample  Cafe\u0301 "
	doc  = "{\"b\": [1, \"two\"], \"a\": null}"
	line = Line{SKU: text, N: 42}
	addr = netip.MustParseAddr("192.0.2.1")
	when = time.Date(2026, 3, 1, 14, 34, 56, 987654321, time.FixedZone("", 2*60*60))

	goldenKey, _ = idem.NewKey([]byte("` + lock.GoldenKey + `"))
)
`

func TestGoldenKeysAreWhatGeneratedCodeDerives(t *testing.T) {
	dir := newModule(t)
	writeFile(t, filepath.Join(dir, "decimal", "go.mod"), "module github.com/shopspring/decimal\n")
	writeFile(t, filepath.Join(dir, "decimal", "decimal.go"), decimalStandIn)
	goCommand(t, dir, "mod", "edit", "-require=github.com/shopspring/decimal@v1.4.0", "-replace=github.com/shopspring/decimal=./decimal", "-require=github.com/google/uuid@v1.6.0")
	golden := samples{version: "7", decls: sampleDecls}.check(t, dir, nil)
	if golden["own"] != "" {
		t.Errorf("the lock has a golden key for a type of which nothing is known")
	}
	// The next version has another key and grown types, and still derives the keys of
	// the one before, of which nothing is known but what the lock holds.
	grown := strings.Replace(sampleDecls, "SKU string", "Extra string\n\tSKU string", 1)
	grown = strings.Replace(grown, "Inside bool", "Inside, Outside bool\n\tAnother []string", 1)
	samples{
		version: "8\n    supersedes: {version: 7, because: Keys are ours now., old_work: honor}", decls: grown,
		identity: map[string]string{"": "{key: Ours}", "everything": "{hash: {fields: [Ours, Lines]}, normalize: {Lines.SKU: [lower]}}"},
		field:    "\nOurs string\n", of: "V7",
	}.check(t, dir, golden)
	src, err := os.ReadFile(filepath.Join(dir, "samples_idem.go"))
	if err != nil {
		t.Fatal(err)
	}
	for decl := range strings.SplitSeq(string(src), "\nfunc ") {
		name, body, _ := strings.Cut(decl, "(")
		body, _, _ = strings.Cut(body, "\n}\n")
		if strings.HasPrefix(name, "append") && !strings.Contains(name, "V7") && strings.Contains(body, "V7") {
			t.Errorf("%s is of this version, and calls functions named after the last one:\n%s", name, body)
		}
	}
}

// samples is a module with all samples at one version.
type samples struct {
	version, decls string
	identity       map[string]string // in place of their own; of all that it does not name, that of ""
	field          string            // beside their own
	of             string            // the version whose derivations are called
}

// check generates the module, and compares what its program derives with the golden
// keys; if there are none, with those that it has put into the lock.
func (s samples) check(t *testing.T, dir string, golden map[string]string) map[string]string {
	t.Helper()
	s.write(t, dir)
	report, err := generator.Run(t.Context(), generator.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Diagnostics) > 0 {
		t.Fatal(report.Diagnostics.Text())
	}
	if golden == nil {
		golden = goldenKeys(t, dir)
	}
	lines := strings.Split(strings.TrimSpace(goCommand(t, dir, "run", ".")), "\n")
	if len(lines) != len(sampleCases) || len(golden) != len(sampleCases) {
		t.Fatalf("%d cases, %d kinds in the lock and %d lines of the program", len(sampleCases), len(golden), len(lines))
	}
	for i, c := range sampleCases {
		if c.kind == "own" {
			continue
		}
		if want := c.kind + " " + golden[c.kind] + " <nil>"; lines[i] != want {
			t.Errorf("version %s: generated code derives\n%s\nand the lock has\n%s", s.version, lines[i], want)
		}
	}
	return golden
}

func (s samples) write(t *testing.T, dir string) {
	t.Helper()
	yaml, src, calls := "contracts:\n", "", ""
	for _, c := range sampleCases {
		name, key := contracts.MethodName(c.kind), ""
		if strings.Contains(c.identity, "keyed: true") {
			key = "goldenKey, "
		}
		yaml += fmt.Sprintf("  %s:\n    version: %s\n    statement: S.\n    handler: Handle%s\n    identity: %s\n    window: forever\n    response: {when_done: no_op, while_running: no_op, other_payload: error}\n", c.kind, s.version, name, cmp.Or(s.identity[c.kind], s.identity[""], c.identity))
		src += fmt.Sprintf("type In%s struct {\n%s\n}\n\nfunc Handle%[1]s(context.Context, In%[1]s) (string, error) { return \"\", nil }\n\n", name, c.fields+s.field)
		calls += fmt.Sprintf("\tprint(%q, func() (idem.WorkID, error) { return %sID%s(%sIn%s{%s}) })\n", c.kind, unexported(name), s.of, key, name, c.value)
	}
	writeFile(t, filepath.Join(dir, "samples.idem.yaml"), yaml)
	writeFile(t, filepath.Join(dir, "samples.go"), "package main\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"math/big\"\n\t\"net/netip\"\n\t\"time\"\n\n\t\"github.com/google/uuid\"\n\t\"github.com/shopspring/decimal\"\n\tidem \"github.com/idemgen/idem/runtime\"\n)\n\n"+
		src+s.decls+"\nfunc print(kind string, derive func() (idem.WorkID, error)) {\n\tid, err := derive()\n\tfmt.Println(kind, id, err)\n}\n\nfunc main() {\n"+calls+"}\n")
}

func unexported(name string) string {
	if name == strings.ToUpper(name) {
		return strings.ToLower(name) // UUID
	}
	return strings.ToLower(name[:1]) + name[1:]
}

func goldenKeys(t *testing.T, dir string) map[string]string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, lock.Name))
	if err != nil {
		t.Fatal(err)
	}
	f, diags := lock.Parse(lock.Name, src)
	if len(diags) > 0 {
		t.Fatal(diags.Text())
	}
	golden := map[string]string{}
	for _, k := range f.Kinds {
		golden[k.Name] = k.Versions[0].Golden
	}
	return golden
}
