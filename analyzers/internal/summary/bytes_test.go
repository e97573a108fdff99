package summary

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

func load(t *testing.T, patterns ...string) []*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: testdata(t)}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// encode runs the analyzer over packages and gives the bytes of each fact.
func encode(t *testing.T, pkgs []*packages.Package) map[string][]byte {
	t.Helper()
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer(catalogue.Builtin())}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for act := range graph.All() {
		for _, f := range act.AllObjectFacts() {
			if _, ok := f.Fact.(*Func); !ok {
				continue
			}
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(f.Fact); err != nil {
				t.Fatal(err)
			}
			all[f.Object.Pkg().Path()+"."+f.Object.Name()] = b.Bytes()
			back := new(Func)
			if err := gob.NewDecoder(bytes.NewReader(b.Bytes())).Decode(back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f.Fact, analysis.Fact(back)); diff != "" {
				t.Errorf("%v does not read back as written:\n%s", f.Object, diff)
			}
		}
	}
	return all
}

func TestFactsAreTheSameBytesOnEveryRunAndSmall(t *testing.T) {
	pkgs := load(t, "./summary", "./ids")
	first, second := encode(t, pkgs), encode(t, pkgs)
	if len(first) < 15 {
		t.Fatalf("only %d facts", len(first))
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	total := 0
	for _, b := range first {
		total += len(b)
	}
	// Most of it is gob's description of the type.
	if limit := 700 * len(first); total > limit {
		t.Errorf("%d facts take %d bytes, more than %d", len(first), total, limit)
	}
}
