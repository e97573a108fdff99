package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/idemgen/idem/generator"
)

func initVerb() verb {
	return verb{
		name:  "init",
		args:  "[flags] HANDLER",
		short: "write a first contract for a handler",
		long: `Looks for the handler (Func, Method, Type.Method or (*Type).Method) in the package
of the directory, and writes a new file KIND.idem.yaml beside it, with one effect
for each method of its effects interface.

Nothing is guessed. What is the same work, for how long that is remembered, what
a duplicate gets and what makes each effect safe to repeat is left open, with the
answers that there are as comments; idemgen check names what is missing. A file
that is there is never touched.`,
		flags: func(fs *flag.FlagSet) func(context.Context, *program, []string) int {
			var o generator.Options
			fs.StringVar(&o.Dir, "C", "", "change to `DIR` first")
			fs.StringVar(&o.Tags, "tags", "", "build `tags`, separated by commas")
			kind := fs.String("kind", "", "the `NAME` of the contract, instead of that of the handler")
			return func(ctx context.Context, p *program, args []string) int {
				if len(args) != 1 {
					fmt.Fprintln(p.stderr, "idemgen init: want the name of one handler\nRun idemgen help init for its flags.")
					return exitErrors
				}
				started, err := generator.Init(ctx, o, args[0], *kind)
				if err != nil {
					fmt.Fprintf(p.stderr, "idemgen init: %v\n", err)
					return exitErrors
				}
				fmt.Fprintf(p.stdout, "written %s\n", started.Path)
				fmt.Fprintf(p.stdout, "open: %s\n", strings.Join(started.Open, ", "))
				return exitOK
			}
		},
	}
}
