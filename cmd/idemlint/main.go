// Idemlint finds the mistakes by which effects happen twice: keys that change with
// every attempt, and the like. It needs no contracts.
//
// Usage:
//
//	idemlint [flags] [packages]
//	idemlint audit [-format text|markdown|json|html] [-o FILE] [packages]
//	idemlint -explain RULE
//	idemlint gopls -o FILE [-gopls VERSION] [-v]
//	go vet -vettool=$(which idemlint) [flags] [packages]
//
// Flags:
//
//	-RULE, -RULE=false   run this rule only, or all but this one
//	-tests               report in test files as well
//	-tags LIST           build tags
//	-C DIR               run in another folder
//	-json                print findings as JSON
//	-format FORMAT       text, json or github (annotations of a workflow run)
//	-sarif FILE          write findings to a file as SARIF 2.1.0 as well
//	-fix                 apply the fixes that findings suggest, and report the rest
//	-baseline FILE       leave out the findings that a file holds
//	-write-baseline FILE write the findings to such a file, and report none
//	-new-from REV        report only what is on lines changed since a revision of git
//	-explain RULE        say what a rule finds, why, and what to do
//
// Flags of audit: -C, -tags, -format, -o FILE, -width N and -fail-on COST; it answers
// for each place where work comes in what happens if it comes twice.
//
// The default is all packages below the current folder. The exit code is 0 if
// nothing is found, 3 if something is, and 1 if not everything could be looked at.
//
// A finding is silenced by a comment before the statement or declaration that it
// is in, or on its line: //idemlint:ignore RULE REASON. //nolint:RULE works as well.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/idemgen/idem/analyzers/driver"
)

func main() {
	if driver.IsUnit(os.Args[1:]) {
		os.Exit(driver.Unit(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := &program{stdout: os.Stdout, stderr: os.Stderr, executable: os.Executable}
	return p.main(ctx, os.Args[1:])
}
