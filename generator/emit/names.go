package emit

import (
	"go/token"
	"go/types"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/model"
)

// locals are the names that generated functions use for their own variables.
var locals = []string{"b", "buf", "ctx", "depth", "dst", "e", "effects", "err", "guards", "in", "item", "key", "ledger", "n", "out", "run", "s", "v"}

// names gives names that meet neither the user's nor each other. One serves a
// whole package, since a file's imports and the package's declarations must
// not meet either, wherever they stand.
//
// Parameters and variables keep clear of everything too: one that hides a type
// or function of the user's would be legal and wrong.
type names struct {
	declared map[string]bool   // package scope
	imported map[string]bool   // import names of all files
	local    map[string]string // wanted → given
	taken    map[string]bool   // values of local
}

func newNames(p *model.Package) *names {
	n := &names{map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}}
	for _, name := range p.Reserved {
		n.declared[name] = true
	}
	for _, name := range p.ImportNames {
		n.imported[name] = true
	}
	for _, name := range locals {
		n.variable(name)
	}
	return n
}

// variable gives the name of a parameter or local variable.
func (n *names) variable(wanted string) string {
	if name, ok := n.local[wanted]; ok {
		return name
	}
	name := numbered(wanted, func(s string) bool { return !n.declared[s] && !n.imported[s] && !n.taken[s] })
	n.local[wanted], n.taken[name] = name, true
	return name
}

// parameter gives the name of one parameter, which no variable shares: a receiver
// may be of a type called Ledger or Run.
func (n *names) parameter(wanted string) string {
	name := numbered(wanted, func(s string) bool { return !n.declared[s] && !n.imported[s] && !n.taken[s] })
	n.taken[name] = true
	return name
}

// declare gives a name at package scope: the first of the wanted ones that is
// free, else the last with a number.
func (n *names) declare(wanted ...string) string {
	free := func(s string) bool { return !n.declared[s] && !n.imported[s] && !n.taken[s] }
	name := ""
	for _, w := range wanted {
		if usable(w) && free(w) {
			name = w
			break
		}
	}
	if name == "" {
		name = numbered(wanted[len(wanted)-1], free)
	}
	n.declared[name] = true
	return name
}

// importName gives the name by which a file imports a package; used are the
// import names that the file has already.
func (n *names) importName(real string, used scope) string {
	name := numbered(real, func(s string) bool {
		predeclared := types.Universe.Lookup(s) != nil || jen.IsReservedWord(s) // a package may be called len
		return !n.declared[s] && !n.taken[s] && !used[s] && !predeclared
	})
	used[name] = true
	n.imported[name] = true
	return name
}

func numbered(wanted string, free func(string) bool) string {
	if usable(wanted) && free(wanted) {
		return wanted
	}
	for i := 2; ; i++ {
		if name := wanted + strconv.Itoa(i); usable(name) && free(name) {
			return name
		}
	}
}

func usable(name string) bool { return token.IsIdentifier(name) && name != "_" }

// scope gives names that are unique among themselves only: fields of one struct.
type scope map[string]bool

func (s scope) declare(wanted string) string {
	name := numbered(wanted, func(name string) bool { return !s[name] })
	s[name] = true
	return name
}
