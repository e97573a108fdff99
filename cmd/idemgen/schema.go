package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/idemgen/idem/generator"
)

func schemaVerb() verb {
	return verb{
		name:  "schema",
		short: "print the JSON Schema of the contract language",
		long: `Prints the JSON Schema (2020-12) of contract files, with which an editor
completes and explains them. It holds what this version understands. To use that
of your own version instead of the newest, keep it in your repository,

	idemgen schema > contract.schema.json

and begin contract files with

	# yaml-language-server: $schema=../contract.schema.json`,
		flags: func(*flag.FlagSet) func(context.Context, *program, []string) int {
			return func(_ context.Context, p *program, args []string) int {
				if len(args) > 0 {
					fmt.Fprintln(p.stderr, "idemgen schema: want no arguments")
					return exitErrors
				}
				schema, err := generator.Schema()
				if err == nil {
					_, err = p.stdout.Write(schema)
				}
				if err != nil {
					fmt.Fprintf(p.stderr, "idemgen schema: %v\n", err)
					return exitErrors
				}
				return exitOK
			}
		},
	}
}
