package checkinsert

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

var (
	selects = regexp.MustCompile("(?is)^\\s*select\\b.*?\\bfrom\\s+[\"`]?([\\w.]+)[\"`]?.*?\\bwhere\\b\\s*(.*)$")
	inserts = regexp.MustCompile("(?is)^\\s*insert\\s+into\\s+[\"`]?([\\w.]+)[\"`]?\\s*\\(([^)]*)\\)")
	column  = regexp.MustCompile("(?i)[\"`]?(\\w+)[\"`]?\\s*=\\s*(\\$\\d+|\\?|:\\w+|@\\w+)")
)

// inserted reports an INSERT that a SELECT on the same table decides about.
func (c *checker) inserted(g rule.Guard) {
	m := selects.FindStringSubmatch(c.statement(g.Check))
	if m == nil {
		return
	}
	table, cols := m[1], columns(m[2])
	if len(cols) == 0 || slices.ContainsFunc(cols, usuallyUnique) {
		return
	}
	keys := c.keysOf(g.Check)
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !g.Guards(c.fn, call) {
			return true
		}
		ins := inserts.FindStringSubmatch(c.statement(call))
		if ins == nil || !strings.EqualFold(ins[1], table) || c.shared(keys, call) == nil || !hasAll(ins[2], cols) {
			return true
		}
		c.Report(c.fn, rule.Finding{
			Node: call, Message: "two that overlap both find no row and both insert one",
			Way:     []string{"SELECT FROM " + table + " BY " + strings.Join(cols, ", "), "INSERT INTO " + table},
			Advice:  "put a unique index on " + strings.Join(cols, ", ") + " and insert with ON CONFLICT DO NOTHING",
			Related: []analysis.RelatedInformation{{Pos: g.Check.Pos(), End: g.Check.End(), Message: "the lookup"}},
		})
		return true
	})
}

// statement is the constant SQL that a call is given, or empty.
func (c *checker) statement(call *ast.CallExpr) string {
	for _, arg := range call.Args {
		if v := c.TypesInfo.Types[arg].Value; v != nil && v.Kind() == constant.String {
			if s := constant.StringVal(v); catalogue.SQLVerb(s) == "select" || catalogue.SQLVerb(s) == "insert" {
				return s
			}
		}
	}
	return ""
}

// verb is what the constant SQL of a call begins with, or empty.
func (c *checker) verb(call *ast.CallExpr) string {
	for _, arg := range call.Args {
		if v := c.TypesInfo.Types[arg].Value; v != nil && v.Kind() == constant.String {
			if verb := catalogue.SQLVerb(constant.StringVal(v)); verb != "" {
				return verb
			}
		}
	}
	return ""
}

func columns(where string) []string {
	var cols []string
	for _, m := range column.FindAllStringSubmatch(where, -1) {
		cols = append(cols, strings.ToLower(m[1]))
	}
	return cols
}

// usuallyUnique tells whether a column almost always has a unique index, so that
// the second insert fails.
func usuallyUnique(col string) bool {
	switch col {
	case "id", "uuid", "guid", "email", "username", "user_name", "login", "name", "slug", "phone", "key", "code", "token":
		return true
	}
	return false
}

func hasAll(list string, cols []string) bool {
	var have []string
	for col := range strings.SplitSeq(list, ",") {
		have = append(have, strings.ToLower(strings.Trim(strings.TrimSpace(col), "\"`")))
	}
	return !slices.ContainsFunc(cols, func(col string) bool { return !slices.Contains(have, col) })
}

// failed reports a lookup whose error counts as if nothing had been found.
func (c *checker) failed(g rule.Guard) {
	callee := summary.Callee(c.TypesInfo, g.Check)
	if callee == nil || !rule.GivesError(callee) || !c.asks(callee, g.Check) {
		return
	}
	h := c.ErrorOf(c.fn, g.Check)
	logged := h.Bad != nil && h.Good == nil && len(h.Bad.List) > 0 && c.OnlyLogs(h.Bad) && !rule.Ends(h.Bad) && h.If != g.If
	if !h.Dropped && !logged {
		return
	}
	what := c.taken(g)
	if what == "" || len(c.Facts.Sinks(c.TypesInfo, c.fn.Decl.Body)) > 0 { // a key is recorded with it
		return
	}
	how := "error only logged"
	if h.Dropped {
		how = "error dropped"
	}
	c.Report(c.fn, rule.Finding{
		Node: g.Check, Message: "what could not be looked up counts as new",
		Way:    []string{rule.CallName(g.Check), how, what},
		Advice: "stop or try again later if the lookup fails",
	})
}

// asks tells whether a lookup is about what has been done: by its name, or because
// it asks whether a piece of work exists, and not a file, a bucket or a table.
func (c *checker) asks(fn *types.Func, call *ast.CallExpr) bool {
	words := catalogue.Words(fn.Name())
	if containsOne(words, "processed", "seen", "duplicate", "handled", "sent", "notified", "delivered") {
		return true
	}
	if !containsOne(words, "exists", "exist") {
		return false
	}
	for _, key := range c.keysOf(call) {
		words = append(words, catalogue.Words(types.ExprString(key))...)
	}
	return containsOne(words, "hash", "fingerprint", "guid", "event", "message", "msg", "item", "content", "article", "post", "order", "payment", "webhook", "delivery", "link", "url", "key", "notification") &&
		!containsOne(words, "file", "path", "dir", "bucket", "table", "column", "index", "topic", "object", "folder")
}

func containsOne(words []string, any ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
}

// taken is what happens to what counts as new: it is sent, or kept to be.
func (c *checker) taken(g rule.Guard) string {
	keys := c.keysOf(g.Check)
	what := ""
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || what != "" || !g.Guards(c.fn, call) {
			return what == ""
		}
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && id.Name == "append" && len(call.Args) > 1 && c.inLoop(g.If, call) {
			what = "append"
		} else if a, ok := c.Outward(c.fn, call); ok {
			what = lastName(a)
		} else if c.records(call) && c.shared(keys, call) != nil {
			what = rule.CallName(call)
		}
		return what == ""
	})
	return what
}

// inLoop tells whether both are in the body of the same loop over items.
func (c *checker) inLoop(a, b ast.Node) bool {
	for n := c.fn.Parent(a); n != nil; n = c.fn.Parent(n) {
		if loop, ok := n.(*ast.RangeStmt); ok {
			return c.fn.Within(b, loop.Body)
		}
	}
	return false
}
