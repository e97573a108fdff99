package contracts

// OldWork is what becomes of the work of an earlier version.
type OldWork string

// The answers of supersedes.old_work.
const (
	Honor     OldWork = "honor"     // the key changed, the work did not
	Reprocess OldWork = "reprocess" // all of it is new work
)

var oldWorks = []OldWork{Honor, Reprocess}

// Supersedes says what a bump of the version means for the work before it.
type Supersedes struct {
	Pos     Pos // of the key "supersedes", or of the kind if it is absent
	Set     bool
	Version Value[int] // the version before: 1 or more, lower than the contract's
	Because Value[string]
	OldWork Value[OldWork]
}

// Honors tells whether the work of the version before goes on as it is.
func (s *Supersedes) Honors() bool { return s.Set && s.OldWork.V == Honor }

func (s *Supersedes) place(at Pos) {
	s.Pos, s.Version.Pos, s.Because.Pos, s.OldWork.Pos = at, at, at, at
}

func (p *parser) supersedes(c *Contract, it item) {
	s := &c.Supersedes
	s.place(it.key)
	s.Set = true
	present, ok := p.mapping(it, "a mapping with version, because and old_work", []field{
		{"version", func(it item) { p.whole(it, &s.Version, 1, 1<<31-1) }},
		{"because", func(it item) {
			if text, ok := p.text(it, "a sentence that says why the version changed"); ok {
				s.Because = Value[string]{V: text, Pos: it.pos, Set: true}
			}
		}},
		{"old_work", func(it item) { word(p, it, &s.OldWork, oldWorks) }},
	})
	if !ok {
		return
	}
	p.unanswered(it.key, it.path, present, []question{
		{"version", "which version was before this one? Answer with its number, as it stands in idem.lock"},
		{"because", "why did the version change? Say it in one sentence, for whoever meets old work"},
		{"old_work", "what becomes of the work of that version? Answer with honor (the key changed, the work did not: it goes on, and what is done stays done) or reprocess (all of it is new work)"},
	})
}

// checkSupersedes compares the two versions.
func (p *parser) checkSupersedes(c *Contract) {
	s := &c.Supersedes
	if s.Version.Set && c.Version.Set && s.Version.V >= c.Version.V {
		p.errorf(s.Version.Pos, "supersedes.version", "version %d does not come before version %d, which this is", s.Version.V, c.Version.V)
	}
}
