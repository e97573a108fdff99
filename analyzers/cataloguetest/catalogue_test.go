package cataloguetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

func TestEveryNameIsDeclaredWhereTheCatalogueSaysSo(t *testing.T) {
	entries, err := catalogue.Builtin().All()
	if err != nil {
		t.Fatal(err)
	}
	pkgs, absent := available(t)
	missing := map[string]bool{}
	for _, e := range entries {
		var whys []string
		found := false
		for _, d := range pkgs {
			if !e.Of(d.path) {
				continue
			}
			why := wrong(e, d)
			if found = found || why == ""; why != "" {
				whys = append(whys, fmt.Sprintf("%s %s: %s", d.path, d.version, why))
			}
		}
		switch {
		case found:
		case len(whys) > 0:
			t.Errorf("%s: %s of %s.%s: %s", e.Pos, e.Kind, e.Package, e.Name, strings.Join(whys[:min(len(whys), 3)], "; "))
		case missing[e.Package]: // said once
		case !slices.ContainsFunc(absent, func(m module) bool { return m.holds(e) }):
			missing[e.Package] = true
			t.Errorf("%s: %s: no module in modules.txt has this package; add one with a version", e.Pos, e.Package)
		}
	}
}

// available reads every covered package of the standard library and the listed
// modules; absent are those of which no version can be had.
func available(t *testing.T) (pkgs []*declared, absent []module) {
	t.Helper()
	mods, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	trees, err := download(mods)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mods {
		if m.reason != "" {
			absent = append(absent, m)
			t.Logf("not checked: %s: %s", m.path, m.reason)
		}
	}
	std, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range append(trees, tree{dir: std}) {
		found, err := tree.covered(catalogue.Builtin().Covers)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Errorf("modules.txt: the catalogue speaks of no package of %s", tree.path)
		}
		pkgs = append(pkgs, found...)
	}
	return pkgs, absent
}

func TestWhatIsNotDeclaredIsFound(t *testing.T) {
	d := &declared{funcs: map[string]shape{"New": {params: 1, results: 1}, "T.Do": {method: true, params: 2}}, fields: map[string]bool{"T.Key": true}}
	two, one := catalogue.Place(2), catalogue.Place(1)
	for _, test := range []struct {
		name string
		e    catalogue.Entry
		want string
	}{
		{"a field", catalogue.Entry{Kind: catalogue.Key, Name: "T.Key"}, ""},
		{"no field", catalogue.Entry{Kind: catalogue.Key, Name: "T.Kee"}, "no such field"},
		{"a method is no field", catalogue.Entry{Kind: catalogue.Key, Name: "T.Do"}, "no such field"},
		{"a parameter", catalogue.Entry{Kind: catalogue.Key, Name: "T.Do", At: &one}, ""},
		{"no parameter", catalogue.Entry{Kind: catalogue.Key, Name: "T.Do", At: &two}, "no parameter 2: it has 2"},
		{"no method", catalogue.Entry{Kind: catalogue.Effect, Name: "Do"}, "no such function or method"},
		{"no receiver", catalogue.Entry{Kind: catalogue.Flow, Name: "New", From: []catalogue.Place{catalogue.Recv}}, "a function has no receiver"},
		{"no result", catalogue.Entry{Kind: catalogue.Source, Name: "New", To: []catalogue.Place{catalogue.Result(1)}}, "no result 1: it has 1"},
		{"no condition", catalogue.Entry{Kind: catalogue.Effect, Name: "New", When: []catalogue.Condition{{Arg: one}}}, "no parameter 1: it has 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := wrong(&test.e, d); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
