package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"
)

// universe is the imported packages of one module, all from one importer, so
// that a type is the same type wherever it is met.
type universe struct {
	run      *run
	root     string // of the module
	listed   map[string]*listed
	gc       types.Importer
	checked  map[string]*types.Package // from source
	checking map[string]bool
}

func (r *run) newUniverse(root string) *universe {
	u := &universe{run: r, root: root, listed: map[string]*listed{}, checked: map[string]*types.Package{}, checking: map[string]bool{}}
	u.gc = importer.ForCompiler(r.fset, "gc", u.open)
	return u
}

// names are the real names of the packages that are known, by path.
func (u *universe) names() map[string]string {
	names := map[string]string{}
	for path, l := range u.listed {
		if l.Name != "" {
			names[path] = l.Name
		}
	}
	return names
}

// load asks for the packages that are not known yet, and for the imports of
// those that do not compile.
func (u *universe) load(ctx context.Context, paths []string) (asked bool, err error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return p == "" || p == "unsafe" || p == "C" || u.listed[p] != nil
	})
	if len(paths) == 0 {
		return false, nil
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	packages, err := u.run.goList(ctx, u.root, paths)
	if err != nil {
		return false, err
	}
	var inside []string
	for _, l := range packages {
		u.listed[l.ImportPath] = l
	}
	for _, p := range paths {
		l := u.listed[p]
		if l == nil {
			u.listed[p] = &listed{ImportPath: p} // the go command knows nothing of it
			continue
		}
		if l.Export == "" && l.Dir != "" && !l.Standard {
			src, err := u.run.parseSource(l.Dir, true)
			if err == nil {
				inside = append(inside, src.everything()...)
			}
		}
	}
	if _, err := u.load(ctx, inside); err != nil {
		return false, err
	}
	return true, nil
}

// open is the export data of a package.
func (u *universe) open(path string) (io.ReadCloser, error) {
	l := u.listed[path]
	if l == nil || l.Export == "" {
		return nil, fmt.Errorf("no export data for %s", path)
	}
	return os.Open(l.Export)
}

// errNotNeeded answers imports that no contract needs. The type checker goes
// on with types that it does not know, and nobody asks for them.
var errNotNeeded = errors.New("not needed")

// Import makes universe a types.Importer.
func (u *universe) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := u.checked[path]; p != nil {
		return p, nil
	}
	l := u.listed[path]
	switch {
	case l == nil:
		return nil, errNotNeeded
	case l.Export != "":
		return u.compiled(path)
	case l.Error != nil && l.Dir == "":
		return nil, errors.New(strings.TrimSpace(l.Error.Err))
	case l.Dir == "" || u.checking[path]:
		return nil, fmt.Errorf("package %s does not compile", path)
	}
	u.checking[path] = true
	src, err := u.run.parseSource(l.Dir, true)
	if err != nil {
		return nil, err
	}
	p, errs := u.check(src)
	if slices.ContainsFunc(errs, isEndless) {
		return nil, fmt.Errorf("package %s does not compile", path)
	}
	u.checked[path] = p
	return p, nil
}

// compiled imports a package by its export data. The importer panics at what it
// cannot read, which is what a newer go command than that of this program writes.
func (u *universe) compiled(path string) (p *types.Package, err error) {
	defer func() {
		if e := recover(); e != nil {
			p, err = nil, fmt.Errorf("read the export data of %s: %v", path, e)
			u.run.unreadable = cmp.Or(u.run.unreadable, err)
		}
	}()
	return u.gc.Import(path)
}

// check type-checks the declarations of a package, bodies aside. What does not
// check is told, and left without a type.
func (u *universe) check(src *source) (*types.Package, []types.Error) {
	var errs []types.Error
	conf := types.Config{
		Importer:         u,
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Sizes:            types.SizesFor("gc", u.run.build.GOARCH),
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) {
				errs = append(errs, e)
			}
		},
	}
	// The error is the first of those that conf.Error was told.
	p, _ := conf.Check(src.path, u.run.fset, src.files, nil)
	return p, errs
}

// position is a place in a Go file, with the file as messages show it.
func (r *run) position(pos token.Pos) (file string, line, column int) {
	p := r.fset.Position(pos)
	return r.show(p.Filename), p.Line, p.Column
}
