// Package generate measures idemgen over whole modules, which it writes itself:
// against the go command alone, below which no generator that reads types from
// export data can go, and against a generator that loads everything from source.
//
// What is measured is CPU time of the whole process tree, since the machine may
// be shared, and since idemgen leaves half of the work to the go command.
package generate
