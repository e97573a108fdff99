package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/observe"
)

// ContractSuffix is how contract files end.
const ContractSuffix = ".idem.yaml"

// OutputSuffix is what stands in its place in the name of the generated file.
const OutputSuffix = "_idem.go"

// TestSuffix is what stands there in the name of the generated tests.
const TestSuffix = "_idem_test.go"

// Dir is a directory that a pattern matches.
type Dir struct {
	Path      string   // absolute
	Contracts []string // base names of contract files, sorted
	Outputs   []string // base names of files that are named like generated ones, sorted
}

// Find lists the directories below dir that the patterns match and that hold
// contracts or files named like generated ones, sorted and each once. Patterns
// are those of the go command: ., ./dir, ./dir/..., and import paths of the
// module that dir is in. Directories that the go command would skip are
// skipped: vendor, testdata, names that begin with . or _, other modules.
func Find(ctx context.Context, w *observe.World, dir string, patterns []string) ([]*Dir, error) {
	found := map[string]*Dir{}
	for _, pattern := range patterns {
		root, deep, err := patternRoot(w, dir, pattern)
		if err != nil {
			return nil, err
		}
		entries, err := w.ReadDir(root)
		switch {
		case err != nil:
		case deep:
			err = walk(ctx, w, root, entries, found)
		default:
			add(root, entries, found)
		}
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", pattern, err)
		}
	}
	var dirs []*Dir
	for _, d := range found {
		if len(d.Contracts)+len(d.Outputs) > 0 {
			dirs = append(dirs, d)
		}
	}
	slices.SortFunc(dirs, func(a, b *Dir) int { return strings.Compare(a.Path, b.Path) })
	return dirs, nil
}

// patternRoot is the directory of a pattern, and whether those below count too.
func patternRoot(w *observe.World, dir, pattern string) (root string, deep bool, err error) {
	base := pattern
	switch {
	case pattern == "...":
		base, deep = ".", true
	default:
		base, deep = strings.CutSuffix(pattern, "/...")
	}
	if strings.Contains(base, "...") {
		return "", false, fmt.Errorf("pattern %s: ... is supported at the end only", pattern)
	}
	local := base == "." || base == ".." || strings.HasPrefix(base, "./") || strings.HasPrefix(base, "../")
	switch {
	case filepath.IsAbs(base):
		root = filepath.Clean(base)
	case local:
		root = filepath.Join(dir, filepath.FromSlash(base))
	default:
		if root, err = importPathDir(w, dir, base); err != nil {
			return "", false, fmt.Errorf("pattern %s: %w", pattern, err)
		}
	}
	info, err := os.Stat(root)
	switch {
	case err != nil && local || err != nil && filepath.IsAbs(base):
		return "", false, fmt.Errorf("pattern %s: no such directory", pattern)
	case err != nil:
		return "", false, fmt.Errorf("pattern %s: the module has no such package (a directory is written ./%s)", pattern, base)
	case !info.IsDir():
		return "", false, fmt.Errorf("pattern %s: want a package's directory, got a file", pattern)
	}
	return root, deep, nil
}

// importPathDir is the directory of a package of dir's own module.
func importPathDir(w *observe.World, dir, path string) (string, error) {
	mod, err := moduleOf(w, dir)
	if err != nil {
		return "", err
	}
	if path == mod.path {
		return mod.root, nil
	}
	rest, ok := strings.CutPrefix(path, mod.path+"/")
	if !ok {
		return "", fmt.Errorf("not a package of module %s (a directory is written ./%s)", mod.path, path)
	}
	return filepath.Join(mod.root, filepath.FromSlash(rest)), nil
}

// walk adds a directory and those below it, whose packages are of the same module.
func walk(ctx context.Context, w *observe.World, dir string, entries []observe.Entry, found map[string]*Dir) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	add(dir, entries, found)
	for _, e := range entries {
		if !e.Dir {
			continue
		}
		path := filepath.Join(dir, e.Name)
		below, err := w.ReadDir(path)
		if err != nil {
			return err
		}
		if isModule(below) {
			continue
		}
		if err := walk(ctx, w, path, below, found); err != nil {
			return err
		}
	}
	return nil
}

func isModule(entries []observe.Entry) bool {
	return slices.ContainsFunc(entries, func(e observe.Entry) bool { return e.Name == "go.mod" })
}

// add notes the names in a directory.
func add(path string, entries []observe.Entry, found map[string]*Dir) {
	if found[path] != nil {
		return
	}
	d := &Dir{Path: path}
	for _, e := range entries {
		switch name := e.Name; {
		case e.Dir:
		case name[0] == '.' && name != ContractSuffix: // of editors and systems, as for the go command
		case strings.HasSuffix(name, ContractSuffix):
			d.Contracts = append(d.Contracts, name)
		case strings.HasSuffix(name, OutputSuffix), strings.HasSuffix(name, TestSuffix):
			d.Outputs = append(d.Outputs, name)
		}
	}
	found[path] = d
}

// OutputName is the name of the file generated from a contract file. Its suffix
// is neither a system's nor that of tests, so that every build takes it.
func OutputName(contractFile string) string {
	return strings.TrimSuffix(contractFile, ContractSuffix) + OutputSuffix
}

// TestName is the name of the generated tests of a contract file.
func TestName(contractFile string) string {
	return strings.TrimSuffix(contractFile, ContractSuffix) + TestSuffix
}

// module is the module that a directory is in.
type module struct{ path, root string }

func moduleOf(w *observe.World, dir string) (module, error) {
	for root := dir; ; root = filepath.Dir(root) {
		src, err := w.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			path, ok := modulePath(string(src))
			if !ok {
				return module{}, fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
			}
			return module{path, root}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return module{}, fmt.Errorf("read go.mod: %w", err)
		}
		if root == filepath.Dir(root) {
			return module{}, fmt.Errorf("%s is in no Go module: there is no go.mod in it or above it", dir)
		}
	}
}

// modulePath reads the module line of a go.mod.
func modulePath(src string) (string, bool) {
	for line := range strings.Lines(src) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "module" {
			return strings.Trim(fields[1], "\"`"), true
		}
	}
	return "", false
}

// importPath is the import path of a directory of the module.
func (m module) importPath(dir string) string {
	rel, err := filepath.Rel(m.root, dir)
	if err != nil || rel == "." {
		return m.path
	}
	return m.path + "/" + filepath.ToSlash(rel)
}
