package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idemgen/idem/generator"
)

func generateVerb() verb {
	return verb{
		name:  "generate",
		args:  "[flags] [packages]",
		short: "write the Go files of contracts (the default)",
		long: `Reads the contracts of the packages, checks them against the Go types, and
writes NAME_idem.go beside each NAME.idem.yaml. Only files that change are
written, one line for each is printed; after an error nothing is written.
A generated file whose contract file is gone is deleted.

What decides about keys is locked in idem.lock, beside go.mod, which is to be
committed: a change that would make done work new, or an effect of work in
flight another one, is refused unless the contract's version is raised. Kinds
without a contract are retired by a run over the whole module.

Packages are ./dir, ./dir/... or import paths of this module; the default is
./..., or the directory of the line when go generate runs it.`,
		flags: func(fs *flag.FlagSet) func(context.Context, *program, []string) int {
			o := commonFlags(fs)
			return func(ctx context.Context, p *program, args []string) int {
				return p.generate(ctx, o, args, false)
			}
		},
	}
}

func checkVerb() verb {
	return verb{
		name:  "check",
		args:  "[flags] [packages]",
		short: "tell what generate would change, and write nothing",
		long: `Does what generate does, but compares instead of writing: missing, stale,
hand-edited and orphaned files, and an idem.lock that would change, are named,
with what would change as a unified diff. The exit code is 0 if nothing would,
2 if something would, 1 after errors.`,
		flags: func(fs *flag.FlagSet) func(context.Context, *program, []string) int {
			o := commonFlags(fs)
			return func(ctx context.Context, p *program, args []string) int {
				return p.generate(ctx, o, args, true)
			}
		},
	}
}

// options are the flags of the verbs that read contracts.
type options struct {
	dir, tags     string
	format, color choiceFlag
	verbose       bool
}

func commonFlags(fs *flag.FlagSet) *options {
	o := &options{
		format: choiceFlag{"text", []string{"text", "json", "github"}},
		color:  choiceFlag{"auto", []string{"auto", "always", "never"}},
	}
	fs.StringVar(&o.dir, "C", "", "change to `DIR` first")
	fs.StringVar(&o.tags, "tags", "", "build `tags`, separated by commas")
	fs.Var(&o.format, "format", "output `FORMAT`: text, json or github (annotations of a workflow run)")
	fs.Var(&o.color, "color", "when to colour messages: auto, always or never")
	fs.BoolVar(&o.verbose, "v", false, "also tell what did not change, and where the time went")
	return o
}

// choiceFlag is a flag with a few values.
type choiceFlag struct {
	value   string
	allowed []string
}

func (c *choiceFlag) String() string { return c.value }

func (c *choiceFlag) Set(s string) error {
	for _, a := range c.allowed {
		if s == a {
			c.value = s
			return nil
		}
	}
	return fmt.Errorf("want one of %q", c.allowed)
}

func (p *program) generate(ctx context.Context, o *options, packages []string, check bool) int {
	dir := o.dir
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return p.fatal(o, fmt.Errorf("find the working directory: %w", err))
		}
		dir = wd
	}
	// go generate runs its lines in the package's directory.
	if len(packages) == 0 && p.getenv("GOPACKAGE") != "" && p.getenv("GOFILE") != "" {
		packages = []string{"."}
	}
	memory, err := p.memory()
	if err != nil {
		return p.fatal(o, err)
	}
	report, err := generator.Run(ctx, generator.Options{Dir: dir, Patterns: packages, Tags: o.tags, Check: check, Memory: memory})
	if err != nil {
		return p.fatal(o, err)
	}
	p.print(o, report, check)
	switch {
	case report.Diagnostics.HasErrors():
		return exitErrors
	case check && report.Stale():
		return exitStale
	}
	return exitOK
}

// cacheVar names the variable that says where runs are remembered.
const cacheVar = "IDEMGEN_CACHE"

// memory is the directory where runs are remembered; empty for none.
func (p *program) memory() (string, error) {
	switch dir := p.getenv(cacheVar); {
	case dir == "off":
		return "", nil
	case dir == "":
		user, err := os.UserCacheDir()
		if err != nil {
			return "", nil //nolint:nilerr // who has no such directory remembers nothing
		}
		return filepath.Join(user, "idemgen"), nil
	case !filepath.IsAbs(dir):
		return "", fmt.Errorf("%s is %q: want off, or a directory as an absolute path", cacheVar, dir)
	default:
		return dir, nil
	}
}
