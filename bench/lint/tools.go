package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	staticcheck   = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
	workflowcheck = "go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0"
)

// tool is something that looks at a module.
type tool struct {
	name string
	file string
	// command gives what to run, by a copy of the file that has never run, and the
	// environment of the run.
	command func(file, scratch string) (args, env []string)
}

func vettool(file, _ string) (args, env []string) {
	return []string{"go", "vet", "-vettool=" + file, "./..."}, nil
}

// build makes the tools that are compared; the first is what the others are
// compared with.
func build(ctx context.Context, dir string) ([]tool, error) {
	vet, err := output(ctx, "", "go", "tool", "-n", "vet")
	if err != nil {
		return nil, err
	}
	if err := buildHere(ctx, dir); err != nil {
		return nil, err
	}
	for _, module := range []string{staticcheck, workflowcheck} {
		if _, err := output(ctx, dir, "go", "install", module); err != nil {
			return nil, err
		}
	}
	bin := func(name string) string { return filepath.Join(dir, name) }
	return []tool{
		{"go vet", vet, vettool},
		{"a tool that does nothing", bin("nothing"), vettool},
		{"idemlint", bin("idemlint"), vettool},
		{"staticcheck", bin("staticcheck"), func(file, scratch string) (args, env []string) {
			return []string{file, "./..."}, []string{"STATICCHECK_CACHE=" + scratch}
		}},
		{"workflowcheck", bin("workflowcheck"), vettool},
	}, nil
}

func buildHere(ctx context.Context, dir string) error {
	root, err := output(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/idemgen/idem")
	if err != nil {
		return err
	}
	to := dir + string(filepath.Separator)
	if _, err := output(ctx, "", "go", "build", "-C", root, "-o", to, "./cmd/idemlint"); err != nil {
		return err
	}
	_, err = output(ctx, "", "go", "build", "-o", to, "github.com/idemgen/idem/bench/lint/nothing")
	return err
}

func output(ctx context.Context, bin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if bin != "" {
		cmd.Env = append(os.Environ(), "GOBIN="+bin)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// fresh is a copy of a tool that the go command does not know: it tells tools apart
// by a digest that they make of their own file.
func fresh(file, dir string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, filepath.Base(file))
	return name, os.WriteFile(name, append(data, rand.Text()...), 0o755)
}
