package generator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/resolve"
	"github.com/idemgen/idem/internal/directive"
)

// newFileMode is that of files which are not there yet, before the umask.
const newFileMode = 0o644

// compare tells what writing would change, and writes nothing.
func (p plan) compare(dir string) []File {
	var files []File
	for _, f := range p.files {
		name := show(dir, f.path)
		old, err := os.ReadFile(f.path)
		old = bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")) // a checkout may have turned them
		change := Stale
		switch {
		case errors.Is(err, fs.ErrNotExist):
			change = Missing
		case err == nil && bytes.Equal(old, f.content):
			change = Unchanged
		case err == nil && filepath.Base(f.path) != lock.Name && directive.Edited(old):
			change = Edited
		}
		file := File{Path: name, Change: change}
		if change != Unchanged {
			file.Diff = diff(name, old, f.content, change == Missing)
		}
		files = append(files, file)
	}
	for _, path := range p.orphans {
		files = append(files, File{Path: resolve.Show(dir, path), Change: Orphaned})
	}
	return sorted(files)
}

func diff(name string, old, new []byte, missing bool) string {
	from := "a/" + name
	if missing {
		from = "/dev/null"
	}
	return udiff.Unified(from, "b/"+name, string(old), string(new))
}

// write brings the files to what they should be, those that differ only. All
// new contents are on disk before the first file is replaced, so that a full
// disk changes nothing.
func (p plan) write(dir string) (files []File, err error) {
	var pending []replacement
	defer func() {
		for _, r := range pending {
			err = errors.Join(err, r.discard())
		}
	}()
	for _, f := range p.files {
		r, err := prepare(f)
		if err != nil {
			return nil, err
		}
		if r != nil {
			pending = append(pending, *r)
		}
		files = append(files, File{Path: show(dir, f.path), Change: changeOf(r)})
	}
	for len(pending) > 0 {
		if err := pending[0].commit(); err != nil {
			return nil, err
		}
		pending = pending[1:]
	}
	for _, path := range p.orphans {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("delete a file without contract: %w", err)
		}
		files = append(files, File{Path: resolve.Show(dir, path), Change: Deleted})
	}
	return sorted(files), nil
}

func changeOf(r *replacement) Change {
	if r == nil {
		return Unchanged
	}
	return Written
}

func sorted(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// replacement is new content beside the file that it will replace.
type replacement struct {
	temp, path string
	of         *[]byte // see planned
}

// errOtherRun says that another run is changing the same file, or has.
var errOtherRun = errors.New("another run of idemgen changes it")

// oldTemp is the age at which a temporary file is no running process's: it is
// made when everything that takes time is done.
const oldTemp = 10 * time.Second

// prepare writes the content beside its file; nil if the file has it already.
func prepare(f planned) (r *replacement, err error) {
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays a link
	}
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, f.content) {
		return nil, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read generated file: %w", err)
	}
	if err := sweep(path); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	temp, err := createBeside(path, f.of != nil)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	if err := fill(temp, f.content, path); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &replacement{temp.Name(), path, f.of}, nil
}

// tempName is the name of a new file in the folder of path. It begins with a
// dot, so that a go command that runs meanwhile does not see it.
func tempName(path, unique string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+unique+".tmp")
}

// createBeside makes a new file in the folder of path, with the mode that the
// umask makes of a new file's. A shared one has one name for all processes, and
// whoever makes it comes first.
func createBeside(path string, shared bool) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if shared {
		f, err := os.OpenFile(tempName(path, ""), flags, newFileMode)
		if errors.Is(err, fs.ErrExist) {
			err = errOtherRun
		}
		return f, err
	}
	for i := 0; ; i++ {
		f, err := os.OpenFile(tempName(path, fmt.Sprintf(".%d.%d", os.Getpid(), i)), flags, newFileMode)
		if !errors.Is(err, fs.ErrExist) || i == 100 {
			return f, err
		}
	}
}

// sweep removes what a process that was killed has left in place of path's
// temporary file.
func sweep(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "."+filepath.Base(path)+".") || !strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run's, and done
		}
		if err == nil && time.Since(info.ModTime()) > oldTemp {
			err = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fill writes and closes temp, with the mode of the file that it replaces.
func fill(temp *os.File, content []byte, path string) error {
	_, err := temp.Write(content)
	if info, statErr := os.Stat(path); statErr == nil {
		err = errors.Join(err, temp.Chmod(info.Mode().Perm()))
	}
	return errors.Join(err, temp.Close())
}

func (r replacement) commit() error {
	if r.of != nil {
		now, err := os.ReadFile(r.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write %s: %w", r.path, err)
		}
		if !bytes.Equal(now, *r.of) {
			return fmt.Errorf("write %s: %w", r.path, errOtherRun)
		}
	}
	if err := os.Rename(r.temp, r.path); err != nil {
		return fmt.Errorf("write %s: %w", r.path, err)
	}
	return nil
}

func (r replacement) discard() error { return os.Remove(r.temp) }
