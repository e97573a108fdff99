package analyzers

import (
	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/randomkey"
)

// Doc is the documentation of a rule.
type Doc = rule.Doc

// NoteCategory is the category of diagnostics that are no findings: the tool could
// not do all of its work.
const NoteCategory = rule.NoteCategory

// rules are all of them, in the order of the documentation.
var rules = []struct {
	doc rule.Doc
	new func(rule.Base) *analysis.Analyzer
}{
	{randomkey.Doc, randomkey.New},
}

// Docs are the documentations of all rules.
func Docs() []Doc {
	var all []Doc
	for _, r := range rules {
		all = append(all, r.doc)
	}
	return all
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
	c := catalogue.Builtin()
	if o.Extra != nil {
		var err error
		if c, err = c.With(o.ExtraName, o.Extra); err != nil {
			return nil, err
		}
	}
	base := rule.NewBase(c)
	var all []*analysis.Analyzer
	for _, r := range rules {
		all = append(all, r.new(base))
	}
	return all, nil
}

// Matters tells whether a package can hold anything to report or to say to others,
// from its path and imports alone: it is to be parsed only then. known tells
// whether an import has facts.
func Matters(path string, own bool, imports []string, known func(string) bool) bool {
	return rule.Matters(catalogue.Builtin(), path, own, imports, known)
}
