package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// prepare writes the module that is looked at into a folder: one of the proxy, a
// copy of a folder, or one that is made here.
func prepare(ctx context.Context, dir, from string) error {
	switch {
	case from == "":
		return generate(dir)
	case strings.Contains(from, "@"):
		out, err := output(ctx, "", "go", "mod", "download", "-json", from)
		if err != nil {
			return err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal([]byte(out), &module); err != nil {
			return err
		}
		from = module.Dir
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return os.Chmod(name, 0o644) // the module cache is not to be written to
	})
}

// generate makes a module of a few packages that import each other and the standard
// library.
func generate(dir string) error {
	const packages = 12
	files := map[string]string{"go.mod": "module example.com/small\n\ngo 1.26\n"}
	for i := range packages {
		imported, use := "", "r.URL.Path"
		if i > 0 {
			imported = fmt.Sprintf("\n\t\"example.com/small/p%d\"\n", i-1)
			use = fmt.Sprintf("p%d.Key(r)", i-1)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\nimport (\n\t\"net/http\"\n%s)\n\n// Key is the key of a request.\nfunc Key(r *http.Request) string { return \"p%d:\" + %s }\n", i, imported, i, use)
		for j := range 50 {
			fmt.Fprintf(&b, "\nfunc send%d(r *http.Request) {\n\tr.Header.Set(\"Idempotency-Key\", Key(r))\n}\n", j)
		}
		files[fmt.Sprintf("p%d/p.go", i)] = b.String()
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pkg is a package of the module.
type pkg struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports, Deps   []string
	Module          *struct{ Main bool }
}

func packages(ctx context.Context, dir string) (own []pkg, all int, err error) {
	out, err := output(ctx, "", "go", "list", "-C", dir, "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Module", "./...")
	if err != nil {
		return nil, 0, err
	}
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); all++ {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, 0, err
		}
		if p.Module != nil && p.Module.Main && len(p.GoFiles) > 0 {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return nil, 0, errors.New("the module has no packages")
	}
	return own, all, nil
}

// leaf is a file of a package that no other imports.
func leaf(own []pkg) string {
	imported := map[string]bool{}
	for _, p := range own {
		for _, path := range p.Imports {
			imported[path] = true
		}
	}
	for _, p := range own {
		if !imported[p.ImportPath] {
			return filepath.Join(p.Dir, p.GoFiles[0])
		}
	}
	return filepath.Join(own[len(own)-1].Dir, own[len(own)-1].GoFiles[0])
}

// largest is the biggest file of the biggest package.
func largest(own []pkg) (string, error) {
	var best string
	most := int64(0)
	for _, p := range own {
		sum, file, biggest := int64(0), "", int64(0)
		for _, name := range p.GoFiles {
			info, err := os.Stat(filepath.Join(p.Dir, name))
			if err != nil {
				return "", err
			}
			sum += info.Size()
			if info.Size() > biggest && !slices.ContainsFunc([]string{".pb.go", "_gen.go"}, func(end string) bool { return strings.HasSuffix(name, end) }) {
				file, biggest = filepath.Join(p.Dir, name), info.Size()
			}
		}
		if sum > most && file != "" && !strings.Contains(filepath.ToSlash(p.Dir), "/api/") {
			best, most = file, sum
		}
	}
	return best, nil
}
