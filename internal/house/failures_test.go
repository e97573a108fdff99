package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachFailureOfOthersHasItsTests holds that what docs/failures.md names is
// there: a table that leads nowhere would be worse than none.
func TestEachFailureOfOthersHasItsTests(t *testing.T) {
	page := read(t, "docs/failures.md")
	if !strings.Contains(read(t, "README.md"), "(docs/failures.md)") {
		t.Error("README.md does not lead to docs/failures.md")
	}
	seen := 0
	for _, heading := range []string{"Locks, leases, owners", "Keys and payloads", "Results and errors", "Databases", "Time, shutdown, retention", "Generators"} {
		for _, row := range rows(section(t, page, "## "+heading)) {
			seen++
			if len(row) != 3 || !regexp.MustCompile(`#\d|PR \d|/`).MatchString(row[0]) {
				t.Fatalf("no failure, its report and its tests: %q", row)
			}
			named := code.FindAllStringSubmatch(row[2], -1)
			if part, missing := strings.CutPrefix(row[2], "*Not yet*: "); len(named) == 0 && (!missing || part == "") {
				t.Errorf("%s: no test holds it, nor is it said which part does not exist", row[0])
			}
			for _, m := range named {
				if why := notThere(t, m[1]); why != "" {
					t.Errorf("%s: `%s`: %s", row[0], m[1], why)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d rows were seen", seen)
	}
}

// notThere says why what the table names as a test is none.
func notThere(t *testing.T, named string) string {
	t.Helper()
	if strings.HasSuffix(named, ".txtar") {
		if _, err := os.Stat(filepath.Join(root, named)); err != nil {
			return err.Error()
		}
		return ""
	}
	if name, ok := strings.CutPrefix(named, "storetest: "); ok {
		part, name, ok := strings.Cut(name, "/")
		if !ok || !declares(t, "runtime/storetest/*.go", `\{"`+part+`", \w+\[Tx\]\(\)\}`) || !declares(t, "runtime/storetest/*.go", `\{"`+name+`", \w+`) {
			return "the suite has no such part"
		}
		return ""
	}
	dir, name, ok := cutLast(named, ".")
	if !ok || !strings.HasPrefix(name, "Test") || !declares(t, dir+"/*_test.go", `(?m)^func `+name+`\(t \*testing\.T\)`) {
		return "there is no such test"
	}
	return ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// declares tells whether one of some files has what a pattern says.
func declares(t *testing.T, files, pattern string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(files)))
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(pattern)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if wanted.Match(text) {
			return true
		}
	}
	return false
}
