package driver

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// configName is the user's own catalogue, of one main module or workspace.
const configName = ".idemlint.yaml"

type config struct {
	name string
	src  []byte
}

// findConfig looks for a user's catalogue in a folder and those above it.
func findConfig(dir string) (config, error) {
	for {
		name := filepath.Join(dir, configName)
		src, err := os.ReadFile(name)
		if err == nil {
			return config{name, src}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return config{}, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return config{}, nil
		}
		dir = parent
	}
}

// catalogues is a digest of the users' catalogues of all main modules, or empty if
// there are none. The go command asks the tool for its version in the folder where
// it was started, and may know nothing of a catalogue in another module of a
// workspace.
func (o Options) catalogues(ctx context.Context) (string, error) {
	stdout, failure, err := o.command(ctx, "list", "-m", "-f", "{{.Dir}}")
	if err != nil || failure != "" {
		return "", err // outside a module, say; go vet will speak of it
	}
	h := sha256.New()
	found := false
	for _, dir := range strings.Split(strings.TrimSpace(string(stdout)), "\n") {
		c, err := findConfig(dir)
		if err != nil {
			return "", err
		}
		if c.src != nil {
			found = true
			fmt.Fprintf(h, "%q %d\n%s", dir, len(c.src), c.src)
		}
	}
	if !found {
		return "", nil
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
