package mixeddecision

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// values are the variables that hold an answer, by the field that does: "" is all of
// the variable.
type values map[types.Object]map[string]*question

// follow finds what holds an answer: by syntax, in the order of the source, once
// around each loop.
func (c *checker) follow() {
	c.values = values{}
	for range 2 {
		c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					rhs := n.Rhs[0]
					if len(n.Rhs) == len(n.Lhs) {
						rhs = n.Rhs[i]
					}
					c.hold(lhs, c.answer(rhs))
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if len(n.Values) == len(n.Names) {
						c.hold(name, c.answer(n.Values[i]))
					} else if len(n.Values) == 1 {
						c.hold(name, c.answer(n.Values[0]))
					}
				}
			case *ast.RangeStmt:
				from := c.answer(n.X)
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if e != nil {
						c.hold(e, from)
					}
				}
			case *ast.CallExpr:
				c.filled(n)
			}
			return true
		})
	}
}

// hold puts an answer into what an expression names.
func (c *checker) hold(e ast.Expr, from *question) {
	if from == nil {
		return
	}
	field := ""
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
			continue
		case *ast.StarExpr:
			e = x.X
			continue
		case *ast.SelectorExpr:
			if s := c.TypesInfo.Selections[x]; s == nil || s.Kind() != types.FieldVal {
				return
			}
			field, e = x.Sel.Name, x.X
			continue
		case *ast.Ident:
			v, ok := c.TypesInfo.ObjectOf(x).(*types.Var)
			if !ok || v.IsField() || aside(v.Type()) {
				return
			}
			if c.values[v] == nil {
				c.values[v] = map[string]*question{}
			}
			if c.values[v][field] == nil {
				c.values[v][field] = from
			}
		}
		return
	}
}

// aside tells whether values of a type carry no answer: errors, contexts, and what
// answers a request.
func aside(t types.Type) bool {
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		return true
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() + "." + n.Obj().Name() {
	case "context.Context", "net/http.ResponseWriter", "time.Time", "time.Duration":
		return true
	}
	return false
}

// filled are the variables that a call with an answer among its arguments writes
// into: json.Unmarshal(answer, &v), b.WriteString(answer).
func (c *checker) filled(call *ast.CallExpr) {
	from := c.fed(call)
	if from == nil {
		return
	}
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			c.hold(u.X, from)
		}
	}
	callee := summary.Callee(c.TypesInfo, call)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && callee != nil && callee.Pkg() != nil && callee.Signature().Recv() != nil {
		if path := callee.Pkg().Path(); path == "strings" || path == "bytes" {
			c.hold(sel.X, from)
		}
	}
}

// fed is the answer that is among the arguments of a call.
func (c *checker) fed(call *ast.CallExpr) *question {
	for _, arg := range call.Args {
		if _, lit := ast.Unparen(arg).(*ast.FuncLit); lit {
			continue
		}
		if from := c.answer(arg); from != nil {
			return from
		}
	}
	return nil
}

// answer is the question whose answer is part of an expression. Its metadata are not:
// what an answer has cost, or how it is called.
func (c *checker) answer(e ast.Expr) (from *question) {
	c.Inspect(e, func(n ast.Node) bool {
		if from != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if isMetadata(n.Sel.Name) {
				return false
			}
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok {
				if fields := c.values[c.TypesInfo.ObjectOf(id)]; fields != nil {
					from = first(fields[""], fields[n.Sel.Name])
				}
				return false
			}
		case *ast.CallExpr:
			if from = c.questionOf(n); from != nil {
				return false
			}
			return c.passes(n)
		case *ast.Ident:
			fields := c.values[c.TypesInfo.ObjectOf(n)]
			for _, name := range sorted(fields) {
				from = first(from, fields[name])
			}
		}
		return true
	})
	return from
}

func first(all ...*question) *question {
	for _, q := range all {
		if q != nil {
			return q
		}
	}
	return nil
}

func sorted(fields map[string]*question) []string {
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *checker) questionOf(call *ast.CallExpr) *question {
	for i := range c.asked {
		if c.asked[i].call == call {
			return &c.asked[i]
		}
	}
	return nil
}

// passes tells whether a call gives something of its arguments: it does unless it
// measures, looks up or saves them.
func (c *checker) passes(call *ast.CallExpr) bool {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := c.TypesInfo.ObjectOf(id).(*types.Builtin); ok {
			return b.Name() == "append" || b.Name() == "string" || b.Name() == "min" || b.Name() == "max"
		}
	}
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil {
		return true
	}
	if callee.Signature().Recv() != nil && types.IsInterface(callee.Signature().Recv().Type()) {
		return false // a store, or something else that is outside
	}
	s := c.Facts.Of(callee, summary.Args{Info: c.TypesInfo, Call: call})
	return (s == nil || len(s.Effects) == 0) && !catalogue.IsLookup(callee.Name())
}

// isMetadata tells whether a field says something about an answer.
func isMetadata(name string) bool {
	words := catalogue.Words(name)
	if len(words) == 0 {
		return false
	}
	return slices.Contains([]string{"usage", "tokens", "id", "created", "model", "cost", "duration", "latency", "finish"}, words[0]) || words[len(words)-1] == "tokens"
}

// controlled is the answer that decides whether a call is made.
func (c *checker) controlled(call ast.Node) *question {
	child := call
	for n := c.fn.Parent(call); n != nil; child, n = n, c.fn.Parent(n) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if child == n.Body || child == n.Else {
				if from := c.content(n.Cond); from != nil {
					return from
				}
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if from := c.content(e); from != nil {
					return from
				}
			}
		case *ast.SwitchStmt:
			if child == n.Body && n.Tag != nil {
				if from := c.content(n.Tag); from != nil {
					return from
				}
			}
		case *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// content is the answer whose content a condition looks at: not whether there is
// one, or how long it is.
func (c *checker) content(cond ast.Expr) *question {
	switch e := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return first(c.content(e.X), c.content(e.Y))
		}
		if c.TypesInfo.Types[e.Y].IsNil() || c.TypesInfo.Types[e.X].IsNil() || isEmpty(c.TypesInfo, e.X) || isEmpty(c.TypesInfo, e.Y) {
			return nil
		}
	case *ast.UnaryExpr:
		return c.content(e.X)
	}
	return c.answer(cond)
}

func isEmpty(info *types.Info, e ast.Expr) bool {
	v := info.Types[e].Value
	return v != nil && (v.ExactString() == `""` || v.ExactString() == "0")
}
