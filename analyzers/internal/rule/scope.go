package rule

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/summary"
)

// inScope tells whether a package is one to report on: of a module that is worked
// on, and no fixture or migration.
func inScope(pass *analysis.Pass) bool {
	if !summary.Own(pass.Module) {
		return false
	}
	rest, _ := strings.CutPrefix(pass.Pkg.Path(), pass.Module.Path)
	for elem := range strings.SplitSeq(rest, "/") {
		if slices.Contains(aside, strings.ToLower(elem)) {
			return false
		}
	}
	return !helpsTests(pass)
}

// aside are folders of code that runs in tests, or once.
var aside = []string{
	"fixture", "fixtures", "testdata", "testutil", "testutils", "testhelper", "testhelpers", "testing", "mock", "mocks", "fake", "fakes",
	"migration", "migrations", "migrate", "seed", "seeds", "seeder", "seeders",
}

// helpsTests tells whether a file that is no test imports package testing.
func helpsTests(pass *analysis.Pass) bool {
	for _, file := range pass.Files {
		if isTest(pass.Fset, file) {
			continue
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"testing"` {
				return true
			}
		}
	}
	return false
}

// isTest goes by the name of the file itself, whatever //line comments in it say.
func isTest(fset *token.FileSet, file *ast.File) bool {
	f := fset.File(file.FileStart)
	return f != nil && strings.HasSuffix(f.Name(), "_test.go")
}
