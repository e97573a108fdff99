// Package valueflow follows values through one function exactly enough to report
// something: in SSA form, with fields, map elements, closures and what calls write
// into their arguments, and with the summaries of the functions called.
//
// SSA is built for a package when a rule first asks about a value in it, by this
// package and not by requiring buildssa, which would build it for every dependency
// as well. Answers are remembered, and the work on one question is bounded: where
// it would take too long, or a value goes where it cannot be followed, there is no
// origin and nothing is reported.
package valueflow
