// Package popular runs the rules over a hundred modules that many programs are made
// of, and holds that none makes them panic, nor leave a function alone because of a
// fault of theirs.
//
// It takes an hour or two of processor time and some gigabytes of caches, so it is no
// part of the usual tests:
//
//	GOCACHE=$(mktemp -d) IDEM_TEST_POPULAR=all go test -timeout 6h -v ./analyzers/popular
//
// IDEM_TEST_POPULAR may also be a regular expression that the lines of modules.txt
// are to match.
package popular
