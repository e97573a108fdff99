package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Trace tells what was seen: the digest of every file, directory and answer. An
// absent file has the digest "".
type Trace struct {
	Files map[string]string `json:"files"`
	Dirs  map[string]string `json:"dirs"`
	Calls []Call            `json:"calls"`
}

// Call is one that the go command answered.
type Call struct {
	Dir    string   `json:"dir"`
	Args   []string `json:"args"`
	Answer string   `json:"answer"`
}

// Trace is what the run has used. ok is false if it could not see something, or if
// something has a name that a trace cannot spell.
func (w *World) Trace() (t Trace, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t = Trace{Files: map[string]string{}, Dirs: map[string]string{}}
	var names []string
	for path, f := range w.files {
		if f.used {
			t.Files[path] = f.digest()
			names = append(names, path)
		}
	}
	for dir, l := range w.dirs {
		if l.used {
			t.Dirs[dir] = l.digest()
			names = append(names, dir)
		}
	}
	for _, c := range w.calls {
		if c.used {
			t.Calls = append(t.Calls, Call{c.dir, c.args, c.answer.digest()})
			names = append(append(names, c.dir), c.args...)
		}
	}
	// JSON would replace what is no UTF-8, and tell of another file.
	spelled := !slices.ContainsFunc(names, func(n string) bool { return !utf8.ValidString(n) })
	return t, spelled && !w.blind
}

// Same tells whether the world is as a trace tells. The go command, which takes
// longest, comes last. What was looked at on the way is not looked at again.
func (w *World) Same(ctx context.Context, t Trace) bool {
	for dir, want := range t.Dirs {
		if !w.sameDir(dir, want) {
			return false
		}
	}
	for path, want := range t.Files {
		if f, err := w.file(path); err != nil || f.digest() != want {
			return false
		}
	}
	same := make([]bool, len(t.Calls))
	var asked sync.WaitGroup
	for i, c := range t.Calls {
		asked.Go(func() { same[i] = w.call(ctx, c.Dir, c.Args).answer.digest() == c.Answer })
	}
	asked.Wait()
	return ctx.Err() == nil && !slices.Contains(same, false)
}

func (w *World) sameDir(dir, want string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := w.listing(dir)
	return err == nil && l.digest() == want
}

// Put says that the run has made a file hold this.
func (w *World) Put(path string, content []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = &file{content: content, used: true}
	w.rename(path, func(entries []Entry, i int, there bool) []Entry {
		if there {
			return entries
		}
		return slices.Insert(entries, i, Entry{Name: filepath.Base(path)})
	})
}

// Remove says that the run has removed a file.
func (w *World) Remove(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = &file{absent: true, used: true}
	w.rename(path, func(entries []Entry, i int, there bool) []Entry {
		if !there {
			return entries
		}
		return slices.Delete(entries, i, i+1)
	})
}

// rename changes the listing that a file is in, if that is known and the file
// matters there.
func (w *World) rename(path string, change func(entries []Entry, i int, there bool) []Entry) {
	l, base := w.dirs[filepath.Dir(path)], filepath.Base(path)
	if l == nil || !(Entry{Name: base}).matters() {
		return
	}
	i, there := slices.BinarySearchFunc(l.entries, base, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
	l.entries = change(slices.Clone(l.entries), i, there)
}

// Listed is how often, and for how long, the go command was asked with a verb.
func (w *World) Listed(verb string) (calls int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.args[0] == verb {
			calls++
			took += c.answer.Took
		}
	}
	return calls, took
}

func (f *file) digest() string {
	if f.absent {
		return ""
	}
	return digest(f.content)
}

func (a Answer) digest() string {
	if a.Err != nil {
		return digest(append([]byte("failed\n"), a.Stdout...))
	}
	return digest(append([]byte("fine\n"), a.Stdout...))
}

func (l *listing) digest() string {
	var b strings.Builder
	for _, e := range l.entries {
		b.WriteString(e.Name)
		if e.Dir {
			b.WriteByte('/')
		}
		b.WriteByte(0)
	}
	return digest([]byte(b.String()))
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
