package generator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idem/generator/observe"
)

// memory is the place of what is remembered of runs with the same options, from the
// same directory, by the same program. Nil remembers nothing.
//
// It holds what the last such run saw. If a run would see the same, then all files
// are as they should be, since a run is a function of what it sees, and one that
// comes after another finds nothing to do. A memory that cannot be read, written or
// trusted is none: the run takes longer.
type memory struct{ path, key string }

// memoryFormat is part of every key: an entry is never read as one of another
// format.
const memoryFormat = 1

// maxAge is that of an entry which nobody has needed.
const maxAge = 5 * 24 * time.Hour

// entry is what is remembered of a run without errors and warnings.
type entry struct {
	Contracts int           `json:"contracts"`
	Imports   int           `json:"imports"`
	Files     []string      `json:"files"` // as reported
	Trace     observe.Trace `json:"trace"`
}

// remembered is the memory of a run; none for a check, whose purpose is not to
// believe.
func remembered(options Options, dir string, patterns []string) *memory {
	if options.Memory == "" || options.Check {
		return nil
	}
	tool, ok := toolID()
	if !ok {
		return nil
	}
	return newMemory(options, tool, dir, patterns)
}

// newMemory names the memory by all that decides what a run does, beside what it
// sees.
func newMemory(options Options, tool, dir string, patterns []string) *memory {
	b := build.Default
	key, err := json.Marshal([]any{
		memoryFormat, tool, dir, patterns, options.Tags, options.Env,
		b.Compiler, b.ToolTags, b.ReleaseTags, // what the environment makes of the defaults of go/build
		os.Getenv("GODEBUG"), // which go/types asks as well
	})
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(key)
	name := hex.EncodeToString(sum[:])
	return &memory{filepath.Join(options.Memory, name+entrySuffix), name}
}

// recall tells what a run would report, if that is known.
func (m *memory) recall(ctx context.Context, w *observe.World) (report Report, ok bool) {
	if m == nil {
		return report, false
	}
	content, err := os.ReadFile(m.path)
	if err != nil {
		return report, false
	}
	e, ok := m.decode(content)
	if !ok || !w.Same(ctx, e.Trace) {
		return report, false
	}
	m.touch()
	report = Report{Contracts: e.Contracts, Remembered: true}
	for _, name := range e.Files {
		report.Files = append(report.Files, File{Path: name, Change: Unchanged})
	}
	report.Stats.Imports = e.Imports
	report.Stats.GoListCalls, report.Stats.GoList = w.Listed("list")
	return report, true
}

// keep remembers a run that has written its plan. What has warnings is not
// remembered, so that they are shown again.
func (m *memory) keep(w *observe.World, p plan, report Report) {
	if m == nil || len(report.Diagnostics) > 0 {
		return
	}
	for _, f := range p.files {
		w.Put(f.path, f.content)
	}
	for _, path := range p.orphans {
		w.Remove(path)
	}
	e := entry{Contracts: report.Contracts, Imports: report.Stats.Imports}
	for _, f := range report.Files {
		if f.Change != Deleted {
			e.Files = append(e.Files, f.Path)
		}
	}
	var ok bool
	if e.Trace, ok = w.Trace(); !ok {
		return
	}
	content, err := m.encode(e)
	if err != nil {
		return
	}
	if err := m.write(content); err != nil {
		return
	}
	sweepMemory(filepath.Dir(m.path), time.Now())
}

// encode puts a digest before the entry, of the entry and the name it has, since
// one that was damaged or moved must not be believed.
func (m *memory) encode(e entry) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s\n%s", m.seal(body), body), nil
}

func (m *memory) decode(content []byte) (e entry, ok bool) {
	sum, body, ok := bytes.Cut(content, []byte("\n"))
	if !ok || string(sum) != m.seal(body) {
		return e, false
	}
	return e, json.Unmarshal(body, &e) == nil
}

func (m *memory) seal(body []byte) string {
	sum := sha256.Sum256(append([]byte(m.key), body...))
	return hex.EncodeToString(sum[:])
}

const (
	entrySuffix = ".run"
	tempSuffix  = ".run.tmp"
	sweptName   = "swept" // its time is when old entries were last removed
)

// write replaces the entry as a whole, since another run may be reading it.
func (m *memory) write(content []byte) (err error) {
	dir := filepath.Dir(m.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, "*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), m.path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // what stays is swept away later
	}
	return err
}

// touch keeps an entry that is needed from growing old.
func (m *memory) touch() {
	now := time.Now()
	if info, err := os.Stat(m.path); err == nil && now.Sub(info.ModTime()) > time.Hour {
		_ = os.Chtimes(m.path, now, now) // else it is written anew some day
	}
}

// sweepMemory removes entries that nobody has needed for long, once a day. Nothing
// else in the directory is touched.
func sweepMemory(dir string, now time.Time) {
	swept := filepath.Join(dir, sweptName)
	if info, err := os.Stat(swept); err == nil && now.Sub(info.ModTime()) < 24*time.Hour {
		return
	}
	if err := os.WriteFile(swept, nil, 0o600); err != nil {
		return
	}
	_ = os.Chtimes(swept, now, now) // writing nothing into an empty file may leave its time
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), entrySuffix) && !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another run may have
		}
	}
}
