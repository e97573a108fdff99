package catalogue

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// file is one ecosystem's data, read when first needed.
type file struct {
	name      string
	src       []byte
	paths     []string // of the packages it speaks of
	parse     func() ([]*Entry, error)
	ecosystem string
}

func newFile(name string, src []byte) *file {
	f := &file{name: name, src: src, paths: scanPaths(src)}
	f.parse = sync.OnceValues(f.read)
	return f
}

// scanPaths finds the "- path:" lines without reading YAML, which would cost each
// of the thousand processes of a build some milliseconds. TestTheDataIsSound and
// read hold that it finds exactly the paths that the parser does.
func scanPaths(src []byte) []string {
	var paths []string
	for line := range bytes.Lines(src) {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte("- path:"))
		if !ok {
			continue
		}
		value, _, _ := strings.Cut(string(rest), " #")
		paths = append(paths, strings.Trim(value, " \t\r\n\"'"))
	}
	return paths
}

// reader turns nodes into entries and keeps the first error.
type reader struct {
	file string
	err  error
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d: %s", r.file, n.Line, fmt.Sprintf(format, args...))
	}
}

func (f *file) read() ([]*Entry, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(f.src, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	r := &reader{file: f.name}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s:1: the file is empty: want the keys ecosystem and packages", f.name)
	}
	var entries []*Entry
	var paths []string
	r.fields(doc.Content[0], "a catalogue file", map[string]func(*yaml.Node){
		"ecosystem": func(n *yaml.Node) { f.ecosystem = r.text(n) },
		"packages": func(n *yaml.Node) {
			for _, p := range r.items(n, "packages") {
				path, es := r.pkg(p)
				paths, entries = append(paths, path), append(entries, es...)
			}
		},
	})
	if f.ecosystem == "" {
		r.fail(doc.Content[0], "no ecosystem: say whose packages these are, in one word")
	}
	if r.err == nil && !slices.Equal(paths, f.paths) {
		r.fail(doc.Content[0], "write each package as a block that begins with the line \"- path: PATH\"; read %q, found %q", paths, f.paths)
	}
	return entries, r.err
}

// fields calls the reader of each key of a mapping.
func (r *reader) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "want %s as a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := known[key.Value]
		switch {
		case !ok:
			r.fail(key, "unknown key %q in %s; known here: %s", key.Value, what, keys(known))
		case seen[key.Value]:
			r.fail(key, "key %q is there twice", key.Value)
		default:
			read(value)
		}
		seen[key.Value] = true
	}
}

func keys(known map[string]func(*yaml.Node)) string {
	var names []string
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "want a list of %s", what)
		return nil
	}
	return n.Content
}

func (r *reader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		r.fail(n, "want a text")
	}
	return n.Value
}

// texts reads one text or a list of them.
func (r *reader) texts(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{r.text(n)}
	}
	var all []string
	for _, item := range r.items(n, "texts") {
		all = append(all, r.text(item))
	}
	return all
}

func (r *reader) word(n *yaml.Node, allowed []string) string {
	s := r.text(n)
	if !slices.Contains(allowed, s) {
		r.fail(n, "want %s; got %q", strings.Join(allowed, ", "), s)
	}
	return s
}

func (r *reader) truth(n *yaml.Node) bool {
	b, err := strconv.ParseBool(n.Value)
	if err != nil {
		r.fail(n, "want true or false; got %q", n.Value)
	}
	return b
}

func (r *reader) place(n *yaml.Node) Place {
	p, err := parsePlace(r.text(n))
	if err != nil {
		r.fail(n, "%v", err)
	}
	return p
}

func (r *reader) places(n *yaml.Node) []Place {
	if n.Kind == yaml.ScalarNode {
		return []Place{r.place(n)}
	}
	var all []Place
	for _, item := range r.items(n, "places") {
		all = append(all, r.place(item))
	}
	return all
}

func (r *reader) pkg(n *yaml.Node) (path string, entries []*Entry) {
	known := map[string]func(*yaml.Node){"path": func(n *yaml.Node) { path = r.text(n) }}
	for _, kind := range Kinds() {
		known[string(kind)] = func(n *yaml.Node) {
			for _, item := range r.items(n, string(kind)+" entries") {
				entries = append(entries, r.entries(item, kind)...)
			}
		}
	}
	r.fields(n, "a package", known)
	if path == "" {
		r.fail(n, "a package without path")
	}
	for _, e := range entries {
		e.Package = path
	}
	return path, entries
}

// entries reads one item, which may say the same of several names.
func (r *reader) entries(n *yaml.Node, kind Kind) []*Entry {
	e := Entry{Kind: kind, Pos: fmt.Sprintf("%s:%d", r.file, n.Line)}
	var names []string
	known := map[string]func(*yaml.Node){
		"name":   func(n *yaml.Node) { names = r.texts(n) },
		"reason": func(n *yaml.Node) { e.Reason = r.text(n) },
		"when": func(n *yaml.Node) {
			for _, item := range r.items(n, "conditions") {
				e.When = append(e.When, r.condition(item))
			}
		},
	}
	at := func(n *yaml.Node) { p := r.place(n); e.At = &p }
	to := func(n *yaml.Node) { e.To = r.places(n) }
	switch kind {
	case Source:
		known["volatile"] = func(n *yaml.Node) { e.Volatile = Volatile(r.word(n, volatiles())) }
		known["to"] = to
	case Flow:
		known["from"], known["to"] = func(n *yaml.Node) { e.From = r.places(n) }, to
		known["hash"] = func(n *yaml.Node) { e.Hash = r.truth(n) }
		known["encodes"] = func(n *yaml.Node) { e.Encodes = r.truth(n) }
	case Key:
		known["at"] = at
		known["pairs"] = func(n *yaml.Node) { e.Pairs = r.truth(n) }
		known["task"] = func(n *yaml.Node) { e.Task = r.truth(n) }
	case Effect:
		known["class"] = func(n *yaml.Node) { e.Class = Class(r.word(n, classNames())) }
		known["repeat"] = func(n *yaml.Node) { e.Safe = r.word(n, []string{"safe"}) == "safe" }
	case Retry:
		known["at"] = at
		known["itself"] = func(n *yaml.Node) { e.Itself = r.truth(n) }
		known["clients"] = func(n *yaml.Node) { e.Clients = r.truth(n) }
		known["endless"] = func(n *yaml.Node) { e.Endless = r.truth(n) }
	case Memory:
		known["does"] = func(n *yaml.Node) { e.Does = r.word(n, []string{"check", "mark", "claim", "release"}) }
	case EntryKind:
		known["at"] = at
		known["pulls"] = func(n *yaml.Node) { e.Pulls = r.truth(n) }
		known["means"] = func(n *yaml.Node) { e.Means = r.word(n, []string{"http", "queue", "schedule", "bot", "call"}) }
	}
	r.fields(n, "a "+string(kind)+" entry", known)
	r.complete(n, &e, names)
	return spread(e, names)
}

func classNames() []string {
	var names []string
	for _, c := range Classes() {
		names = append(names, string(c))
	}
	return names
}

// complete reports what an entry lacks.
func (r *reader) complete(n *yaml.Node, e *Entry, names []string) {
	switch {
	case len(names) == 0:
		r.fail(n, "a %s entry without name", e.Kind)
	case e.Reason == "":
		r.fail(n, "no reason for %s: say how one knows", names[0])
	case e.Kind == Source && e.Volatile == "":
		r.fail(n, "no volatile for %s: want one of %s", names[0], strings.Join(volatiles(), ", "))
	case e.Kind == Effect && e.Class == "":
		r.fail(n, "no class for %s: want one of %s", names[0], strings.Join(classNames(), ", "))
	case e.Kind == Memory && e.Does == "":
		r.fail(n, "no does for %s: want check, mark, claim or release", names[0])
	case e.Kind == EntryKind && e.Means == "":
		r.fail(n, "no means for %s: want http, queue, schedule, bot or call", names[0])
	case e.Kind == EntryKind && e.Pulls && e.At != nil:
		r.fail(n, "at and pulls for %s: either it calls a parameter, or who calls it takes in work", names[0])
	case e.Pairs && e.At == nil:
		r.fail(n, "no at for %s: say where its pairs begin", names[0])
	case e.Kind == Retry && e.At == nil && !e.Itself && !e.Clients:
		r.fail(n, "no at for %s: say which parameter is called again, or itself, or clients", names[0])
	}
	for _, name := range names {
		if strings.Count(name, ".") > 1 || strings.ContainsAny(name, "*() /") {
			r.fail(n, "name %q: want Func, Type.Method or Type.Field, without package and star", name)
		}
	}
}

func spread(e Entry, names []string) []*Entry {
	all := make([]*Entry, 0, len(names))
	for _, name := range names {
		one := e
		one.Name = name
		all = append(all, &one)
	}
	return all
}

func (r *reader) condition(n *yaml.Node) Condition {
	var c Condition
	arg := false
	list := func(op string) func(*yaml.Node) {
		return func(n *yaml.Node) { c.Op, c.In = op, r.texts(n) }
	}
	word := func(op, only string) func(*yaml.Node) {
		return func(n *yaml.Node) { c.Op = op; r.word(n, []string{only}) }
	}
	r.fields(n, "a condition", map[string]func(*yaml.Node){
		"arg":    func(n *yaml.Node) { arg, c.Arg = true, r.place(n) },
		opIn:     list(opIn),
		opSQL:    list(opSQL),
		opLayout: word(opLayout, "minute"),
		opNames:  word(opNames, "key"),
		opMatch: func(n *yaml.Node) {
			c.Op, c.In = opMatch, []string{r.text(n)}
			var err error
			if c.re, err = regexp.Compile(n.Value); err != nil {
				r.fail(n, "%v", err)
			}
		},
		opAtLeast: func(n *yaml.Node) {
			var err error
			c.Op = opAtLeast
			if c.Min, err = strconv.ParseInt(n.Value, 10, 64); err != nil {
				r.fail(n, "want a whole number; got %q", n.Value)
			}
		},
	})
	if !arg || c.Op == "" {
		r.fail(n, "a condition needs arg and one of in, match, atleast, layout, names, sql")
	}
	return c
}
