package driver

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInputIsAMessageOrSilence runs over what go vet does not take as well as
// over what it takes and a tool may not: the rest of a module is looked at, and
// nothing of it is a fault of idemlint.
func TestBadInputIsAMessageOrSilence(t *testing.T) {
	t.Setenv("GOTOOLCHAIN", "local")
	t.Setenv("GOFLAGS", "")
	for _, test := range []struct {
		name     string
		files    map[string]string
		packages []string
		findings int
		says     string // empty: nothing
	}{
		{"no module", map[string]string{"m.go": faulty}, nil, 0, "does not contain main module"},
		{"a module file that cannot be read", map[string]string{"go.mod": "modul x\n", "m.go": faulty}, nil, 0, "go.mod:1: unknown directive: modul"},
		{"a pattern that matches nothing", map[string]string{"go.mod": goMod, "m.go": faulty}, []string{"./nosuch/..."}, 0, "./nosuch/"},
		{"a package that is not there", map[string]string{"go.mod": goMod, "m.go": faulty}, []string{".", "./nosuch"}, 1, "nosuch"},
		{"no Go files", map[string]string{"go.mod": goMod, "m.txt": ""}, nil, 0, "no packages"},
		{"a file that does not parse", map[string]string{"go.mod": goMod, "m.go": faulty, "b/b.go": "package b\n\nfunc {\n"}, nil, 1, "b.go:3:6"},
		{"an empty file", map[string]string{"go.mod": goMod, "m.go": faulty, "b/b.go": ""}, nil, 1, "b.go:1:1"},
		{"two packages in a folder", map[string]string{"go.mod": goMod, "m.go": faulty, "b/b.go": "package b\n", "b/c.go": "package c\n"}, nil, 1, "found packages b (b.go) and c (c.go)"},
		{"a cycle of imports", map[string]string{
			"go.mod": goMod, "m.go": faulty,
			"a/a.go": "package a\n\nimport _ \"example.com/m/b\"\n", "b/b.go": "package b\n\nimport _ \"example.com/m/a\"\n",
		}, nil, 1, "import cycle not allowed"},
		{"a cycle of imports in a test", map[string]string{
			"go.mod": goMod, "m.go": faulty, "a/a.go": "package a\n", "b/b.go": "package b\n\nimport _ \"example.com/m/a\"\n",
			"a/a_test.go": "package a\n\nimport _ \"example.com/m/b\"\n",
		}, nil, 1, "import cycle not allowed in test"},
		{"a module of a newer Go", map[string]string{"go.mod": "module example.com/m\n\ngo 1.99\n", "m.go": faulty}, nil, 0, "requires go >= 1.99"},
		{"a file of a newer Go", map[string]string{"go.mod": goMod, "m.go": faulty, "n.go": "//go:build go1.99\n\npackage m\n\nwhat will be\n"}, nil, 1, ""},
		{"assembly", map[string]string{
			"go.mod": goMod, "m.go": faulty, "a/a.go": strings.Replace(faulty, "package m", "package a", 1) + "\nfunc add(x, y int) int\n",
			"a/a.s": "// add is not there: only its declaration is looked at.\n",
		}, nil, 2, ""},
		{"vendored code", map[string]string{
			"go.mod":                    goMod + "\nrequire example.com/v v1.0.0\n",
			"m.go":                      strings.Replace(faulty, "import (", "import (\n\t_ \"example.com/v\"", 1),
			"vendor/modules.txt":        "# example.com/v v1.0.0\n## explicit; go 1.26\nexample.com/v\n",
			"vendor/example.com/v/v.go": strings.Replace(faulty, "package m", "package v", 1),
		}, nil, 1, ""},
		{"line directives that lie", map[string]string{"go.mod": goMod, "m.go": strings.Replace(faulty, "func F", "//line nosuch.y:999\nfunc F", 1)}, nil, 1, ""},
		{"control characters in a string", map[string]string{"go.mod": goMod, "m.go": faulty + "\nvar _ = \"\\x00\\xff\u2028\"\n"}, nil, 1, ""},
		{"recursion of types and functions", map[string]string{
			"go.mod": goMod,
			"m.go":   faulty + "\ntype T[P any] struct{ next *T[P] }\n\nfunc (t *T[P]) key() string { return t.next.key() + key() }\n\nfunc key() string { return (&T[int]{}).key() }\n",
		}, nil, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, write(t, test.files), Options{Packages: test.packages})
			if len(r.Findings) != test.findings || len(r.Notes) > 0 || !strings.Contains(r.Errors, test.says) || (r.Errors == "") != (test.says == "") {
				t.Errorf("findings %v, notes %v, and it says\n%s", r.Findings, r.Notes, r.Errors)
			}
			for _, word := range []string{"panic", "goroutine "} {
				if strings.Contains(r.Errors, word) {
					t.Errorf("it says %q:\n%s", word, r.Errors)
				}
			}
		})
	}
}

func TestCgoIsReportedInTheFileThatPeopleHave(t *testing.T) {
	if out, err := exec.Command("go", "env", "CC").Output(); err != nil {
		t.Fatal(err)
	} else if _, err := exec.LookPath(strings.TrimSpace(string(out))); err != nil {
		t.Skip("no C compiler")
	}
	t.Setenv("CGO_ENABLED", "1")
	src := strings.Replace(faulty, "import (", "// int one() { return 1; }\nimport \"C\"\n\nimport (", 1) + "\nfunc one() int { return int(C.one()) }\n"
	dir := write(t, map[string]string{"go.mod": goMod, "m.go": src})
	r := run(t, dir, Options{})
	if len(r.Findings) != 1 || r.Errors != "" {
		t.Fatalf("got %v, %s", r.Findings, r.Errors)
	}
	if p := r.Findings[0].Pos; filepath.Base(p.File) != "m.go" || p.Line != 11 {
		t.Errorf("at %v", p)
	}
	if len(r.Findings[0].Fixes) != 0 {
		t.Error("it has a fix for a file that cgo has made")
	}
}
