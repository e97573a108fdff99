package lsptest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idem/analyzers/gopls"
)

// Gopls is a gopls with the rules. To build one takes minutes, so tests that need it
// run only if IDEM_TEST_GOPLS is set: to 1, or to the file of one that has been built.
func Gopls(t testing.TB) string {
	t.Helper()
	switch name := os.Getenv("IDEM_TEST_GOPLS"); name {
	case "":
		t.Skip("IDEM_TEST_GOPLS is not set")
	case "1":
	default:
		return name
	}
	tool := filepath.Join(t.TempDir(), "gopls")
	if err := gopls.Build(t.Context(), gopls.Options{Output: tool}); err != nil {
		t.Fatal(err)
	}
	return tool
}
