// Package observe is the eyes of a run: files, directories and the go command are
// looked at through a [World] and in no other way, which keeps what was seen.
//
// That serves two ends. A run sees one state of everything, even if somebody saves
// a file meanwhile, and reads nothing twice. And since a run is a function of what
// it saw, its outcome can be remembered with a [Trace] of that: a later run that
// would see the same would do the same. Nothing has to list by hand what an outcome
// depends on, and a new input is covered by being read.
//
// Three inputs are not seen through it. The program itself and its options are for
// the caller to know apart. The files of export data are told apart by what the go
// command answers: their names in the build cache are made from their contents, and
// the build ID, which is asked for with them, holds a digest of its own.
package observe
