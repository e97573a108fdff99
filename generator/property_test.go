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
	if got := runGenerated(t, "property"); got != "fine\n" {
		t.Error(got)
	}
}

// Two inputs have one work ID exactly if they are the same work, however they are
// written: members and parameters in another order, in another format, Unicode
// form, case or time zone. IDEM_PAIRS says how many pairs are tried, IDEM_SEED
// which; bench/README.md has the figures of ten million.
func TestTwoInputsShareAKeyExactlyIfTheyAreTheSameWork(t *testing.T) {
	t.Log(runGenerated(t, "pairs"))
}

// runGenerated generates the code of a folder of testdata and runs its program.
func runGenerated(t *testing.T, folder string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("links a program")
	}
	dir := newModule(t)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", folder))); err != nil {
		t.Fatal(err)
	}
	r, err := generator.Run(t.Context(), generator.Options{Dir: dir})
	if err != nil || r.Diagnostics.HasErrors() {
		t.Fatal(err, r.Diagnostics.Text())
	}
	return goCommand(t, dir, "run", ".")
}
