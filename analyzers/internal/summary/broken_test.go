package summary

import (
	"go/types"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// TestCodeThatDoesNotCompileIsSummarisedAsFarAsItGoes holds that nothing panics and
// that the functions beside the broken ones are known.
func TestCodeThatDoesNotCompileIsSummarisedAsFarAsItGoes(t *testing.T) {
	src := `package broken

import "time"

func Now() string { return time.Now().String() }

func Nosuch(x Missing) string { return x.f(nosuch(time.Now()), missing.Call(1, 2)...) + undefined[0].y }

func Arguments() string { return Now(1, 2, 3) + time.Now().Format() + string() + append() }

func (Missing) Method() (a, b int) { a, b = Now(); return Now(), 1, 2 }

func Literal() any { return T{1, 2, nosuch: time.Now(), "x": 3} }

func F() { var f func(int); f(1, 2); for a, b := range 3 { _, _ = a, b }; x := x; switch y := x.(type) { case Missing: _ = y } }
`
	dir := testdata(t)
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir,
		Overlay: map[string][]byte{filepath.Join(dir, "broken", "broken.go"): []byte(src)},
	}, "./broken")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer(catalogue.Builtin())}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for act := range graph.All() {
		if act.Err != nil {
			t.Errorf("%v: %v", act, act.Err)
		}
		for _, f := range act.AllObjectFacts() {
			found[f.Object.Name()] = true
		}
	}
	if !found["Now"] {
		t.Errorf("facts about %v", found)
	}
}

func TestAFaultInOneFunctionSilencesThatFunctionAlone(t *testing.T) {
	r := &Result{own: map[*types.Func]*Func{}}
	fn := types.NewFunc(0, nil, "f", types.NewSignatureType(nil, nil, nil, nil, nil, false))
	r.own[fn] = new(Func)
	f := &function{obj: fn, engine: &engine{Result: r}}
	calls := 0
	for range 2 {
		f.safely(func() { calls++; panic("no") })
	}
	if _, known := r.own[fn]; known || !f.broken || calls != 1 {
		t.Errorf("known %v, broken %v, called %d times", known, f.broken, calls)
	}
}
