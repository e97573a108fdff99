package lock

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const header = `# Written by idemgen; commit this file. It holds what decides whether two pieces of
# work are the same, so that no change can make done work new without being seen.
`

// Format is the file as text: sorted, one fact per line, each line with LF.
func (f *File) Format() []byte {
	w := &writer{}
	w.b.WriteString(header)
	w.line(0, "format", strconv.Itoa(Format))
	w.open(0, "kinds")
	for _, k := range f.Kinds {
		w.kind(k)
	}
	return []byte(w.b.String())
}

type writer struct{ b strings.Builder }

func (w *writer) indent(depth int) { w.b.WriteString(strings.Repeat("  ", depth)) }

// line writes a key and a value that needs no quotes.
func (w *writer) line(depth int, key, value string) {
	w.indent(depth)
	w.b.WriteString(key + ": " + value + "\n")
}

func (w *writer) open(depth int, key string) {
	w.indent(depth)
	w.b.WriteString(key + ":\n")
}

func (w *writer) kind(k Kind) {
	w.open(1, k.Name)
	if k.Retired {
		w.line(2, "retired", "true")
	}
	if k.Current > 0 {
		w.line(2, "current", strconv.Itoa(k.Current))
	}
	w.open(2, "versions")
	for _, v := range k.Versions {
		w.open(3, strconv.Itoa(v.Number))
		w.version(v)
	}
}

func (w *writer) version(v Version) {
	if v.Supersedes > 0 {
		w.line(4, "supersedes", strconv.Itoa(v.Supersedes))
		w.line(4, "old_work", string(v.OldWork))
	}
	w.line(4, "identity", string(v.Identity.Body))
	if v.Identity.Keyed {
		w.line(4, "keyed", "true")
	}
	if v.Identity.Scope != nil {
		w.open(4, "scope")
		w.part(5, *v.Identity.Scope, "")
	}
	w.list("key", 4, v.Identity.Key)
	if len(v.Identity.Members) > 0 {
		w.open(4, "hash")
	}
	for _, m := range v.Identity.Members {
		w.line(5, scalar(m.Path), scalar(m.Type))
	}
	w.line(4, "digest", quote(v.Identity.Digest()))
	if v.Golden != "" {
		w.line(4, "golden", quote(v.Golden))
	}
	w.line(4, "window", v.Window.String())
	if len(v.Effects) > 0 {
		w.open(4, "effects")
	}
	for _, e := range v.Effects {
		w.open(5, e.Name)
		if e.Called != "" {
			w.line(6, "called", e.Called)
		}
		if e.Removed {
			w.line(6, "removed", "true")
		}
		w.line(6, "guard", scalar(string(e.Guard)))
		if e.KeyFormat != "" {
			w.line(6, "key_format", scalar(string(e.KeyFormat)))
		}
		if e.Work != "" {
			w.line(6, "work", e.Work)
		}
		w.list("once_per", 6, e.OncePer)
	}
}

// list writes parts in their order, which counts.
func (w *writer) list(key string, depth int, parts []Part) {
	if len(parts) == 0 {
		return
	}
	w.open(depth, key)
	for _, p := range parts {
		w.part(depth+1, p, "- ")
	}
}

func (w *writer) part(depth int, p Part, dash string) {
	w.line(depth, dash+"field", scalar(p.Field))
	margin := strings.Repeat(" ", len(dash))
	w.line(depth, margin+"wire", scalar(p.Wire))
	w.line(depth, margin+"type", scalar(p.Type))
	if p.Empty != "" {
		w.line(depth, margin+"empty", scalar(string(p.Empty)))
	}
}

// plain is what every YAML reader takes for text without quotes.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.\[\]{}?$/-]*( [A-Za-z0-9_.\[\]{}?$/-]+)*$`)

// ambiguous are words that some YAML readers take for something else.
var ambiguous = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null)$`)

func scalar(s string) string {
	if plain.MatchString(s) && !ambiguous.MatchString(s) {
		return s
	}
	return quote(s)
}

// quote writes s in the double quotes of YAML, with escapes for all that is not
// ASCII, so that which characters are printable is nobody's opinion.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r >= ' ' && r < 0x7F:
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
