package cataloguetest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

//go:embed modules.txt
var list string

// module is a line of modules.txt.
type module struct {
	path, version string
	reason        string // why no version can be had
}

// holds tells whether an entry's package would be in the module. An absent module
// is listed as entries write it, with /v* for all its versions.
func (m module) holds(e *catalogue.Entry) bool {
	return e.Of(m.path) || strings.HasPrefix(e.Package, m.path+"/")
}

func modules() ([]module, error) {
	var all []module
	for i, line := range strings.Split(list, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) == 2 && words[1] != "-":
			all = append(all, module{path: words[0], version: words[1]})
		case len(words) > 2 && words[1] == "-":
			all = append(all, module{path: words[0], reason: strings.Join(words[2:], " ")})
		default:
			return nil, fmt.Errorf("modules.txt:%d: want PATH VERSION, or PATH - REASON", i+1)
		}
	}
	return all, nil
}

// tree is the source of one version of a module.
type tree struct{ path, version, dir string }

// download brings the modules into the module cache and tells where they are.
func download(mods []module) ([]tree, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range mods {
		if m.reason == "" {
			args = append(args, m.path+"@"+m.version)
		}
	}
	var out, stderr bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	runErr := cmd.Run()
	var trees []tree
	for dec := json.NewDecoder(&out); ; {
		var got struct{ Path, Version, Dir, Error string }
		if err := dec.Decode(&got); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%w: %s", err, stderr.String())
		}
		if got.Error != "" {
			return nil, fmt.Errorf("%s@%s: %s", got.Path, got.Version, got.Error)
		}
		trees = append(trees, tree{got.Path, got.Version, got.Dir})
	}
	if runErr != nil {
		return nil, fmt.Errorf("%w: %s", runErr, stderr.String())
	}
	return trees, nil
}

// covered reads the packages of a module that the catalogue speaks of.
func (t tree) covered(covers func(string) bool) ([]*declared, error) {
	var found []*declared
	err := filepath.WalkDir(t.dir, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); dir != t.dir && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(t.dir, dir)
		if err != nil {
			return err
		}
		p := path.Join(t.path, filepath.ToSlash(rel))
		if !covers(p) {
			return nil
		}
		d, err := read(dir)
		if err == nil {
			d.path, d.version = p, t.version
			found = append(found, d)
		}
		return err
	})
	return found, err
}

// standard is where the standard library's source is.
func standard() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}
