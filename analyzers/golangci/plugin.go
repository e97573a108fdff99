// Package golangci makes the rules a linter of golangci-lint, in its system of
// module plugins: a golangci-lint that is built with this package knows idemlint.
package golangci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"
	"gopkg.in/yaml.v3"

	"github.com/idemgen/idem/analyzers"
)

// Name is the linter's name in the configuration.
const Name = "idemlint"

func init() { register.Plugin(Name, New) }

// Settings are what the configuration may say under settings.
type Settings struct {
	Rules     []string `json:"rules"`     // those to run; none: all
	Disable   []string `json:"disable"`   // those not to run
	Tests     bool     `json:"tests"`     // report in test files as well
	Catalogue any      `json:"catalogue"` // what .idemlint.yaml says elsewhere
}

// New makes the linter from its settings. The catalogue is among them, and not in
// a file, because golangci-lint keeps results apart by its configuration.
func New(raw any) (register.LinterPlugin, error) {
	s := Settings{}
	if raw != nil {
		var err error
		if s, err = register.DecodeSettings[Settings](raw); err != nil {
			return nil, fmt.Errorf("%s: %w", Name, err)
		}
	}
	chosen, err := s.analyzers()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return &plugin{chosen}, nil
}

type plugin struct{ analyzers []*analysis.Analyzer }

func (p *plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return p.analyzers, nil }

func (p *plugin) GetLoadMode() string { return register.LoadModeTypesInfo }

func (s Settings) analyzers() ([]*analysis.Analyzer, error) {
	var o analyzers.Options
	if s.Catalogue != nil {
		text, err := yaml.Marshal(s.Catalogue)
		if err != nil {
			return nil, fmt.Errorf("catalogue: %w", err)
		}
		o = analyzers.Options{Extra: text, ExtraName: "catalogue"}
	}
	all, err := analyzers.New(o)
	if err != nil {
		return nil, err
	}
	if err := known(all, slices.Concat(s.Rules, s.Disable)); err != nil {
		return nil, err
	}
	var chosen []*analysis.Analyzer
	for _, a := range all {
		if len(s.Rules) > 0 && !slices.Contains(s.Rules, a.Name) || slices.Contains(s.Disable, a.Name) {
			continue
		}
		if s.Tests {
			if err := a.Flags.Set("tests", "true"); err != nil {
				return nil, err
			}
		}
		alone(a)
		chosen = append(chosen, a)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no rule is left to run")
	}
	return chosen, nil
}

func known(all []*analysis.Analyzer, names []string) error {
	var rules []string
	for _, a := range all {
		rules = append(rules, a.Name)
	}
	for _, name := range names {
		if !slices.Contains(rules, name) {
			return fmt.Errorf("no rule %q; the rules are %s", name, strings.Join(rules, ", "))
		}
	}
	return nil
}

// alone keeps related places back: golangci-lint would make a finding of each.
func alone(a *analysis.Analyzer) {
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		quiet := *pass
		quiet.Report = func(d analysis.Diagnostic) {
			d.Related = nil
			pass.Report(d)
		}
		return run(&quiet)
	}
}
