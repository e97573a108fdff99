package catalogue

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"go/types"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed data/*.yaml
var data embed.FS

// Catalogue finds entries by name. It is safe for concurrent use.
type Catalogue struct {
	files   []*file
	digest  string             // of users' files
	exact   map[string][]*file // by path without major versions
	subtree map[string][]*file // by path before "/..."

	mu       sync.Mutex
	packages map[string]*Package // by import path; nil: not covered
}

// Package holds what is said of the names of one package.
type Package struct {
	Ecosystem string
	byName    map[string][]*Entry
}

// Builtin is the catalogue that comes with the tool.
var Builtin = sync.OnceValue(func() *Catalogue {
	c, err := load(data, "data")
	if err != nil {
		panic(err) // TestTheDataIsSound keeps this from happening
	}
	return c
})

// load indexes the files of a folder without reading their entries.
func load(fsys fs.FS, dir string) (*Catalogue, error) {
	names, err := fs.Glob(fsys, dir+"/*.yaml")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []*file
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("catalogue: %w", err)
		}
		files = append(files, newFile(strings.TrimPrefix(name, dir+"/"), src))
	}
	return index(files), nil
}

func index(files []*file) *Catalogue {
	c := &Catalogue{files: files, exact: map[string][]*file{}, subtree: map[string][]*file{}, packages: map[string]*Package{}}
	for _, f := range files {
		for _, path := range f.paths {
			if root, ok := strings.CutSuffix(path, "/..."); ok {
				root = unversioned(root)
				c.subtree[root] = append(c.subtree[root], f)
			} else {
				path = unversioned(path)
				c.exact[path] = append(c.exact[path], f)
			}
		}
	}
	return c
}

// With is the catalogue with a user's file added to it.
func (c *Catalogue) With(name string, src []byte) (*Catalogue, error) {
	f := newFile(name, src)
	if _, err := f.parse(); err != nil {
		return nil, err
	}
	more := index(append(slices.Clip(c.files), f))
	more.digest = fmt.Sprintf("%x", sha256.Sum256(append([]byte(c.digest), src...)))
	return more, nil
}

// Digest tells catalogues apart by what users have added, and is empty if they have
// added nothing.
func (c *Catalogue) Digest() string { return c.digest }

// Check reads everything and reports what is wrong with it.
func (c *Catalogue) Check() error {
	seen := map[string]string{}
	for _, f := range c.files {
		entries, err := f.parse()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if other, ok := seen[e.id()]; ok {
				return fmt.Errorf("%s: %s of %s.%s is said twice: also at %s", e.Pos, e.Kind, e.Package, e.Name, other)
			}
			seen[e.id()] = e.Pos
		}
	}
	return nil
}

// All are the entries of every file, in order, for those who check or count them.
func (c *Catalogue) All() ([]*Entry, error) {
	var all []*Entry
	for _, f := range c.files {
		entries, err := f.parse()
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// Covers tells whether the catalogue speaks of a package. It reads no entries.
func (c *Catalogue) Covers(path string) bool { return len(c.filesOf(path)) > 0 }

func (c *Catalogue) filesOf(path string) []*file {
	path = unversioned(path)
	found := c.exact[path]
	if len(c.subtree) > 0 {
		for root := path; ; {
			found = append(slices.Clip(found), c.subtree[root]...)
			i := strings.LastIndexByte(root, '/')
			if i < 0 {
				break
			}
			root = root[:i]
		}
	}
	return found
}

// Package is what is said of a package, or nil.
func (c *Catalogue) Package(path string) *Package {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.packages[path]
	if !ok {
		p = c.merge(path)
		c.packages[path] = p
	}
	return p
}

func (c *Catalogue) merge(path string) *Package {
	files := c.filesOf(path)
	if len(files) == 0 {
		return nil
	}
	p := &Package{byName: map[string][]*Entry{}}
	for i, f := range files {
		if slices.Contains(files[:i], f) {
			continue
		}
		entries, err := f.parse()
		if err != nil {
			panic(err) // checked: by tests for the built-in data, by With for a user's
		}
		if p.Ecosystem == "" {
			p.Ecosystem = f.ecosystem
		}
		for _, e := range entries {
			if covers(e.Package, path) {
				p.byName[e.Name] = append(p.byName[e.Name], e)
			}
		}
	}
	return p
}

func covers(pattern, path string) bool {
	path = unversioned(path)
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		root = unversioned(root)
		return path == root || strings.HasPrefix(path, root+"/")
	}
	return unversioned(pattern) == path
}

// Entries are what is said of a name, in the order of the files.
func (p *Package) Entries(name string) []*Entry {
	if p == nil {
		return nil
	}
	return p.byName[name]
}

// Func is what is said of a function or method.
func (c *Catalogue) Func(fn *types.Func) []*Entry {
	if fn.Pkg() == nil {
		return nil
	}
	p := c.Package(fn.Pkg().Path())
	if p == nil {
		return nil
	}
	return p.byName[FuncName(fn)]
}

// Field is what is said of a field of a named struct type.
func (c *Catalogue) Field(owner *types.TypeName, field string) []*Entry {
	if owner == nil || owner.Pkg() == nil {
		return nil
	}
	return c.Package(owner.Pkg().Path()).Entries(owner.Name() + "." + field)
}

// FuncName is "Func" or "Type.Method".
func FuncName(fn *types.Func) string {
	sig, ok := fn.Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return fn.Name()
	}
	t := types.Unalias(sig.Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}

// Unversioned is an import path without what its major version adds to it.
func Unversioned(path string) string { return unversioned(path) }

// unversioned drops what the major version adds to an import path: a "/v2" or
// "/v*" element and a ".v2" or ".v*" at the end of one.
func unversioned(path string) string {
	if !strings.Contains(path, "/v") && !strings.Contains(path, ".v") {
		return path
	}
	elems := strings.Split(path, "/")
	kept := elems[:0]
	for i, e := range elems {
		if i > 0 && isVersion(e) {
			continue
		}
		if j := strings.LastIndex(e, ".v"); j > 0 && isVersion(e[j+1:]) {
			e = e[:j]
		}
		kept = append(kept, e)
	}
	return strings.Join(kept, "/")
}

func isVersion(s string) bool {
	if s == "v*" {
		return true
	}
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}
