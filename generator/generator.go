package generator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/emit"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/generator/observe"
	"github.com/idemgen/idem/generator/resolve"
	"github.com/idemgen/idem/internal/directive"
)

// Options say what to generate.
type Options struct {
	// Dir is the working directory: patterns and file names are relative to it.
	// Empty means that of the process.
	Dir string
	// Patterns choose packages as those of the go command do: ./..., ./dir,
	// or an import path of the module. None means ./...
	Patterns []string
	// Tags are build tags, separated by commas.
	Tags string
	// Env holds variables, as NAME=VALUE, for the go command and for what decides
	// which files take part, over those of the process: GOFLAGS, GOWORK, GOOS and
	// so on.
	Env []string
	// Check compares instead of writing.
	Check bool
	// Memory is a directory for what runs remember of each other: one that finds
	// everything as the one before has left it does nothing again. It is made when
	// it is needed, and may be deleted at any time. Empty means that nothing is
	// remembered; with Check nothing is either.
	Memory string
}

// Change is what a run did to a file, or found out about it.
type Change string

// What Run did.
const (
	Unchanged Change = "unchanged"
	Written   Change = "written"
	Deleted   Change = "deleted" // its contract file is gone
)

// What Run found with [Options.Check].
const (
	Missing  Change = "missing"
	Stale    Change = "stale"    // the contract or its Go types have changed
	Edited   Change = "edited"   // by hand, after it was generated
	Orphaned Change = "orphaned" // its contract file is gone
)

// File is a generated file, or the idem.lock of a module.
type File struct {
	Path   string // relative to Options.Dir, with slashes, if it is inside; a lock's always
	Change Change
	// Diff is what generating would change, as a unified diff. Only with
	// Options.Check.
	Diff string
}

// Report is what a run did.
type Report struct {
	// Diagnostics are sorted. If one is an error, nothing was written.
	Diagnostics contracts.Diagnostics
	// Files are sorted by path; empty after an error.
	Files []File
	// Contracts is how many contracts were read.
	Contracts int
	// Remembered says that nothing has changed since a run that found nothing wrong.
	Remembered bool
	Stats      Stats
}

// Stale tells whether a check found a file that generating would change.
func (r Report) Stale() bool {
	return slices.ContainsFunc(r.Files, func(f File) bool { return f.Change != Unchanged })
}

// Stats tell where the time went.
type Stats struct {
	Total time.Duration
	resolve.Stats
}

// Run generates the files of all contracts that the patterns match. What is
// wrong with contracts is in the report's diagnostics. The error is for what no
// contract can be blamed for: a pattern that matches no directory, a file that
// cannot be read or written, a go command that does not run.
//
// Run may be called concurrently, also by several processes: those that change
// the idem.lock of one module do so one after another.
func Run(ctx context.Context, options Options) (Report, error) {
	began := time.Now()
	report, err := run(ctx, options)
	for n := 0; errors.Is(err, errOtherRun) && n < maxOtherRuns; n++ {
		select {
		case <-ctx.Done():
			return report, context.Cause(ctx)
		case <-time.After(pause):
		}
		report, err = run(ctx, options)
	}
	report.Stats.Total = time.Since(began)
	return report, err
}

// A run that meets another one at an idem.lock begins anew, after a pause, since
// what it compared is out of date.
const (
	pause        = 20 * time.Millisecond
	maxOtherRuns = 100
)

func run(ctx context.Context, options Options) (Report, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return Report{}, fmt.Errorf("find the working directory: %w", err)
	}
	patterns := options.Patterns
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	w := observe.New(options.Env)
	before := remembered(options, dir, patterns)
	if report, ok := before.recall(ctx, w); ok {
		return report, nil
	}
	report, plan, err := compile(ctx, w, options, dir, patterns)
	switch {
	case err != nil || report.Diagnostics.HasErrors():
		return report, err
	case options.Check:
		report.Files = plan.compare(dir)
		return report, nil
	}
	if report.Files, err = plan.write(dir); err != nil {
		return report, err
	}
	before.keep(w, plan, report)
	return report, nil
}

// compile makes the files of all contracts that the patterns match, without
// writing them.
func compile(ctx context.Context, w *observe.World, options Options, dir string, patterns []string) (report Report, p plan, err error) {
	dirs, err := resolve.Find(ctx, w, dir, patterns)
	if err != nil {
		return report, p, err
	}
	inputs, diags, err := parse(w, dir, dirs)
	if err != nil {
		return report, p, err
	}
	for _, in := range inputs {
		for _, f := range in.Files {
			report.Contracts += len(f.Contracts)
		}
	}
	read, err := readLocks(w, dir, patterns, dirs, inputs)
	if err != nil {
		return report, p, err
	}
	packages, more, stats, err := resolve.Packages(ctx, resolve.Options{Dir: dir, Tags: options.Tags, World: w, Locks: read.files()}, inputs)
	report.Stats.Stats = stats
	if err != nil {
		return report, p, err
	}
	locked, found, err := read.update(inputs, packages, !slices.Concat(diags, more).HasErrors())
	if err != nil {
		return report, p, err
	}
	report.Diagnostics = slices.Concat(diags, more, found).Sorted()
	if report.Diagnostics.HasErrors() {
		return report, p, nil
	}
	if p, err = render(w, dirs, packages); err != nil {
		return report, p, err
	}
	p.files = append(locked, p.files...) // first, since they may have to wait
	return report, p, nil
}

// parse reads the contract files. Those with errors are told about and go no
// further.
func parse(w *observe.World, dir string, dirs []*resolve.Dir) ([]*resolve.Input, contracts.Diagnostics, error) {
	var files []*contractFile
	for _, d := range dirs {
		for _, name := range d.Contracts {
			files = append(files, &contractFile{dir: d, name: name})
		}
	}
	onAllProcessors(len(files), func(i int) { files[i].parse(w, dir) })
	var inputs []*resolve.Input
	var diags contracts.Diagnostics
	for _, f := range files {
		if f.err != nil {
			return nil, nil, f.err
		}
		diags = append(diags, f.diags...)
		if f.diags.HasErrors() {
			continue
		}
		if len(inputs) == 0 || inputs[len(inputs)-1].Dir != f.dir {
			inputs = append(inputs, &resolve.Input{Dir: f.dir})
		}
		in := inputs[len(inputs)-1]
		in.Files = append(in.Files, f.file)
		in.Digests = append(in.Digests, f.digest)
	}
	return inputs, diags, nil
}

// onAllProcessors does something for each of so many.
func onAllProcessors(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}

// contractFile is one that is parsed, or was.
type contractFile struct {
	dir  *resolve.Dir
	name string

	file   *contracts.File
	diags  contracts.Diagnostics
	digest string
	err    error
}

func (f *contractFile) parse(w *observe.World, dir string) {
	path := filepath.Join(f.dir.Path, f.name)
	src, err := w.ReadFile(path)
	if err != nil {
		f.err = fmt.Errorf("read contract: %w", err)
		return
	}
	f.digest = directive.SourceDigest(src)
	f.file, f.diags = contracts.Parse(resolve.Show(dir, path), src)
	if f.diags.HasErrors() {
		return
	}
	f.diags = append(f.diags, checkName(f.file, f.name)...)
	taken, err := checkOutput(w, f.file, f.dir, f.name)
	f.diags, f.err = append(f.diags, taken...), err
}

// checkName refuses file names from which no Go file can be named that every
// build takes.
func checkName(file *contracts.File, name string) contracts.Diagnostics {
	stem := strings.TrimSuffix(name, resolve.ContractSuffix)
	if stem == "" || strings.HasPrefix(stem, "_") || strings.HasPrefix(stem, ".") {
		return contracts.Diagnostics{file.Errorf(contracts.Pos{}, "", "name the file NAME%s: Go takes no part of a build from a file that begins with a dot or underscore", resolve.ContractSuffix)}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return contracts.Diagnostics{file.Errorf(contracts.Pos{}, "", "the file's name holds what cannot be printed, and generated code names it")}
	}
	return nil
}

// checkOutput refuses to replace files that idemgen did not write.
func checkOutput(w *observe.World, file *contracts.File, d *resolve.Dir, name string) (contracts.Diagnostics, error) {
	var diags contracts.Diagnostics
	for _, output := range []string{resolve.OutputName(name), resolve.TestName(name)} {
		if !slices.Contains(d.Outputs, output) {
			continue
		}
		src, err := w.ReadFile(filepath.Join(d.Path, output))
		if err != nil {
			return nil, fmt.Errorf("read generated file: %w", err)
		}
		if !directive.IsGenerated(src) && len(src) > 0 {
			diags = append(diags, file.Errorf(contracts.Pos{}, "", "%s stands where the generated file goes, and idemgen did not write it: rename one of the two", output))
		}
	}
	return diags, nil
}

// plan is what the files of a run should be.
type plan struct {
	files   []planned
	orphans []string // absolute
}

type planned struct {
	path    string // absolute
	content []byte
	// of is set for content that was made of what the file held before; it must
	// hold that still when it is replaced.
	of *[]byte
}

// render makes the files of all packages, and finds those that no contract
// stands for any more.
func render(w *observe.World, dirs []*resolve.Dir, packages []*model.Package) (plan, error) {
	var p plan
	for _, m := range packages {
		outputs, err := emit.Package(m)
		if err != nil {
			return p, fmt.Errorf("package %s: %w", m.Path, err)
		}
		for _, o := range outputs {
			p.files = append(p.files, planned{path: filepath.Join(m.Dir, o.Name), content: o.Content})
		}
	}
	for _, d := range dirs {
		for _, name := range d.Outputs {
			path := filepath.Join(d.Path, name)
			if slices.ContainsFunc(p.files, func(f planned) bool { return f.path == path }) {
				continue
			}
			src, err := w.ReadFile(path)
			if err != nil {
				return p, fmt.Errorf("read generated file: %w", err)
			}
			if directive.IsGenerated(src) {
				p.orphans = append(p.orphans, path)
			}
		}
	}
	return p, nil
}
