// Package audit answers, for each place where work comes into a program, what
// happens if it comes twice: which effects happen twice, what the work is told by,
// whether a model is asked again, what guards each call, where the work goes when
// it has failed for good, and whether one item can be run again.
//
// [Run] has package driver look at all packages, which gives their surveys and the
// findings of the rules, and joins them: calls of a program's own functions are
// followed from each entry point, through interfaces to all types that implement
// them. There is no second analysis: what calls do is said by the catalogue and the
// summaries, and the build cache remembers what has not changed.
//
// An answer is what the code shows. Where it shows nothing, the answer says "not
// seen", and where a table of what queues do speaks, it says so.
package audit
