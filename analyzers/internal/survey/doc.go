// Package survey says of one package what the audit of a whole program needs: where
// work comes in, who calls whom, what calls do to the world outside, what decides
// whether they are reached, and which keys they are given.
//
// A survey is one diagnostic that holds JSON, so that the go command remembers it
// with the package: an audit looks again only at what has changed. Package audit
// joins the surveys of all packages. Names of functions are the same in all of them:
// those of go/types, with full import paths.
package survey
