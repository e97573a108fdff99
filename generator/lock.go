package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/fingerprint"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/generator/resolve"
)

// lockedModule is a module whose idem.lock takes part in a run.
type lockedModule struct {
	root, path string
	all        bool // the run looked at every package
	contracts  []lock.Contract
}

// locks compares the contracts of a run with the idem.lock of each module, and
// gives those files as they should be. They are compared as far as they resolve,
// so that one run tells all that is wrong; sound says that all of them do, and that
// a kind which is not among them is not there.
func locks(dir string, patterns []string, inputs []*resolve.Input, packages []*model.Package, sound bool) ([]planned, contracts.Diagnostics, error) {
	modules, err := lockedModules(dir, patterns, inputs, packages)
	if err != nil {
		return nil, nil, err
	}
	var files []planned
	var diags contracts.Diagnostics
	for _, m := range modules {
		file, more, err := m.update(dir, sound)
		if err != nil {
			return nil, nil, err
		}
		diags = append(diags, more...)
		if file != nil {
			files = append(files, *file)
		}
	}
	return files, diags, nil
}

// lockedModules lists the modules that have contracts in the run or that it
// looked at as a whole, by root.
func lockedModules(dir string, patterns []string, inputs []*resolve.Input, packages []*model.Package) ([]*lockedModule, error) {
	whole, err := resolve.Whole(dir, patterns)
	if err != nil {
		return nil, err
	}
	modules := map[string]*lockedModule{}
	for _, root := range whole {
		modules[root] = &lockedModule{root: root, all: true}
	}
	sources := map[*contracts.Contract]*contracts.File{}
	for _, in := range inputs {
		for _, f := range in.Files {
			for _, c := range f.Contracts {
				sources[c] = f
			}
		}
	}
	for _, p := range packages {
		mod, err := resolve.ModuleOf(p.Dir)
		if err != nil {
			return nil, err
		}
		m := modules[mod.Root]
		if m == nil {
			m = &lockedModule{root: mod.Root}
			modules[mod.Root] = m
		}
		m.path = mod.Path
		m.add(p, sources)
	}
	var list []*lockedModule
	for _, root := range slices.Sorted(maps.Keys(modules)) {
		list = append(list, modules[root])
	}
	return list, nil
}

// add describes the contracts of a package, and hands the model what generated
// code carries of that.
func (m *lockedModule) add(p *model.Package, sources map[*contracts.Contract]*contracts.File) {
	for _, f := range p.Files {
		for _, c := range f.Contracts {
			now := fingerprint.Contract(c, m.path)
			c.Locked = model.Locked{Digest: now.Identity.Digest()}
			m.contracts = append(m.contracts, lock.Contract{
				File: sources[c.Spec],
				Spec: c.Spec,
				Now:  now,
				Has:  func(effect string, part lock.Part) bool { return fingerprint.Has(c, effect, part) },
			})
		}
	}
}

// update compares the module's contracts with its idem.lock. The file is nil if
// there is none and needs to be none.
func (m *lockedModule) update(dir string, sound bool) (*planned, contracts.Diagnostics, error) {
	path := filepath.Join(m.root, lock.Name)
	src, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, nil, fmt.Errorf("read the lock: %w", err)
	}
	old := &lock.File{Path: show(dir, path)}
	if !missing {
		var diags contracts.Diagnostics
		if old, diags = lock.Parse(old.Path, src); diags.HasErrors() {
			return nil, diags, nil
		}
	}
	next, diags := old.Update(m.all, m.contracts)
	if sound {
		elsewhere := old.Kinds
		if m.all {
			elsewhere = nil
		}
		if more := checkWindows(elsewhere, m.contracts); more.HasErrors() {
			return nil, append(diags, more...), nil
		}
	}
	if next == nil || missing && len(next.Kinds) == 0 {
		return nil, diags, nil
	}
	return &planned{path, next.Format(), &src}, diags, nil
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
