package canonhash

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// part is a piece of a text that becomes a key.
type part struct {
	expr  ast.Expr // nil: constant text
	verb  byte     // how it is printed, if by a format
	plain bool     // without precision or width
	frame bool     // it separates what stands around it, or has a fixed width
}

// concat are the operands of a concatenation.
func (c *checker) concat(e ast.Expr) []part {
	e = ast.Unparen(e)
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD && c.TypesInfo.Types[e].Value == nil && isString(c.TypesInfo.TypeOf(e)) {
		return append(c.concat(b.X), c.concat(b.Y)...)
	}
	if call, ok := c.bare(e).(*ast.CallExpr); ok {
		if fn := summary.Callee(c.TypesInfo, call); fn != nil && fn.FullName() == "fmt.Sprintf" {
			if parts, ok := c.printed(fn, call); ok && len(parts) > 0 {
				return parts
			}
		}
	}
	return []part{c.part(e)}
}

// part is an expression that is text or becomes text.
func (c *checker) part(e ast.Expr) part {
	e = c.bare(e)
	if v := c.TypesInfo.Types[e].Value; v != nil {
		return part{frame: v.Kind() != constant.String || constant.StringVal(v) != ""}
	}
	return part{expr: e, frame: c.fixed(e)}
}

// bare takes conversions between strings and bytes off.
func (c *checker) bare(e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !c.TypesInfo.Types[call.Fun].IsType() {
			return e
		}
		e = call.Args[0]
	}
}

// fixed tells whether a part cannot be mistaken for another with what stands beside
// it: it has a fixed width, or its name says that it frames.
func (c *checker) fixed(e ast.Expr) bool {
	t := types.Unalias(c.TypesInfo.TypeOf(e))
	if t == nil { // of a package that could not be loaded
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			return u.Info()&types.IsBoolean != 0 || u.Kind() == types.Byte || u.Kind() == types.Rune
		}
	case *types.Array:
		return true
	default:
		return true // bytes and the rest: nobody can tell
	}
	if call, ok := e.(*ast.CallExpr); ok {
		return c.fixedCall(call)
	}
	return framing(lastName(e))
}

// fixedCall tells whether a call gives text of a fixed width: a digest in hex, an
// identifier, a time in a layout.
func (c *checker) fixedCall(call *ast.CallExpr) bool {
	fn := summary.Callee(c.TypesInfo, call)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if framing(fn.Name()) || c.constant(fn) {
		return true
	}
	switch fn.Name() {
	case "Format", "EncodeToString", "Quote":
		return true
	case "String", "Hex":
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			t := types.Unalias(c.TypesInfo.TypeOf(sel.X))
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem()
			}
			_, array := t.Underlying().(*types.Array)
			return array || rule.IsNamed(t, "time", "Time")
		}
	}
	s := c.Facts.Of(fn, summary.Args{Info: c.TypesInfo, Call: call})
	if s == nil {
		return false
	}
	for _, l := range s.Flow {
		if l.Hashed {
			return true
		}
	}
	return false
}

// constant tells whether a function of the package returns one of some constants of
// the same length, or a number of a fixed width.
func (c *checker) constant(fn *types.Func) bool {
	f := c.Function(fn)
	if f == nil {
		return false
	}
	length, all := -1, true
	c.Inspect(f.Decl.Body, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok {
			return all
		}
		if len(ret.Results) != 1 {
			all = false
			return false
		}
		if call, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr); ok && len(f.Decl.Body.List) > 0 && ret == f.Decl.Body.List[len(f.Decl.Body.List)-1] && length < 0 {
			if parts := c.concat(call); len(parts) > 0 && !slices.ContainsFunc(parts, func(p part) bool { return !p.frame }) {
				length = len(parts)
				return true
			}
		}
		v := c.TypesInfo.Types[ret.Results[0]].Value
		if v == nil || v.Kind() != constant.String || length >= 0 && len(constant.StringVal(v)) != length {
			all = false
			return false
		}
		length = len(constant.StringVal(v))
		return true
	})
	return all && length > 0
}

// framing tells whether a name is of something that is the same everywhere, or
// stands between.
func framing(name string) bool {
	name = strings.ToLower(name)
	for _, w := range []string{"prefix", "suffix", "sep", "delim", "salt", "pepper", "secret", "namespace", "base", "host", "domain", "origin", "version", "newline"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return name == "ns"
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func isString(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := types.Unalias(t).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

const runTogether = "parts of a key run together, so that different work can have the same"

// adjacent reports the first two parts between which nothing stands.
func (c *checker) adjacent(parts []part, node ast.Node) {
	for i := 1; i < len(parts); i++ {
		if a, b := parts[i-1], parts[i]; a.runsInto(b) {
			c.report(node, b.expr, runTogether, text(a.expr)+", "+text(b.expr), "put a separator that neither can hold between them, or quote them")
			return
		}
	}
}

func (p part) runsInto(q part) bool {
	return p.expr != nil && q.expr != nil && !p.frame && !q.frame
}

// empty tells whether nothing stands between what is joined.
func (c *checker) empty(sep ast.Expr) bool {
	tv := c.TypesInfo.Types[c.bare(sep)]
	return tv.IsNil() || tv.Value != nil && tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == ""
}

// appended looks at append(append([]byte(a), b...), c...).
func (c *checker) appended(call *ast.CallExpr) {
	if outer, ok := c.fn.Parent(call).(*ast.CallExpr); ok && c.isAppend(outer) && outer.Args[0] == ast.Expr(call) {
		return
	}
	c.adjacent(c.appendedParts(call), call)
}

func (c *checker) isAppend(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != "append" || len(call.Args) != 2 || !call.Ellipsis.IsValid() {
		return false
	}
	_, builtin := c.TypesInfo.ObjectOf(id).(*types.Builtin)
	slice, bytes := types.Unalias(c.TypesInfo.TypeOf(call)).Underlying().(*types.Slice)
	return builtin && bytes && types.Identical(slice.Elem().Underlying(), types.Typ[types.Byte])
}

func (c *checker) appendedParts(e ast.Expr) []part {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && c.isAppend(call) {
		return append(c.appendedParts(call.Args[0]), c.appendedParts(call.Args[1])...)
	}
	return c.concat(c.bare(e))
}

func (c *checker) join(call *ast.CallExpr) {
	if !c.empty(call.Args[1]) {
		return
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if !ok {
		if framing(lastName(call.Args[0])) {
			return
		}
		c.report(call, call, runTogether, fmt.Sprintf("Join(%s, %q)", text(call.Args[0]), ""), "join them by a separator that none can hold")
		return
	}
	var parts []part
	for _, elt := range lit.Elts {
		parts = append(parts, c.concat(elt)...)
	}
	c.adjacent(parts, call)
}
