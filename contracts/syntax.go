package contracts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// syntaxError reports text that is no YAML. The YAML package names at best a
// line, often that of an enclosing construct, so the text is read again with
// an eye for the usual slips; only if none is found, its own words are used.
func (p *parser) syntaxError(err error) {
	s := slipFinder{lines: p.file.lines}
	if s.find(); s.found != "" {
		p.errorf(s.at, "", "%s", s.found)
		return
	}
	line, msg := yamlError(err)
	line = min(max(line, 1), len(p.file.lines))
	text := p.file.Line(line)
	body := strings.TrimSpace(text)
	p.errorf(Pos{line, strings.Index(text, body) + 1, len(body)}, "", "not valid YAML here or just before: %s", msg)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(?s)(.*)$`)

func yamlError(err error) (line int, msg string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		line = 0 // the error names no line
	}
	return line, m[2]
}

// slipFinder walks the lines of a text that a YAML reader refused and stops at
// the first usual slip. It is a help for messages and decides nothing: what it
// takes for right or wrong never reaches a contract.
type slipFinder struct {
	lines []string
	line  int // index

	open    []bracket // of the flow collections around the current place
	quote   *bracket  // the open quoted text
	block   int       // indentation of the key of an open block text, or -1
	indents []int     // of the open block mappings
	plain   bool      // the last line may go on as plain text
	listed  bool      // the last line began with a dash

	at    Pos
	found string
}

type bracket struct {
	char      byte
	line, col int
}

func (s *slipFinder) report(line, col, width int, format string, args ...any) {
	if s.found == "" {
		s.at, s.found = Pos{line + 1, col + 1, width}, fmt.Sprintf(format, args...)
	}
}

func (s *slipFinder) find() {
	s.block = -1
	for s.line = 0; s.line < len(s.lines) && s.found == ""; s.line++ {
		text := s.lines[s.line]
		indent := len(text) - len(strings.TrimLeft(text, " "))
		switch {
		case s.quote != nil:
			s.flow(0)
		case len(s.open) > 0:
			s.flow(indent)
		case indent == len(text), s.block >= 0 && indent > s.block:
		case text[indent] == '#':
			s.block = -1
		case strings.HasPrefix(text, "---"), strings.HasPrefix(text, "..."), strings.HasPrefix(text, "%"):
			s.block, s.plain, s.indents = -1, false, nil
		default:
			s.block = -1
			s.blockLine(indent)
		}
	}
	switch {
	case s.found != "":
	case s.quote != nil:
		s.report(s.quote.line, s.quote.col, 1, "the quote %c is never closed", s.quote.char)
	case len(s.open) > 0:
		b := s.open[len(s.open)-1]
		s.report(b.line, b.col, 1, "the bracket %c is never closed", b.char)
	}
}

// blockLine reads a line that begins outside brackets and quotes.
func (s *slipFinder) blockLine(indent int) {
	text := s.lines[s.line]
	start := indent
	dash, top := strings.HasPrefix(text[start:], "- "), len(s.indents)-1
	if dash && s.plain && !s.listed && top >= 0 && s.indents[top] == indent {
		s.report(s.line, start, 1, "a list entry among the keys of a mapping")
		return
	}
	s.listed = dash
	for strings.HasPrefix(text[start:], "- ") {
		start += 2
		start += len(text[start:]) - len(strings.TrimLeft(text[start:], " "))
		s.plain = false
	}
	colon := keyEnd(text, start)
	if colon < 0 {
		s.lineWithoutKey(indent, start)
		return
	}
	if s.plain && len(s.indents) > 0 && start > s.indents[len(s.indents)-1] {
		s.report(s.line, start, colon-start, "%s is indented deeper than the line above, which already has a value", clip(text[start:colon]))
		return
	}
	s.indentation(start)
	value := colon + 1
	value += len(text[value:]) - len(strings.TrimLeft(text[value:], " \t"))
	s.value(value, start)
}

// indentation keeps the stack of open block mappings.
func (s *slipFinder) indentation(indent int) {
	popped := false
	for len(s.indents) > 0 && s.indents[len(s.indents)-1] > indent {
		s.indents = s.indents[:len(s.indents)-1]
		popped = true
	}
	if popped && (len(s.indents) == 0 || s.indents[len(s.indents)-1] != indent) {
		s.report(s.line, indent, tokenWidth(s.lines[s.line][indent:]), "an indentation of %d spaces, which is that of no line above", indent)
		return
	}
	if len(s.indents) == 0 || s.indents[len(s.indents)-1] < indent {
		s.indents = append(s.indents, indent)
	}
}

func (s *slipFinder) lineWithoutKey(indent, start int) {
	text := s.lines[s.line]
	if start > indent || s.plain && len(s.indents) > 0 && indent > s.indents[len(s.indents)-1] {
		s.value(start, indent)
		return
	}
	if len(s.indents) == 0 || indent > s.indents[len(s.indents)-1] || strings.ContainsRune("[{\"'", rune(text[start])) {
		s.value(start, indent)
		return
	}
	if word := strings.TrimSpace(text[start:]); strings.Contains(word, ":") && !strings.ContainsAny(word, " #") {
		s.report(s.line, start, len(word), "no space after the colon in %s: write key: value", clip(word))
		return
	}
	s.report(s.line, start, tokenWidth(text[start:]), "want key: value; got %s", clip(strings.TrimSpace(text[start:])))
}

// keyEnd is the place of the colon after the key that begins at start, or -1.
func keyEnd(text string, start int) int {
	i := start
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		i += quotedWidth(text[i:])
		if i < len(text) && text[i] == ':' {
			return i
		}
		return -1
	}
	if i < len(text) && strings.IndexByte("[{", text[i]) >= 0 {
		return -1
	}
	for ; i < len(text); i++ {
		switch {
		case text[i] == '#' && i > start && text[i-1] == ' ':
			return -1
		case text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t'):
			return i
		}
	}
	return -1
}

// value reads what follows a key or a dash on its line.
func (s *slipFinder) value(at, indent int) {
	text := s.lines[s.line]
	s.plain = false
	if at >= len(text) || text[at] == '#' {
		return
	}
	switch text[at] {
	case '[', '{', '"', '\'':
		s.flow(at)
		return
	case '|', '>':
		s.block = indent
		return
	}
	if s.reserved(at) {
		return
	}
	if colon := keyEnd(text, at); colon >= 0 {
		s.report(s.line, colon, 1, "a second colon in the line: put the text in quotes")
		return
	}
	s.plain = true
}

// reserved reports a value that begins with a character that means something
// else to YAML.
func (s *slipFinder) reserved(at int) bool {
	text := s.lines[s.line]
	width := tokenWidth(text[at:])
	if len(s.open) > 0 {
		if end := strings.IndexAny(text[at:at+width], ",]}"); end > 0 {
			width = end
		}
	}
	switch text[at] {
	case '*', '&', '!':
		s.report(s.line, at, width, "a value that begins with %c is a YAML alias, anchor or tag: put it in quotes", text[at])
	case '@', '`', '%':
		s.report(s.line, at, width, "a value cannot begin with %c: put it in quotes", text[at])
	default:
		return false
	}
	return true
}

// flow reads from at to the end of the line, within brackets or quotes.
func (s *slipFinder) flow(at int) {
	text := s.lines[s.line]
	fresh := true // at the start of a value
	for i := at; i < len(text) && s.found == ""; i++ {
		c := text[i]
		switch {
		case s.quote != nil:
			i = s.inQuote(i)
			fresh = false
		case c == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			return
		case fresh && (c == '"' || c == '\''):
			s.quote = &bracket{c, s.line, i}
		case c == '[' || c == '{':
			s.open = append(s.open, bracket{c, s.line, i})
			fresh = true
		case c == ']' || c == '}':
			s.close(c, i)
			fresh = false
		case len(s.open) == 0 && c != ' ':
			s.report(s.line, i, tokenWidth(text[i:]), "unexpected text after a value")
		case c == ',' || c == ':' && (i+1 == len(text) || strings.IndexByte(" ,]}", text[i+1]) >= 0):
			fresh = true
		case c == ' ' || c == '\t':
		default:
			if fresh {
				s.reserved(i)
			}
			fresh = false
		}
	}
}

// inQuote handles one character of a quoted text and returns the index of the
// last one it took.
func (s *slipFinder) inQuote(i int) int {
	text := s.lines[s.line]
	switch {
	case text[i] == '\\' && s.quote.char == '"':
		if i+1 < len(text) && strings.IndexByte("0abtnvfre \"/\\N_LPxuU\t", text[i+1]) < 0 {
			s.report(s.line, i, 2, "the escape \\%s is unknown: write \\\\ for a backslash, or use single quotes", printable(text[i+1:i+2]))
		}
		return i + 1
	case text[i] != s.quote.char:
		return i
	case s.quote.char == '\'' && i+1 < len(text) && text[i+1] == '\'':
		return i + 1
	}
	s.quote = nil
	return i
}

func (s *slipFinder) close(c byte, col int) {
	if len(s.open) == 0 {
		s.report(s.line, col, 1, "the bracket %c closes nothing", c)
		return
	}
	b := s.open[len(s.open)-1]
	if (b.char == '{') != (c == '}') {
		s.report(s.line, col, 1, "the bracket %c does not close the %c of line %d", c, b.char, b.line+1)
		return
	}
	s.open = s.open[:len(s.open)-1]
}
