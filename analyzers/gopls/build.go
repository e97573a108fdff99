package gopls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const goplsModule = "golang.org/x/tools/gopls"

// release is a version of gopls that the rules are known to fit.
type release struct{ version, goVersion string }

// releases are in the order of preference. The oldest is the one that tests build;
// in the newer, what we touch is the same.
var releases = []release{
	{"v0.24.0", "go1.27"},
	{"v0.23.0", "go1.26"},
}

// Options say what to build.
type Options struct {
	Output  string    // the file to write
	Version string    // of gopls; empty: the newest known to fit the Go at hand
	Log     io.Writer // what is done; nil: nobody wants to know
}

// Build builds a gopls with the rules.
func Build(ctx context.Context, o Options) error {
	if o.Output == "" {
		return errors.New("say where to write the program: -o FILE")
	}
	output, err := filepath.Abs(o.Output)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "idemlint-gopls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b := &builder{Options: o, dir: scratch}
	if b.Version == "" {
		if b.Version, err = b.fitting(ctx); err != nil {
			return err
		}
	}
	module, err := b.download(ctx)
	if err != nil {
		return err
	}
	if err := b.assemble(ctx, module); err != nil {
		return err
	}
	b.dir = filepath.Join(scratch, "gopls")
	if _, err := b.command(ctx, "build", "-mod=readonly", "-trimpath", "-o", output, "."); err != nil {
		return fmt.Errorf("building gopls %s with the rules: %w", b.Version, err)
	}
	return nil
}

type builder struct {
	Options
	dir string // where the go command runs
}

// fitting is the newest release for the Go at hand.
func (b *builder) fitting(ctx context.Context) (string, error) {
	out, err := b.command(ctx, "env", "-json", "GOVERSION", "GOTOOLCHAIN")
	if err != nil {
		return "", err
	}
	var env struct{ GOVERSION, GOTOOLCHAIN string }
	if err := json.Unmarshal(out, &env); err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return choose(env.GOVERSION, env.GOTOOLCHAIN)
}

// choose leaves it to the go command to fetch a newer Go, if it may.
func choose(goVersion, toolchain string) (string, error) {
	here, _, _ := strings.Cut(goVersion, " ") // go1.26.1 X:nocoverageredesign
	oldest := releases[len(releases)-1]
	if !version.IsValid(here) { // a development version: newer than all
		return releases[0].version, nil
	}
	for _, r := range releases {
		if version.Compare(here, r.goVersion) >= 0 {
			return r.version, nil
		}
	}
	if toolchain == "local" {
		return "", fmt.Errorf("gopls %s, the oldest that the rules fit, needs %s; this is %s: use a newer Go, or let the go command fetch one (GOTOOLCHAIN=auto)", oldest.version, oldest.goVersion, here)
	}
	return oldest.version, nil
}

// download gives the folder of gopls in the module cache.
func (b *builder) download(ctx context.Context) (string, error) {
	query := goplsModule + "@" + b.Version
	out, err := b.command(ctx, "mod", "download", "-json", query)
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr == nil && module.Error != "" {
		err = errors.New(module.Error)
	} else if err == nil {
		err = jsonErr
	}
	if err != nil {
		return "", fmt.Errorf("%s is not in the module cache and cannot be downloaded: %w (where there is a network: go mod download %s)", query, err, query)
	}
	return module.Dir, nil
}

// command runs the go command, outside of all modules but the one of its folder.
func (b *builder) command(ctx context.Context, args ...string) ([]byte, error) {
	if b.Log != nil {
		fmt.Fprintf(b.Log, "idemlint: go %s\n", strings.Join(args, " "))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "PWD="+b.dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if b.Log != nil {
		cmd.Stderr = io.MultiWriter(&errs, b.Log)
	}
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("the go command is not to be found: it is what builds gopls")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		text := strings.TrimSpace(errs.String())
		if text == "" {
			text = err.Error()
		}
		return out.Bytes(), errors.New(text)
	}
	return out.Bytes(), nil
}
