package golangci

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/analyzers"
)

func build(t *testing.T, settings any) ([]*analysis.Analyzer, error) {
	t.Helper()
	newPlugin, err := register.GetPlugin(Name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlugin(settings)
	if err != nil {
		return nil, err
	}
	if p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("load mode %s", p.GetLoadMode())
	}
	return p.BuildAnalyzers()
}

func TestSettingsChooseRules(t *testing.T) {
	all := len(analyzers.Docs())
	for _, test := range []struct {
		settings any
		want     int
	}{
		{nil, all},
		{map[string]any{}, all},
		{map[string]any{"rules": []any{"randomkey"}}, 1},
		{map[string]any{"disable": []any{"randomkey"}}, all - 1},
	} {
		got, err := build(t, test.settings)
		if err != nil || len(got) != test.want || analysis.Validate(got) != nil {
			t.Errorf("%v: %d rules, %v", test.settings, len(got), err)
		}
	}
}

func TestWrongSettingsSayWhatIsWrong(t *testing.T) {
	for want, settings := range map[string]any{
		`idemlint: no rule "nosuch"; the rules are randomkey, `: map[string]any{"disable": []any{"nosuch"}},
		`idemlint: no rule is left to run`:                      map[string]any{"rules": []any{"randomkey"}, "disable": []any{"randomkey"}},
		`unknown field "ruels"`:                                 map[string]any{"ruels": []any{"randomkey"}},
		`want a list of packages`:                               map[string]any{"catalogue": map[string]any{"ecosystem": "own", "packages": 1}},
	} {
		if _, err := build(t, settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v", settings, err)
		}
	}
}

// TestNoFindingHasARelatedPlace runs the linter's analyzers over packages where
// the same rules do name related places.
func TestNoFindingHasARelatedPlace(t *testing.T) {
	dir := corpus(t)
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir}, "./randomkey")
	if err != nil {
		t.Fatal(err)
	}
	related := func(all []*analysis.Analyzer) (findings, related int) {
		graph, err := checker.Analyze(all, pkgs, nil)
		if err != nil {
			t.Fatal(err)
		}
		for a := range graph.All() {
			if a.IsRoot {
				findings += len(a.Diagnostics)
				for _, d := range a.Diagnostics {
					related += len(d.Related)
				}
			}
		}
		return findings, related
	}
	plain, err := analyzers.New(analyzers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	linter, err := build(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantFindings, some := related(plain)
	gotFindings, none := related(linter)
	if some == 0 || none != 0 || gotFindings != wantFindings {
		t.Errorf("%d findings with %d related places, and %d with %d in golangci-lint", wantFindings, some, gotFindings, none)
	}
}

func corpus(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
