package mutate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var want = regexp.MustCompile(`// want ([\w ]+)$`)

// TestShapes holds all rules against mistakes and look-alikes as they occur in code
// with real libraries: each line is reported by the rules that it names, and no
// other.
func TestShapes(t *testing.T) {
	w, _ := open(t, "shapes/...")
	files, err := filepath.Glob("testdata/src/shapes/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := w.check("handlers/shapes/"+filepath.Base(filepath.Dir(file)), string(src))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		reported := map[int][]string{}
		for _, f := range found {
			reported[f.line] = append(reported[f.line], f.rule)
		}
		for i, line := range strings.Split(string(src), "\n") {
			wanted := ""
			if m := want.FindStringSubmatch(line); m != nil {
				wanted = m[1]
			}
			if got := strings.Join(reported[i+1], " "); got != wanted {
				t.Errorf("%s:%d: reported by %q, want %q", file, i+1, got, wanted)
			}
		}
	}
}
