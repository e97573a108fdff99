package pgtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Tool is the path of one of the programs that come with PostgreSQL, such as
// pg_dump. Without it the test is skipped, as it is without a server.
func Tool(t testing.TB, name string) string {
	t.Helper()
	if bin, err := binaries(); err == nil && isFile(filepath.Join(bin, name)) {
		return filepath.Join(bin, name)
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv(RequireVariable) == "":
		t.Skipf("there is no %s here: %v", name, err)
	}
	t.Fatal(err)
	return ""
}
