package catalogue

import (
	"slices"
	"strings"
	"unicode"
)

// Words are the words of a name, in lower case: "markAsSent" is mark, as, sent.
// A run of capitals is one word: "sendSMS" is send, sms.
func Words(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) || i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// NamesAct tells whether a method of this name acts on the world outside, if
// nothing but its name is known: it begins with the verb of something that cannot
// be taken back.
func NamesAct(name string) bool {
	words := Words(name)
	if len(words) == 0 || !slices.Contains(acts, words[0]) || NamesRead(name) {
		return false
	}
	return words[0] != "create" && words[0] != "delete" || !slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(setup, w) })
}

// setup are things that are there once, however often they are created.
var setup = []string{
	"topic", "topics", "bucket", "buckets", "table", "tables", "queue", "queues", "index", "indexes", "indices", "container", "namespace", "stream", "consumer",
	"exchange", "collection", "collections", "schema", "database", "dir", "directory", "folder", "file", "files", "temp", "context", "logger", "partition", "partitions",
}

var acts = []string{
	"send", "create", "charge", "publish", "notify", "refund", "delete", "pay", "payout", "transfer", "capture", "enqueue", "dispatch", "deliver",
	"withdraw", "withdrawal", "deposit", "email", "mail", "sms", "trigger", "book", "ship", "place", "purchase", "issue", "cancel", "broadcast",
	"reply", "post", "submit", "produce", "order", "invoice", "bill", "disburse", "debit", "credit", "text", "announce", "tweet", "alert", "page",
}

// NamesRead tells whether a name says that what is called answers a question,
// though by a request that could do anything.
func NamesRead(name string) bool {
	return slices.ContainsFunc(Words(name), func(w string) bool { return slices.Contains(reads, w) })
}

var reads = []string{
	"chat", "completion", "completions", "complete", "embed", "embedding", "embeddings", "search", "query", "graphql", "token", "tokens", "upload", "uploads",
	"get", "fetch", "list", "login", "auth", "oauth", "authenticate", "download", "scrape", "crawl", "translate", "summarize", "summarise", "generate",
	"classify", "analyze", "analyse", "llm", "openai", "prompt", "lookup", "check", "verify", "validate", "resolve", "refresh", "ping", "health",
	"read", "find", "load", "introspect", "exchange", "rpc", "eval", "render", "parse", "model", "models", "ai", "ocr", "rerank", "transcribe", "speech",
}

// NamesDone tells whether a word says that work is over: not that it has begun,
// waits, or has failed.
func NamesDone(word string) bool { return slices.Contains(done, strings.ToLower(word)) }

var done = []string{
	"done", "sent", "paid", "refunded", "processed", "completed", "complete", "delivered", "published", "notified", "handled", "executed", "seen",
	"finished", "fulfilled", "shipped", "charged", "settled", "posted", "dispatched", "emailed", "captured", "succeeded", "success", "briefed", "announced",
	"disbursed", "transferred", "invoiced", "forwarded", "reported", "alerted",
}
