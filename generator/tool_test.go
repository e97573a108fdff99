package generator

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAnotherProgramRemembersSomethingElse(t *testing.T) {
	options := Options{Memory: t.TempDir()}
	one, two := newMemory(options, "one", "/m", []string{"./..."}), newMemory(options, "two", "/m", []string{"./..."})
	if one.path == two.path || filepath.Dir(one.path) != options.Memory {
		t.Errorf("%s and %s", one.path, two.path)
	}
	// A copy under the other name is not believed either.
	content, err := one.encode(entry{Contracts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := one.decode(content); !ok {
		t.Error("an entry is not its own")
	}
	if _, ok := two.decode(content); ok {
		t.Error("an entry is taken for another program's")
	}
}

func TestAProgramIsKnownByItsFile(t *testing.T) {
	first, ok := toolID()
	second, _ := toolID()
	if !ok || first != second || first == "" {
		t.Errorf("%q and %q, %v", first, second, ok)
	}
}

func TestReleasedProgramsHaveAllChecksums(t *testing.T) {
	sum := func(m debug.Module) debug.Module { m.Sum = "h1:x"; return m }
	main, dep := sum(debug.Module{Path: "a", Version: "v1.0.0"}), sum(debug.Module{Path: "b", Version: "v1.0.0"})
	folder := dep
	folder.Replace = &debug.Module{Path: "../b"}
	for name, c := range map[string]struct {
		info debug.BuildInfo
		want bool
	}{
		"released":            {debug.BuildInfo{Main: main, Deps: []*debug.Module{&dep}}, true},
		"of a checkout":       {debug.BuildInfo{Main: debug.Module{Path: "a", Version: "(devel)"}, Deps: []*debug.Module{&dep}}, false},
		"with a folder in it": {debug.BuildInfo{Main: main, Deps: []*debug.Module{&folder}}, false},
	} {
		if got := released(&c.info); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestOldEntriesAreSweptAwayOnceADay(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	age := func(name string, age time.Duration) {
		put(t, filepath.Join(dir, name), "")
		if err := os.Chtimes(filepath.Join(dir, name), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	age("old.run", maxAge+time.Hour)
	age("killed.run.tmp", maxAge+time.Hour)
	age("needed.run", maxAge-time.Hour)
	age("old.txt", maxAge+time.Hour) // nothing of idemgen's
	sweepMemory(dir, now)
	noLeftovers(t, dir, 3)
	age("old.run", maxAge+time.Hour)
	sweepMemory(dir, now.Add(23*time.Hour))
	noLeftovers(t, dir, 4)
	sweepMemory(dir, now.Add(25*time.Hour))
	if left, err := filepath.Glob(filepath.Join(dir, "*.run")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// What a run sees by other ways than its world, no memory can tell to have changed.
func TestRunsSeeThroughTheirWorldAlone(t *testing.T) {
	// The files of this room that touch the disk themselves, and why that is no input.
	allowed := []string{
		"init.go",           // writes a file, which no run remembers
		"write.go",          // acts on what is there at that moment
		"memory.go",         // the memory itself
		"tool.go",           // is part of its key
		"resolve/check.go",  // export data, known by the answer of go list
		"resolve/find.go",   // a directory that is not there, which ends the run
		"resolve/golist.go", // names an error
	}
	var seen []string
	for _, pattern := range []string{"*.go", "resolve/*.go", "model/*.go", "emit/*.go", "fingerprint/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range file.Imports {
				switch imp.Path.Value {
				case `"os"`, `"os/exec"`, `"io/ioutil"`, `"syscall"`, `"net"`, `"net/http"`:
					seen = append(seen, filepath.ToSlash(name))
				}
			}
		}
	}
	for _, name := range seen {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s looks at the world by itself: see package observe", name)
		}
	}
	for _, name := range allowed {
		if !slices.Contains(seen, name) {
			t.Errorf("%s no longer needs to be allowed", name)
		}
	}
}

func TestBuildIDsAreThoseOfTheGoCommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("programs are no ELF files")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() {}\n")
	exe := filepath.Join(dir, "program")
	for name, flags := range map[string]string{"full": "", "none": "-buildid=", "another tool's": "-buildid=redacted"} {
		if out, err := exec.Command("go", "build", "-o", exe, "-ldflags", flags, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command("go", "tool", "buildid", exe).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(string(out))
		if name != "full" {
			want = ""
		}
		f, err := os.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		if got := buildID(f); got != want || name == "full" && len(want) < 40 {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
