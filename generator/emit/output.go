package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"

	"github.com/idemgen/idem/internal/directive"
)

// Output is one generated file.
type Output struct {
	Name  string // base name
	draft []byte // as rendered: not formatted, not sealed
}

// Content is the file as it is to be written. Most of the time that generating
// takes is taken here; see [Output.Is].
func (o Output) Content() ([]byte, error) {
	src, err := format.Source(o.draft)
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", o.Name, err)
	}
	return directive.Seal(src), nil
}

// Is tells, much faster than Content does, that a file need not be written: it is
// as idemgen wrote it, and has the same code in it. False says nothing.
func (o Output) Is(file []byte) bool {
	src, ok := directive.Unseal(file)
	return ok && !bytes.Contains(file, []byte("\r")) && bytes.Equal(squeeze(src), squeeze(o.draft))
}

// squeeze leaves out the blanks that formatting chooses. Those in literals and
// comments stay, and so do those that keep two tokens apart and lines from
// running into each other: what is equal then is the same code.
func squeeze(src []byte) []byte {
	out := make([]byte, 0, len(src))
	for len(src) > 0 {
		n := 1
		switch c := src[0]; {
		case c == ' ' || c == '\t' || c == '\n':
			n = len(src) - len(bytes.TrimLeft(src, " \t\n"))
			out = append(out, blank(out, src[:n], src[n:])...)
		case c == '"' || c == '\'' || c == '`':
			n = literalLen(src)
			out = append(out, src[:n]...)
		case bytes.HasPrefix(src, []byte("//")):
			n = len(src)
			if end := bytes.IndexByte(src, '\n'); end >= 0 {
				n = end
			}
			out = append(out, bytes.TrimRight(src[:n], " \t")...)
		default:
			out = append(out, c)
		}
		src = src[n:]
	}
	return out
}

// blank is what blanks between two texts come down to.
func blank(before, blanks, after []byte) string {
	if len(before) == 0 || len(after) == 0 {
		return ""
	}
	switch bytes.Count(blanks, []byte("\n")) {
	case 0:
		if kind := tokenKind(before[len(before)-1]); kind != 0 && kind == tokenKind(after[0]) {
			return " "
		}
		return ""
	case 1:
		return "\n"
	}
	return "\n\n"
}

// tokenKind is the same for characters that could be of one token.
func tokenKind(c byte) int {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c >= 0x80:
		return 1
	case slices.Contains([]byte("+-*/%&|^<>=!:.~"), c):
		return 2
	}
	return 0
}

// literalLen is the length of the string or character at the beginning.
func literalLen(src []byte) int {
	quote := src[0]
	for i := 1; i < len(src); i++ {
		switch {
		case src[i] == quote:
			return i + 1
		case src[i] == '\\' && quote != '`':
			i++
		}
	}
	return len(src)
}
