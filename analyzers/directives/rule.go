package directives

import (
	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/rule"
)

// New makes the analyzer. rules are the names that an ignore may name.
func New(base rule.Base, rules []string) *analysis.Analyzer {
	return rule.NewComments(Doc, base, rules)
}
