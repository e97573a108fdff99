package idemtest

import (
	"strings"
	"testing"
)

// A handler that goes round and round has no end of things to tell.
func TestALongHistoryIsShownFromBothEnds(t *testing.T) {
	w := &World{}
	for n := range 3 * longestHistory {
		w.note("thing %d", n)
	}
	text := w.text()
	if lines := strings.Count(text, "\n"); lines != longestHistory+1 {
		t.Errorf("%d lines, want %d and the one that counts the rest", lines, longestHistory)
	}
	for _, want := range []string{"thing 0\n", "… 600 lines are left out …\n", "thing 899\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in it", want)
		}
	}
}
