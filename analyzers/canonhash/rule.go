package canonhash

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

// checker looks at one function.
type checker struct {
	*rule.Pass
	fn *rule.Function
}

func check(p *rule.Pass, fn *rule.Function) {
	c := &checker{p, fn}
	c.dropsQuery()
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if isString(c.TypesInfo.TypeOf(n)) && !c.nested(n) {
				c.adjacent(c.concat(n), n)
			}
		case *ast.CallExpr:
			c.call(n)
		case *ast.BlockStmt:
			c.writes(n.List, n)
		case *ast.CaseClause:
			c.writes(n.Body, n)
		case *ast.RangeStmt:
			c.mapRange(n)
		}
		return true
	})
}

// nested tells whether an addition is an operand of another.
func (c *checker) nested(n *ast.BinaryExpr) bool {
	for parent := c.fn.Parent(n); ; parent = c.fn.Parent(parent) {
		switch parent := parent.(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			return parent.Op == n.Op
		default:
			return false
		}
	}
}

func (c *checker) call(call *ast.CallExpr) {
	if c.isAppend(call) {
		c.appended(call)
		return
	}
	fn := summary.Callee(c.TypesInfo, call)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	if parts, ok := c.printed(fn, call); ok {
		c.adjacent(parts, call)
		for _, p := range parts {
			c.unstable(p)
		}
	}
	switch fn.FullName() {
	case "strings.Join", "bytes.Join":
		c.join(call)
	case "strconv.FormatFloat":
		if prec := c.TypesInfo.Types[call.Args[2]].Value; prec != nil && prec.ExactString() == "-1" {
			c.float(call, call.Args[0])
		}
	}
	c.rawURL(fn, call)
}

// report reports a fault of what becomes a key. way leads to the name that says so.
func (c *checker) report(node ast.Node, about ast.Expr, message, way, advice string) {
	ctx := c.Context(c.fn, about)
	if !ctx.Key() || ctx.Says(elsewhere...) {
		return
	}
	c.Report(c.fn, rule.Finding{Node: node, Message: message, Way: []string{way, ctx.KeyName()}, Advice: advice})
}

// elsewhere are names of values for which another form does no harm.
var elsewhere = []string{"etag", "cachekey", "cache_key", "signature", "password", "loglabel"}

// text is an expression as written, shortened.
func text(e ast.Expr) string {
	s := types.ExprString(e)
	if r := []rune(s); len(r) > 40 {
		return string(r[:37]) + "..."
	}
	return s
}
