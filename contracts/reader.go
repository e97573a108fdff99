package contracts

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// item is a YAML value on its way into the model, with its name in messages.
type item struct {
	node *yaml.Node
	pos  Pos // of the value, or of its key if nothing is written there
	key  Pos // of the key
	path string
}

// field is one word of a mapping. A nil read means that the language has the
// word but this version of the tool does not.
type field struct {
	name string
	read func(item)
}

// unsupported lists words that are refused as not supported yet.
func unsupported(names ...string) []field {
	fields := make([]field, len(names))
	for i, name := range names {
		fields[i].name = name
	}
	return fields
}

// entries reports keys that are no words or stand twice, and calls each for
// the others, in the order of the file.
func (p *parser) entries(it item, each func(name string, keyPos Pos, value *yaml.Node)) {
	first := make(map[string]int, len(it.node.Content)/2)
	for i := 0; i+1 < len(it.node.Content) && !p.full; i += 2 {
		key, value := it.node.Content[i], it.node.Content[i+1]
		if i == 2*maxEntries {
			p.errorf(p.span(key), it.path, "more than %d entries: split the file", maxEntries)
			return
		}
		if key.Tag == "!!merge" || key.Kind == yaml.AliasNode {
			continue // reported by refuseIndirection
		}
		if key.Kind != yaml.ScalarNode || isNull(key) {
			p.errorf(p.span(key), it.path, "want a word as key; got %s", describe(key))
			continue
		}
		if line, twice := first[key.Value]; twice {
			p.errorf(p.span(key), join(it.path, clip(key.Value)), "stands twice; the first is in line %d", line)
			continue
		}
		first[key.Value] = key.Line
		each(key.Value, p.span(key), value)
	}
}

// mapping reads a mapping of known words and tells which ones are there,
// supported or not, or were probably meant by an unknown one, so that nothing
// is called missing that has another message. ok is false if it is no mapping.
func (p *parser) mapping(it item, want string, fields []field) (present map[string]bool, ok bool) {
	if it.node.Kind != yaml.MappingNode {
		p.wrongType(it, want)
		return nil, false
	}
	present = map[string]bool{}
	p.entries(it, func(name string, keyPos Pos, value *yaml.Node) {
		for _, f := range fields {
			if f.name != name {
				continue
			}
			present[name] = true
			if f.read == nil {
				p.errorf(keyPos, it.path, "%s", notYet(name))
				return
			}
			f.read(p.item(value, keyPos, join(it.path, name)))
			return
		}
		if meant := p.unknownKey(it, name, keyPos, fields); meant != "" {
			present[meant] = true
		}
	})
	if hasMerge(it.node) {
		for _, f := range fields {
			present[f.name] = true
		}
	}
	return present, true
}

// hasMerge tells whether a mapping takes words from elsewhere, which is
// refused: what they are is not known.
func hasMerge(n *yaml.Node) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			return true
		}
	}
	return false
}

// unknownKey reports a key and returns the word that was probably meant.
func (p *parser) unknownKey(it item, name string, pos Pos, fields []field) (meant string) {
	var all, known []string
	for _, f := range fields {
		all = append(all, f.name)
		if f.read != nil {
			known = append(known, f.name)
		}
	}
	switch meant = Suggest(name, all); {
	case p.elsewhere(name) != "":
		p.errorf(pos, it.path, "unknown key %s (did you mean %s?); known here: %s", quoteOdd(name), p.elsewhere(name), strings.Join(known, ", "))
		return ""
	case meant != "":
		p.errorf(pos, it.path, "unknown key %s (did you mean %s?)", quoteOdd(name), meant)
	default:
		p.errorf(pos, it.path, "unknown key %s; known here: %s", quoteOdd(name), strings.Join(known, ", "))
	}
	return meant
}

// quoteOdd clips a name and puts it in quotes if it is not made of letters,
// digits and the signs of names.
func quoteOdd(name string) string {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	})
	if odd || name == "" {
		return strconv.Quote(clip(name))
	}
	return clip(name)
}

// list reads a list with at least one entry. The paths of the entries count
// from 0.
func (p *parser) list(it item, want string) []item {
	if it.node.Kind != yaml.SequenceNode {
		hint := ""
		if it.node.Kind == yaml.ScalarNode && isText(it.node) && it.node.Value != "" && len(it.node.Value) <= maxClip {
			hint = " (did you mean [" + it.node.Value + "]?)"
		}
		p.wrongType(it, want, hint)
		return nil
	}
	if len(it.node.Content) == 0 {
		p.errorf(it.pos, it.path, "want %s; got an empty list", want)
		return nil
	}
	if len(it.node.Content) > maxEntries {
		p.errorf(p.span(it.node.Content[maxEntries]), it.path, "more than %d entries", maxEntries)
		return nil
	}
	items := make([]item, len(it.node.Content))
	for i, n := range it.node.Content {
		items[i] = p.item(n, it.pos, fmt.Sprintf("%s[%d]", it.path, i))
	}
	return items
}

func (p *parser) item(n *yaml.Node, key Pos, path string) item {
	it := item{node: n, pos: key, key: key, path: path}
	if !isUnwritten(n) {
		it.pos = p.span(n)
	}
	return it
}

// wrongType reports a value of a wrong type, unless it is an alias, which is
// reported as such.
func (p *parser) wrongType(it item, want string, hint ...string) {
	if it.node.Kind == yaml.AliasNode {
		return
	}
	p.errorf(it.pos, it.path, "want %s; got %s%s", want, describe(it.node), strings.Join(hint, ""))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// isUnwritten tells whether the value is one that YAML adds: "key:" and no more.
func isUnwritten(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// isText tells whether a scalar is text to every YAML reader or was written
// in quotes.
func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// isPlain tells whether a scalar stands without quotes.
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// maxClip is the number of characters of a value that a message repeats.
const maxClip = 40

func clip(s string) string {
	s = printable(s)
	if len(s) <= maxClip {
		return s
	}
	n := 0
	for i := range s {
		if n == maxClip {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// describe says in words what a node is, for "got …".
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + clip(n.Value)
	case "!!bool":
		return "the truth value " + clip(n.Value)
	case "!!timestamp":
		return "the date " + clip(n.Value)
	}
	if n.Value == "" {
		return "an empty text"
	}
	return fmt.Sprintf("%q", clip(n.Value))
}

// span is the place of a node: all of it if it ends on its first line.
func (p *parser) span(n *yaml.Node) Pos {
	pos := Pos{Line: n.Line, Column: p.columns.byteColumn(n.Line, n.Column)}
	rest := p.file.Line(pos.Line)
	rest = rest[min(pos.Column-1, len(rest)):]
	pos.Width = nodeWidth(n, rest)
	return pos
}

// nodeWidth measures a node at the start of rest, the remainder of its line.
func nodeWidth(n *yaml.Node, rest string) int {
	switch {
	case n.Kind == yaml.AliasNode:
		return min(len(n.Value)+1, len(rest))
	case n.Anchor != "":
		return min(len(n.Anchor)+1, len(rest))
	case n.Style&yaml.TaggedStyle != 0:
		return len(rest[:max(strings.IndexByte(rest+" ", ' '), 0)])
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return min(1, len(rest))
	case n.Kind == yaml.ScalarNode && strings.HasPrefix(rest, n.Value) && n.Style == 0:
		return len(n.Value)
	case n.Kind == yaml.ScalarNode:
		return tokenWidth(rest)
	case len(rest) > 0 && (rest[0] == '[' || rest[0] == '{'):
		return tokenWidth(rest)
	case len(n.Content) > 0 && n.Kind == yaml.MappingNode && n.Content[0].Kind == yaml.ScalarNode:
		return nodeWidth(n.Content[0], rest)
	}
	return min(1, len(rest))
}

// maxToken bounds the search for the end of a token, so that many messages on
// one long line stay cheap.
const maxToken = 400

// tokenWidth measures a quoted text, a bracketed list or mapping, or plain
// text, as far as it stands on this line.
func tokenWidth(rest string) int {
	if rest == "" {
		return 0
	}
	cut := rest[:min(len(rest), maxToken)]
	switch cut[0] {
	case '"', '\'':
		return quotedWidth(cut)
	case '[', '{':
		depth := 0
		for i := 0; i < len(cut); i++ {
			switch cut[i] {
			case '"', '\'':
				i += quotedWidth(cut[i:]) - 1
			case '[', '{':
				depth++
			case ']', '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return 1
	}
	if i := strings.Index(cut, " #"); i >= 0 {
		cut = cut[:i]
	}
	return max(len(strings.TrimRight(cut, " \t")), 1)
}

// quotedWidth is the width of a quoted text at the start of s, quotes
// included; all of s if it is not closed there.
func quotedWidth(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}
