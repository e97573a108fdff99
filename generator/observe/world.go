package observe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// World is what a run looks at. What it was asked once it answers again without
// looking. It may be used concurrently.
type World struct {
	env []string

	mu    sync.Mutex
	files map[string]*file
	dirs  map[string]*listing
	calls []*call
	blind bool // the run could not see something, of which no trace can tell
}

// What is known of a file, a directory and a call is used once the run has asked
// for it; before that, it was only compared with a trace.
type (
	file struct {
		content []byte
		absent  bool
		used    bool
	}
	listing struct {
		entries []Entry
		used    bool
	}
	call struct {
		dir    string
		args   []string
		answer Answer
		used   bool
	}
)

// Entry is one name in a directory.
type Entry struct {
	Name string
	Dir  bool
}

// Answer is what a go command said.
type Answer struct {
	Stdout []byte
	Stderr string
	Err    error
	Took   time.Duration
}

// New makes a world in which the go command has the variables env, as NAME=VALUE,
// over those of the process.
func New(env []string) *World {
	return &World{env: env, files: map[string]*file{}, dirs: map[string]*listing{}}
}

// ReadFile is os.ReadFile. Nobody may change what it returns.
func (w *World) ReadFile(path string) ([]byte, error) {
	f, err := w.file(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.blind = true
		return nil, err
	}
	f.used = true
	if f.absent {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return f.content, nil
}

// file looks at a file without using it.
func (w *World) file(path string) (*file, error) {
	w.mu.Lock()
	f := w.files[path]
	w.mu.Unlock()
	if f != nil {
		return f, nil
	}
	content, err := os.ReadFile(path)
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files[path] == nil { // else another goroutine was first
		w.files[path] = &file{content: content, absent: absent}
	}
	return w.files[path], nil
}

// Open is a reader of what ReadFile returns.
func (w *World) Open(path string) (io.ReadCloser, error) {
	content, err := w.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// ReadDir lists what may matter in a directory, by name: Go files, contracts,
// go.mod, and directories in which packages may be.
func (w *World) ReadDir(dir string) ([]Entry, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := w.listing(dir)
	if err != nil {
		w.blind = true
		return nil, err
	}
	l.used = true
	return l.entries, nil
}

// listing looks at a directory without using it. The caller holds the lock.
func (w *World) listing(dir string) (*listing, error) {
	if l := w.dirs[dir]; l != nil {
		return l, nil
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{}
	for _, e := range list {
		if entry := (Entry{e.Name(), e.IsDir()}); entry.matters() {
			l.entries = append(l.entries, entry)
		}
	}
	w.dirs[dir] = l
	return l, nil
}

// matters leaves out what no run looks at, so that a log file or an editor's copy
// makes no run forget.
func (e Entry) matters() bool {
	switch {
	case e.Name == "go.mod":
		return true
	case e.Dir:
		return e.Name != "vendor" && e.Name != "testdata" && e.Name[0] != '.' && e.Name[0] != '_'
	}
	return strings.HasSuffix(e.Name, ".go") || strings.HasSuffix(e.Name, ".idem.yaml")
}

// Go runs the go command in a directory.
func (w *World) Go(ctx context.Context, dir string, args ...string) Answer {
	c := w.call(ctx, dir, args)
	w.mu.Lock()
	defer w.mu.Unlock()
	c.used = true
	w.blind = w.blind || ctx.Err() != nil
	return c.answer
}

// call asks the go command without using what it says.
func (w *World) call(ctx context.Context, dir string, args []string) *call {
	w.mu.Lock()
	for _, c := range w.calls {
		if c.dir == dir && slices.Equal(c.args, args) {
			w.mu.Unlock()
			return c
		}
	}
	w.mu.Unlock()
	c := &call{dir: dir, args: args, answer: w.ask(ctx, dir, args)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	return c
}

func (w *World) ask(ctx context.Context, dir string, args []string) Answer {
	began := time.Now()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), w.env...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return Answer{stdout.Bytes(), stderr.String(), err, time.Since(began)}
}
