package analyzers

import "embed"

// Files are the source of this package and of those of its room that it imports.
// Package gopls builds an editor's server of it.
//
//go:embed *.go canonhash checkinsert contractdrift directives effectorder internal memdedupe mixeddecision randomkey retrykey unboundedretry unrouted volatilehash
var Files embed.FS
