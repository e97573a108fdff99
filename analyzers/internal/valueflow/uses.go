package valueflow

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// maxUses bounds how far a value is followed forward.
const maxUses = 500

// uses are the names of fields and parameters that the result of a call reaches,
// sorted.
func (w *function) uses(pos token.Pos) []string {
	call, ok := w.byCall[pos].(*ssa.Call)
	if !ok {
		return nil
	}
	seen := map[ssa.Value]bool{call: true}
	var names []string
	for work := []ssa.Value{call}; len(work) > 0 && len(seen) < maxUses; {
		v := work[0]
		work = work[1:]
		refs := v.Referrers()
		if refs == nil {
			continue
		}
		for _, instr := range *refs {
			next, name := w.use(instr, v)
			if name != "" {
				names = append(names, name)
			}
			if next != nil && !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// use is where an instruction takes a value on to, and the name under which it
// keeps it.
func (w *function) use(instr ssa.Instruction, v ssa.Value) (next ssa.Value, name string) {
	switch instr := instr.(type) {
	case *ssa.Store:
		if instr.Val != v {
			return nil, ""
		}
		if f, ok := instr.Addr.(*ssa.FieldAddr); ok {
			return nil, fieldName(f.X.Type(), f.Field)
		}
		return instr.Addr, ""
	case *ssa.Call:
		return w.useByCall(instr, v)
	case *ssa.Extract:
		if instr.Index == 0 {
			return instr, ""
		}
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			return instr, ""
		}
	case *ssa.Phi:
		return instr, ""
	case ssa.Value:
		if passes(instr) == v {
			return instr, ""
		}
	}
	return nil, ""
}

func (w *function) useByCall(call *ssa.Call, v ssa.Value) (ssa.Value, string) {
	c := call.Common()
	fn := callee(c)
	if fn == nil {
		return nil, ""
	}
	s := w.facts.Of(fn, args{c})
	params := fn.Signature().Params()
	for i := range params.Len() {
		p := catalogue.Place(i)
		if operand(c, p) != v || w.facts.Catalogue.Covers(fn.Pkg().Path()) {
			continue
		}
		if s != nil && slices.ContainsFunc(s.Keys, func(r summary.Reach) bool { return r.From == p }) {
			return nil, "" // a key, by whatever name
		}
		if s != nil { // NewOrder(id)
			for _, l := range s.Flow {
				if l.From == p && catalogue.NamesEntity(l.ToField) {
					return nil, l.ToField
				}
			}
		}
		return nil, params.At(i).Name()
	}
	if s != nil {
		for _, l := range s.Flow {
			if operand(c, l.From) == v && l.To == catalogue.Result(0) && l.ToField == "" && !l.Hashed {
				return call, ""
			}
		}
	}
	return nil, ""
}
