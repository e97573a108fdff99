package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/idemgen/idem/analyzers/gopls"
)

// gopls builds a gopls that knows the rules.
func (p *program) gopls(ctx context.Context, args []string) int {
	var o gopls.Options
	set := flag.NewFlagSet("idemlint gopls", flag.ContinueOnError)
	set.SetOutput(p.stderr)
	set.StringVar(&o.Output, "o", "", "write the program to a `file`")
	set.StringVar(&o.Version, "gopls", "", "the `version` of gopls; the newest that the rules and the Go at hand fit if not given")
	verbose := set.Bool("v", false, "say what is done")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitClean
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("gopls: it takes no arguments, only flags: %v", set.Args())
	case err == nil:
		if *verbose {
			o.Log = p.stderr
		}
		err = gopls.Build(ctx, o)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
		return exitErrors
	}
	return exitClean
}
