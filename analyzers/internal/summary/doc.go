// Package summary says in a few words what each function does with values: which
// results are new on every call and why, which parameters reach results, keys and
// hashes, and which effects a call has. A summary of an exported function is a
// fact, which travels to the packages that import it.
//
// Summaries come from syntax and types alone. They are computed for every package
// of a build that matters, most of which no rule ever looks at, so they must be
// cheap: no SSA, one look at each expression, variables taken whole, without
// regard to the order of assignments. Package valueflow is more exact, for the few
// functions in which a rule has found something to follow.
//
// A summary errs towards saying nothing: a value that goes where it cannot be
// followed (a channel, a global variable, an interface without catalogue entry)
// has no origin. What the catalogue covers is never looked into.
//
// Everything is kept in small slices in a fixed order, so that the same source
// gives the same bytes: build caches compare facts.
package summary
