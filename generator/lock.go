package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/fingerprint"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/generator/observe"
	"github.com/idemgen/idem/generator/resolve"
	"github.com/idemgen/idem/internal/directive"
)

// lockedModule is a module whose idem.lock takes part in a run.
type lockedModule struct {
	resolve.Module
	all       bool // the run looked at every package
	src       []byte
	missing   bool
	file      *lock.File // nil if it cannot be read
	diags     contracts.Diagnostics
	contracts []lock.Contract
	made      []lock.Made // what generated files say
}

// lockedModules are those of a run.
type lockedModules struct {
	world  *observe.World
	byRoot map[string]*lockedModule
}

// readLocks reads the idem.lock of each module that has contracts in the run or
// that it looks at as a whole.
func readLocks(w *observe.World, dir string, patterns []string, dirs []*resolve.Dir, inputs []*resolve.Input) (*lockedModules, error) {
	modules := &lockedModules{w, map[string]*lockedModule{}}
	whole, err := resolve.Whole(w, dir, patterns)
	if err != nil {
		return nil, err
	}
	for _, root := range whole {
		if err := modules.read(dir, root, true); err != nil {
			return nil, err
		}
	}
	for _, in := range inputs {
		if err := modules.read(dir, in.Dir.Path, false); err != nil {
			return nil, err
		}
	}
	for _, d := range dirs {
		if err := modules.readMade(dir, d); err != nil {
			return nil, err
		}
	}
	return modules, nil
}

// readMade reads what the generated files of a directory say of the lock.
func (l *lockedModules) readMade(dir string, d *resolve.Dir) error {
	for _, name := range d.Outputs {
		path := filepath.Join(d.Path, name)
		src, err := l.world.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read generated file: %w", err)
		}
		if !directive.IsGenerated(src) {
			continue
		}
		for _, c := range directive.Named(src, directive.Contract) {
			version, err := strconv.Atoi(c.Get("version"))
			if err != nil || c.Get("digest") == "" {
				continue // older than the directive, or edited, which check tells
			}
			if err := l.read(dir, d.Path, false); err != nil {
				return err
			}
			mod, err := resolve.ModuleOf(l.world, d.Path)
			if err != nil {
				return err
			}
			m := l.byRoot[mod.Root]
			m.made = append(m.made, lock.Made{Kind: c.Get("kind"), Version: version, Digest: c.Get("digest"), File: resolve.Show(dir, path)})
		}
	}
	return nil
}

// read reads the lock of the module that a directory is in, once.
func (l *lockedModules) read(dir, within string, all bool) error {
	mod, err := resolve.ModuleOf(l.world, within)
	if err != nil || l.byRoot[mod.Root] != nil {
		return err
	}
	m := &lockedModule{Module: mod, all: all}
	path := filepath.Join(mod.Root, lock.Name)
	m.src, err = l.world.ReadFile(path)
	m.missing = errors.Is(err, fs.ErrNotExist)
	if err != nil && !m.missing {
		return fmt.Errorf("read the lock: %w", err)
	}
	m.file = &lock.File{Path: show(dir, path)}
	if !m.missing {
		if m.file, m.diags = lock.Parse(m.file.Path, m.src); m.diags.HasErrors() {
			m.file = nil
		}
	}
	l.byRoot[mod.Root] = m
	return nil
}

// files are the locks that could be read, by root.
func (l *lockedModules) files() map[string]*lock.File {
	files := map[string]*lock.File{}
	for root, m := range l.byRoot {
		files[root] = m.file
	}
	return files
}

// update compares the contracts of a run with the idem.lock of each module, and
// gives those files as they should be. They are compared as far as they resolve,
// so that one run tells all that is wrong; sound says that all of them do, and that a
// kind which is not among them is not there.
func (l *lockedModules) update(inputs []*resolve.Input, packages []*model.Package, sound bool) ([]planned, contracts.Diagnostics, error) {
	sources := map[*contracts.Contract]*contracts.File{}
	for _, in := range inputs {
		for _, f := range in.Files {
			for _, c := range f.Contracts {
				sources[c] = f
			}
		}
	}
	for _, p := range packages {
		mod, err := resolve.ModuleOf(l.world, p.Dir)
		if err != nil {
			return nil, nil, err
		}
		l.byRoot[mod.Root].add(p, sources)
	}
	var files []planned
	var diags contracts.Diagnostics
	for _, root := range slices.Sorted(maps.Keys(l.byRoot)) {
		file, more := l.byRoot[root].update(sound)
		diags = append(diags, more...)
		if file != nil {
			files = append(files, *file)
		}
	}
	return files, diags, nil
}

// add describes the contracts of a package, and hands the model what generated
// code carries of that.
func (m *lockedModule) add(p *model.Package, sources map[*contracts.Contract]*contracts.File) {
	for _, f := range p.Files {
		for _, c := range f.Contracts {
			now := fingerprint.Contract(c, m.Path)
			c.Locked = locked(c, now, m.Path)
			entry := lock.Contract{
				File: sources[c.Spec],
				Spec: c.Spec,
				Now:  now,
				Has:  func(effect string, part lock.Part) bool { return fingerprint.Has(c, effect, part) },
			}
			for _, old := range c.Honored {
				entry.Honored = append(entry.Honored, fingerprint.Contract(old, m.Path))
			}
			m.contracts = append(m.contracts, entry)
		}
	}
}

// locked is what generated code carries of an entry.
func locked(c *model.Contract, now lock.Version, module string) model.Locked {
	l := model.Locked{Digest: now.Identity.Digest(), Golden: now.Golden, GoldenSecret: lock.GoldenKey}
	if l.Golden == "" {
		l.NoSample = "its identity holds a value that only its own code can write, or too many"
		return l
	}
	samples, err := fingerprint.Samples(c, module)
	if err != nil {
		l.NoSample = err.Error()
	}
	l.Samples = samples
	return l
}

// update compares the module's contracts with its idem.lock. The file is nil if
// there is none and needs to be none.
func (m *lockedModule) update(sound bool) (*planned, contracts.Diagnostics) {
	if m.file == nil {
		return nil, m.diags
	}
	if lost := m.lost(); lost.HasErrors() {
		return nil, lost
	}
	next, diags := m.file.Update(m.all, m.contracts)
	if sound {
		elsewhere := m.file.Kinds
		if m.all {
			elsewhere = nil
		}
		if more := checkWindows(elsewhere, m.contracts); more.HasErrors() {
			return nil, append(diags, more...)
		}
	}
	if next == nil || m.missing && len(next.Kinds) == 0 {
		return nil, diags
	}
	return &planned{filepath.Join(m.Root, lock.Name), next.Format(), &m.src}, diags
}

// lost tells of what generated files were made with and the lock does not have.
func (m *lockedModule) lost() contracts.Diagnostics {
	if !m.missing {
		return m.file.Lost(m.made)
	}
	diags := (*lock.File)(nil).Lost(m.made)
	for _, d := range diags {
		d.File = m.file.Path
	}
	return diags
}

// show is a file's name as messages and reports have it. The lock of a module is
// mostly above the directory of a go:generate line.
func show(dir, path string) string {
	if filepath.Base(path) == lock.Name {
		if rel, err := filepath.Rel(dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return resolve.Show(dir, path)
}
