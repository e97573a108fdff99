// Package cataloguetest checks the names of the catalogue against the modules
// that declare them: each name must exist in at least one listed version, as a
// function, method or field of the kind that its entry needs, and each parameter
// and result that an entry counts must be there.
//
// It reads declarations, without type checking, so nothing but the modules
// themselves is needed and none of their dependencies. modules.txt lists the
// versions; a module of which no version can be had stands there with the reason.
// This is a module of its own so that none of this reaches idem's.
package cataloguetest
