// Package starter writes the first version of a contract: what can be seen of a
// handler is filled in, and what only its authors know is left open, with the
// possible answers as comments.
//
// It answers none of the three questions (what is the same work, for how long is
// that remembered, what does a duplicate get) and chooses no guard: an answer that
// a tool has guessed reads like one that somebody has given.
package starter
