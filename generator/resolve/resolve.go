package resolve

import (
	"context"
	"fmt"
	"go/build"
	"go/token"
	"path/filepath"
	"runtime"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/generator/observe"
)

// Options say how packages are read.
type Options struct {
	// Dir is what file names in messages are relative to, absolute.
	Dir string
	// Tags are build tags, as the go command takes them.
	Tags string
	// Locks are the idem.lock files of modules, by their root; of a module that has
	// none there is none.
	Locks map[string]*lock.File
	// World is what is looked at.
	World *observe.World
}

// Input is the contracts of one directory. Only files without errors are in it.
type Input struct {
	Dir   *Dir
	Files []*contracts.File
	// Digests are those of the contract files, in the same order.
	Digests []string
}

// Stats tell where the time went.
type Stats struct {
	GoList      time.Duration
	GoListCalls int
	Imports     int // packages that the go command was asked for
}

// run is one call of Packages.
type run struct {
	options Options
	fset    *token.FileSet
	build   *build.Context
	stats   Stats
	diags   contracts.Diagnostics
	kinds   map[moduleKind]string // the import paths of their packages
	// unreadable is what is wrong with export data that this program cannot read.
	unreadable error
}

// Packages resolves contracts in the Go packages beside them. A package of
// which anything is wrong is missing from the result and told about in the
// diagnostics; the error is for what is no contract's fault, such as a go
// command that does not run.
func Packages(ctx context.Context, options Options, inputs []*Input) ([]*model.Package, contracts.Diagnostics, Stats, error) {
	r := &run{options: options, fset: token.NewFileSet()}
	if len(inputs) == 0 {
		return nil, nil, r.stats, nil
	}
	var err error
	if r.build, err = r.buildContext(ctx); err != nil {
		return nil, nil, r.stats, err
	}
	var sources []*source
	for _, in := range inputs {
		src, err := r.parseSource(in.Dir.Path, false)
		if err != nil {
			return nil, nil, r.stats, err
		}
		sources = append(sources, src)
	}
	universes, err := r.load(ctx, inputs, sources)
	if err != nil {
		return nil, nil, r.stats, err
	}
	r.findKinds(inputs, sources)
	var packages []*model.Package
	for i, in := range inputs {
		if p := r.resolvePackage(universes[sources[i].module.root], sources[i], in); p != nil {
			packages = append(packages, p)
		}
	}
	if err := r.readable(); err != nil {
		return nil, nil, r.stats, err
	}
	r.checkKinds(inputs, sources)
	return packages, r.diags, r.stats, nil
}

// readable says what to do where export data could not be read: nothing that was
// found out about the contracts is to be trusted then.
func (r *run) readable() error {
	if r.unreadable == nil {
		return nil
	}
	return fmt.Errorf("%w: this idemgen was built with %s, and the go command that it finds is newer. Let that one build it: run it as a tool of the module (go tool idemgen), or install it again", r.unreadable, runtime.Version())
}

// load asks for the needed imports of all packages at once, again only where
// the real name of an import shows that another one was meant.
func (r *run) load(ctx context.Context, inputs []*Input, sources []*source) (map[string]*universe, error) {
	universes := map[string]*universe{}
	for _, src := range sources {
		if universes[src.module.root] == nil {
			universes[src.module.root] = r.newUniverse(src.module.root)
		}
	}
	for root, u := range universes {
		for {
			var paths []string
			for i, src := range sources {
				if src.module.root == root {
					paths = append(paths, src.needed(inputs[i].Files, u.names())...)
				}
			}
			asked, err := u.load(ctx, paths)
			if err != nil {
				return nil, err
			}
			if !asked {
				break
			}
		}
	}
	return universes, nil
}

// show is a file name as messages show it: relative to the working directory
// where that is shorter than a way out of it.
func (r *run) show(path string) string { return Show(r.options.Dir, path) }

// Show is the path relative to dir, with slashes, if it is inside; else as it is.
func Show(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

// checkKinds reports kinds that several contracts of a module have: the ledger
// would take the work of one for that of the other.
func (r *run) checkKinds(inputs []*Input, sources []*source) {
	type first struct {
		file *contracts.File
		c    *contracts.Contract
	}
	type kindOf struct{ root, kind string }
	kinds := map[kindOf]first{}
	for i, in := range inputs {
		goNames := map[string]first{}
		for _, f := range in.Files {
			for _, c := range f.Contracts {
				kind := c.Kind.V
				key := kindOf{sources[i].module.root, kind}
				if had, ok := kinds[key]; ok {
					if had.file != f { // else the file's own check has told
						r.report(f.Errorf(c.Kind.Pos, "", "kind %s is taken: kinds are unique in the ledger", kind).
							At(had.file.Path, had.c.Kind.Pos.Line, had.c.Kind.Pos.Column, "%s is declared here first", kind))
					}
					continue
				}
				kinds[key] = first{f, c}
				// With a number for the second, calls of one would become calls of
				// the other where the order changes.
				name := contracts.MethodName(kind)
				if had, ok := goNames[name]; ok {
					r.report(f.Errorf(c.Kind.Pos, "", "kind %s is called %s in Go, as %s is, which is in this package too: rename one", kind, name, had.c.Kind.V).
						At(had.file.Path, had.c.Kind.Pos.Line, had.c.Kind.Pos.Column, "%s is declared here", had.c.Kind.V))
					continue
				}
				goNames[name] = first{f, c}
			}
		}
	}
}

func (r *run) report(d *contracts.Diagnostic) { r.diags = append(r.diags, d) }
