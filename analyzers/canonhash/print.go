package canonhash

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// printed are the parts of what a function of package fmt prints. ok: it is one.
func (c *checker) printed(fn *types.Func, call *ast.CallExpr) (parts []part, ok bool) {
	if fn.Pkg().Path() != "fmt" {
		return nil, false
	}
	first := 0 // what comes before the format or the values
	switch fn.Name() {
	case "Sprintf", "Sprint", "Sprintln":
	case "Fprintf", "Fprint", "Fprintln", "Appendf", "Append", "Appendln":
		first = 1
	default:
		return nil, false
	}
	if call.Ellipsis.IsValid() || len(call.Args) <= first {
		return nil, false
	}
	args := call.Args[first:]
	if !strings.HasSuffix(fn.Name(), "f") {
		return c.values(args, strings.HasSuffix(fn.Name(), "ln")), true
	}
	format := c.TypesInfo.Types[args[0]].Value
	if format == nil || format.Kind() != constant.String {
		return nil, false
	}
	return c.format(constant.StringVal(format), args[1:]), true
}

// values are printed with a space between two of which neither is a string, or
// between all on a line.
func (c *checker) values(args []ast.Expr, line bool) []part {
	var parts []part
	for i, arg := range args {
		if i > 0 && (line || !isString(c.TypesInfo.TypeOf(args[i-1])) && !isString(c.TypesInfo.TypeOf(arg))) {
			parts = append(parts, part{frame: true})
		}
		p := c.part(arg)
		p.verb, p.plain = 'v', true
		parts = append(parts, p)
	}
	return parts
}

// format are the parts of a format; one with explicit indexes or stars is not
// understood.
func (c *checker) format(format string, args []ast.Expr) []part {
	var parts []part
	next := 0
	for format != "" {
		before, after, found := strings.Cut(format, "%")
		if before != "" {
			parts = append(parts, part{frame: true})
		}
		if !found {
			break
		}
		end := strings.IndexFunc(after, func(r rune) bool { return strings.ContainsRune("vTtbcdoOqxXUeEfFgGsp%", r) })
		if end < 0 || strings.ContainsAny(after[:end], "*[") {
			return nil
		}
		flags, verb := after[:end], after[end]
		format = after[end+1:]
		if verb == '%' {
			parts = append(parts, part{frame: true})
			continue
		}
		if next >= len(args) {
			return nil
		}
		parts = append(parts, c.verb(flags, verb, args[next]))
		next++
	}
	return parts
}

func (c *checker) verb(flags string, verb byte, arg ast.Expr) part {
	arg = ast.Unparen(arg)
	p := part{expr: arg, verb: verb, plain: strings.Trim(flags, "+# ") == ""}
	if v := c.TypesInfo.Types[arg].Value; v != nil {
		return part{frame: v.ExactString() != `""`}
	}
	t := types.Unalias(c.TypesInfo.TypeOf(arg))
	if t == nil {
		return part{frame: true}
	}
	number := false
	if b, ok := t.Underlying().(*types.Basic); ok {
		number = b.Info()&types.IsNumeric != 0
	}
	switch verb {
	case 'q', 'T', 't', 'c', 'p':
		p.frame = true
	case 's', 'v':
		p.frame = !number && c.fixed(arg)
	case 'x', 'X':
		_, array := t.Underlying().(*types.Array)
		p.frame = array || c.fixed(arg)
	}
	if call, ok := arg.(*ast.CallExpr); ok && number {
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "len" {
			p.frame = true // of what follows
		}
	}
	if number && !p.plain && strings.HasPrefix(strings.TrimLeft(flags, "+# "), "0") {
		p.frame = true // %08d
	}
	return p
}

// unstable reports a part that is printed in a form that is not the same for the
// same value.
func (c *checker) unstable(p part) {
	if p.expr == nil {
		return
	}
	t := types.Unalias(c.TypesInfo.TypeOf(p.expr))
	if t == nil {
		return
	}
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 && p.plain && strings.IndexByte("vgGeEfF", p.verb) >= 0 && !prints(t) {
		c.float(p.expr, p.expr)
		return
	}
	if p.verb != 'v' && p.verb != 's' {
		return
	}
	if what := address(t, true); what != "" {
		c.report(p.expr, p.expr, "key holds "+what, text(p.expr), "write the fields that identify the work one by one, or canonical JSON")
	}
}

func (c *checker) float(node ast.Node, e ast.Expr) {
	c.report(node, e, "key holds a floating point number as text, which differs between ways to compute it", text(e), "use the smallest unit as an integer")
}

// address says what printing a value of the type shows that is no part of its
// value: addresses, and maps, whose members run together.
func address(t types.Type, top bool) string {
	t = types.Unalias(t)
	if prints(t) {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if st, ok := types.Unalias(u.Elem()).Underlying().(*types.Struct); ok && top {
			return inside(st)
		}
		return "the address of a value, new in every process"
	case *types.Map:
		return "a map as fmt prints it, where members run together"
	case *types.Struct:
		return inside(u)
	case *types.Slice:
		return address(u.Elem(), false)
	case *types.Array:
		return address(u.Elem(), false)
	case *types.Chan:
		return "the address of a channel"
	}
	return ""
}

func inside(st *types.Struct) string {
	for f := range st.Fields() {
		if what := address(f.Type(), false); what != "" {
			return what + ", in field " + f.Name()
		}
	}
	return ""
}

// prints tells whether a type says itself how it is printed.
func prints(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}
