package ledgersql

import (
	"strings"
	"unicode/utf8"
)

// maxErrorText is how much of an error's text is stored, in bytes. An error can
// carry a whole response; the ledger is not where that is read.
const maxErrorText = 4 << 10

// CleanText replaces what would make text unreadable for other tools: NUL ends
// a string for anything written in C, and invalid UTF-8 cannot be moved to a
// database that checks it.
func CleanText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// CleanError is CleanText of the text of an error, which it cuts.
func CleanError(s string) string {
	// Cut first: an error of a gigabyte need not be cleaned as a whole. Cleaning
	// can make the text longer, hence the second cut.
	return cut(CleanText(cut(s)))
}

// cut shortens s to maxErrorText bytes or a little less, between two runes.
func cut(s string) string {
	if len(s) <= maxErrorText {
		return s
	}
	end := maxErrorText
	for end > maxErrorText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
