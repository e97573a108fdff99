// Package explain says in plain sentences what a contract means: when two inputs
// are the same work, for how long that is remembered, what a duplicate gets, and
// what is left behind by a process that is killed at the worst moment.
//
// It is for people who decide and do not read YAML, so it names every consequence
// and every figure, and leaves nothing to defaults. It reads the contract alone,
// not the Go code, and is pure: the same contract gives the same text.
//
// Where to find what:
//
//   - explain.go: the text as a whole, and duplicates
//   - memory.go: for how long work is remembered, and which of two is newer
//   - identity.go: when inputs are the same work, and the text that is hashed
//   - succession.go: what becomes of the work of the version before
//   - retry.go: attempts and pauses
//   - effects.go: what each guard promises, and every point of a crash
//   - words.go: durations, lists, folded lines and tables
package explain
