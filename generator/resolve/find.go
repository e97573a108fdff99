package resolve

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
func Find(ctx context.Context, dir string, patterns []string) ([]*Dir, error) {
	found := map[string]*Dir{}
	for _, pattern := range patterns {
		root, deep, err := patternRoot(dir, pattern)
		if err != nil {
			return nil, err
		}
		if deep {
			err = walk(ctx, root, found)
		} else {
			err = add(root, found)
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
func patternRoot(dir, pattern string) (root string, deep bool, err error) {
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
		if root, err = importPathDir(dir, base); err != nil {
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
func importPathDir(dir, path string) (string, error) {
	mod, err := moduleOf(dir)
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

func walk(ctx context.Context, root string, found map[string]*Dir) error {
	// With the separator, a root that is a symbolic link is the folder behind it.
	return filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path = filepath.Clean(path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !d.IsDir() {
			return nil
		}
		if path != root && skipped(path, d.Name()) {
			return filepath.SkipDir
		}
		return add(path, found)
	})
}

func skipped(path, name string) bool {
	if name == "vendor" || name == "testdata" || name[0] == '.' || name[0] == '_' {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// add reads the names in a directory.
func add(path string, found map[string]*Dir) error {
	if found[path] != nil {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	d := &Dir{Path: path}
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir():
		case name[0] == '.' && name != ContractSuffix: // of editors and systems, as for the go command
		case strings.HasSuffix(name, ContractSuffix):
			d.Contracts = append(d.Contracts, name)
		case strings.HasSuffix(name, OutputSuffix), strings.HasSuffix(name, TestSuffix):
			d.Outputs = append(d.Outputs, name)
		}
	}
	found[path] = d
	return nil
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

func moduleOf(dir string) (module, error) {
	for root := dir; ; root = filepath.Dir(root) {
		src, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			path, ok := modulePath(string(src))
			if !ok {
				return module{}, fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
			}
			return module{path, root}, nil
		}
		if !os.IsNotExist(err) {
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
