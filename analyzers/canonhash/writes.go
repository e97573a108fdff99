package canonhash

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/summary"
)

// writes looks at what consecutive statements write into the same hash or builder.
// A loop writes what it begins with after what it ends with.
func (c *checker) writes(list []ast.Stmt, block ast.Node) {
	type written struct {
		parts []part
		node  ast.Node
		whole bool // nothing else in the block may write in between
	}
	sinks := map[types.Object]*written{}
	var order []types.Object
	for _, stmt := range list {
		obj, call, parts := c.write(stmt)
		if obj == nil {
			for o := range sinks {
				if mentions(c.TypesInfo, stmt, o) {
					sinks[o].parts = append(sinks[o].parts, part{frame: true})
					sinks[o].whole = false
				}
			}
			continue
		}
		w := sinks[obj]
		if w == nil {
			w = &written{node: stmt, whole: true}
			if call != nil {
				w.node = call
			}
			sinks[obj], order = w, append(order, obj)
		}
		w.parts = append(w.parts, parts...)
	}
	loop := c.loops(block)
	for _, obj := range order {
		w := sinks[obj]
		c.adjacent(w.parts, w.node)
		if n := len(w.parts); loop && w.whole && n > 0 && obj.Pos() < block.Pos() && w.parts[n-1].runsInto(w.parts[0]) {
			p := w.parts[0]
			c.report(w.node, p.expr, runTogether, text(p.expr)+" of each round of the loop", "put a separator that none can hold between them, or quote them")
		}
	}
}

func (c *checker) loops(block ast.Node) bool {
	switch c.fn.Parent(block).(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

func mentions(info *types.Info, n ast.Node, obj types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && info.Uses[id] == obj {
			found = true
		}
		return !found
	})
	return found
}

// write is a statement that writes text into a variable that is a hash or builder.
func (c *checker) write(stmt ast.Stmt) (types.Object, *ast.CallExpr, []part) {
	var e ast.Expr
	switch stmt := stmt.(type) {
	case *ast.ExprStmt:
		e = stmt.X
	case *ast.AssignStmt:
		if len(stmt.Rhs) == 1 {
			e = stmt.Rhs[0]
		}
		if stmt.Tok == token.ADD_ASSIGN && isString(c.TypesInfo.TypeOf(stmt.Lhs[0])) {
			return c.variable(stmt.Lhs[0]), nil, c.concat(e)
		}
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil, nil, nil
	}
	fn := summary.Callee(c.TypesInfo, call)
	if fn == nil || fn.Pkg() == nil {
		return nil, nil, nil
	}
	if parts, ok := c.printed(fn, call); ok && strings.HasPrefix(fn.Name(), "F") {
		return c.variable(call.Args[0]), call, parts
	}
	switch fn.FullName() {
	case "io.WriteString":
		return c.variable(call.Args[0]), call, c.concat(call.Args[1])
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 {
		return nil, nil, nil
	}
	switch fn.Name() {
	case "Write", "WriteString":
		return c.variable(sel.X), call, c.concat(c.bare(call.Args[0]))
	case "WriteByte", "WriteRune":
		return c.variable(sel.X), call, []part{{frame: true}}
	}
	return nil, nil, nil
}

// variable is the local variable that an expression is, or points to.
func (c *checker) variable(e ast.Expr) types.Object {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := c.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || v.Parent() == c.Pkg.Scope() {
		return nil
	}
	return v
}

// collected is a list of texts that a statement appends to, and what it appends,
// unless the function sorts it.
func (c *checker) collected(stmt ast.Stmt) (types.Object, []part) {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil, nil
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil, nil
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != "append" || !isString(c.TypesInfo.TypeOf(call.Args[1])) {
		return nil, nil
	}
	obj := c.variable(a.Lhs[0])
	if obj == nil || c.sorts(obj) {
		return nil, nil
	}
	return obj, c.concat(call.Args[1])
}

// sorts tells whether a variable is given to a function that orders it, or that may.
func (c *checker) sorts(obj types.Object) bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		name := strings.ToLower(types.ExprString(call.Fun))
		found = found || (strings.Contains(name, "sort") || strings.Contains(name, "order") || strings.Contains(name, "canon") || strings.Contains(name, "normal")) && mentions(c.TypesInfo, call, obj)
		return !found
	})
	return found
}

// mapRange reports a map that goes into a text or hash in the order of its
// iteration.
func (c *checker) mapRange(loop *ast.RangeStmt) {
	t := c.TypesInfo.TypeOf(loop.X)
	if t == nil {
		return
	}
	if _, ok := types.Unalias(t).Underlying().(*types.Map); !ok {
		return
	}
	for _, stmt := range loop.Body.List {
		obj, call, parts := c.write(stmt)
		if obj == nil {
			obj, parts = c.collected(stmt)
		}
		if obj == nil || obj.Pos() > loop.Pos() {
			continue
		}
		for _, p := range parts {
			if p.expr == nil {
				continue
			}
			var node ast.Node = stmt
			if call != nil {
				node = call
			}
			c.report(node, p.expr, "key depends on the order in which a map is iterated, which is new each time", text(loop.X), "sort the keys first")
			break
		}
	}
}
