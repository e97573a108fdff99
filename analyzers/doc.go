// Package analyzers is the list of idemlint's rules. Each is an analyzer of
// golang.org/x/tools/go/analysis in a folder of its own; what they share is under
// internal/: the catalogue (data), summaries of functions (facts), the flow of
// values (SSA), and the frame that rules report through.
package analyzers
