package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/idemgen/idem/internal/directive"
)

// formatted fails if a generated file below a directory, which nobody has edited,
// is not as gofmt would have it. The generator does not ask gofmt: that would be
// most of its work. That the two agree is held here, for whatever any script or
// scenario generates.
func formatted(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !directive.IsGenerated(src) || directive.Edited(src) {
			return nil
		}
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
		want, err := format.Source(src)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !bytes.Equal(src, want) {
			return fmt.Errorf("%s is not as gofmt has it, which is:\n%s", path, want)
		}
		return nil
	})
}

// runFormatted is run, and fails after it if something that was generated is not
// formatted.
func runFormatted() int {
	code := run()
	if err := formatted("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
