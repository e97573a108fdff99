// Package gopls builds a gopls that knows the rules.
//
// gopls takes no plugins. [Build] copies its module out of the module cache (which
// may not be written to, nor overlaid), puts one file into it that adds our analyzers
// to its own, and compiles it.
//
// Our part is compiled from the source that this program holds (see
// [analyzers.Files]), not from a version of our module: so the editor finds exactly
// what the program finds that built it, whether that is a release, a working tree
// with changes or something that was never published, and nothing of ours has to be
// downloaded. It is compiled against the version of golang.org/x/tools that gopls
// asks for, which is older than ours: a test holds that it can be.
package gopls
