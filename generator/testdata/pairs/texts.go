package main

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// whiteSpace is what trimming removes.
const whiteSpace = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

func isSpace(c rune) bool { return strings.ContainsRune(whiteSpace, c) }

// text makes a random text of a kind.
func text(r *rand.Rand, as string) string {
	switch as {
	case "url":
		return address(r)
	case "email":
		return pick(r, "jo", "Jo", "jo+x", "j.o", "é") + "@" + pick(r, "mail.example", "Mail.Example", "b.example", "BÜCHER.example")
	case "digits":
		return pick(r, "", "+", "00", "0") + pick(r, "47", "4 7", "471", "") + pick(r, " ", "-", "", "ext ") + pick(r, "22", "2", "1 22")
	case "cents":
		return pick(r, "0", "1", "12", "-3") + pick(r, "", ".5", ".50", ".05", ".1")
	}
	return word(r)
}

// varyText writes a text otherwise.
func varyText(r *rand.Rand, s, as string) string {
	switch as {
	case "exact":
		return s
	case "url":
		return varyAddress(r, s)
	case "email":
		local, domain, _ := strings.Cut(s, "@")
		return padded(r, local+"@"+otherCase(r, domain))
	case "digits":
		var b strings.Builder
		for _, c := range s {
			b.WriteString(pick(r, "", "", " ", "-", "(", "é"))
			b.WriteRune(c)
		}
		return b.String()
	case "cents":
		if !strings.Contains(s, ".") {
			s += pick(r, "", ".0", ".00")
		} else if s[len(s)-2] == '.' {
			s += pick(r, "", "0")
		}
		return padded(r, s)
	case "lower":
		var b strings.Builder
		for _, c := range s {
			if isSpace(c) {
				b.WriteString(pick(r, " ", "\t \u00a0"))
			}
			b.WriteRune(c)
		}
		s = otherCase(r, b.String())
	}
	return padded(r, otherForm(r, s))
}

func padded(r *rand.Rand, s string) string {
	return pick(r, "", "", " ", "\ufeff", "\u0085\t") + s + pick(r, "", "", "\n", "\u3000", "\u2028 ")
}

// otherForm is the text in another form that has the same NFC.
func otherForm(r *rand.Rand, s string) string {
	return pick(r, s, norm.NFD.String(s), norm.NFC.String(s))
}

// otherCase makes letters large whose small ones are theirs alone.
func otherCase(r *rand.Rand, s string) string {
	return strings.Map(func(c rune) rune {
		if upper := unicode.ToUpper(c); unicode.ToLower(upper) == unicode.ToLower(c) && unicode.ToLower(c) == c && r.IntN(2) == 0 {
			return upper
		}
		return c
	}, s)
}

// plainText is what the text says.
func plainText(s, as string) any {
	if as == "exact" {
		return s
	}
	s = norm.NFC.String(strings.Trim(s, whiteSpace))
	switch as {
	case "url":
		return plainAddress(s)
	case "email":
		local, domain, _ := strings.Cut(s, "@")
		return [2]string{local, strings.ToLower(domain)}
	case "digits":
		return strings.Map(func(c rune) rune {
			if c < '0' || c > '9' {
				return -1
			}
			return c
		}, s)
	case "cents":
		amount, ok := new(big.Rat).SetString(s)
		if !ok {
			fatal("%q is no amount", s)
		}
		return amount.RatString()
	case "lower":
		s = strings.ToLower(strings.Join(strings.FieldsFunc(s, isSpace), " "))
	}
	return norm.NFC.String(strings.Trim(s, whiteSpace))
}
