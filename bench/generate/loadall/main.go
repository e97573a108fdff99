// Loadall does what a generator does first that loads packages in the mode
// LoadAllSyntax of golang.org/x/tools: it parses and type-checks the packages
// and everything they import, from source. Nothing is generated.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadall:", err)
		os.Exit(1)
	}
	if packages.PrintErrors(loaded) > 0 {
		os.Exit(1)
	}
}
