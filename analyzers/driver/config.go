package driver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
