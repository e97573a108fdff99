package rule

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// NewComments makes the analyzer that reports comments to idemlint that it cannot
// understand. rules are the names that exist.
func NewComments(doc Doc, base Base, rules []string) *analysis.Analyzer {
	return newAnalyzer(doc, base, func(*Pass) func(*Pass, *ast.File) { return aboutComments(rules) })
}

func aboutComments(rules []string) func(*Pass, *ast.File) {
	return func(p *Pass, file *ast.File) {
		for _, ig := range p.ignores {
			if message := ig.problem(rules); message != "" {
				p.Pass.Report(analysis.Diagnostic{Pos: ig.comment.Pos(), End: ig.comment.End(), Message: message})
			}
		}
		for _, problem := range p.Facts.Problems {
			if file.FileStart <= problem.Pos && problem.Pos < file.FileEnd {
				p.Pass.Report(analysis.Diagnostic{Pos: problem.Pos, End: problem.End, Message: problem.Message})
			}
		}
	}
}

func (ig *ignore) problem(rules []string) string {
	if !ig.own {
		return ""
	}
	if len(ig.rules) == 0 {
		return "an ignore names a rule and a reason: //idemlint:ignore RULE REASON"
	}
	for _, name := range ig.rules {
		if !slices.Contains(rules, name) {
			return "no rule " + name + " to ignore; the rules are " + strings.Join(rules, ", ")
		}
	}
	return ""
}
