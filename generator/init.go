package generator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/observe"
	"github.com/idemgen/idem/generator/resolve"
	"github.com/idemgen/idem/generator/starter"
)

// Started is what Init wrote.
type Started struct {
	Path string // relative to Options.Dir
	Kind string
	// Open is what has to be answered before code can be generated, as paths in
	// the contract.
	Open []string
}

// Init writes a contract for a handler of the package in options.Dir: a new file
// KIND.idem.yaml in which everything is filled in that can be seen, and everything
// else is left open. An empty kind is named like the handler. It never touches a
// file that is there. Patterns and Check of the options do not count.
//
// The error is for a handler that cannot be found or is none, that has a contract
// already, or whose kind is taken.
func Init(ctx context.Context, options Options, handler, kind string) (Started, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return Started{}, fmt.Errorf("find the working directory: %w", err)
	}
	w := observe.New(options.Env)
	found, err := resolve.Start(ctx, resolve.Options{Dir: dir, Tags: options.Tags, World: w}, dir, handler)
	if err != nil {
		return Started{}, err
	}
	if kind == "" {
		kind = contracts.EffectName(found.Handler.Name)
	}
	if err := notYet(ctx, w, dir, found.Handler, kind); err != nil {
		return Started{}, err
	}
	content, err := starter.Render(found, kind)
	if err != nil {
		return Started{}, err
	}
	started := Started{Path: kind + resolve.ContractSuffix, Kind: kind}
	if started.Open, err = open(started.Path, content); err != nil {
		return Started{}, err
	}
	return started, writeNew(filepath.Join(dir, started.Path), content)
}

// notYet makes sure that neither the handler has a contract nor the kind.
func notYet(ctx context.Context, w *observe.World, dir string, h contracts.Handler, kind string) error {
	mod, err := resolve.ModuleOf(w, dir)
	if err != nil {
		return err
	}
	return eachContract(ctx, w, dir, mod, func(file *contracts.File, c *contracts.Contract, _ contracts.Diagnostics) error {
		place := fmt.Sprintf("%s:%d", file.Path, c.Kind.Pos.Line)
		other, ok := contracts.ParseHandler(c.Handler.V)
		switch {
		case filepath.Dir(filepath.Join(dir, file.Path)) == dir && ok && other.Receiver == h.Receiver && other.Name == h.Name:
			return fmt.Errorf("%s has a contract already: %s in %s", h, c.Kind.V, place)
		case c.Kind.V == kind:
			return fmt.Errorf("kind %s is taken by %s, and kinds are unique in the ledger: choose another one with -kind", kind, place)
		}
		return nil
	})
}

// asked are the questions that are left open on purpose.
var asked = regexp.MustCompile(`^(identity|window|response|effects\.[a-z0-9_]+\.guard)$`)

// open lists what a contract leaves open. The error is for anything else that is
// wrong with it, which a name that cannot be a kind leads to.
func open(path string, content []byte) ([]string, error) {
	_, diags := contracts.Parse(path, content)
	var paths []string
	for _, d := range diags {
		if !asked.MatchString(d.Path) {
			return nil, fmt.Errorf("no contract can be written for this handler as it is: %s (another kind is chosen with -kind)", d.Msg)
		}
		paths = append(paths, d.Path)
	}
	return paths, nil
}

// writeNew writes a file that is not there yet.
func writeNew(path string, content []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and is not touched", filepath.Base(path))
	}
	if err != nil {
		return fmt.Errorf("write contract: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write contract: %w", err), os.Remove(path))
	}
	return nil
}
