// Package catalogue says what library code does, as far as duplicate effects are
// concerned: which functions return something new on every call, which carry
// their arguments into their results, which take a key, which act on the world
// outside, which ask a model, which repeat what they are given, and where work
// enters a program.
//
// What is said here is believed and never inferred: analysis stops at a package
// that the catalogue covers. The data is one YAML file per ecosystem under data/,
// described in README.md. A file is read only when a package that it covers is
// asked for, because the tool starts once per package of a build, and most of
// them import nothing of it.
//
// Names are looked up by the path of the package that declares them, with major
// versions ignored, and by "Func", "Type.Method" or "Type.Field".
package catalogue
