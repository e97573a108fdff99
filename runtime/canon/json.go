package canon

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 100

// AppendJSON appends the canonical form of raw, which is one JSON value with
// white space around it or not; nil is null. Strings are trimmed and in NFC, an
// integer literal is an integer and any other number a float64, members are
// sorted.
//
// The error is [ErrSyntax], [ErrInvalidUTF8], [ErrSurrogate], [ErrNotFinite],
// [ErrDuplicateMember] for two names that are the same in NFC, or [ErrDepth] for
// nesting over 100. Time and memory are linear in len(raw), but for the sorting
// of members.
func AppendJSON(dst []byte, raw []byte) ([]byte, error) {
	return appendJSON(dst, raw, false)
}

// AppendJSONExact is [AppendJSON] with strings as they are. Names of members are
// in NFC all the same.
func AppendJSONExact(dst []byte, raw []byte) ([]byte, error) {
	return appendJSON(dst, raw, true)
}

func appendJSON(dst []byte, raw []byte, exact bool) ([]byte, error) {
	if raw == nil {
		return append(dst, "null"...), nil
	}
	s := scanner{src: raw, exact: exact}
	value, err := s.document(make([]byte, 0, len(raw))) // not dst, which would escape
	if err != nil {
		return dst, fmt.Errorf("JSON at byte %d: %w", s.pos, err)
	}
	return append(dst, value...), nil
}

// checkValue returns an error unless value is one JSON value with nothing around
// it.
func checkValue(value []byte) error {
	s := scanner{src: value, exact: true}
	_, err := s.value(nil, 0)
	if err == nil && s.pos != len(value) {
		err = fmt.Errorf("%s after the value: %w", show(string(value[s.pos:])), ErrSyntax)
	}
	return err
}

// scanner reads JSON once, from left to right, and writes canonical JSON.
type scanner struct {
	src   []byte
	pos   int
	exact bool

	members []member // of the objects that are open, the innermost last
	names   []byte   // their names, in NFC, without escapes
	odd     bool     // whether a name so far may meet another in full NFC only
	text    []byte   // of the string being read, if it has escapes
	sorted  []byte   // an object being put in order
}

// member is where the name is in scanner.names, and name, colon and value in the
// output, from the beginning of the object on.
type member struct {
	name, nameEnd   int
	start, valueEnd int
}

func (s *scanner) document(dst []byte) ([]byte, error) {
	s.space()
	dst, err := s.value(dst, 0)
	if err != nil {
		return dst, err
	}
	s.space()
	if s.pos < len(s.src) {
		return dst, fmt.Errorf("more than one value: %w", ErrSyntax)
	}
	return dst, nil
}

// space skips the white space of JSON.
func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0, which begins nothing in JSON.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

// value appends the value that begins here, depth arrays and objects deep.
func (s *scanner) value(dst []byte, depth int) ([]byte, error) {
	switch s.peek() {
	case '{', '[':
		if depth == maxDepth {
			return dst, ErrDepth
		}
		if s.src[s.pos] == '{' {
			return s.object(dst, depth+1)
		}
		return s.array(dst, depth+1)
	case '"':
		text, err := s.string()
		if err != nil {
			return dst, err
		}
		return appendJSONString(dst, text, s.exact), nil
	case 't':
		return s.word(dst, "true")
	case 'f':
		return s.word(dst, "false")
	case 'n':
		return s.word(dst, "null")
	}
	return s.number(dst)
}

func (s *scanner) word(dst []byte, word string) ([]byte, error) {
	if !hasPrefix(s.src[s.pos:], word) {
		return dst, s.unexpected("a value")
	}
	s.pos += len(word)
	return append(dst, word...), nil
}

func (s *scanner) number(dst []byte) ([]byte, error) {
	n, integer := scanNumber(s.src[s.pos:])
	if n == 0 {
		return dst, s.unexpected("a value")
	}
	dst, err := appendLiteral(dst, string(s.src[s.pos:s.pos+n]), integer)
	if err == nil {
		s.pos += n
	}
	return dst, err
}

func (s *scanner) array(dst []byte, depth int) ([]byte, error) {
	dst = append(dst, '[')
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return append(dst, ']'), nil
	}
	for {
		var err error
		if dst, err = s.value(dst, depth); err != nil {
			return dst, err
		}
		s.space()
		switch s.peek() {
		case ']':
			s.pos++
			return append(dst, ']'), nil
		case ',':
			s.pos++
			s.space()
			dst = append(dst, ',')
		default:
			return dst, s.unexpected("a comma or ]")
		}
	}
}

func (s *scanner) object(dst []byte, depth int) ([]byte, error) {
	start, firstMember, firstName := len(dst), len(s.members), len(s.names)
	dst = append(dst, '{')
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return append(dst, '}'), nil
	}
	for {
		var err error
		if dst, err = s.member(dst, start, depth); err != nil {
			return dst, err
		}
		s.space()
		next := s.peek()
		if next != ',' && next != '}' {
			return dst, s.unexpected("a comma or }")
		}
		s.pos++
		dst = append(dst, next)
		if next == '}' {
			break
		}
		s.space()
	}
	err := s.sort(dst[start:], s.members[firstMember:])
	s.members, s.names = s.members[:firstMember], s.names[:firstName]
	return dst, err
}

// member appends name, colon and value.
func (s *scanner) member(dst []byte, object, depth int) ([]byte, error) {
	if s.peek() != '"' {
		return dst, s.unexpected("the name of a member")
	}
	text, err := s.string()
	if err != nil {
		return dst, err
	}
	m := member{name: len(s.names), start: len(dst) - object}
	if isASCII(text) {
		s.names = append(s.names, text...)
	} else {
		name, odd := nfcName(string(text))
		s.names = append(s.names, name...)
		s.odd = s.odd || odd
	}
	m.nameEnd = len(s.names)
	dst = appendQuoted(dst, s.names[m.name:m.nameEnd])

	s.space()
	if s.peek() != ':' {
		return dst, s.unexpected("a colon")
	}
	s.pos++
	s.space()
	dst = append(dst, ':')
	if dst, err = s.value(dst, depth); err != nil {
		return dst, err
	}
	m.valueEnd = len(dst) - object
	s.members = append(s.members, m)
	return dst, nil
}

// sort puts the members of an object in order, where they are.
func (s *scanner) sort(object []byte, members []member) error {
	compare := func(a, b member) int {
		return CompareNames(s.names[a.name:a.nameEnd], s.names[b.name:b.nameEnd])
	}
	inOrder := slices.IsSortedFunc(members, compare)
	if !inOrder {
		slices.SortFunc(members, compare)
	}
	for i := 1; i < len(members); i++ {
		if compare(members[i-1], members[i]) == 0 {
			return duplicate(s.name(members[i]))
		}
	}
	if s.odd {
		names := make([]string, len(members))
		for i, m := range members {
			names[i] = s.name(m)
		}
		if name, ok := meet(names); ok {
			return duplicate(name)
		}
	}
	if inOrder {
		return nil
	}
	s.sorted = s.sorted[:0]
	for _, m := range members {
		s.sorted = append(s.sorted, object[m.start:m.valueEnd]...)
		s.sorted = append(s.sorted, ',')
	}
	copy(object[len("{"):], s.sorted[:len(s.sorted)-1])
	return nil
}

func (s *scanner) name(m member) string { return string(s.names[m.name:m.nameEnd]) }

// string returns the text of the string that begins here, valid UTF-8 without
// its escapes. It is good until the next call.
func (s *scanner) string() ([]byte, error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if c == '"' {
			return s.endString(s.src[start:s.pos])
		}
		if c == '\\' {
			s.text = append(s.text[:0], s.src[start:s.pos]...)
			return s.escapedString()
		}
		if c < ' ' {
			return nil, fmt.Errorf("control character in a string: %w", ErrSyntax)
		}
		s.pos++
	}
	return nil, errNoQuote()
}

// escapedString goes on after what is in s.text, at a backslash.
func (s *scanner) escapedString() ([]byte, error) {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '"':
			return s.endString(s.text)
		case c < ' ':
			return nil, fmt.Errorf("control character in a string: %w", ErrSyntax)
		case c != '\\':
			s.text = append(s.text, c)
			s.pos++
			continue
		}
		r, n := unescape(s.src[s.pos:])
		if n == 0 {
			return nil, fmt.Errorf("escape in a string: %w", ErrSyntax)
		}
		if r == surrogate {
			return nil, ErrSurrogate
		}
		s.text = utf8.AppendRune(s.text, r)
		s.pos += n
	}
	return nil, errNoQuote()
}

func errNoQuote() error { return fmt.Errorf("string without end: %w", ErrSyntax) }

func (s *scanner) endString(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("string %s: %w", show(string(text)), ErrInvalidUTF8)
	}
	s.pos++
	return text, nil
}

func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.src) {
		return fmt.Errorf("the end instead of %s: %w", want, ErrSyntax)
	}
	r, _ := utf8.DecodeRune(s.src[s.pos:])
	return fmt.Errorf("%q instead of %s: %w", r, want, ErrSyntax)
}

// appendJSONString appends text, which is valid UTF-8.
func appendJSONString(dst, text []byte, exact bool) []byte {
	if exact {
		return appendQuoted(dst, text)
	}
	if !isASCII(text) {
		return appendQuoted(dst, nfc(Trim(string(text))))
	}
	for len(text) > 0 && isSpace(rune(text[0])) {
		text = text[1:]
	}
	for len(text) > 0 && isSpace(rune(text[len(text)-1])) {
		text = text[:len(text)-1]
	}
	return appendQuoted(dst, text)
}
