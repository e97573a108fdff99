package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/idemgen/idem/generator"
)

const idemPath = "github.com/idemgen/idem"

//go:embed all:_billing
var program embed.FS

// module is the demo's program on disk.
type module struct {
	dir    string // of its go.mod
	binary string
	tmp    string   // of the go command
	flags  []string // of go build, known once prebuild has returned
}

// findIdem finds the directory of the idem module, as the module that dir is in
// sees it: a checkout, the module cache, or where a replace line points.
func findIdem(ctx context.Context, dir string) (string, error) {
	const advice = "run the demo in a checkout of idem, or in a module that uses it:\n  go get -tool " + idemPath + "/cmd/idemgen"
	// With -mod=readonly nothing is looked for in a vendor folder, which has only
	// the packages that the user imports, and nothing is changed.
	out, err := goCommand(ctx, dir, nil, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", idemPath)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("the demo builds a program, and there is no go command in PATH: %w: install Go from https://go.dev/dl", err)
	case err != nil:
		return "", fmt.Errorf("find the source of %s: %w\n%s", idemPath, err, advice)
	}
	found := strings.TrimSpace(out)
	if found == "" {
		return "", fmt.Errorf("the source of %s is not on this machine; go mod download fetches it, or %s", idemPath, advice)
	}
	return found, nil
}

// writeModule writes the program's files below dir, and a go.mod that uses the
// idem module in the directory idem with the versions that idem itself uses.
func writeModule(dir, idem string) (*module, int, error) {
	m := &module{dir: filepath.Join(dir, "billing"), binary: filepath.Join(dir, "bin", "billing"), tmp: filepath.Join(dir, "tmp")}
	if runtime.GOOS == "windows" {
		m.binary += ".exe"
	}
	files, err := fs.Sub(program, "_billing")
	if err != nil {
		return nil, 0, err
	}
	if err := os.CopyFS(m.dir, files); err != nil {
		return nil, 0, fmt.Errorf("write the program: %w", err)
	}
	mod, err := os.ReadFile(filepath.Join(idem, "go.mod"))
	if err != nil {
		return nil, 0, fmt.Errorf("read the versions that idem uses: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(idem, "go.sum"))
	if err != nil {
		return nil, 0, fmt.Errorf("read the checksums that idem uses: %w", err)
	}
	err = errors.Join(
		os.Mkdir(m.tmp, 0o777),
		os.WriteFile(filepath.Join(m.dir, "go.mod"), goMod(string(mod), idem), 0o644),
		os.WriteFile(filepath.Join(m.dir, "go.sum"), sum, 0o644))
	if err != nil {
		return nil, 0, fmt.Errorf("write the program: %w", err)
	}
	return m, countFiles(files) + 2, nil
}

func countFiles(files fs.FS) int {
	n := 0
	// The walk cannot fail: the files are in memory.
	_ = fs.WalkDir(files, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n
}

// goMod is idem's own go.mod under another name. With all of its requirements
// listed, the go command has nothing to look up and works without a network.
func goMod(mod, idem string) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(mod) {
		if strings.HasPrefix(line, "module ") {
			line = "module example.com/billing\n"
		}
		if !strings.HasPrefix(line, "tool ") {
			b.WriteString(line)
		}
	}
	fmt.Fprintf(&b, "\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", idemPath, filepath.ToSlash(idem))
	return b.Bytes()
}

// generate writes the code of the program's contracts.
func (m *module) generate(ctx context.Context) (generator.Report, error) {
	report, err := generator.Run(ctx, generator.Options{Dir: m.dir, Env: append(m.env(), "GOFLAGS=-mod=mod")})
	if err != nil {
		return report, fmt.Errorf("generate: %w", err)
	}
	if report.Diagnostics.HasErrors() {
		var b strings.Builder
		for _, d := range report.Diagnostics {
			b.WriteString(d.Text())
		}
		return report, fmt.Errorf("generate: the demo's own contract has errors:\n%s", b.String())
	}
	return report, nil
}

// compilerFlags turns the optimiser off for SQLite, if it has to be compiled
// first: that saves a third of the time, more than a fast SQLite would win back.
// One in the build cache is used as it is.
func (m *module) compilerFlags(ctx context.Context) ([]string, error) {
	stale, err := goCommand(ctx, m.dir, m.env(), "list", "-mod=mod", "-f", "{{.Stale}}", "modernc.org/sqlite/lib")
	if err != nil {
		return nil, fmt.Errorf("look for SQLite in the build cache: %w", err)
	}
	if strings.TrimSpace(stale) == "false" {
		return nil, nil
	}
	return []string{"-gcflags=modernc.org/...=-N -l"}, nil
}

// prebuild compiles what the program imports, which takes most of the time and
// needs nothing generated.
func (m *module) prebuild(ctx context.Context) (err error) {
	if m.flags, err = m.compilerFlags(ctx); err != nil {
		return err
	}
	_, err = m.goBuild(ctx, idemPath+"/runtime/sqlite", "net/http")
	if err != nil {
		return fmt.Errorf("build the packages that the program imports: %w", err)
	}
	return nil
}

func (m *module) build(ctx context.Context) error {
	_, err := m.goBuild(ctx, "-o", m.binary, ".")
	if err != nil {
		return fmt.Errorf("build the program: %w", err)
	}
	return nil
}

func (m *module) goBuild(ctx context.Context, args ...string) (string, error) {
	return goCommand(ctx, m.dir, m.env(), append(append([]string{"build", "-mod=mod"}, m.flags...), args...)...)
}

// env keeps a workspace of the user's out of the demo's module, and what the go
// command leaves when it is cut short inside of the demo's folder.
func (m *module) env() []string { return []string{"GOWORK=off", "GOTMPDIR=" + m.tmp} }

// goCommand runs the go command and gives what it prints. Its complaint is in
// the error.
func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	// Interrupted rather than killed it stops its compilers and cleans up, if that
	// does not take too long.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && stderr.Len() > 0:
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	case err != nil:
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return stdout.String(), nil
}
