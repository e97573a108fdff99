package analyzers

import (
	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/canonhash"
	"github.com/idemgen/idem/analyzers/checkinsert"
	"github.com/idemgen/idem/analyzers/contractdrift"
	"github.com/idemgen/idem/analyzers/directives"
	"github.com/idemgen/idem/analyzers/effectorder"
	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/survey"
	"github.com/idemgen/idem/analyzers/memdedupe"
	"github.com/idemgen/idem/analyzers/mixeddecision"
	"github.com/idemgen/idem/analyzers/randomkey"
	"github.com/idemgen/idem/analyzers/retrykey"
	"github.com/idemgen/idem/analyzers/unboundedretry"
	"github.com/idemgen/idem/analyzers/unrouted"
	"github.com/idemgen/idem/analyzers/volatilehash"
)

// Doc is the documentation of a rule.
type Doc = rule.Doc

// NoteCategory is the category of diagnostics that are no findings: the tool could
// not do all of its work.
const NoteCategory = rule.NoteCategory

// SurveyCategory is the category of diagnostics that hold the survey of a package.
const SurveyCategory = rule.SurveyCategory

// entry is a rule of the list.
type entry struct {
	doc rule.Doc
	new func(rule.Base) *analysis.Analyzer
}

// rules are all that report on code, in the order of the documentation.
func rules() []entry {
	return []entry{
		{randomkey.Doc, randomkey.New},
		{volatilehash.Doc, volatilehash.New},
		{canonhash.Doc, canonhash.New},
		{checkinsert.Doc, checkinsert.New},
		{retrykey.Doc, retrykey.New},
		{unboundedretry.Doc, unboundedretry.New},
		{effectorder.Doc, effectorder.New},
		{memdedupe.Doc, memdedupe.New},
		{mixeddecision.Doc, mixeddecision.New},
		{unrouted.Doc, unrouted.New},
		{contractdrift.Doc, contractdrift.New},
	}
}

// Docs are the documentations of all rules; the last is the one about comments.
func Docs() []Doc {
	var all []Doc
	for _, r := range rules() {
		all = append(all, r.doc)
	}
	return append(all, directives.Doc)
}

// Options are what can be set when a tool starts.
type Options struct {
	// Extra is a catalogue file of the user's that adds to the built-in one, and
	// ExtraName the name that its errors begin with.
	Extra     []byte
	ExtraName string
}

// New makes the analyzers of all rules, which share their facts.
func New(o Options) ([]*analysis.Analyzer, error) {
	all, _, err := NewWithSurvey(o)
	return all, err
}

// NewWithSurvey makes the analyzers of all rules, and beside them the one that
// surveys packages for an audit, which shares their facts and reports no findings.
func NewWithSurvey(o Options) (all []*analysis.Analyzer, surveyor *analysis.Analyzer, err error) {
	c := catalogue.Builtin()
	if o.Extra != nil {
		if c, err = c.With(o.ExtraName, o.Extra); err != nil {
			return nil, nil, err
		}
	}
	base := rule.NewBase(c)
	var names []string
	for _, r := range rules() {
		all, names = append(all, r.new(base)), append(names, r.doc.Name)
	}
	return append(all, directives.New(base, names)), survey.New(base), nil
}

// Matters tells whether a package can hold anything to report or to say to others,
// from its path and imports alone: it is to be parsed only then. known tells
// whether an import has facts.
func Matters(path string, own bool, imports []string, known func(string) bool) bool {
	return rule.Matters(catalogue.Builtin(), path, own, imports, known)
}
