package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const width = 80

// writer puts paragraphs, lists and tables together.
type writer struct{ b strings.Builder }

func (w *writer) String() string { return w.b.String() }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) heading(text string) {
	w.line("\n%s", strings.ToUpper(text))
}

func (w *writer) subheading(format string, args ...any) {
	w.line("\n  "+format, args...)
}

func (w *writer) para(format string, args ...any) {
	w.line("")
	for _, l := range fold(fmt.Sprintf(format, args...), width-2) {
		w.line("  %s", l)
	}
}

func (w *writer) code(format string, args ...any) {
	w.line("\n      "+format, args...)
}

// item is an entry of a list, with its further lines indented.
func (w *writer) item(name, format string, args ...any) {
	for i, l := range fold(name+": "+fmt.Sprintf(format, args...), width-6) {
		w.line("    %s %s", [2]string{"-", " "}[min(i, 1)], l)
	}
}

// table writes columns, the first row as their heads. Cells are folded.
func (w *writer) table(rows [][]string) {
	w.line("")
	widths := make([]int, len(rows[0]))
	for i := range widths {
		for _, row := range rows {
			widths[i] = min(max(widths[i], utf8.RuneCountInString(row[i])), [3]int{30, 31, 11}[min(i, 2)])
		}
	}
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 0
		for i, cell := range row {
			cells[i] = fold(cell, widths[i])
			height = max(height, len(cells[i]))
		}
		for l := range height {
			text := ""
			for i, lines := range cells {
				cell := ""
				if l < len(lines) {
					cell = lines[l]
				}
				text += "  " + cell + strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(cell), 0))
			}
			w.line("  %s", strings.TrimRight(text, " "))
		}
	}
}

// fold breaks a text into lines; a word that is longer than a line stands alone.
func fold(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	return append(lines, line)
}

func and(words []string) string { return list(words, "and") }
func or(words []string) string  { return list(words, "or") }

func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

var units = []struct {
	name string
	size time.Duration
}{
	{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second},
	{"millisecond", time.Millisecond}, {"microsecond", time.Microsecond}, {"nanosecond", 1},
}

// span is a duration in words: 1 day 12 hours.
func span(d time.Duration) string {
	var parts []string
	for _, u := range units {
		if n := d / u.size; n > 0 {
			parts = append(parts, plural(int(n), u.name))
			d -= n * u.size
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

// about is span for a limit that was computed: in two units, rounded up.
func about(d time.Duration) string {
	if d == math.MaxInt64 {
		return "more than 290 years"
	}
	for i, u := range units {
		if d < u.size || i+1 == len(units) {
			continue
		}
		next := units[i+1].size
		return span((d + next - 1) / next * next)
	}
	return span(d)
}

func plural(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.Itoa(n) + " " + name + "s"
}
