package mutate

import (
	"cmp"
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strings"
)

// handler is a source with its marks.
type handler struct {
	name  string
	src   string
	marks []mark
}

// mark is a part of the source that may be changed.
type mark struct {
	name, other string // other: what the mark says may take its place
	start, end  int    // of the text between the two comments
	open, close int    // of all of it, with the comments
}

func (h *handler) text(m mark) string { return strip(h.src[m.start:m.end]) }

func (h *handler) all(name string) []mark {
	var all []mark
	for _, m := range h.marks {
		if m.name == name {
			all = append(all, m)
		}
	}
	return all
}

// first is the first mark of a name at or after an offset.
func (h *handler) after(name string, offset int) (mark, bool) {
	for _, m := range h.marks {
		if m.name == name && m.start >= offset {
			return m, true
		}
	}
	return mark{}, false
}

// inside is the first mark of a name within another.
func (h *handler) inside(name string, outer mark) (mark, bool) {
	m, ok := h.after(name, outer.start)
	return m, ok && m.end <= outer.end
}

var (
	comment = regexp.MustCompile(`/\*(?:(\w+)(?::((?:[^*]|\*[^/])*?))?\[|\])\*/`)
	blank   = regexp.MustCompile(`/\*(?:\w+(?::(?:[^*]|\*[^/])*?)?\[|\])\*/`)
)

// strip takes the marks out.
func strip(src string) string { return blank.ReplaceAllString(src, "") }

func parse(name, src string) (*handler, error) {
	h := &handler{name: name, src: src}
	var stack []mark
	for _, loc := range comment.FindAllStringSubmatchIndex(src, -1) {
		if loc[2] >= 0 {
			m := mark{name: src[loc[2]:loc[3]], open: loc[0], start: loc[1]}
			if loc[4] >= 0 {
				m.other = src[loc[4]:loc[5]]
			}
			stack = append(stack, m)
			continue
		}
		if len(stack) == 0 {
			return nil, fmt.Errorf("%s: a mark ends that has not begun, at %d", name, loc[0])
		}
		m := stack[len(stack)-1]
		m.end, m.close = loc[0], loc[1]
		stack, h.marks = stack[:len(stack)-1], append(h.marks, m)
	}
	if len(stack) > 0 {
		return nil, fmt.Errorf("%s: %s has no end", name, stack[0].name)
	}
	slices.SortFunc(h.marks, func(a, b mark) int { return cmp.Compare(a.start, b.start) })
	return h, nil
}

// here stands in what a mutation puts into the source for the place at which a rule
// is to report it.
const here = "/*@*/"

// edit replaces a part of the source.
type edit struct {
	start, end int
	text       string
}

// mutation is one mistake.
type mutation struct {
	h       *handler
	what    string   // what is done to which mark
	rules   []string // any of these is right to report it
	edits   []edit
	imports []string
	decls   string // what is added at the end of the file
}

// source is the mutated file, and the lines at which the mistake may be reported.
func (m mutation) source() (string, []int, error) {
	edits := slices.Clone(m.edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.start < at {
			return "", nil, fmt.Errorf("%s: edits overlap", m.what)
		}
		b.WriteString(m.h.src[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(m.h.src[at:])
	src := strip(b.String())
	for _, path := range m.imports {
		if !strings.Contains(src, `"`+path+`"`) {
			src = strings.Replace(src, "import (\n", "import (\n\t\""+path+"\"\n", 1)
		}
	}
	src += "\n" + m.decls
	formatted, err := format.Source([]byte(src))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w\n%s", m.what, err, src)
	}
	var lines []int
	for i, line := range strings.Split(string(formatted), "\n") {
		switch {
		case !strings.Contains(line, here):
		case strings.TrimSpace(strings.ReplaceAll(line, here, "")) == "": // gofmt gave the place a line of its own
			lines = append(lines, i+2)
		default:
			lines = append(lines, i+1)
		}
	}
	return strings.ReplaceAll(string(formatted), here, ""), lines, nil
}
