// Idemgen generates the Go code of idempotency contracts: files NAME.idem.yaml
// that stand beside the handlers they are about.
//
// Usage:
//
//	idemgen [generate] [flags] [packages]
//	idemgen check [flags] [packages]
//	idemgen init [flags] HANDLER
//	idemgen explain [flags] KIND
//	idemgen migrations -dialect sqlite [-format goose] -dir DIR
//	idemgen schema
//	idemgen help [verb]
//
// It is meant for a tool line in go.mod and
//
//	//go:generate go tool idemgen
//
// or for one call over a whole module, which is the fast way:
//
//	go tool idemgen ./...
//
// The exit code is 0 if all is well, 1 after errors (nothing is written then),
// and 2 if check finds files that generating would change.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		collectFrom(64 << 20) // which most runs stay below
	}
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := &program{
		stdout: os.Stdout,
		stderr: os.Stderr,
		getenv: os.Getenv,
		tty:    isTerminal(os.Stderr),
	}
	return p.main(ctx, os.Args[1:])
}

// isTerminal tells whether somebody reads along.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
