package valueflow

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// maxSteps bounds the work on one question, and maxTotal that on all questions
// about one function. A question that would need more has no answer.
const (
	maxSteps = 20_000
	maxTotal = 200_000
)

// function is one declared function and the literals in it.
type function struct {
	*Flow
	ssa    *ssa.Function
	values map[ast.Expr]ssa.Value
	calls  map[token.Pos]*ast.CallExpr // by the position that SSA gives them
	byCall map[token.Pos]ssa.CallInstruction
	free   map[*ssa.FreeVar]ssa.Value // what literals capture

	memo  map[point]summary.Origins
	open  map[point]int // those being evaluated, by depth
	low   int           // the least depth that a cycle has led back to
	steps int           // of this question
	total int           // of those before
}

// point is a value or a field of one.
type point struct {
	v     ssa.Value
	field string
}

func newFunction(f *Flow, decl *ast.FuncDecl, fn *ssa.Function) *function {
	w := &function{
		Flow: f, ssa: fn,
		values: map[ast.Expr]ssa.Value{}, calls: map[token.Pos]*ast.CallExpr{}, byCall: map[token.Pos]ssa.CallInstruction{},
		free: map[*ssa.FreeVar]ssa.Value{}, memo: map[point]summary.Origins{}, open: map[point]int{},
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			w.calls[call.Lparen] = call
		}
		return true
	})
	w.index(fn)
	return w
}

func (w *function) index(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.DebugRef:
				w.values[instr.Expr] = instr.X
			case *ssa.MakeClosure:
				lit := instr.Fn.(*ssa.Function)
				for i, v := range lit.FreeVars {
					w.free[v] = instr.Bindings[i]
				}
			case ssa.CallInstruction:
				if call := w.calls[instr.Common().Pos()]; call != nil {
					w.byCall[call.Pos()] = instr
				}
			}
		}
	}
	for _, lit := range fn.AnonFuncs {
		w.index(lit)
	}
}

func (w *function) origins(e ast.Expr, result int, field string) summary.Origins {
	w.total, w.steps = w.total+w.steps, 0
	os := w.expr(ast.Unparen(e), result, field)
	if w.spent() {
		return nil // what is known by now may not be all
	}
	return os
}

// step counts one step, and tells whether it may be taken.
func (w *function) step() bool {
	w.steps++
	return !w.spent()
}

func (w *function) spent() bool { return w.steps > maxSteps || w.total+w.steps > maxTotal }

func (w *function) expr(e ast.Expr, result int, field string) summary.Origins {
	v := w.values[e]
	if v == nil {
		// The address of a composite literal and the like have no reference of
		// their own.
		if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
			return w.expr(ast.Unparen(u.X), 0, field)
		}
		return nil
	}
	if _, ok := v.Type().(*types.Tuple); ok {
		if call, ok := v.(*ssa.Call); ok {
			return w.call(call, catalogue.Result(result), field)
		}
		return nil
	}
	return w.value(v, field)
}

// value is where a value, or a field of it or of what it points to, comes from.
func (w *function) value(v ssa.Value, field string) summary.Origins {
	p := point{v, field}
	if known, ok := w.memo[p]; ok {
		return known
	}
	if !w.step() {
		return nil
	}
	if depth, ok := w.open[p]; ok {
		w.low = min(w.low, depth)
		return nil
	}
	depth, outer := len(w.open), w.low
	w.open[p], w.low = depth, depth
	os := w.base(v, field)
	os.AddAll(w.written(v, field))
	delete(w.open, p)
	if w.low >= depth && !w.spent() {
		w.memo[p] = os // no part of it waits for the answer to a question further out
	}
	w.low = min(w.low, outer)
	return os
}

func (w *function) base(v ssa.Value, field string) summary.Origins {
	switch v := v.(type) {
	case *ssa.Parameter:
		return w.param(v, field)
	case *ssa.FreeVar:
		if bound := w.free[v]; bound != nil {
			return w.value(bound, field)
		}
	case *ssa.Call:
		return w.call(v, catalogue.Result(0), field)
	case *ssa.Extract:
		return w.extract(v, field)
	case *ssa.Phi:
		return w.phi(v, field)
	case *ssa.BinOp:
		return w.binary(v)
	case *ssa.UnOp:
		if v.Op != token.ARROW && v.Op != token.NOT {
			return w.value(v.X, field)
		}
	case *ssa.FieldAddr:
		return w.part(w.field(v.X, v.Field, v.Pos()), field)
	case *ssa.Field:
		return w.part(w.field(v.X, v.Field, v.Pos()), field)
	case *ssa.IndexAddr:
		return w.value(v.X, field)
	case *ssa.Index:
		return w.value(v.X, field)
	case *ssa.Lookup:
		return w.value(v.X, elementName(v.Index, field))
	case *ssa.Range:
		return w.value(v.X, field)
	}
	if x := passes(v); x != nil {
		return w.value(x, field)
	}
	return nil
}

// passes is the operand of a value that is the same value in another type.
func passes(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return v.X
	case *ssa.ChangeInterface:
		return v.X
	case *ssa.Convert:
		return v.X
	case *ssa.MultiConvert:
		return v.X
	case *ssa.MakeInterface:
		return v.X
	case *ssa.SliceToArrayPointer:
		return v.X
	case *ssa.TypeAssert:
		return v.X
	case *ssa.Slice:
		return v.X
	}
	return nil
}

func (w *function) param(v *ssa.Parameter, field string) summary.Origins {
	i := slices.Index(w.ssa.Params, v)
	if i < 0 { // of a literal
		return nil
	}
	if w.ssa.Signature.Recv() != nil {
		i--
	}
	return summary.Origins{{Param: catalogue.Place(i), Field: field}}
}

// part is a field of a field: which fields of the outer one are new is not known.
func (w *function) part(os summary.Origins, field string) summary.Origins {
	if field != "" {
		return os.Given()
	}
	return os
}

func (w *function) field(x ssa.Value, i int, pos token.Pos) summary.Origins {
	field := fieldOf(x.Type(), i)
	if field == nil {
		return nil
	}
	name := field.Name()
	os := w.value(x, name)
	if kind := w.facts.Volatile(field); kind != "" {
		os = slices.Clone(os)
		os.Add(summary.Origin{Volatile: kind, Pos: pos, Way: []string{summary.FieldText(x.Type(), name)}})
	}
	if !catalogue.NamesEntity(name) {
		return os
	}
	var marked summary.Origins
	for _, o := range os {
		o.Entity = true
		marked.Add(o)
	}
	return marked
}

func (w *function) extract(v *ssa.Extract, field string) summary.Origins {
	switch t := v.Tuple.(type) {
	case *ssa.Call:
		return w.call(t, catalogue.Result(v.Index), field)
	case *ssa.Lookup:
		if v.Index == 0 {
			return w.value(t.X, elementName(t.Index, field))
		}
	case *ssa.TypeAssert:
		if v.Index == 0 {
			return w.value(t.X, field)
		}
	case *ssa.Next:
		if v.Index > 0 {
			return w.value(t.Iter, "")
		}
	}
	return nil
}

func (w *function) phi(v *ssa.Phi, field string) summary.Origins {
	var branches []summary.Origins
	var settled []bool
	for _, e := range v.Edges {
		if depth, ok := w.open[point{e, field}]; ok {
			w.low = min(w.low, depth)
			continue
		}
		_, isConst := e.(*ssa.Const)
		branches, settled = append(branches, w.value(e, field)), append(settled, isConst)
	}
	return summary.Either(branches, settled)
}

func (w *function) binary(v *ssa.BinOp) summary.Origins {
	switch v.Op {
	case token.ADD, token.SUB, token.MUL, token.REM, token.AND, token.OR, token.XOR, token.SHL, token.SHR, token.AND_NOT:
		var all summary.Origins
		all.AddAll(w.value(v.X, ""))
		all.AddAll(w.value(v.Y, ""))
		return all
	case token.QUO:
		return summary.Divided(w.value(v.X, ""), constantOf(v.Y))
	}
	return nil
}

func constantOf(v ssa.Value) constant.Value {
	for x := v; x != nil; x = passes(x) {
		if c, ok := x.(*ssa.Const); ok {
			return c.Value
		}
	}
	return nil
}

func fieldName(t types.Type, i int) string {
	if v := fieldOf(t, i); v != nil {
		return v.Name()
	}
	return ""
}

func fieldOf(t types.Type, i int) *types.Var {
	t = types.Unalias(t)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if st, ok := types.Unalias(t).Underlying().(*types.Struct); ok && i < st.NumFields() {
		return st.Field(i)
	}
	return nil
}

// elementName names the element of a constant index as package summary does.
func elementName(index ssa.Value, field string) string {
	if c := constantOf(index); c != nil {
		return summary.ElementName(c)
	}
	return field
}
