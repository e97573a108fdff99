// Package driver runs the rules in a build.
//
// [Unit] is the tool that "go vet -vettool" starts once for each package, in the
// protocol of golang.org/x/tools/go/analysis/unitchecker. It is a runner of its
// own for two reasons. It leaves alone what cannot matter before parsing it, which
// is most packages of a build, and half of the cost. And it keeps nothing but
// facts in the fact files: types come from the compiler's export data, so that a
// package without facts costs its importers nothing.
//
// [Run] is the tool that people start: it has the go command run itself over the
// packages, so that a second run is as incremental as a build, and puts what comes
// back into one sorted report.
package driver
