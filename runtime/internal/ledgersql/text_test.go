package ledgersql

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestStoredTextIsReadableForAnyTool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "é", "€", "😀", "\x00", "\xff", "\xe2\x82", "\uFFFD", strings.Repeat("€", 700), strings.Repeat("\xff ", 1000)})
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		for what, got := range map[string]string{"CleanText": CleanText(text), "CleanError": CleanError(text)} {
			if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
				t.Fatalf("%s leaves %q", what, got)
			}
			if good := utf8.ValidString(text) && !strings.Contains(text, "\x00"); good && !strings.HasPrefix(text, got) {
				t.Fatalf("%s changed text that was fine to %q", what, got)
			}
		}
		got := CleanError(text)
		if len(got) > maxErrorText {
			t.Fatalf("%d bytes are kept as %d", len(text), len(got))
		}
		// U+FFFD has three bytes, and stands for one to three that were wrong.
		if len(text) >= 3*maxErrorText && len(got) < maxErrorText/3 {
			t.Fatalf("%d bytes are kept as only %d", len(text), len(got))
		}
	})
}
