package generator

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWriteReplacesOnlyWhatDiffers(t *testing.T) {
	dir := t.TempDir()
	same, other := filepath.Join(dir, "same.go"), filepath.Join(dir, "other.go")
	put(t, same, "same")
	put(t, other, "old")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(same, long, long); err != nil {
		t.Fatal(err)
	}
	before := stat(t, same)
	p := plan{files: []planned{{path: other, content: []byte("new")}, {path: same, content: []byte("same")}, {path: filepath.Join(dir, "added.go"), content: []byte("added")}}}
	files, err := p.write(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []File{{Path: "added.go", Change: Written}, {Path: "other.go", Change: Written}, {Path: "same.go", Change: Unchanged}}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if after := stat(t, same); !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("a file that was right already was replaced")
	}
	if got := get(t, other); got != "new" {
		t.Errorf("other.go holds %q", got)
	}
	noLeftovers(t, dir, 3)
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.go"), filepath.Join(dir, "link.go")
	put(t, real, "old")
	if err := os.Chmod(real, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.go", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := (plan{files: []planned{{path: link, content: []byte("new")}}}).write(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v, %v", info, err)
	}
	if mode := stat(t, real).Mode().Perm(); mode != 0o600 {
		t.Errorf("mode is %o, want 600", mode)
	}
	if got := get(t, real); got != "new" {
		t.Errorf("real.go holds %q", got)
	}
	noLeftovers(t, dir, 2)
}

func TestFailedWriteChangesNothing(t *testing.T) {
	dir := t.TempDir()
	first, orphan := filepath.Join(dir, "first.go"), filepath.Join(dir, "orphan.go")
	put(t, first, "old")
	put(t, orphan, "old")
	p := plan{
		files:   []planned{{path: first, content: []byte("new")}, {path: filepath.Join(dir, "no", "such", "folder.go"), content: []byte("new")}},
		orphans: []string{orphan},
	}
	if files, err := p.write(dir); err == nil {
		t.Fatalf("no error, but %v", files)
	}
	if got := get(t, first); got != "old" {
		t.Errorf("first.go holds %q after a failed run", got)
	}
	get(t, orphan)
	noLeftovers(t, dir, 2)
}

func TestCompareWritesNothing(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, "stale.go")
	put(t, stale, "old\n")
	p := plan{files: []planned{{path: stale, content: []byte("new\n")}, {path: filepath.Join(dir, "missing.go"), content: []byte("new\n")}}, orphans: []string{filepath.Join(dir, "orphan.go")}}
	files := p.compare(dir)
	want := []File{
		{Path: "missing.go", Change: Missing, Diff: "--- /dev/null\n+++ b/missing.go\n@@ -0,0 +1 @@\n+new\n"},
		{Path: "orphan.go", Change: Orphaned},
		{Path: "stale.go", Change: Edited, Diff: "--- a/stale.go\n+++ b/stale.go\n@@ -1 +1 @@\n-old\n+new\n"},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	noLeftovers(t, dir, 1)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func noLeftovers(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != want {
		t.Errorf("the folder holds %v, want %d files", entries, want)
	}
}

func TestWriteRemovesWhatAKilledRunLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shop_idem.go")
	left, fresh, other := filepath.Join(dir, ".shop_idem.go.1.0.tmp"), filepath.Join(dir, ".shop_idem.go.2.0.tmp"), filepath.Join(dir, ".other.tmp")
	for _, name := range []string{left, fresh, other} {
		put(t, name, "half")
	}
	long := time.Now().Add(-2 * oldTemp)
	for _, name := range []string{left, other} {
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (plan{files: []planned{{path: path, content: []byte("new")}}}).write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
	stat(t, fresh) // of a run that is at work
	stat(t, other)
}

func TestWriteReplacesNothingMadeOfWhatIsNoLongerThere(t *testing.T) {
	dir := t.TempDir()
	lock, code := filepath.Join(dir, "idem.lock"), filepath.Join(dir, "shop_idem.go")
	put(t, lock, "one more kind")
	before := []byte("kinds")
	p := plan{files: []planned{{lock, []byte("kinds and mine"), &before}, {path: code, content: []byte("code")}}}
	if _, err := p.write(dir); !errors.Is(err, errOtherRun) {
		t.Errorf("got %v, want %v", err, errOtherRun)
	}
	if got := get(t, lock); got != "one more kind" {
		t.Errorf("idem.lock holds %q", got)
	}
	noLeftovers(t, dir, 1)
}
