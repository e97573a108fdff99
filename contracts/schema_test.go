package contracts

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"
	"gopkg.in/yaml.v3"
)

const schemaFile = "../docs/contract.schema.json"

func schemaBytes(t testing.TB) []byte {
	t.Helper()
	b, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDocsHoldTheSchema(t *testing.T) {
	want := schemaBytes(t)
	got, err := os.ReadFile(schemaFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	t.Errorf("docs/contract.schema.json is stale; go test ./contracts -run Schema -update writes it (-file +schema)\n%s", cmp.Diff(string(got), string(want)))
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaBytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is what an editor hands to a schema: the value that YAML stands for.
// ok is false where there is none: the text is no YAML, or more than one value.
func asJSON(src []byte) (v any, ok bool) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var n yaml.Node
	if dec.Decode(&n) != nil || dec.Decode(&yaml.Node{}) == nil {
		return nil, false
	}
	v, err := nodeJSON(&n, 0)
	return v, err == nil
}

func nodeJSON(n *yaml.Node, depth int) (any, error) {
	if depth > 200 {
		return nil, errors.New("too deep")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return nodeJSON(n.Content[0], depth)
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			v, err := nodeJSON(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := m[key.Value]; twice || key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				return nil, errors.New("no JSON key")
			}
			v, err := nodeJSON(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			m[key.Value] = v
		}
		return m, nil
	case yaml.ScalarNode:
		if n.Tag == "!!timestamp" {
			return n.Value, nil // a text to YAML 1.2
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return v, nil
	}
	return nil, errors.New("an alias")
}

// contractSources are the contract files of the repository, by name.
func contractSources(t *testing.T) map[string][]byte {
	t.Helper()
	sources := map[string][]byte{}
	archives, err := filepath.Glob("testdata/valid*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives of valid contracts: %v", err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				sources[path+":"+f.Name] = f.Data
			}
		}
	}
	maps.Copy(sources, scenarioSources(t))
	docs, err := os.ReadFile("../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(docs, -1) {
		sources[fmt.Sprintf("docs/contract.md:%d", i)] = m[1]
	}
	examples, err := filepath.Glob("../examples/*/*.idem.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range examples {
		if sources[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

// scenarioSources are the contract files of all scenarios, good and bad.
func scenarioSources(t *testing.T) map[string][]byte {
	t.Helper()
	var archives []string
	for _, pattern := range []string{"*.txtar", "scenarios/*/*.txtar", "strangers/*.txtar"} {
		found, err := filepath.Glob("../testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, found...)
	}
	sources := map[string][]byte{}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".idem.yaml") {
				sources[path+":"+f.Name] = f.Data
			}
		}
	}
	if len(sources) < 200 {
		t.Fatalf("only %d contract files in the scenarios", len(sources))
	}
	return sources
}

func TestSchemaAcceptsWhatTheParserAccepts(t *testing.T) {
	s := compileSchema(t)
	seen := 0
	for name, src := range contractSources(t) {
		if _, ds := Parse(name, src); ds.HasErrors() {
			continue
		}
		v, ok := asJSON(src)
		if !ok {
			t.Errorf("%s: read by Parse and no JSON", name)
			continue
		}
		seen++
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: accepted by the parser and refused by the schema:\n%v", name, err)
		}
	}
	if seen < 20 {
		t.Errorf("only %d contract files were compared", seen)
	}
}

func TestSchemaRefusesWhatTheParserRefuses(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives found: %v", err)
	}
	compared, used := 0, map[string]bool{}
	compare := func(name string, src []byte) {
		v, ok := asJSON(src)
		if !ok {
			return
		}
		_, ds := Parse(archivePath, src)
		if !ds.HasErrors() {
			return
		}
		compared++
		if s.Validate(v) == nil && !beyondSchema(ds, used) {
			t.Errorf("%s is refused by the parser and accepted by the schema: teach the schema, or say in beyondSchemas why none can see that\n%s", name, ds.Text())
		}
	}
	for name, src := range scenarioSources(t) {
		compare(name, src)
	}
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				compare(path+":"+f.Name, f.Data)
			}
		}
	}
	for _, b := range beyondSchemas {
		if !used[b.message] {
			t.Errorf("the schema sees all that has a message like %s", b.message)
		}
	}
	if compared < 100 {
		t.Errorf("only %d scenarios were compared", compared)
	}
}

// beyondSchemas are the messages about what a schema cannot see.
var beyondSchemas = []struct{ message, why string }{
	{`is (longer than 100 years|too long: want|too short: want|not longer than the (retry schedule|timeout)|longer than max|shorter than|longer than the .* in which)|is not stated|not longer than the retry|takes \d+ at most`, "a schema does not compare durations"},
	{`too many characters`, "a duration so long says nothing that a pattern could name"},
	{`is a truth value to some YAML readers|want a .*; got the date`, "a schema does not see quotes, and the readers of YAML differ in what needs them"},
	{`digits only\)|got the number (0[0-9]+|[0-9]+(\.0|e[0-9]+)\b)`, "a schema sees the value of a number, not how it is written"},
	{`no Go method can be called|would both be the Go method`, "a schema does not turn names into those of Go"},
	{`moves money|documents no key|does not do so by itself|keeps trying is not known`, "a schema does not hold the tables"},
	{`comes too late|stands right behind it: \[url|(minor_units|drop_params) stands twice`, "a schema does not see the order of a list, nor that two mappings say one thing"},
	{`is no part of the|every part of the key may be empty|is permanent too|is more than the .* of the work|does not come before version|is a part of .*, which is left out as a whole|is the scope, which the ledger stores|what the effect is called now|has this name in the ledger|stands among the effects as removed|is also what the works are about|are the same work, of which|would be forgotten as soon as`, "a schema does not compare two answers"},
	{`is the recipient of the message`, "a schema does not compare two answers"},
}

// beyondSchema tells whether a schema can see none of the errors, and notes the
// messages that say so.
func beyondSchema(ds Diagnostics, used map[string]bool) bool {
	for _, d := range ds {
		if d.Severity != Error {
			continue
		}
		known := false
		for _, b := range beyondSchemas {
			if regexp.MustCompile(b.message).MatchString(d.Msg) {
				known, used[b.message] = true, true
			}
		}
		if !known {
			return false
		}
	}
	return true
}

// TestSchemaHasTheWordsOfTheParser asks the parser for the words of every
// mapping by giving it one that it cannot know.
func TestSchemaHasTheWordsOfTheParser(t *testing.T) {
	for _, test := range []struct {
		schema *schema
		probe  string // with the unknown word
	}{
		{languageSchema(), "zzzzzzzzzz: 1\n"},
		{contractSchema(), "contracts:\n  a: {zzzzzzzzzz: 1}\n"},
		{deliveredBySchema().AnyOf[1], "contracts:\n  a: {delivered_by: {zzzzzzzzzz: 1}}\n"},
		{identitySchema(), "contracts:\n  a: {identity: {zzzzzzzzzz: 1}}\n"},
		{identitySchema().word("hash"), "contracts:\n  a: {identity: {hash: {zzzzzzzzzz: 1}}}\n"},
		{responseSchema(), "contracts:\n  a: {response: {zzzzzzzzzz: 1}}\n"},
		{responseSchema().word("while_running").AnyOf[1], "contracts:\n  a: {response: {while_running: {zzzzzzzzzz: 1}}}\n"},
		{retrySchema(), "contracts:\n  a: {retry: {zzzzzzzzzz: 1}}\n"},
		{retrySchema().word("backoff"), "contracts:\n  a: {retry: {backoff: {zzzzzzzzzz: 1}}}\n"},
		{effectSchema(), "contracts:\n  a: {effects: {b: {zzzzzzzzzz: 1}}}\n"},
		{effectSchema().word("message"), "contracts:\n  a: {effects: {b: {message: {zzzzzzzzzz: 1}}}}\n"},
		{effectSchema().word("retry"), "contracts:\n  a: {effects: {b: {retry: {zzzzzzzzzz: 1}}}}\n"},
	} {
		_, ds := Parse("probe.idem.yaml", []byte(test.probe))
		m := regexp.MustCompile(`unknown key zzzzzzzzzz; known here: (.*)`).FindStringSubmatch(ds.Text())
		if m == nil {
			t.Errorf("the parser does not say what it knows in\n%s%s", test.probe, ds.Text())
			continue
		}
		var got []string
		for _, w := range test.schema.Properties {
			got = append(got, w.name)
			if w.doc == "" {
				t.Errorf("%s has no description", w.name)
			}
		}
		want := strings.Split(m[1], ", ")
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("words of the parser and of the schema (schema_words.go) differ in\n%s(-parser +schema)\n%s", test.probe, diff)
		}
	}
}
