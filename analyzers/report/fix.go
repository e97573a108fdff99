package report

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/idemgen/idem/analyzers/driver"
)

// ApplyFixes applies the first fix of each finding that has one, unless it would
// change what another has changed, and tells how many it has applied. A file whose
// fixes do not go together stays as it is.
func ApplyFixes(findings []driver.Finding) (fixed int, err error) {
	edits := map[string][]driver.Edit{}
	count := map[string]int{}
	for _, f := range findings {
		if len(f.Fixes) == 0 || !fits(edits, f.Fixes[0].Edits) {
			continue
		}
		file := f.Fixes[0].Edits[0].File
		edits[file] = append(edits[file], f.Fixes[0].Edits...)
		count[file]++
	}
	var failed []error
	for _, file := range slices.Sorted(maps.Keys(edits)) {
		if err := fixFile(file, edits[file]); err != nil {
			failed = append(failed, fmt.Errorf("-fix: %w", err))
			continue
		}
		fixed += count[file]
	}
	return fixed, errors.Join(failed...)
}

// fits tells whether edits are of one file, apart from those that are chosen.
func fits(chosen map[string][]driver.Edit, edits []driver.Edit) bool {
	for _, e := range edits {
		if e.File != edits[0].File {
			return false
		}
		for _, c := range chosen[e.File] {
			if e.Start < c.End && c.Start < e.End || e.Start == c.Start {
				return false
			}
		}
	}
	return len(edits) > 0
}

func fixFile(name string, edits []driver.Edit) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	after, err := apply(before, edits)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if after, err = tidy(name, before, after); err != nil {
		return fmt.Errorf("%s: not changed: %w", name, err)
	}
	return os.WriteFile(name, after, info.Mode().Perm())
}

func apply(text []byte, edits []driver.Edit) ([]byte, error) {
	edits = slices.SortedFunc(slices.Values(edits), func(a, b driver.Edit) int { return a.Start - b.Start })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return nil, errors.New("the file has changed since it was looked at: run idemlint again")
		}
		out.Write(text[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	out.Write(text[at:])
	return out.Bytes(), nil
}

// tidy takes away the imports that the edits have left without use, and formats
// the file if it was formatted before.
func tidy(name string, before, after []byte) ([]byte, error) {
	fset := token.NewFileSet()
	old, err := parser.ParseFile(fset, name, before, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(fset, name, after, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("the fix does not parse: %w", err)
	}
	used := qualifiers(file)
	removed := false
	for q := range qualifiers(old) {
		if used[q] {
			continue
		}
		if spec := importNamed(file, q); spec != nil {
			local := ""
			if spec.Name != nil {
				local = spec.Name.Name
			}
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			removed = astutil.DeleteNamedImport(fset, file, local, importPath) || removed
		}
	}
	if removed {
		var out bytes.Buffer
		if err := format.Node(&out, fset, file); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	}
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return after, nil
	}
	return format.Source(after)
}

// qualifiers are the names before a dot: every package that is used, and more.
func qualifiers(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
		return true
	})
	return names
}

// importNamed finds the import that a name stands for: the one of that name or, as
// the names of packages are not known here, the one whose path says so.
func importNamed(file *ast.File, name string) *ast.ImportSpec {
	for _, spec := range file.Imports {
		if spec.Name != nil && spec.Name.Name == name {
			return spec
		}
	}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil || spec.Name != nil {
			continue
		}
		base := path.Base(importPath)
		if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
			base = path.Base(path.Dir(importPath))
		}
		base, _, _ = strings.Cut(base, ".")
		if base == name || strings.TrimPrefix(base, "go-") == name || strings.TrimSuffix(base, "-go") == name {
			return spec
		}
	}
	return nil
}
