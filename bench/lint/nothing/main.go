// Nothing is a tool for go vet that does nothing: what is left is what go vet costs
// by itself, and everything a tool needs to be compiled.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arg string) error {
	switch {
	case arg == "-V=full":
		fmt.Println("nothing version devel comments-go-here buildID=00")
		return nil
	case arg == "-flags":
		fmt.Println("[]")
		return nil
	case !strings.HasSuffix(arg, ".cfg"):
		return fmt.Errorf("%s: run it by go vet -vettool", arg)
	}
	data, err := os.ReadFile(arg)
	if err != nil {
		return err
	}
	var unit struct{ VetxOutput string }
	if err := json.Unmarshal(data, &unit); err != nil {
		return err
	}
	return os.WriteFile(unit.VetxOutput, nil, 0o666)
}
