package resolve

import (
	"os"
	"path/filepath"
	"slices"
)

// Module is a Go module.
type Module struct{ Path, Root string }

// ModuleOf is the module that a directory is in. It is an error to be in none.
func ModuleOf(dir string) (Module, error) {
	m, err := moduleOf(dir)
	return Module{m.path, m.root}, err
}

// Whole lists the roots of the modules of which the patterns match every
// directory, sorted and each once.
func Whole(dir string, patterns []string) ([]string, error) {
	var roots []string
	for _, pattern := range patterns {
		root, deep, err := patternRoot(dir, pattern)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil && deep {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots), nil
}
