package analyzers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/analysis"
)

// ConfigName is the name of the user's own catalogue, one of a main module or
// workspace.
const ConfigName = ".idemlint.yaml"

// Find looks for a user's catalogue in a folder and those above it.
func Find(dir string) (Options, error) {
	for {
		name := filepath.Join(dir, ConfigName)
		src, err := os.ReadFile(name)
		if err == nil {
			return Options{Extra: src, ExtraName: name}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Options{}, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Options{}, nil
		}
		dir = parent
	}
}

// ForEditor makes the analyzers for a program that was started in a folder and
// looks at packages until it is ended: what it knows of a user's catalogue is what
// stands there now. There are analyzers even if there is an error, those of the
// built-in catalogue: an editor without any would look as if all were well.
func ForEditor() ([]*analysis.Analyzer, error) {
	var all []*analysis.Analyzer
	o, err := fromHere()
	if err == nil {
		all, err = New(o)
	}
	if err != nil {
		builtin, failed := New(Options{})
		return builtin, errors.Join(err, failed)
	}
	return all, nil
}

func fromHere() (Options, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Options{}, err
	}
	return Find(dir)
}
