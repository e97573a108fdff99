package lock

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idem/contracts"
)

// Limits bound memory. Some 30,000 contracts are within them.
const (
	maxSource = 16 << 20 // bytes
	maxLines  = 500_000
)

// maxIndent is deeper than any entry.
const maxIndent = 40

// The file is read line by line rather than by a YAML library: it is written by
// a program, so that what is read need not be more than what is written, and a
// hostile file can do nothing.

// node is an entry of a mapping, or an item of a list.
type node struct {
	pos  contracts.Pos
	key  string // empty for an item
	item bool
	text string
	full bool // has a text
	kids []*node
}

// token is a line, or the dash at the beginning of one.
type token struct {
	line, indent int
	dash         bool
	text         string
}

type reader struct {
	path   string
	lines  []string
	tokens []token
	at     int
	diags  contracts.Diagnostics
}

// maxProblems is how many are told of a file that is something else altogether.
const maxProblems = 100

// errorf reports at a place.
func (r *reader) errorf(pos contracts.Pos, format string, args ...any) {
	if len(r.diags) == maxProblems {
		return
	}
	d := (&contracts.File{Path: r.path}).Errorf(pos, "", format, args...)
	if pos.Line > 0 && pos.Line <= len(r.lines) {
		line := r.lines[pos.Line-1]
		start := min(max(pos.Column-1, 0), len(line))
		width := min(pos.Width, len(line)-start)
		if len(line) <= 200 {
			d.Snippet = contracts.Snippet{Source: line, Start: start, Width: width}
		}
	}
	r.diags = append(r.diags, d)
}

// mend is what to do about a file that idemgen cannot have written.
const mend = "idem.lock is written by idemgen; restore it from version control, then run idemgen"

// read splits the text into blocks. It gives nil after a report.
func (r *reader) read(src []byte) []*node {
	switch {
	case len(src) > maxSource:
		r.errorf(contracts.Pos{}, "the file has %d bytes; at most %d are read: %s", len(src), maxSource, mend)
		return nil
	case !utf8.Valid(src):
		r.errorf(contracts.Pos{}, "the file is not UTF-8: %s", mend)
		return nil
	case bytes.Count(src, []byte("\n")) > maxLines:
		r.errorf(contracts.Pos{}, "the file has more than %d lines: %s", maxLines, mend)
		return nil
	}
	text := strings.TrimPrefix(string(src), "\uFEFF")
	r.lines = strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if r.conflict() || r.newer() || !r.tokenize() {
		return nil
	}
	nodes, ok := r.block(0)
	switch {
	case !ok:
		return nil
	case r.at < len(r.tokens):
		r.misplaced(r.tokens[r.at])
		return nil
	}
	return nodes
}

var marker = regexp.MustCompile(`^(<{7}|\|{7}|={7}|>{7})( |$)`)

// conflict reports the first marker that a merge has left.
func (r *reader) conflict() bool {
	for i, line := range r.lines {
		if marker.MatchString(line) {
			r.errorf(contracts.Pos{Line: i + 1, Column: 1, Width: 7}, "a merge conflict: keep the kinds and versions of both sides; of one that both have changed, keep the side that has been released; then run idemgen")
			return true
		}
	}
	return false
}

var formatLine = regexp.MustCompile(`^format: *([0-9]{1,9}) *(#.*)?$`)

// newer reports a format that a later idemgen has written, of which nothing else
// can be said.
func (r *reader) newer() bool {
	for i, line := range r.lines {
		m := formatLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil && n > Format {
			r.errorf(contracts.Pos{Line: i + 1, Column: 1, Width: len(line)}, "format %d is newer than this idemgen, which knows format %d: update idemgen", n, Format)
			return true
		}
	}
	return false
}

func (r *reader) tokenize() bool {
	for i, line := range r.lines {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text = strings.TrimRight(text, " "); text == "" || text[0] == '#' {
			continue
		}
		if text[0] == '\t' || indent > maxIndent {
			r.misplaced(token{line: i + 1, indent: indent})
			return false
		}
		if rest, ok := strings.CutPrefix(text, "- "); ok {
			r.tokens = append(r.tokens, token{line: i + 1, indent: indent, dash: true})
			indent, text = indent+2, rest
		}
		r.tokens = append(r.tokens, token{line: i + 1, indent: indent, text: text})
	}
	return true
}

func (r *reader) misplaced(t token) {
	r.errorf(contracts.Pos{Line: t.line, Column: t.indent + 1, Width: 1}, "the line is indented as no line here is: %s", mend)
}

// block reads the entries that begin at a column.
func (r *reader) block(indent int) ([]*node, bool) {
	var nodes []*node
	for r.at < len(r.tokens) && r.tokens[r.at].indent == indent {
		t := r.tokens[r.at]
		n := &node{item: t.dash, pos: contracts.Pos{Line: t.line, Column: indent + 1, Width: 1}}
		if !t.dash {
			if err := n.split(t.text); err != nil {
				n.pos.Width = len(t.text)
				r.errorf(n.pos, "%s: %s", err, mend)
				return nil, false
			}
		}
		r.at++
		if !n.full && r.at < len(r.tokens) && r.tokens[r.at].indent == indent+2 {
			var ok bool
			if n.kids, ok = r.block(indent + 2); !ok {
				return nil, false
			}
		}
		if r.at < len(r.tokens) && r.tokens[r.at].indent > indent {
			r.misplaced(r.tokens[r.at])
			return nil, false
		}
		nodes = append(nodes, n)
	}
	return nodes, true
}

var errEntry = errors.New("want a name, a colon and what it says")

// split reads an entry of one line.
func (n *node) split(text string) error {
	key, rest, err := word(text, ":")
	if err != nil {
		return err
	}
	if rest == "" || rest[0] != ':' || key == "" {
		return errEntry
	}
	n.key, n.pos.Width = key, len(text)-len(rest)
	rest = rest[1:]
	if rest != "" && rest[0] != ' ' {
		return errEntry
	}
	if rest = strings.TrimLeft(rest, " "); rest == "" || rest[0] == '#' {
		return nil
	}
	if n.text, rest, err = word(rest, ""); err != nil {
		return err
	}
	n.full = true
	if rest = strings.TrimLeft(rest, " "); rest != "" && rest[0] != '#' {
		return errEntry
	}
	return nil
}

// word reads a text that is quoted, or plain up to a comment and, for a key, up
// to the stop.
func word(text, stop string) (value, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		return unquote(text)
	}
	end := len(text)
	if i := strings.Index(text, " #"); i >= 0 {
		end = i
	}
	if stop != "" {
		if i := strings.Index(text[:end], stop); i >= 0 {
			end = i
		}
	}
	value = strings.TrimRight(text[:end], " ")
	if value != "" && !plainStart(value[0]) {
		return "", "", errEntry
	}
	return value, text[end:], nil
}

func plainStart(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

var errQuotes = errors.New("the text in quotes is not as idemgen writes it")

// unquote reads what quote writes.
func unquote(text string) (value, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], nil
		case c != '\\':
			b.WriteByte(c)
		default:
			size, ok := escape(&b, text[i+1:])
			if !ok {
				return "", "", errQuotes
			}
			i += size
		}
	}
	return "", "", errQuotes
}

// escape reads what follows a backslash and gives its length.
func escape(b *strings.Builder, text string) (size int, ok bool) {
	if text == "" {
		return 0, false
	}
	switch text[0] {
	case '"', '\\':
		b.WriteByte(text[0])
		return 1, true
	case 'u':
		size = 5
	case 'U':
		size = 9
	}
	if size == 0 || len(text) < size {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:size], 16, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	b.WriteRune(rune(n))
	return size, true
}
