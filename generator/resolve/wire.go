package resolve

import (
	"go/types"
	"strings"

	"github.com/idemgen/idem/generator/model"
)

// wire is the path by the names that encoding/json gives the fields. Inside a
// type that writes itself, Go names stand for those that nobody can know.
func (p *fieldPath) wire(root types.Type) string {
	var names []string
	t := root
	for rest := p.chain; len(rest) > 0; {
		t = inner(t, false)
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			break
		}
		name, n := wireName(s, rest)
		if knowsJSON(t) || n == 0 {
			name, n = rest[0].Name(), 1
		}
		names = append(names, model.WireName(name))
		t, rest = rest[n-1].Type(), rest[n:]
	}
	return strings.Join(names, ".")
}

// wireName is the JSON name of the field that the chain begins with, and how
// much of the chain it is; 0 if it has none.
func wireName(s *types.Struct, chain []*types.Var) (string, int) {
	fields, _ := jsonFields(s)
	for _, f := range fields {
		if len(f.chain) <= len(chain) && jsonPrefix([]jsonField{f}, chain) > 0 {
			return f.wire, len(f.chain)
		}
	}
	return "", 0
}
