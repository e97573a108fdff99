package canon

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// URL returns the one form of an absolute URL, after RFC 3986 section 6.2:
//
//   - scheme and host in lower case, the host in ASCII by IDNA (UTS 46) and
//     without a trailing dot, no default port, an empty path as /;
//   - dot segments resolved, percent-escapes in upper case, those of unreserved
//     characters decoded, those that are missing added;
//   - no fragment, no empty query, the query sorted by name, then value;
//   - no tracking parameters: utm_*, gclid, gbraid, wbraid, dclid, fbclid,
//     msclkid, mc_cid, mc_eid, igshid, yclid, twclid, ttclid, li_fat_id, _hsenc,
//     _hsmi, vero_id, oly_enc_id, and those named in dropParams, without escapes.
//
// Nothing else changes: path and query keep their case, and a parameter without
// a value, an empty one or a + stays as it is. The result is ASCII.
//
// The error is [ErrNotURL] for what has no scheme followed by // and a host (so
// shop.example:443/cart and mailto: have none of the forms), and for what
// readers of URLs disagree on: control characters, a backslash before the query,
// escapes that are not two hexadecimal digits, two @, hosts that IDNA refuses.
func URL(s string, dropParams ...string) (string, error) {
	out, err := normalizeURL(s, dropParams)
	if err != nil {
		return "", fmt.Errorf("URL %s: %w: %w", show(s), ErrNotURL, err)
	}
	return out, nil
}

func normalizeURL(s string, dropParams []string) (string, error) {
	if err := checkUTF8(s); err != nil {
		return "", err
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return "", errors.New("holds a control character")
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !isScheme(scheme) {
		return "", errors.New("does not begin with a scheme and //")
	}
	scheme = strings.ToLower(scheme)
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if strings.IndexByte(rest, '\\') >= 0 {
		return "", errors.New("holds a backslash before its query")
	}
	authority, path := rest, ""
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		authority, path = rest[:slash], rest[slash:]
	}

	out := append(make([]byte, 0, len(s)+1), scheme...)
	out = append(out, "://"...)
	out, err := appendAuthority(out, authority, scheme)
	if err != nil {
		return "", err
	}
	if out, err = appendPath(out, path); err != nil {
		return "", err
	}
	out, err = appendQuery(out, query, dropParams)
	return string(out), err
}

// isScheme also keeps the scheme ASCII, so that strings.ToLower is enough.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return s != ""
}

// appendPath appends path, which is empty or begins with a slash, with its dot
// segments resolved (RFC 3986, 5.2.4).
func appendPath(dst []byte, path string) ([]byte, error) {
	if path == "" {
		return append(dst, '/'), nil
	}
	root := len(dst)
	dots := false // whether the last segment was one of dots, of which a slash remains
	for segment := range strings.SplitSeq(path[1:], "/") {
		start := len(dst)
		var err error
		if dst, err = appendEscaped(append(dst, '/'), segment); err != nil {
			return dst, err
		}
		switch string(dst[start:]) {
		case "/.":
			dst, dots = dst[:start], true
		case "/..":
			parent := max(bytes.LastIndexByte(dst[root:start], '/'), 0)
			dst, dots = dst[:root+parent], true
		default:
			dots = false
		}
	}
	if dots {
		dst = append(dst, '/')
	}
	return dst, nil
}

// param is a parameter of a query: text is name, or name=value.
type param struct{ name, value, text string }

func appendQuery(dst []byte, query string, dropParams []string) ([]byte, error) {
	if query == "" {
		return dst, nil
	}
	var kept []param
	for pair := range strings.SplitSeq(query, "&") {
		text, err := appendEscaped(nil, pair)
		if err != nil {
			return dst, err
		}
		p := param{text: string(text)}
		p.name, p.value, _ = strings.Cut(p.text, "=")
		if name := decodeEscapes(p.name); !IsTracking(name) && !slices.Contains(dropParams, name) {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 || len(kept) == 1 && kept[0].text == "" {
		return dst, nil
	}
	slices.SortStableFunc(kept, func(a, b param) int {
		if order := strings.Compare(a.name, b.name); order != 0 {
			return order
		}
		return strings.Compare(a.value, b.value)
	})
	for i, p := range kept {
		if i == 0 {
			dst = append(dst, '?')
		} else {
			dst = append(dst, '&')
		}
		dst = append(dst, p.text...)
	}
	return dst, nil
}

// IsTracking reports the parameters that [URL] drops anyhow: those that say where
// a reader came from and not what the page is. The name is without escapes.
func IsTracking(name string) bool {
	switch name {
	case "gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid",
		"igshid", "yclid", "twclid", "ttclid", "li_fat_id", "_hsenc", "_hsmi", "vero_id", "oly_enc_id":
		return true
	}
	return strings.HasPrefix(name, "utm_")
}

// appendEscaped appends a part of a URL with the escapes it should have.
func appendEscaped(dst []byte, s string) ([]byte, error) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '%' {
			if c >= 0x80 || strings.IndexByte(" \"<>\\^`{|}", c) >= 0 {
				dst = appendEscapeOf(dst, c)
			} else {
				dst = append(dst, c)
			}
			continue
		}
		decoded, ok := unescapePercent(s[i:])
		if !ok {
			return dst, errors.New("holds a % without two hexadecimal digits")
		}
		if isUnreserved(decoded) {
			dst = append(dst, decoded)
		} else {
			dst = appendEscapeOf(dst, decoded)
		}
		i += len("41")
	}
	return dst, nil
}

func appendEscapeOf(dst []byte, c byte) []byte {
	const upper = "0123456789ABCDEF"
	return append(dst, '%', upper[c>>4], upper[c&15])
}

// unescapePercent decodes the escape that s begins with.
func unescapePercent(s string) (byte, bool) {
	if len(s) < len("%41") {
		return 0, false
	}
	high, ok1 := hexValue(s[1])
	low, ok2 := hexValue(s[2])
	return high<<4 | low, ok1 && ok2
}

// decodeEscapes decodes all escapes of s, which appendEscaped has accepted.
func decodeEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if decoded, ok := unescapePercent(s[i:]); c == '%' && ok {
			c = decoded
			i += len("41")
		}
		out = append(out, c)
	}
	return string(out)
}

func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
