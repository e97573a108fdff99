package canon

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is the white space of this package. The list is the rule: other
// definitions differ on U+0085, U+180E and U+FEFF.
func isSpace(r rune) bool {
	switch {
	case r <= ' ':
		return r == ' ' || '\t' <= r && r <= '\r'
	case r < 0x1680:
		return r == 0x85 || r == 0xA0
	case 0x2000 <= r && r <= 0x200A:
		return true
	}
	switch r {
	case 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return false
}

// Trim removes white space from both ends: U+0009–000D, 0020, 0085, 00A0, 1680,
// 2000–200A, 2028, 2029, 202F, 205F, 3000 and FEFF.
func Trim(s string) string {
	return strings.TrimFunc(s, isSpace)
}

// Lower maps every code point to its simple lower case in UnicodeData, without
// regard to context or language: ΟΔΟΣ becomes οδοσ.
func Lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(unicode.ToLower, s)
		}
	}
	return s
}

// CollapseSpace replaces every run of white space (see [Trim]) by one space.
func CollapseSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	inSpace := false
	for _, r := range s {
		space := isSpace(r)
		if space && !inSpace {
			b.WriteByte(' ')
		} else if !space {
			b.WriteRune(r)
		}
		inSpace = space
	}
	return b.String()
}

// Digits keeps 0 to 9 and drops the rest.
func Digits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// Email trims s and lower-cases the domain, as [Lower] does; what is before the
// last @ keeps its case, since only its server knows whether that matters. A
// blank string stays blank: whether it may be is the identity's question. The
// error is [ErrNotEmail].
func Email(s string) (string, error) {
	s = Trim(s)
	if s == "" {
		return "", nil
	}
	at := strings.LastIndexByte(s, '@')
	if at < 1 || !isLocalPart(s[:at]) || !isMailDomain(s[at+1:]) {
		return "", fmt.Errorf("e-mail %s: %w", show(s), ErrNotEmail)
	}
	return s[:at+1] + Lower(s[at+1:]), nil
}

// isLocalPart refuses what tells of a list of addresses or of a display name;
// the rest is for the mail server to judge.
func isLocalPart(s string) bool {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		return true
	}
	return !strings.ContainsAny(s, `"(),:;<>@[\]`) && !strings.ContainsFunc(s, isSpace)
}

func isMailDomain(s string) bool {
	return s != "" && !strings.ContainsAny(s, `"(),;<>\`) && !strings.ContainsFunc(s, isSpace)
}
