package generator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idem/generator"
)

// Random inputs of a type that has most rows of the table have the work IDs
// that a second derivation gives them, which knows the table and no generated
// code; no two that differ share one.
func TestGeneratedDerivationsAgreeWithReflectionOnRandomInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	dir := newModule(t)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "property"))); err != nil {
		t.Fatal(err)
	}
	r, err := generator.Run(t.Context(), generator.Options{Dir: dir})
	if err != nil || r.Diagnostics.HasErrors() {
		t.Fatal(err, r.Diagnostics.Text())
	}
	if got := goCommand(t, dir, "run", "."); got != "fine\n" {
		t.Error(got)
	}
}
