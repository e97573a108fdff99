package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Exit codes.
const (
	exitOK     = 0
	exitErrors = 1
	exitStale  = 2
)

// program is what a verb may touch of the world.
type program struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	tty            bool // stderr is a terminal
}

// verb is one thing that idemgen does. To add one, write a file with a function
// that returns it, and put that into verbs.
type verb struct {
	name string
	args string // in the usage line
	// short is what it does, in half a line.
	short string
	// long is the help text after the usage line, without flags.
	long string
	// flags defines the verb's flags and returns what runs once they are parsed.
	flags func(*flag.FlagSet) func(ctx context.Context, p *program, args []string) int
}

// verbs are in the order of the usage text; the first is the default.
func verbs() []verb {
	return []verb{
		generateVerb(),
		checkVerb(),
		initVerb(),
		explainVerb(),
		migrationsVerb(),
		schemaVerb(),
		demoVerb(),
		versionVerb(),
	}
}

// main runs the verb that the arguments name.
func (p *program) main(ctx context.Context, args []string) int {
	list := verbs()
	if len(args) > 0 {
		switch args[0] {
		case "help", "-h", "-help", "--help":
			return p.help(list, args[1:])
		}
		for _, v := range list {
			if v.name == args[0] {
				return p.runVerb(ctx, v, args[1:])
			}
		}
		if isWord(args[0]) {
			fmt.Fprintf(p.stderr, "idemgen: unknown verb %s (a package's directory is written ./%s)\nRun idemgen help for the verbs.\n", args[0], args[0])
			return exitErrors
		}
	}
	return p.runVerb(ctx, list[0], args)
}

// isWord tells a mistyped verb from a package: those hold dots or slashes.
func isWord(arg string) bool {
	return !strings.HasPrefix(arg, "-") && !strings.ContainsAny(arg, "./\\")
}

func (p *program) runVerb(ctx context.Context, v verb, args []string) int {
	fs := flag.NewFlagSet("idemgen "+v.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the package would print the usage with every error
	run := v.flags(fs)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		p.usage(p.stdout, v)
		return exitOK
	case err != nil:
		fmt.Fprintf(p.stderr, "idemgen %s: %v\nRun idemgen help %s for its flags.\n", v.name, err, v.name)
		return exitErrors
	}
	return run(ctx, p, fs.Args())
}

// help prints what idemgen is for, or how one verb is used.
func (p *program) help(list []verb, args []string) int {
	if len(args) > 0 {
		for _, v := range list {
			if v.name == args[0] {
				p.usage(p.stdout, v)
				return exitOK
			}
		}
		fmt.Fprintf(p.stderr, "idemgen help: unknown verb %s\n", args[0])
		return exitErrors
	}
	fmt.Fprint(p.stdout, `idemgen writes the Go code of idempotency contracts.

A contract is a file NAME.idem.yaml beside the handlers of a Go package. It says
what is the same work, how long that is remembered and what a duplicate gets.
idemgen checks it against the Go types and writes NAME_idem.go beside it.

Usage:

`)
	for _, v := range list {
		fmt.Fprintf(p.stdout, "  %-36s %s\n", strings.TrimSpace("idemgen "+v.name+" "+v.args), v.short)
	}
	fmt.Fprint(p.stdout, `
Without a verb, idemgen generates. "idemgen help VERB" tells more.
`)
	return exitOK
}

func (p *program) usage(w io.Writer, v verb) {
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", strings.TrimSpace("idemgen "+v.name+" "+v.args), v.long)
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	v.flags(fs)
	any := false
	fs.VisitAll(func(*flag.Flag) { any = true })
	if any {
		fmt.Fprint(w, "\nFlags:\n")
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
}
