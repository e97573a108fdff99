package catalogue

import "slices"

// NamesSource says why what a function gives is new on every call, if its name is
// all that is known of it: a method of an interface or the value of a variable,
// without arguments. owner is the name of the interface, or empty.
func NamesSource(owner, name string) Volatile {
	switch n := fold(name); {
	case slices.Contains(clocks, n):
		return Clock
	case slices.Contains(makers, n):
		return Random
	}
	words := Words(owner)
	if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(generators, w) }) {
		return ""
	}
	if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(identifiers, w) }) && fold(owner) != "idgen" {
		return ""
	}
	if words := Words(name); slices.Contains(makes, words[0]) {
		return Random
	}
	return ""
}

var (
	clocks = []string{"now", "nowfunc", "nowfn", "timenow", "nowutc", "currenttime", "timefunc", "clock"}
	makers = []string{
		"newuuid", "generateuuid", "genuuid", "uuidgenerator", "uuidgen", "uuidfunc", "uuidfn", "uuidv4", "newulid", "generateulid", "ulidgenerator",
		"newid", "newidfunc", "genid", "generateid", "idgenerator", "idgen", "idfunc", "nextid", "randomid", "randomstring", "randstring", "randomhex", "generaterandomstring",
	}
	generators  = []string{"gen", "generator", "provider", "factory", "maker", "source", "ider", "uuider"}
	identifiers = []string{"id", "ids", "uuid", "ulid", "identifier", "guid", "nonce", "random"}
	makes       = []string{"new", "next", "generate", "gen", "make", "create", "id", "uuid", "get", "must"}
)
