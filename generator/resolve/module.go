package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idem/generator/observe"
)

// Module is a Go module.
type Module struct{ Path, Root string }

// ModuleOf is the module that a directory is in. It is an error to be in none.
func ModuleOf(w *observe.World, dir string) (Module, error) {
	m, err := moduleOf(w, dir)
	return Module{m.path, m.root}, err
}

// Whole lists the roots of the modules of which the patterns match every
// directory, sorted and each once.
func Whole(w *observe.World, dir string, patterns []string) ([]string, error) {
	var roots []string
	for _, pattern := range patterns {
		root, deep, err := patternRoot(w, dir, pattern)
		if err != nil {
			return nil, err
		}
		entries, err := w.ReadDir(root)
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", pattern, err)
		}
		if deep && isModule(entries) {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots), nil
}
