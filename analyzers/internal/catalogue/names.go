package catalogue

import (
	"slices"
	"strings"
)

// NamesKey tells whether a name (of a variable, field, parameter, function or
// header) says that its value deduplicates.
func NamesKey(name string) bool {
	n := fold(name)
	return says(n, keyWords) && !says(n, about)
}

// keyWords are what names of keys contain: by the word, or by what a known protocol calls
// its own.
var keyWords = []string{"idempot", "dedup", "idemkey", "idemtoken", "paypalrequestid", "natsmsgid", "clientrequesttoken"}

// SetsKey tells whether a function of this name is there to be given a key.
func SetsKey(name string) bool {
	words := Words(name)
	return len(words) > 1 && NamesKey(name) && slices.Contains([]string{"with", "set", "add", "use"}, words[0])
}

// BeginsKey tells whether a text is the beginning of a key: "idempotency:%s".
func BeginsKey(s string) bool { return KeyPrefix(s) != "" }

// KeyPrefix is the beginning of a key that a text begins with, up to what separates
// it from the rest, or empty.
func KeyPrefix(s string) string {
	i := strings.IndexAny(s, ":|#%")
	if i <= 0 || s[i] == '%' || strings.ContainsAny(s[:i], " \t\n.,") || !NamesKey(s[:i]) || strings.HasPrefix(s[i+1:], " ") {
		return ""
	}
	return s[:i]
}

// NamesKeyContext is wider: a name under which a hash decides whether two things
// are the same.
func NamesKeyContext(name string) bool {
	n := fold(name)
	for _, w := range []string{"idempot", "dedup", "fingerprint", "uniquekey", "naturalkey", "requesthash", "hashrequest", "payloadhash"} {
		if strings.Contains(n, w) {
			return !says(n, about)
		}
	}
	return false
}

// about are words that make a name one of something about a key, not of a key.
var about = []string{
	"window", "ttl", "expir", "timeout", "duration", "enabled", "disabled", "count", "limit", "size", "length",
	"header", "prefix", "table", "store", "cache", "scope", "bucket", "nonce", "mode", "policy", "interval", "queue",
	"error", "status", "result", "response", "middleware", "query", "config", "option", "until", "since", "retention",
}

func says(n string, words []string) bool {
	for _, w := range words {
		if strings.Contains(n, w) {
			return true
		}
	}
	return false
}

// fold makes Idempotency-Key, idempotency_key and IdempotencyKey one.
func fold(name string) string {
	return strings.ToLower(separators.Replace(name))
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// IsLookup tells whether a function of this name only looks: what reaches its
// parameters is compared, not recorded.
func IsLookup(name string) bool {
	n := strings.ToLower(name)
	for _, verb := range lookups {
		if rest, ok := strings.CutPrefix(n, verb); ok && !strings.HasPrefix(rest, "or") {
			return true
		}
	}
	return strings.Contains(name, "By") && !strings.HasPrefix(n, "create") && !strings.HasPrefix(n, "send")
}

var lookups = []string{
	"get", "find", "lookup", "exists", "has", "is", "check", "list", "search", "count", "load", "fetch", "query", "select", "contains", "validate", "verify", "parse", "delete", "remove", "match", "equal",
}

// NamesEntity tells whether a field identifies the thing that it belongs to.
func NamesEntity(field string) bool {
	if NamesKey(field) || NamesRequest(field) {
		return false
	}
	return field == "id" || field == "uuid" || field == "UUID" || field == "uid" || field == "UID" || field == "Uid" || field == "Uuid" ||
		strings.HasSuffix(field, "ID") || strings.HasSuffix(field, "Id") || strings.HasSuffix(field, "UUID") || strings.HasSuffix(field, "_id")
}

// NamesRequest tells whether a name is of something that each delivery of the same
// work brings anew.
func NamesRequest(name string) bool {
	n := fold(name)
	for _, w := range []string{"requestid", "reqid", "traceid", "spanid", "correlationid", "attemptid", "sessionid", "nonce", "traceparent"} {
		if strings.Contains(n, w) {
			return true
		}
	}
	return false
}

// VolatileField says why a field of this name differs between deliveries of the
// same work, if it does.
func VolatileField(name string) Volatile {
	if NamesRequest(name) {
		return Request
	}
	switch fold(name) {
	case "receivedat", "receivedtime", "receivetime", "arrivedat", "fetchedat", "ingestedat", "processedat", "processedtime", "retrievedat", "crawledat",
		"timestamp", "updatedat", "updatetime", "lastupdated", "lastmodified", "modifiedat", "lastseen", "lastseenat":
		return Received
	}
	return ""
}

// NeedsKeyContext tells whether a volatile field may well be a part of what
// identifies something: the time of an event, or of the change that the work is.
func NeedsKeyContext(field string) bool {
	switch fold(field) {
	case "timestamp", "updatedat", "updatetime", "lastupdated", "lastmodified", "modifiedat":
		return true
	}
	n := fold(field)
	// The ID of a conversation, or of a try that is a thing of its own.
	return strings.Contains(n, "sessionid") || strings.Contains(n, "attemptid") || strings.Contains(n, "correlationid") || strings.Contains(n, "nonce")
}
