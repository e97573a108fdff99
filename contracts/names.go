package contracts

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals throughout: those that
// the Go code review comments and staticcheck's defaults agree on, and a few
// that names of business systems need.
var initialisms = map[string]bool{
	"acl": true, "api": true, "ascii": true, "cpu": true, "crm": true, "css": true,
	"csv": true, "db": true, "dns": true, "eof": true, "erp": true, "guid": true,
	"html": true, "http": true, "https": true, "id": true, "ip": true, "json": true,
	"pdf": true, "qps": true, "ram": true, "rpc": true, "sku": true, "sla": true,
	"smtp": true, "sms": true, "sql": true, "ssh": true, "tcp": true, "tls": true,
	"ttl": true, "udp": true, "ui": true, "uid": true, "uri": true, "url": true,
	"utf8": true, "uuid": true, "vat": true, "vm": true, "xml": true, "xmpp": true,
	"xsrf": true, "xss": true,
}

// MethodName is the exported Go name for an effect name: SendReceipt for
// send_receipt, CRMID for crm_id.
func MethodName(effect string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(effect, "_") {
		b.WriteString(exportedWord(word))
	}
	return b.String()
}

// unexportedName is MethodName with its first word in lower case: crmID.
func unexportedName(effect string) string {
	effect = strings.TrimLeft(effect, "_")
	first, rest, _ := strings.Cut(effect, "_")
	return first + MethodName(rest)
}

func exportedWord(word string) string {
	if word == "" {
		return ""
	}
	if initialisms[word] {
		return strings.ToUpper(word)
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// EffectName is the effect name that a Go method stands for: send_receipt for
// SendReceipt and sendReceipt, crm_id for CRMID. MethodName of the result is
// the method again whenever some effect name leads to that method.
func EffectName(method string) string {
	var words []string
	runes := []rune(method)
	for i := 0; i < len(runes); {
		end := i + 1
		if unicode.IsUpper(runes[i]) {
			end = capitalsEnd(runes, i)
		}
		if end-i > 1 {
			words = append(words, splitInitialisms(strings.ToLower(string(runes[i:end])))...)
			i = end
			continue
		}
		for end < len(runes) && !unicode.IsUpper(runes[end]) {
			end++
		}
		words = append(words, strings.ToLower(string(runes[i:end])))
		i = end
	}
	return strings.Trim(strings.Join(words, "_"), "_")
}

// capitalsEnd is the end of the run of capitals and digits from i, without a
// last capital that begins the next word: 4 in HTTPGet.
func capitalsEnd(runes []rune, i int) int {
	end := i
	for end < len(runes) && unicode.IsUpper(runes[end]) {
		end++
	}
	if strings.HasPrefix(string(runes[i:]), "UTF8") {
		return i + 4
	}
	if end < len(runes) && unicode.IsLower(runes[end]) && end-i > 1 {
		end--
	}
	return end
}

// splitInitialisms cuts a run of capitals (in lower case) into initialisms,
// the longest first; letters that begin none stand alone.
func splitInitialisms(run string) []string {
	words, ok := cutInitialisms(run, map[string]bool{})
	if ok {
		return words
	}
	return strings.Split(run, "")
}

func cutInitialisms(run string, failed map[string]bool) ([]string, bool) {
	if run == "" {
		return nil, true
	}
	if failed[run] {
		return nil, false
	}
	for n := min(len(run), 5); n >= 2; n-- {
		if !initialisms[run[:n]] {
			continue
		}
		if rest, ok := cutInitialisms(run[n:], failed); ok {
			return append([]string{run[:n]}, rest...), true
		}
	}
	failed[run] = true
	return nil, false
}
