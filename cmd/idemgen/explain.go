package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/idemgen/idem/generator"
)

func explainVerb() verb {
	return verb{
		name:  "explain",
		args:  "[flags] KIND",
		short: "say what a contract means, in plain sentences",
		long: `Finds the contract of that name in the module and says what it means: when two
inputs are the same work, for how long that is remembered, what a duplicate gets,
how often the work is tried, and for each effect what is promised, what is not,
and what a process leaves behind that is killed at the worst moment.

Only the contract is read: the Go code need not compile.`,
		flags: func(fs *flag.FlagSet) func(context.Context, *program, []string) int {
			o := &options{color: choiceFlag{"auto", []string{"auto", "always", "never"}}}
			fs.StringVar(&o.dir, "C", "", "change to `DIR` first")
			fs.Var(&o.color, "color", "when to colour messages: auto, always or never")
			return func(ctx context.Context, p *program, args []string) int {
				if len(args) != 1 {
					fmt.Fprintln(p.stderr, "idemgen explain: want the name of one contract\nRun idemgen help explain for its flags.")
					return exitErrors
				}
				return p.explain(ctx, o, args[0])
			}
		},
	}
}

func (p *program) explain(ctx context.Context, o *options, kind string) int {
	e, err := generator.Explain(ctx, generator.Options{Dir: o.dir}, kind)
	if err != nil {
		fmt.Fprintf(p.stderr, "idemgen explain: %v\n", err)
		return exitErrors
	}
	for _, d := range e.Diagnostics {
		fmt.Fprint(p.stderr, colored(d.Text(), p.colors(o)))
	}
	if e.Diagnostics.HasErrors() {
		return exitErrors
	}
	if _, err := fmt.Fprint(p.stdout, e.Text); err != nil {
		fmt.Fprintf(p.stderr, "idemgen explain: %v\n", err)
		return exitErrors
	}
	return exitOK
}
