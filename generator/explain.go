package generator

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/explain"
	"github.com/idemgen/idem/generator/observe"
	"github.com/idemgen/idem/generator/resolve"
)

// Explanation says what a contract means.
type Explanation struct {
	// Text is in plain sentences, and ends with a newline. It is empty if the
	// contract has errors.
	Text string
	// Diagnostics are about the file that the contract stands in.
	Diagnostics contracts.Diagnostics
}

// Explain finds the contract of a kind in the module that options.Dir is in, and
// says what it means. Only the contract file is read: neither has the Go code to
// compile, nor is the go command run. Of the options only Dir counts.
//
// The error is for a kind that no contract has, and for what no contract can be
// blamed for.
func Explain(ctx context.Context, options Options, kind string) (Explanation, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return Explanation{}, fmt.Errorf("find the working directory: %w", err)
	}
	w := observe.New(options.Env)
	mod, err := resolve.ModuleOf(w, dir)
	if err != nil {
		return Explanation{}, err
	}
	var kinds []string
	var found *Explanation
	err = eachContract(ctx, w, dir, mod, func(file *contracts.File, c *contracts.Contract, diags contracts.Diagnostics) error {
		if c.Kind.V == kind && found == nil {
			e := explanation(file, c, diags)
			found = &e
		}
		kinds = append(kinds, c.Kind.V)
		return nil
	})
	switch {
	case err != nil:
		return Explanation{}, err
	case found == nil:
		return Explanation{}, noKind(mod, kind, kinds)
	}
	return *found, nil
}

// eachContract reads the contracts of a module, those with errors too, until do
// returns an error. Names of files are relative to dir.
func eachContract(ctx context.Context, w *observe.World, dir string, mod resolve.Module, do func(*contracts.File, *contracts.Contract, contracts.Diagnostics) error) error {
	dirs, err := resolve.Find(ctx, w, mod.Root, []string{"./..."})
	if err != nil {
		return err
	}
	for _, d := range dirs {
		for _, name := range d.Contracts {
			path := filepath.Join(d.Path, name)
			src, err := w.ReadFile(path)
			if err != nil {
				return fmt.Errorf("read contract: %w", err)
			}
			file, diags := contracts.Parse(resolve.Show(dir, path), src)
			for _, c := range file.Contracts {
				if err := do(file, c, diags); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func explanation(file *contracts.File, c *contracts.Contract, diags contracts.Diagnostics) Explanation {
	e := Explanation{Diagnostics: diags}
	if !diags.HasErrors() {
		e.Text = explain.Contract(c, fmt.Sprintf("%s:%d", file.Path, c.Kind.Pos.Line))
	}
	return e
}

func noKind(mod resolve.Module, kind string, kinds []string) error {
	const most = 20
	switch {
	case len(kinds) == 0:
		return fmt.Errorf("module %s has no contracts (files NAME%s)", mod.Path, resolve.ContractSuffix)
	case contracts.Suggest(kind, kinds) != "":
		return fmt.Errorf("module %s has no contract %s%s", mod.Path, kind, contracts.DidYouMean(kind, kinds))
	case len(kinds) > most:
		return fmt.Errorf("module %s has no contract %s among its %d", mod.Path, kind, len(kinds))
	}
	return fmt.Errorf("module %s has no contract %s; it has %s", mod.Path, kind, strings.Join(kinds, ", "))
}
