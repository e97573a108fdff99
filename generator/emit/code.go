package emit

import (
	"go/doc/comment"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Go code is text here, put together by the functions of this file. What they give
// is spaced and aligned as gofmt would do it, and broken into lines; indentation
// is missing, which [indented] adds once it is known how deep the text stands.
//
// Printing all of it with gofmt would take longer than everything else that idemgen
// does by itself. That gofmt has nothing to change is held by tests, of whatever any
// test generates.

// str is a string literal.
func str(s string) string { return strconv.Quote(s) }

// text is a string literal as people write it: JSON reads better in back quotes.
func text(s string) string {
	if strings.Contains(s, `"`) && strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return str(s)
}

func num(n int) string { return strconv.Itoa(n) }

func call(fn string, args ...string) string { return list(fn, "(", ")", args) }

// generic is a generic type or function with its arguments.
func generic(name string, args ...string) string { return list(name, "[", "]", args) }

func ret(values ...string) string { return list("return ", "", "", values) }

func list(head, open, close string, items []string) string {
	size := len(head) + len(open) + len(close)
	for _, item := range items {
		size += len(item) + len(", ")
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(head)
	b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item)
	}
	b.WriteString(close)
	return b.String()
}

// block is a function, or an if statement, with its body.
func block(head string, body ...string) string { return lines(head+" {\n", "\n", body) }

// entries is a composite literal with one entry a line.
func entries(typ string, items ...string) string { return lines(typ+"{\n", ",\n", items) }

func lines(head, end string, items []string) string {
	size := len(head) + len("}")
	for _, item := range items {
		size += len(item) + len(end)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(head)
	for _, item := range items {
		b.WriteString(item)
		b.WriteString(end)
	}
	b.WriteString("}")
	return b.String()
}

// pair is an entry of a composite literal.
type pair struct{ key, value string }

// literal is a composite literal with one field a line. Values stand in one column,
// of which gofmt begins a new one before and after values of several lines, and
// where a key is much longer or shorter than those before it.
func literal(typ string, fields ...pair) string {
	items := make([]string, len(fields))
	for from := 0; from < len(fields); {
		var sizes keySizes
		to, width := from, 0
		for to < len(fields) && !severalLines(fields[to].value) && sizes.fits(len(fields[to].key)) {
			width = max(width, utf8.RuneCountInString(fields[to].key))
			to++
		}
		for i, f := range fields[from:to] {
			items[from+i] = f.key + ":" + blanks(width+1-utf8.RuneCountInString(f.key)) + f.value
		}
		if to < len(fields) && severalLines(fields[to].value) {
			items[to] = fields[to].key + ": " + fields[to].value
			to++
		}
		from = to
	}
	return entries(typ, items...)
}

func severalLines(code string) bool { return strings.Contains(code, "\n") }

func blanks(n int) string { return strings.Repeat(" ", n) }

// member is a field of a struct type.
type member struct {
	doc            string // lines above it, if any
	name, typ, tag string // name is empty for what is embedded
}

// structType is a struct type with one field a line.
func structType(members ...member) string {
	if len(members) == 0 {
		return "struct{}"
	}
	table := make([][]string, len(members)) // of the cells of each line
	for i, m := range members {
		cells := []string{m.name, m.typ, m.tag}
		if severalLines(m.typ) {
			cells = []string{m.name, strings.TrimSuffix(m.typ+" "+m.tag, " ")}
		}
		table[i] = slices.DeleteFunc(cells, func(cell string) bool { return cell == "" })
	}
	items := make([]string, 0, len(members))
	for from := 0; from < len(members); {
		to := from + 1
		for to < len(members) && members[to].doc == "" && !severalLines(members[to-1].typ) {
			to++
		}
		rows := aligned(table[from:to])
		rows[0] = members[from].doc + rows[0]
		items = append(items, rows...)
		from = to
	}
	return lines("struct {\n", "\n", items)
}

// aligned are lines of cells, those of a column as wide as the widest of adjacent
// lines in which another cell follows.
func aligned(table [][]string) []string {
	rows := make([]string, len(table))
	for column := 0; ; column++ {
		more := false
		for from := 0; from < len(table); from++ {
			if column >= len(table[from]) {
				continue
			}
			more = true
			if column == len(table[from])-1 {
				rows[from] += table[from][column]
				continue
			}
			to, width := from, 0
			for ; to < len(table) && column < len(table[to])-1; to++ {
				width = max(width, utf8.RuneCountInString(table[to][column]))
			}
			for i := from; i < to; i++ {
				cell := table[i][column]
				rows[i] += cell + blanks(width+1-utf8.RuneCountInString(cell))
			}
			from = to - 1
		}
		if !more {
			return rows
		}
	}
}

// docComment is text as the lines of a documentation comment, whatever it holds,
// as gofmt has them.
func docComment(text string) string {
	text = strings.TrimSpace(text)
	if plain(text) {
		return "// " + text + "\n"
	}
	var parser comment.Parser
	var printer comment.Printer
	formatted := printer.Comment(parser.Parse(text))
	var b strings.Builder
	for line := range strings.Lines(string(formatted)) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		b.WriteString("//")
		if line != "" && !strings.HasPrefix(line, "\t") {
			b.WriteString(" ")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// plain tells of most comments that they are formatted already: they are one line
// that begins with a name.
func plain(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) && !strings.Contains(text, "\n") &&
		!strings.Contains(text, "``") && !strings.Contains(text, "''")
}
