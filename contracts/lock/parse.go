package lock

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// Parse reads an idem.lock. Path is only used in messages. The order of entries
// does not count (a merge may have left another), nor do line ends, comments and
// empty lines; anything else that idemgen cannot have written is an error. A
// File that came with errors holds nothing that could be relied on.
func Parse(path string, src []byte) (*File, contracts.Diagnostics) {
	r := &reader{path: path}
	f := &File{Path: path}
	nodes := r.read(src)
	if len(r.diags) == 0 {
		r.file(f, nodes)
	}
	return f, r.diags.Sorted()
}

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	numberForm = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// entry says how an entry of a mapping is read.
type entry struct {
	name     string
	required bool
	read     func(*node)
}

// mapping reads the entries of a node, each at most once.
func (r *reader) mapping(at contracts.Pos, kids []*node, entries []entry) {
	seen := map[string]bool{}
	for _, n := range kids {
		i := slices.IndexFunc(entries, func(e entry) bool { return e.name == n.key })
		switch {
		case n.item:
			r.errorf(n.pos, "a list where names are expected: %s", mend)
		case i < 0:
			r.errorf(n.pos, "unknown entry %s: a newer idemgen may have written it; update idemgen, or restore the file from version control", clip(n.key))
		case seen[n.key]:
			r.twice(n)
		default:
			seen[n.key] = true
			entries[i].read(n)
		}
	}
	for _, e := range entries {
		if e.required && !seen[e.name] {
			r.errorf(at, "%s is missing: %s", e.name, mend)
		}
	}
}

func (r *reader) twice(n *node) {
	r.errorf(n.pos, "%s is here twice: keep the entry that has been released, then run idemgen", clip(n.key))
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// text is the one-line value of a node that has the form.
func (r *reader) text(n *node, want string, ok func(string) bool) string {
	if !n.full || n.item || !ok(n.text) {
		r.errorf(n.pos, "%s: want %s: %s", clip(n.key), want, mend)
		return ""
	}
	return n.text
}

// encoded reads a path or an encoded type. None holds what would end a line.
func (r *reader) encoded(dst *string) func(*node) {
	return func(n *node) { *dst = r.text(n, "a text of one line", oneLine) }
}

func oneLine(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\n\r\u0085\u2028\u2029")
}

func (r *reader) file(f *File, nodes []*node) {
	r.mapping(contracts.Pos{Line: 1, Column: 1}, nodes, []entry{
		{"format", true, func(n *node) {
			r.text(n, "the number "+strconv.Itoa(Format), func(s string) bool { return s == strconv.Itoa(Format) })
		}},
		{"kinds", true, func(n *node) {
			r.names(n, "a kind", nameForm, func(n *node) { f.Kinds = append(f.Kinds, r.kind(n)) })
		}},
	})
	slices.SortFunc(f.Kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
}

// names reads a mapping whose names are free.
func (r *reader) names(at *node, what string, form *regexp.Regexp, read func(*node)) {
	if at.full {
		r.errorf(at.pos, "%s: want entries below it: %s", clip(at.key), mend)
		return
	}
	seen := map[string]bool{}
	for _, n := range at.kids {
		switch {
		case n.item || !form.MatchString(n.key):
			r.errorf(n.pos, "want the name of %s: %s", what, mend)
		case seen[n.key]:
			r.twice(n)
		default:
			seen[n.key] = true
			read(n)
		}
	}
}

func (r *reader) kind(n *node) Kind {
	k := Kind{Name: n.key, line: n.pos.Line}
	var current *node
	r.mapping(n.pos, n.kids, []entry{
		{"retired", false, func(n *node) {
			k.Retired = r.text(n, "true", isTrue) != ""
		}},
		{"current", false, func(n *node) { current, k.Current = n, r.number(n) }},
		{"versions", true, func(n *node) {
			r.names(n, "a version", numberForm, func(n *node) { k.Versions = append(k.Versions, r.version(n)) })
			if len(n.kids) == 0 {
				r.errorf(n.pos, "versions holds none: %s", mend)
			}
		}},
	})
	slices.SortFunc(k.Versions, func(a, b Version) int { return a.Number - b.Number })
	if current != nil && k.Current > 0 && k.version(k.Current) == nil {
		r.errorf(current.pos, "current: version %d is not among the versions: %s", k.Current, mend)
	}
	return k
}

// number reads the number of a version.
func (r *reader) number(n *node) int {
	number, err := strconv.ParseInt(r.text(n, "the number of a version", numberForm.MatchString), 10, 32)
	if err != nil {
		return 0
	}
	return int(number)
}

func (r *reader) version(n *node) Version {
	number, err := strconv.ParseInt(n.key, 10, 32)
	if err != nil {
		r.errorf(n.pos, "version %s is larger than any: %s", n.key, mend)
	}
	v := Version{Number: int(number), line: n.pos.Line}
	digest, digestPos := "", n.pos
	before := len(r.diags)
	r.mapping(n.pos, n.kids, []entry{
		{"supersedes", false, func(n *node) {
			earlier := func(s string) bool {
				before, err := strconv.ParseInt(s, 10, 32)
				return err == nil && numberForm.MatchString(s) && before < number
			}
			v.Supersedes, _ = strconv.Atoi(r.text(n, "an earlier version", earlier)) // zero after a report
		}},
		{"old_work", false, func(n *node) {
			v.OldWork = contracts.OldWork(r.text(n, "honor or reprocess", func(s string) bool { return s == string(contracts.Honor) || s == string(contracts.Reprocess) }))
		}},
		{"identity", true, func(n *node) {
			v.Identity.line = n.pos.Line
			v.Identity.Body = Body(r.text(n, "key, list or hash", func(s string) bool { return s == string(Key) || s == string(List) || s == string(Hash) }))
		}},
		{"keyed", false, func(n *node) {
			v.Identity.Keyed = r.text(n, "true", isTrue) != ""
		}},
		{"scope", false, func(n *node) { p := r.part(n); v.Identity.Scope = &p }},
		{"key", false, func(n *node) { v.Identity.Key = r.parts(n) }},
		{"hash", false, func(n *node) { v.Identity.Members = r.members(n) }},
		{"digest", true, func(n *node) {
			digest, digestPos = r.text(n, "64 hexadecimal digits", digestForm.MatchString), n.pos
		}},
		{"golden", false, func(n *node) { v.Golden = r.text(n, "64 hexadecimal digits", digestForm.MatchString) }},
		{"window", true, func(n *node) { v.Window = r.window(n) }},
		{"effects", false, func(n *node) {
			r.names(n, "an effect", nameForm, func(n *node) { v.Effects = append(v.Effects, r.effect(n)) })
		}},
	})
	slices.SortFunc(v.Effects, func(a, b Effect) int { return strings.Compare(a.Name, b.Name) })
	switch {
	case len(r.diags) > before:
	case (v.Supersedes == 0) != (v.OldWork == ""):
		r.errorf(n.pos, "supersedes and old_work stand together or not at all: %s", mend)
	case !v.Identity.whole():
		r.errorf(n.pos, "the identity is incomplete: %s", mend)
	case digest != v.Identity.Digest():
		r.errorf(digestPos, "the digest is not that of the identity above it: the file was edited by hand; %s", mend)
	}
	return v
}

func isTrue(s string) bool { return s == "true" }

// whole tells whether the parts are those that the body has.
func (id Identity) whole() bool {
	switch id.Body {
	case Key:
		return len(id.Key) == 1 && id.Scope == nil && len(id.Members) == 0
	case List:
		return len(id.Key) > 0 && len(id.Members) == 0
	}
	return len(id.Key) == 0 && len(id.Members) > 0
}

func (r *reader) window(n *node) Window {
	text := r.text(n, "forever, or a duration", func(s string) bool { return s != "" })
	if text == "forever" || text == "" {
		return Window{Forever: true}
	}
	text, until, waits := strings.Cut(text, untilSuccess)
	d, err := contracts.ParseDuration(text)
	if err != nil || d <= 0 || waits && !nameForm.MatchString(until) {
		r.errorf(n.pos, "window: want forever, or a duration: %s", mend)
	}
	return Window{Duration: d, Until: until}
}

func (r *reader) effect(n *node) Effect {
	e := Effect{Name: n.key, line: n.pos.Line}
	r.mapping(n.pos, n.kids, []entry{
		{"called", false, func(n *node) { e.Called = r.text(n, "the name of an effect", nameForm.MatchString) }},
		{"removed", false, func(n *node) { e.Removed = r.text(n, "true", isTrue) != "" }},
		{"key_format", false, func(n *node) {
			e.KeyFormat = contracts.KeyFormat(r.text(n, "uuid or base62:N", func(s string) bool { return contracts.KeyFormat(s).Length() > 0 }))
		}},
		{"guard", true, func(n *node) { e.Guard = contracts.Guard(r.text(n, "a guard", nameForm.MatchString)) }},
		{"work", false, func(n *node) { e.Work = r.text(n, "a kind", nameForm.MatchString) }},
		{"once_per", false, func(n *node) { e.OncePer = r.parts(n) }},
	})
	if (e.Work != "") != (e.Guard == contracts.ChildWork) && e.Guard != "" {
		r.errorf(n.pos, "an effect with the guard work has a kind that does it, and no other has: %s", mend)
	}
	return e
}

func (r *reader) parts(at *node) []Part {
	var parts []Part
	if at.full || len(at.kids) == 0 {
		r.errorf(at.pos, "%s: want a list of fields: %s", clip(at.key), mend)
	}
	for _, n := range at.kids {
		if !n.item {
			r.errorf(n.pos, "%s: want a list of fields: %s", clip(at.key), mend)
			break
		}
		parts = append(parts, r.part(n))
	}
	return parts
}

func (r *reader) part(n *node) Part {
	p := Part{line: n.pos.Line}
	r.mapping(n.pos, n.kids, []entry{
		{"field", true, r.encoded(&p.Field)},
		{"wire", true, r.encoded(&p.Wire)},
		{"type", true, r.encoded(&p.Type)},
		{"empty", false, func(n *node) {
			p.Empty = Empty(r.text(n, string(EmptyItself)+" or "+string(EmptyNull), func(s string) bool { return s == string(EmptyItself) || s == string(EmptyNull) }))
		}},
	})
	return p
}

func (r *reader) members(at *node) []Member {
	var members []Member
	seen := map[string]bool{}
	for _, n := range at.kids {
		switch {
		case n.item || !oneLine(n.key):
			r.errorf(n.pos, "want the path of a member: %s", mend)
		case seen[n.key]:
			r.twice(n)
		default:
			m := Member{Path: n.key, line: n.pos.Line}
			seen[n.key] = true
			r.encoded(&m.Type)(n)
			members = append(members, m)
		}
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Path, b.Path) })
	return members
}
