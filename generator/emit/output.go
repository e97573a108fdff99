package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

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
	for i := 0; i < len(src); {
		end := i + 1
		switch c := src[i]; {
		case isBlank(c):
			lines := 0
			for end = i; end < len(src) && isBlank(src[end]); end++ {
				if src[end] == '\n' {
					lines++
				}
			}
			out = append(out, blank(out, src[end:], lines)...)
		case c == '"' || c == '\'' || c == '`':
			end = i + literalLen(src[i:])
			out = append(out, src[i:end]...)
		case c == '/' && bytes.HasPrefix(src[i:], []byte("//")):
			if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
				end = i + n
			} else {
				end = len(src)
			}
			out = append(out, bytes.TrimRight(src[i:end], " \t")...)
		default:
			for end < len(src) && tokenKind(src[end]) == word {
				end++
			}
			out = append(out, src[i:end]...)
		}
		i = end
	}
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// blank is what blanks between two texts, with so many line ends in them, come
// down to.
func blank(before, after []byte, lines int) string {
	if len(before) == 0 || len(after) == 0 {
		return ""
	}
	switch lines {
	case 0:
		if kind := tokenKind(before[len(before)-1]); kind != other && kind == tokenKind(after[0]) {
			return " "
		}
		return ""
	case 1:
		return "\n"
	}
	return "\n\n"
}

// The characters that can be of one token: those of a name or number, and those of
// an operator. No other token has several characters.
const (
	other = iota
	word
	operator
)

func tokenKind(c byte) int {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c >= 0x80:
		return word
	case strings.IndexByte("+-*/%&|^<>=!:.~", c) >= 0:
		return operator
	}
	return other
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
