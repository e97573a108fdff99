package observe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAWorldIsSeenOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.go")
	put(t, path, "package a\n")
	w := New(nil)
	read(t, w, path)
	list(t, w, dir)
	put(t, path, "package b\n")
	put(t, filepath.Join(dir, "b.go"), "package b\n")
	if got := read(t, w, path); got != "package a\n" {
		t.Errorf("the second look gives %q", got)
	}
	if got := list(t, w, dir); len(got) != 1 {
		t.Errorf("the second look gives %v", got)
	}
}

func TestReadDirListsWhatMatters(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a.go", "_a.go", ".a.go", "a.idem.yaml", ".idem.yaml", "go.mod", "go.sum", "README", "a.go~",
		"sub/x", "vendor/x", "testdata/x", ".git/x", "_old/x",
	} {
		put(t, filepath.Join(dir, name), "")
	}
	want := []Entry{
		{Name: ".a.go"}, {Name: ".idem.yaml"}, {Name: "_a.go"}, {Name: "a.go"}, {Name: "a.idem.yaml"}, {Name: "go.mod"}, {Name: "sub", Dir: true},
	}
	if diff := cmp.Diff(want, list(t, New(nil), dir)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Putting and removing files leads to the trace of a run that finds them so.
func TestATraceTellsOfWhatTheRunDid(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a.go"), filepath.Join(dir, "b.go"), filepath.Join(dir, "c.go")
	put(t, a, "a")
	put(t, c, "c")
	look := func(w *World) {
		list(t, w, dir)
		for _, path := range []string{a, b, c} {
			_, _ = w.ReadFile(path) // one of them is absent
		}
	}
	w := New(nil)
	look(w)
	w.Put(a, []byte("new"))
	w.Put(b, []byte("b"))
	w.Remove(c)
	got, ok := w.Trace()

	put(t, a, "new")
	put(t, b, "b")
	if err := os.Remove(c); err != nil {
		t.Fatal(err)
	}
	later := New(nil)
	look(later)
	want, _ := later.Trace()
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("ok = %v (-want +got)\n%s", ok, diff)
	}
	if !New(nil).Same(t.Context(), got) {
		t.Error("what the trace tells is not found again")
	}
}

func TestATraceHoldsOnlyWhatTheRunUsed(t *testing.T) {
	dir := t.TempDir()
	used, other := filepath.Join(dir, "used.go"), filepath.Join(dir, "other.go")
	put(t, used, "")
	put(t, other, "")
	first := New(nil)
	list(t, first, dir)
	read(t, first, used)
	read(t, first, other)
	first.Go(t.Context(), dir, "env", "GOOS")
	trace, _ := first.Trace()

	second := New(nil)
	if !second.Same(t.Context(), trace) {
		t.Fatal("not the same")
	}
	read(t, second, used)
	got, _ := second.Trace()
	want := Trace{Files: map[string]string{used: trace.Files[used]}, Dirs: map[string]string{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatCannotBeSeenOrSpelledIsNotTraced(t *testing.T) {
	dir := t.TempDir()
	for name, look := range map[string]func(*World){
		"a directory as a file": func(w *World) { _, _ = w.ReadFile(dir) },
		"no directory":          func(w *World) { _, _ = w.ReadDir(filepath.Join(dir, "none")) },
		"no UTF-8":              func(w *World) { _, _ = w.ReadFile(filepath.Join(dir, "\xff.go")) },
	} {
		w := New(nil)
		look(w)
		if _, ok := w.Trace(); ok {
			t.Errorf("%s: is traced", name)
		}
	}
}

func TestAFailedCommandIsAnotherAnswer(t *testing.T) {
	dir := t.TempDir()
	w := New(nil)
	fine, failed := w.Go(t.Context(), dir, "env", "GOOS"), w.Go(t.Context(), dir, "env", "-no-such-flag")
	if fine.Err != nil || failed.Err == nil || failed.Stderr == "" {
		t.Fatalf("%v, %v", fine, failed)
	}
	if (Answer{Stdout: []byte("x")}).digest() == (Answer{Stdout: []byte("x"), Err: failed.Err}).digest() {
		t.Error("the same digest")
	}
}

func TestEnvIsForTheGoCommand(t *testing.T) {
	t.Setenv("GOOS", "linux")
	if got := string(New([]string{"GOOS=plan9"}).Go(t.Context(), t.TempDir(), "env", "GOOS").Stdout); got != "plan9\n" {
		t.Errorf("GOOS is %q", got)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, w *World, path string) string {
	t.Helper()
	content, err := w.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func list(t *testing.T, w *World, dir string) []Entry {
	t.Helper()
	entries, err := w.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
