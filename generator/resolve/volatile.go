package resolve

import (
	"go/types"
	"slices"
	"strings"
	"unicode"
)

// volatile says why a field's name is that of a value that differs between
// deliveries of the same work, or "". Both names count; word for word, so that
// CreatedBy and PayoutRequestID, which tell work apart, pass.
func volatile(goName, wire string, t types.Type) string {
	if why := volatileName(goName, isTime(t)); why != "" {
		return why
	}
	if wire == "" || wire == goName || wire == "pid" || wire == "host" {
		return "" // short wire names say too little: pid is many things' ID
	}
	return volatileName(wire, isTime(t))
}

func isTime(t types.Type) bool {
	t, _ = deref(t)
	return isNamed(t, "time", "Time")
}

var (
	changed   = []string{"received", "created", "updated", "modified", "processed"}
	moments   = []string{"at", "on", "time", "timestamp", "ts", "date", "datetime", "utc", "ms", "millis", "nanos", "unix", "epoch"}
	deliverer = []string{"request", "trace", "span", "correlation", "run", "execution", "job"}
	// vague are words before an ID that do not make it another thing's.
	vague = []string{"x", "http", "client", "server", "aws", "amz", "amzn", "gcp", "api", "gateway", "the", "this", "my", "current", "last", "parent", "root", "otel", "b3", "message", "event"}
)

func volatileName(name string, isTime bool) string {
	words := splitWords(name)
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	switch {
	case isChangeTime(words, isTime):
		return "the time of a change or a receipt"
	case volatileID(words):
		return "the ID of a delivery or a run"
	case isAttempt(words):
		return "a count of attempts"
	case slices.Contains(words, "nonce"), slices.Contains(words, "random"):
		return "a random value"
	case last == "hostname", isAlone(words, "host"), isAlone(words, "host", "name"):
		return "the name of a machine"
	case isAlone(words, "pid"), isAlone(words, "process", "id"):
		return "the ID of a process"
	}
	return ""
}

func isChangeTime(words []string, isTime bool) bool {
	for i, w := range words {
		if !slices.Contains(changed, w) {
			continue
		}
		switch {
		case i+1 < len(words) && slices.Contains(moments, words[i+1]):
			return true
		case i+1 < len(words):
		case isTime, i > 0 && (words[i-1] == "last" || slices.Contains(moments, words[i-1])):
			return true
		}
	}
	return false
}

func volatileID(words []string) bool {
	n := len(words)
	if n >= 2 && words[n-2] == "receipt" && words[n-1] == "handle" {
		return true
	}
	if n >= 3 && words[n-3] == "message" && words[n-2] == "receipt" && words[n-1] == "id" {
		return true
	}
	for _, d := range deliverer {
		if isAlone(words, d, "id") || isAlone(words, d+"id") || isAlone(words, d, "uuid") {
			return true
		}
	}
	return false
}

func isAttempt(words []string) bool {
	n := len(words)
	switch words[n-1] {
	case "attempt", "attempts", "retries":
		return true
	}
	if isAlone(words, "attempt", "id") {
		return true
	}
	if n < 2 {
		return false
	}
	switch words[n-2] {
	case "attempt", "attempts", "retry", "retries":
		return slices.Contains([]string{"count", "counter", "number", "num", "no", "nr", "n", "index"}, words[n-1])
	case "delivery", "redelivery", "receive":
		return words[n-1] == "count" || words[n-1] == "counter"
	}
	return false
}

// isAlone tells whether the words are these, after vague ones at most.
func isAlone(words []string, these ...string) bool {
	before := len(words) - len(these)
	if before < 0 || !slices.Equal(words[before:], these) {
		return false
	}
	for _, w := range words[:before] {
		if !slices.Contains(vague, w) && !slices.Contains([]string{"worker", "node", "machine"}, w) {
			return false
		}
	}
	return true
}

// splitWords cuts CamelCase, snake_case and kebab-case into lower-case words.
func splitWords(name string) []string {
	var words []string
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(part)
		start := 0
		for i := 1; i < len(runes); i++ {
			lowerToUpper := !unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i])
			newWord := unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if lowerToUpper || newWord {
				words = append(words, strings.ToLower(string(runes[start:i])))
				start = i
			}
		}
		words = append(words, strings.ToLower(string(runes[start:])))
	}
	return words
}
