package unboundedretry

import (
	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/retry"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

func check(p *rule.Pass, fn *rule.Function) {
	for _, r := range retry.Find(p, fn) {
		if r.Bounded {
			continue
		}
		p.Report(fn, rule.Finding{
			Node: r.Node, Message: "retried without end, whatever the error is", Way: r.Way(),
			Advice:  "give up after some attempts or at a deadline",
			Related: []analysis.RelatedInformation{{Pos: r.Act.Call.Pos(), End: r.Act.Call.End(), Message: "the effect is here"}},
		})
	}
}
