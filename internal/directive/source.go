package directive

import "embed"

// Files are the source of this package, for those who compile it into another
// program.
//
//go:embed *.go
var Files embed.FS
