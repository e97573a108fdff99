package contracts

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSnippet is how many bytes of a source line are shown.
const maxSnippet = 120

// Snippet is the source line of a diagnostic. A long line is cut around the
// place, with "…" where something is missing. The zero Snippet shows nothing.
type Snippet struct {
	Source string // what is shown, without line break
	Start  int    // bytes of Source before the place
	Width  int    // bytes of Source that the carets underline; at least one caret is drawn
}

// snippet cuts out what is shown of the line at pos.
func (f *File) snippet(pos Pos) Snippet {
	if pos.Line < 1 || pos.Line > len(f.lines) {
		return Snippet{}
	}
	line := f.lines[pos.Line-1]
	start := min(max(pos.Column-1, 0), len(line))
	end := min(start+max(pos.Width, 0), len(line))
	from, to := 0, len(line)
	if len(line) > maxSnippet {
		from, to = cutAround(line, start, end)
	}
	s := Snippet{Source: line[from:to], Start: start - from, Width: min(end, to) - start}
	if from > 0 {
		s.Source = "…" + s.Source
		s.Start += len("…")
	}
	if to < len(line) {
		s.Source += "…"
	}
	return s
}

// cutAround chooses maxSnippet bytes of line, on rune boundaries, that show
// the beginning of [start, end) with a third of the room before it.
func cutAround(line string, start, end int) (from, to int) {
	from = max(start-maxSnippet/3, 0)
	if end <= maxSnippet {
		from = 0
	}
	to = min(from+maxSnippet, len(line))
	from = max(to-maxSnippet, 0)
	// A line that is no UTF-8 may hold no boundary at all.
	for n := 0; n < utf8.UTFMax && from > 0 && !utf8.RuneStart(line[from]); n++ {
		from--
	}
	for n := 0; n < utf8.UTFMax && to < len(line) && !utf8.RuneStart(line[to]); n++ {
		to++
	}
	return from, to
}

// write draws the source line and the caret line. The gutter is as wide as
// the line number.
func (s Snippet) write(b *strings.Builder, line int) {
	if s == (Snippet{}) {
		return
	}
	number := strconv.Itoa(line)
	b.WriteString("  " + number + " | " + printable(s.Source) + "\n")
	b.WriteString("  " + strings.Repeat(" ", len(number)) + " | ")
	b.WriteString(strings.Repeat(" ", cells(s.Source[:s.Start])))
	b.WriteString(strings.Repeat("^", max(cells(s.Source[s.Start:s.Start+s.Width]), 1)) + "\n")
}

// printable replaces what would move the cursor or is no text by one cell
// each, so that the caret stands right and a hostile file cannot drive the
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), isBidi(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// isBidi tells whether r can reorder the text around it.
func isBidi(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
}

// cells is how many terminal columns the text takes.
func cells(s string) int {
	n := 0
	for _, r := range printable(s) {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// isWide covers the ranges that terminals draw in two columns (Unicode's East
// Asian Width W and F, by block).
func isWide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF && r != 0x303F, r >= 0xAC00 && r <= 0xD7A3,
		r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60,
		r >= 0xFFE0 && r <= 0xFFE6, r >= 0x1F300 && r <= 0x1F64F, r >= 0x1F680 && r <= 0x1F6FF,
		r >= 0x1F900 && r <= 0x1FAFF, r >= 0x20000 && r <= 0x3FFFD:
		return true
	}
	return false
}
