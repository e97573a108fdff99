package gopls

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/internal/directive"
)

const ownModule = "github.com/idemgen/idem"

// added is the file that makes gopls know the rules. It is no part of this package.
//
//go:embed added.go.txt
var added []byte

// assemble makes a module of gopls that has our source beside it.
func (b *builder) assemble(ctx context.Context, module string) error {
	dir := filepath.Join(b.dir, "gopls")
	if err := copyTree(dir, os.DirFS(module)); err != nil {
		return fmt.Errorf("copying gopls: %w", err)
	}
	settings := filepath.Join(dir, "internal", "settings")
	if err := fits(settings); err != nil {
		return fmt.Errorf("gopls %s: %w", b.Version, err)
	}
	if err := os.WriteFile(filepath.Join(settings, "idemlint.go"), added, 0o644); err != nil {
		return err
	}
	if err := writeOwn(filepath.Join(b.dir, "idem"), "go 1.26.0\n"); err != nil {
		return err
	}
	edit := *b
	edit.dir = dir
	_, err := edit.command(ctx, "mod", "edit", "-require="+ownModule+"@v0.0.0", "-replace="+ownModule+"=../idem")
	return err
}

// fits tells what is missing in gopls for the file that is added to it.
func fits(settings string) error {
	src, err := os.ReadFile(filepath.Join(settings, "analysis.go"))
	if err != nil {
		return fmt.Errorf("it has no list of analyzers where the rules go: %w", err)
	}
	for _, part := range []string{"\nvar AllAnalyzers = ", "\n\tanalyzer    *analysis.Analyzer\n"} {
		if !bytes.Contains(src, []byte(part)) {
			return fmt.Errorf("its list of analyzers is made otherwise than in the versions that the rules fit (%s): leave -gopls out", known())
		}
	}
	return nil
}

func known() string {
	var all []string
	for _, r := range releases {
		all = append(all, r.version)
	}
	return strings.Join(all, ", ")
}

// writeOwn writes our source as a module of its own; requirements are the lines of
// its go.mod after the first.
func writeOwn(dir, requirements string) error {
	for folder, files := range map[string]fs.FS{"analyzers": analyzers.Files, "internal/directive": directive.Files} {
		if err := copyTree(filepath.Join(dir, filepath.FromSlash(folder)), files); err != nil {
			return fmt.Errorf("writing the source of the rules: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+ownModule+"\n\n"+requirements), 0o644)
}

// copyTree copies what is needed to build: all but tests and their data.
func copyTree(dir string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case d.IsDir() && path.Base(name) == "testdata":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case strings.HasSuffix(name, "_test.go"):
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}
