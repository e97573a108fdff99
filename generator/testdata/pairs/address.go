package main

import (
	"cmp"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// address makes a URL.
func address(r *rand.Rand) string {
	s := pick(r, "http", "https", "HTTPS") + "://" + pick(r, "shop.example", "SHOP.example.", "a.example", "bücher.example", "xn--bcher-kva.example") + pick(r, "", "", ":443", ":80", ":8443")
	for range r.IntN(4) {
		s += "/" + pick(r, "a", "A", "b%2Fc", "b", "~a", "%7Ea", ".", "..", "%2e", "", "é", "%c3%a9", "a;b", "c:d")
	}
	for i := range r.IntN(4) {
		s += pick(r, "?", "&")[:1]
		if i == 0 {
			s = s[:len(s)-1] + "?"
		} else {
			s = s[:len(s)-1] + "&"
		}
		s += param(r)
	}
	return s + pick(r, "", "", "#f", "#?a=1")
}

func param(r *rand.Rand) string {
	return pick(r, "a", "b", "%61", "A", "utm_source", "utm%5Fid", "fbclid", "ref", "refs", "é") + pick(r, "", "=", "=1", "=2", "=%31", "=x+y", "=%26", "=1=2")
}

// parts is a URL taken apart, without its fragment.
type parts struct {
	scheme, host, port string
	path               []string
	params             []string
}

func takeApart(s string) parts {
	s, _, _ = strings.Cut(s, "#")
	s, query, asked := strings.Cut(s, "?")
	scheme, rest, _ := strings.Cut(s, "://")
	authority, path, rooted := strings.Cut(rest, "/")
	p := parts{scheme: scheme}
	p.host, p.port, _ = strings.Cut(authority, ":")
	if rooted {
		p.path = strings.Split(path, "/")
	}
	if asked {
		p.params = strings.Split(query, "&")
	}
	return p
}

func (p parts) String() string {
	s := p.scheme + "://" + p.host
	if p.port != "" {
		s += ":" + p.port
	}
	for _, segment := range p.path {
		s += "/" + segment
	}
	if len(p.params) > 0 {
		s += "?" + strings.Join(p.params, "&")
	}
	return s
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// hosts are names in letters and what DNS calls them.
var hosts = map[string]string{"bücher.example": "xn--bcher-kva.example"}

// varyAddress writes a URL of the same page.
func varyAddress(r *rand.Rand, s string) string {
	p := takeApart(s)
	scheme := strings.ToLower(p.scheme)
	switch p.port {
	case "", defaultPorts[scheme]:
		p.port = pick(r, "", defaultPorts[scheme])
	}
	p.scheme = otherCase(r, scheme)
	if host := strings.ToLower(strings.TrimSuffix(p.host, ".")); host == "bücher.example" || host == hosts["bücher.example"] {
		p.host = pick(r, "bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "bu\u0308cher.example")
	}
	p.host = otherCase(r, strings.TrimSuffix(p.host, ".")) + pick(r, "", ".")
	if len(p.path) == 0 {
		p.path = pick(r, nil, []string{""})
	} else {
		p.path = slices.Concat(pick(r, nil, []string{"."}, []string{"q", ".."}), p.path)
	}
	for i := range p.path {
		p.path[i] = otherEscapes(r, p.path[i])
	}
	for i := range p.params {
		p.params[i] = otherEscapes(r, p.params[i])
	}
	p.params = shuffled(r, p.params)
	for range r.IntN(2) {
		i := r.IntN(len(p.params) + 1)
		p.params = slices.Insert(p.params, i, pick(r, "utm_campaign=a", "gclid", "msclkid=", "ref=1", "r%65f"))
	}
	return padded(r, p.String()+pick(r, "", "#", "#top"))
}

// otherEscapes escapes letters that need none, and writes escapes in small letters.
func otherEscapes(r *rand.Rand, s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			b.WriteString(pick(r, s[i:i+3], strings.ToLower(s[i:i+3])))
			i += 2
		case c == 'a' && r.IntN(2) == 0:
			b.WriteString("%61")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// shuffled puts parameters in another order, of which those with one name and
// value keep theirs: "a" and "a=" are told apart by it.
func shuffled(r *rand.Rand, params []string) []string {
	order := r.Perm(len(params))
	out := make([]string, len(params))
	for i, from := range order {
		out[i] = params[from]
	}
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if sameParam(out[i], out[j]) && slices.Index(order, order[i]) >= 0 && order[i] > order[j] {
				out[i], out[j], order[i], order[j] = out[j], out[i], order[j], order[i]
			}
		}
	}
	return out
}

func sameParam(a, b string) bool { return compareParams(decoded(a), decoded(b)) == 0 }

// paramParts are a parameter without its escapes.
type paramParts struct {
	name, value string
	equals      bool
}

func decoded(s string) (p paramParts) {
	name, value, equals := strings.Cut(s, "=")
	return paramParts{unescape(name), unescape(value), equals}
}

func compareParams(a, b paramParts) int {
	return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
}

func unescape(s string) string {
	text, err := url.PathUnescape(s)
	if err != nil {
		fatal("%q: %v", s, err)
	}
	return text
}

// plainAddress is which page a URL names.
func plainAddress(s string) any {
	p := takeApart(s)
	scheme := strings.ToLower(p.scheme)
	host := strings.ToLower(strings.TrimSuffix(p.host, "."))
	if ascii, ok := hosts[host]; ok {
		host = ascii
	}
	if p.port == defaultPorts[scheme] {
		p.port = ""
	}
	var path []string
	for i, segment := range p.path {
		last := i == len(p.path)-1
		switch segment = unescape(segment); segment {
		case "..":
			path = path[:max(len(path)-1, 0)]
		case ".":
		default:
			path = append(path, segment)
			continue
		}
		if last {
			path = append(path, "")
		}
	}
	if len(path) == 0 {
		path = []string{""}
	}
	var params []paramParts
	for _, text := range p.params {
		q := decoded(text)
		switch {
		case strings.HasPrefix(q.name, "utm_"), slices.Contains([]string{"gclid", "fbclid", "msclkid", "ref"}, q.name):
		default:
			params = append(params, q)
		}
	}
	slices.SortStableFunc(params, compareParams)
	return []any{scheme, host, p.port, path, params}
}
