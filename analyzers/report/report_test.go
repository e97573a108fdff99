package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idem/analyzers/driver"
)

func TestABaselineThatCannotBeReadSaysHowToMakeOne(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ text, want string }{
		{"", "there is no such file; -write-baseline"},
		{"{", "not a baseline: unexpected EOF; -write-baseline"},
		{`{"version": 1, "findigns": []}`, `not a baseline: json: unknown field "findigns"`},
		{`{"version": 2, "findings": []}`, "version 2, and this idemlint reads version 1"},
	} {
		name := filepath.Join(dir, "known.json")
		if test.text != "" {
			write(t, name, test.text)
		}
		if _, err := readBaseline(name); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v", test.text, err)
		}
	}
}

func TestWhereLinesWereTakenAwayBothSidesHaveChanged(t *testing.T) {
	c := &Changes{whole: map[string]bool{}, lines: map[string][][2]int{}}
	diff := "diff --git a.go a.go\n--- a.go\n+++ a.go\n@@ -7,2 +6,0 @@ func f() {\n--- lock()\n-\tunlock()\n@@ -20 +18,2 @@\n-x\n+++ y\n+z\n"
	if err := c.read("/r", []byte(diff)); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]bool{5: false, 6: true, 7: true, 8: false, 17: false, 18: true, 19: true, 20: false} {
		if got := c.touch(filepath.Join("/r", "a.go"), line, line); got != want {
			t.Errorf("line %d: got %v", line, got)
		}
	}
}

func TestFixesThatDoNotGoTogetherChangeNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.go")
	const src = "package m\n\nvar x = 1\n"
	finding := func(start, end int, text string) driver.Finding {
		return driver.Finding{Fixes: []driver.Fix{{Edits: []driver.Edit{{File: name, Start: start, End: end, New: text}}}}}
	}
	for _, test := range []struct {
		name     string
		findings []driver.Finding
		fixed    int
		text     string
		failure  string
	}{
		{"one inside the other", []driver.Finding{finding(15, 20, "y = 2"), finding(19, 20, "3")}, 1, "package m\n\nvar y = 2\n", ""},
		{"side by side", []driver.Finding{finding(15, 16, "y"), finding(19, 20, "3")}, 2, "package m\n\nvar y = 3\n", ""},
		{"beyond the end", []driver.Finding{finding(15, 99, "y")}, 0, src, "the file has changed since it was looked at"},
		{"no Go", []driver.Finding{finding(15, 16, ")")}, 0, src, "the fix does not parse"},
		{"none", []driver.Finding{{}}, 0, src, ""},
	} {
		write(t, name, src)
		fixed, err := ApplyFixes(test.findings)
		if fixed != test.fixed || read(t, name) != test.text || (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
			t.Errorf("%s: %d, %v\n%s", test.name, fixed, err, read(t, name))
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
