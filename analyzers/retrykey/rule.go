package retrykey

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/retry"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

func check(p *rule.Pass, fn *rule.Function) {
	for _, r := range retry.Find(p, fn) {
		node, way, err := retry.MadeInside(p, fn, r)
		switch {
		case err != nil:
			p.Note(fn, err)
		case node != nil:
			p.Report(fn, rule.Finding{
				Node: node, Message: "each attempt gets another key", Way: way,
				Advice: "make the key before the first attempt", Related: related(r.Node, "the attempts are made here"),
			})
		case !retry.Keyed(p, fn, r):
			p.Report(fn, rule.Finding{
				Node: r.Node, Message: "retried without a key: an attempt that failed may have succeeded", Way: r.Way(),
				Advice: "send the same key with each attempt", Related: related(r.Act.Call, "the effect is here"),
			})
		}
	}
}

func related(n ast.Node, message string) []analysis.RelatedInformation {
	return []analysis.RelatedInformation{{Pos: n.Pos(), End: n.End(), Message: message}}
}
