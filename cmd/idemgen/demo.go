package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/idemgen/idem/cmd/idemgen/internal/demo"
)

func demoVerb() verb {
	return verb{
		name:  "demo",
		args:  "[flags]",
		short: "show what contracts are good for, on a program that is killed half-way",
		long: `Writes a small billing program to a temporary folder, generates the code of its
contracts, builds it with the go command and feeds it orders, each webhook
twice. Half-way, between a charge and its receipt, it is killed and started
again. What a naive handler and what the generated one did is counted at the
provider and printed side by side; then once more for a provider that does not
honour idempotency keys.

The numbers are counted, not written down: every run differs a little. The exit
code is 1 if the generated handler broke its contract. The folder is removed,
unless it is to be kept.`,
		flags: func(fs *flag.FlagSet) func(context.Context, *program, []string) int {
			o := &options{color: choiceFlag{"auto", []string{"auto", "always", "never"}}}
			fs.StringVar(&o.dir, "C", "", "change to `DIR` first")
			fs.Var(&o.color, "color", "when to colour the output: auto, always or never")
			keep := fs.Bool("keep", false, "leave the folder in place, to look at the program and its ledgers")
			orders := fs.Int("orders", 340, "how many `ORDERS` to bill")
			return func(ctx context.Context, p *program, args []string) int {
				if len(args) > 0 {
					fmt.Fprintln(p.stderr, "idemgen demo: want no arguments")
					return exitErrors
				}
				return p.demo(ctx, o, *orders, *keep)
			}
		},
	}
}

func (p *program) demo(ctx context.Context, o *options, orders int, keep bool) int {
	ctx, stop := demo.Interruptible(ctx)
	defer stop()
	// The story goes to standard output, so that decides about its colours.
	told := *p
	file, ok := p.stdout.(*os.File)
	told.tty = ok && isTerminal(file)
	err := demo.Run(ctx, demo.Options{Orders: orders, Keep: keep, Dir: o.dir, Out: p.stdout, Color: told.colors(o)})
	if err != nil {
		fmt.Fprintf(p.stderr, "\nidemgen demo: %v\n", err)
		return exitErrors
	}
	return exitOK
}
