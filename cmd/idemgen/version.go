package main

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"

	"github.com/idemgen/idem/generator/emit"
)

// Formats that change less often than the tool does.
const (
	contractFormat = 1
	runtimeFormat  = emit.RuntimeFormat
)

func versionVerb() verb {
	return verb{
		name:  "version",
		short: "print the versions of the tool and its formats",
		long:  "Prints the versions of the tool, of the contract language and of what generated code asks of the runtime.",
		flags: func(*flag.FlagSet) func(context.Context, *program, []string) int {
			return func(_ context.Context, p *program, args []string) int {
				if len(args) > 0 {
					fmt.Fprintln(p.stderr, "idemgen version: want no arguments")
					return exitErrors
				}
				fmt.Fprintf(p.stdout, "idemgen %s, contract format %d, runtime format %d\n", toolVersion(), contractFormat, runtimeFormat)
				return exitOK
			}
		},
	}
}

// toolVersion is that of the module that the tool was built from.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	const path = "github.com/idemgen/idem"
	if info.Main.Path == path && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == path {
			return dep.Version
		}
	}
	return "(devel)"
}
