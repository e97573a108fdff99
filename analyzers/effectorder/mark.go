package effectorder

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// isMark tells whether a call records that work is over: by its name, a status that
// it is given, or its SQL.
func (c *checker) isMark(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || c.Logs(call) {
		return false
	}
	words := catalogue.Words(callee.Name())
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(beside, w) }) {
		return false
	}
	if c.sql(call) {
		return true
	}
	if words[0] == "mark" || words[0] == "tag" || slices.Contains(writes, words[0]) {
		if slices.ContainsFunc(words[1:], func(w string) bool {
			return catalogue.NamesDone(w) && (w != "seen" || words[0] == "mark" || words[0] == "tag") // not UpdateLastSeen
		}) {
			return true
		}
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return c.saysDone(call, arg) }) && !c.announces(call)
	}
	return c.empties(words)
}

// announces tells whether a call that writes a status tells others of it: creating a
// commit status is no record of ours.
func (c *checker) announces(call *ast.CallExpr) bool {
	_, outward := c.Outward(c.fn, call)
	return outward
}

var (
	writes = []string{"set", "update", "save", "put", "change", "transition", "move", "record", "store", "create", "insert"}
	beside = []string{"fetch", "fetched", "session", "metric", "metrics", "span", "progress", "read", "header", "unread", "failed", "cookie", "count", "counter", "stats", "total"}
)

// empties tells whether a call takes away what the work was begun from: what is in
// a cart is bought again if it stays there.
func (c *checker) empties(words []string) bool {
	if !slices.Contains([]string{"empty", "clear", "consume", "dequeue"}, words[0]) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains([]string{"cart", "basket", "pending", "queue", "outbox", "queued"}, w)
	})
}

var doneSQL = regexp.MustCompile(`(?is)^\s*update\b.*\bset\b.*(\b(status|state)\s*=\s*'(\w+)'|\b(is_)?(sent|paid|refunded|processed|completed|delivered|notified|published|handled)(_at|_on)?\s*=\s*(true|1|now|current_timestamp|\$|\?|datetime))`)

func (c *checker) sql(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v := c.TypesInfo.Types[arg].Value
		if v == nil || v.Kind() != constant.String {
			return false
		}
		m := doneSQL.FindStringSubmatch(constant.StringVal(v))
		return m != nil && (m[3] == "" || catalogue.NamesDone(m[3]))
	})
}

// saysDone tells whether an argument is a constant that says so, or holds a status
// that does.
func (c *checker) saysDone(call *ast.CallExpr, arg ast.Expr) bool {
	arg = ast.Unparen(arg)
	if u, ok := arg.(*ast.UnaryExpr); ok && u.Op == token.AND {
		arg = ast.Unparen(u.X)
	}
	if c.doneConstant(arg) {
		return true
	}
	switch arg := arg.(type) {
	case *ast.CompositeLit:
		return slices.ContainsFunc(arg.Elts, func(elt ast.Expr) bool {
			kv, ok := elt.(*ast.KeyValueExpr)
			return ok && isStatus(strings.Trim(types.ExprString(kv.Key), `"`)) && c.doneConstant(kv.Value)
		})
	case *ast.Ident:
		return c.setBefore(call, c.TypesInfo.ObjectOf(arg))
	}
	return false
}

func isStatus(name string) bool {
	n := strings.ToLower(name)
	return strings.HasSuffix(n, "status") || strings.HasSuffix(n, "state")
}

// doneConstant is a text "sent", or a constant whose name ends in such a word:
// StatusSent.
func (c *checker) doneConstant(e ast.Expr) bool {
	v := c.TypesInfo.Types[e].Value
	if v == nil {
		return false
	}
	if v.Kind() == constant.String && catalogue.NamesDone(constant.StringVal(v)) {
		return true
	}
	name := ""
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	words := catalogue.Words(name)
	return len(words) > 1 && slices.ContainsFunc(words, func(w string) bool { return w == "status" || w == "state" }) && slices.ContainsFunc(words, catalogue.NamesDone)
}

// setBefore tells whether the last thing that the status of a variable was set to
// before the call says that work is over.
func (c *checker) setBefore(call *ast.CallExpr, obj types.Object) bool {
	done := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) || !c.fn.Before(a, call) {
			return true
		}
		for i, lhs := range a.Lhs {
			sel, ok := lhs.(*ast.SelectorExpr)
			if !ok || !isStatus(sel.Sel.Name) {
				continue
			}
			if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok && obj != nil && c.TypesInfo.ObjectOf(id) == obj {
				done = c.doneConstant(a.Rhs[i])
			}
		}
		return true
	})
	return done
}
