package contracts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits of a contract file. They bound time and memory for any input.
const (
	maxSource      = 1 << 20 // bytes
	maxEntries     = 1000    // of a list or mapping: contracts of a file, effects of a contract
	maxPunctuation = 120_000 // see tooMuchPunctuation
	maxDiagnostics = 1000
)

// File is a parsed contract file. A File that came with errors holds what
// could be read; only one without errors may be generated from.
type File struct {
	Path      string // as given to Parse; for messages only
	Contracts []*Contract

	lines []string // without line breaks and byte order mark
}

// Line returns the text of a 1-based line, without its line break, or "".
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// Parse reads a contract file. Path is only used in messages. The diagnostics
// hold everything that is wrong with the file, sorted, none twice; if they
// have no errors, each contract of the file is complete: required answers are
// Set and optional ones hold their defaults. Parse never returns a nil File
// and does not keep src.
//
// The language is the part of YAML that all YAML readers agree on: one
// document, no anchors, aliases, merge keys or tags. A file holds at most
// 1 MiB, 1,000 contracts and 120,000 punctuation marks, which bounds time and
// memory for any bytes; after 1,000 problems the rest is not reported.
func Parse(path string, src []byte) (*File, Diagnostics) {
	p := &parser{file: &File{Path: path}}
	if root := p.read(src); root != nil {
		p.contracts(root)
	}
	return p.file, p.diagnostics.Sorted()
}

type parser struct {
	file        *File
	diagnostics Diagnostics
	full        bool
	columns     columnIndex
}

// errorf reports at a place. After maxDiagnostics it says so once and falls
// silent, since a hostile file could hold a problem in every third byte.
func (p *parser) errorf(pos Pos, path, format string, args ...any) {
	switch {
	case p.full:
	case len(p.diagnostics) == maxDiagnostics:
		p.full = true
		p.diagnostics = append(p.diagnostics, p.file.Errorf(pos, "", "more than %d problems; those from here on are not shown", maxDiagnostics))
	default:
		p.diagnostics = append(p.diagnostics, p.file.Errorf(pos, path, format, args...))
	}
}

// warnf reports what is allowed and probably not meant.
func (p *parser) warnf(pos Pos, path, format string, args ...any) {
	if !p.full && len(p.diagnostics) < maxDiagnostics {
		p.diagnostics = append(p.diagnostics, p.file.Warnf(pos, path, format, args...))
	}
}

// read turns the bytes into the root node of the one document, or reports why
// it cannot.
func (p *parser) read(src []byte) *yaml.Node {
	if len(src) > maxSource {
		p.errorf(Pos{}, "", "the file has %d bytes; at most %d (1 MiB) are read: split it", len(src), maxSource)
		return nil
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	p.file.lines = strings.Split(text, "\n")
	p.columns.lines = p.file.lines
	if p.refuseCharacters() || p.tooMuchPunctuation(text) {
		return nil
	}
	doc, err := p.document(text)
	if err != nil {
		p.syntaxError(err)
		return nil
	}
	if doc == nil || len(doc.Content) != 1 || isNull(doc.Content[0]) {
		p.errorf(Pos{Line: 1, Column: 1}, "contracts", "the file holds no contract: begin with contracts: and one kind of work below it")
		return nil
	}
	p.refuseIndirection(doc.Content[0])
	return doc.Content[0]
}

// document parses the text and makes sure that it is one document. The YAML
// package is known to panic on inputs that nobody has met yet; a generator
// that dies on a typo would be worse than an error without a place.
func (p *parser) document(text string) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("the YAML reader failed: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		p.secondDocument(second.Line)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return &first, nil
}

// secondDocument reports at the marker, which stands at or above the first
// line of the document's content.
func (p *parser) secondDocument(line int) {
	for n := min(line, len(p.file.lines)); n > 1; n-- {
		if strings.HasPrefix(p.file.Line(n), "---") {
			p.errorf(Pos{n, 1, 3}, "", "a second document begins here: a contract file is one document")
			return
		}
	}
	p.errorf(Pos{line, 1, 1}, "", "a second document begins here: a contract file is one document")
}

// refuseCharacters reports what no contract needs and what would make line
// numbers, columns or the reading of the file doubtful. It tells whether there
// was any.
func (p *parser) refuseCharacters() bool {
	before := len(p.diagnostics)
	for i, line := range p.file.lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if tab := strings.IndexByte(line[:indent], '\t'); tab >= 0 && indent < len(line) {
			end := tab + 1
			for end < indent && line[end] == '\t' {
				end++
			}
			p.errorf(Pos{i + 1, tab + 1, end - tab}, "", "a tab in the indentation: indent with spaces")
		}
		if col, why := badCharacter(line); why != "" {
			_, width := utf8.DecodeRuneInString(line[col:])
			p.errorf(Pos{i + 1, col + 1, width}, "", "%s", why)
		}
		if p.full {
			break
		}
	}
	return len(p.diagnostics) > before
}

// badCharacter finds the first character of a line that is refused.
func badCharacter(line string) (at int, why string) {
	for i, r := range line {
		switch {
		case r >= ' ' && r < 0x7F || r == '\t':
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD"):
			return i, "not UTF-8: save the file as UTF-8"
		case r == 0:
			return i, "a NUL byte: this is no text file"
		case r == '\r':
			return i, "a carriage return within a line: end lines with LF or CRLF"
		case r < ' ' || r >= 0x7F && r < 0xA0:
			return i, fmt.Sprintf("the control character %U: remove it", r)
		case r == 0x2028 || r == 0x2029:
			return i, fmt.Sprintf("the line break %U: end lines with LF or CRLF", r)
		case r == 0xFEFF:
			return i, "a byte order mark within the file: remove it"
		case isBidi(r):
			return i, fmt.Sprintf("the invisible character %U, which changes the order in which text is shown: remove it", r)
		case r == 0xFFFE || r == 0xFFFF:
			return i, fmt.Sprintf("%U is no character: remove it", r)
		}
	}
	return 0, ""
}

// tooMuchPunctuation refuses a file that would become too many YAML nodes. A
// node takes some 200 bytes, whatever its text, and is made by one of these
// marks; a colon or question mark makes two, a key and a value. Comments cost
// as much. A file of 1 MiB with 780 contracts that use every word passes.
func (p *parser) tooMuchPunctuation(text string) bool {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case ',', '[', '{', '-', '!', '&', '*', '#':
			n++
		case ':', '?':
			n += 2
		}
	}
	if n <= maxPunctuation {
		return false
	}
	p.errorf(Pos{}, "", "the file has %d punctuation marks, colons counted twice; at most %d are read: split it", n, maxPunctuation)
	return true
}

// refuseIndirection reports anchors, aliases, merge keys and tags anywhere in
// the document. Nothing in the package ever follows an alias, so that alias
// loops and bombs cost nothing.
func (p *parser) refuseIndirection(n *yaml.Node) {
	if p.full {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.errorf(p.span(n), "", "%s is a YAML alias, which contracts do not have: write the value out, or put it in quotes if it is text", clip("*"+n.Value))
	case n.Anchor != "":
		p.errorf(p.span(n), "", "%s is a YAML anchor, which contracts do not have: remove it, or put it in quotes if it is text", clip("&"+n.Anchor))
	case n.Tag == "!!merge":
		p.errorf(p.span(n), "", "<< is a YAML merge key, which contracts do not have: write the lines out")
	case n.Style&yaml.TaggedStyle != 0:
		p.errorf(p.span(n), "", "%s is a YAML tag, which contracts do not have: remove it, or put it in quotes if it is text", clip(n.Tag))
	}
	for _, child := range n.Content {
		p.refuseIndirection(child)
	}
}

// columnIndex turns the columns of the YAML package, which count characters,
// into bytes, in constant time even on a line of 1 MiB.
type columnIndex struct {
	lines []string
	marks map[int][]int // line → byte offset of each columnStep-th character; nil if all are ASCII
}

const columnStep = 64

func (c *columnIndex) byteColumn(line, column int) int {
	if line < 1 || line > len(c.lines) || column < 1 {
		return 1
	}
	text := c.lines[line-1]
	marks, known := c.marks[line]
	if !known {
		marks = charMarks(text)
		if c.marks == nil {
			c.marks = map[int][]int{}
		}
		c.marks[line] = marks
	}
	chars := column - 1
	if marks == nil {
		return min(chars, len(text)) + 1
	}
	mark := min(chars/columnStep, len(marks)-1)
	offset := marks[mark]
	for range chars - mark*columnStep {
		_, size := utf8.DecodeRuneInString(text[offset:])
		offset += size
	}
	return offset + 1
}

func charMarks(text string) []int {
	if utf8.RuneCountInString(text) == len(text) {
		return nil
	}
	var marks []int
	n := 0
	for i := range text {
		if n%columnStep == 0 {
			marks = append(marks, i)
		}
		n++
	}
	return marks
}
