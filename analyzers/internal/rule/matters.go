package rule

import (
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Matters tells whether a package needs to be looked at, before it is parsed.
func Matters(c *catalogue.Catalogue, path string, own bool, imports []string, known func(string) bool) bool {
	if c.Covers(path) {
		return false
	}
	return own || slices.ContainsFunc(imports, func(p string) bool { return summary.Telling(c, p) || known(p) })
}
