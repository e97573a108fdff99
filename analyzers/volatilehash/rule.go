package volatilehash

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// New makes the analyzer.
func New(base rule.Base) *analysis.Analyzer { return rule.New(Doc, base, check) }

// checker looks at one function.
type checker struct {
	*rule.Pass
	fn   *rule.Function
	obj  *types.Func
	keys map[token.Pos]bool // new values that become keys: those are randomkey's
}

func check(p *rule.Pass, fn *rule.Function) {
	obj, ok := p.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok {
		return
	}
	c := &checker{p, fn, obj, map[token.Pos]bool{}}
	c.sinks()
	c.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			c.call(call)
		}
		return true
	})
}

// sinks looks at keys that are no hashes but hold a volatile field.
func (c *checker) sinks() {
	for _, sink := range c.Facts.Sinks(c.TypesInfo, c.fn.Decl.Body) {
		for _, o := range c.Facts.Origins(c.obj, sink.Expr, sink.Result, sink.Field) {
			switch {
			case o.New():
				c.keys[o.Pos] = true
			case delivered(o):
				c.report(o, "key changes with every delivery", sink.Way[len(sink.Way)-1])
			}
		}
	}
}

// delivered tells whether a value comes with a delivery. One that has been hashed
// on its way is reported where it was: there it can be left out.
func delivered(o summary.Origin) bool {
	return (o.Volatile == catalogue.Request || o.Volatile == catalogue.Received) && !o.Hashed
}

// call looks at what a call hashes.
func (c *checker) call(call *ast.CallExpr) {
	fn := summary.Callee(c.TypesInfo, call)
	s := c.Facts.Of(fn, summary.Args{Info: c.TypesInfo, Call: call})
	if s == nil {
		return
	}
	for _, h := range s.Hashes {
		for _, arg := range summary.Operands(c.TypesInfo, call, h.From) {
			os := c.Facts.Origins(c.obj, arg, 0, h.Field)
			if h.Encoded {
				os = c.Facts.Encoded(c.obj, arg)
			}
			if c.readThere(fn, h) {
				os = slices.DeleteFunc(slices.Clone(os), func(o summary.Origin) bool { return !o.New() && o.Volatile != "" })
			}
			c.hashed(call, os)
		}
	}
}

// readThere tells whether a function reads or encodes the fields of what it is given
// itself: then it is reported, and not all those that call it.
func (c *checker) readThere(fn *types.Func, h summary.Reach) bool {
	if h.Field != "" {
		return true
	}
	params := fn.Signature().Params()
	if !h.Encoded || c.Catalogue.Covers(fn.Pkg().Path()) {
		return false
	}
	t := fn.Signature().Recv()
	if h.From >= 0 && int(h.From) < params.Len() {
		t = params.At(int(h.From))
	}
	if t == nil {
		return false
	}
	if _, generic := types.Unalias(t.Type()).(*types.TypeParam); generic {
		return false
	}
	return !types.IsInterface(t.Type())
}

func (c *checker) hashed(call *ast.CallExpr, os summary.Origins) {
	if !os.Has(func(o summary.Origin) bool { return o.Volatile != "" && o.Volatile != catalogue.Inbound }) {
		return
	}
	ctx := c.Context(c.fn, call)
	if ctx.Returned {
		ctx.Names = append(ctx.Names, c.fn.Decl.Name.Name)
	}
	if ctx.Says(elsewhere...) {
		return
	}
	for _, o := range together(os) {
		switch {
		case c.keys[o.Pos]:
		case o.New():
			if ctx.Key() {
				c.report(o, "hash is new on every attempt", ctx.KeyName())
			}
		case delivered(o):
			if ctx.Key() || !catalogue.NeedsKeyContext(lastElem(o.Way)) && c.besides(os, o) {
				c.report(o, "hash changes with every delivery", goal(ctx))
			}
		}
	}
}

// together makes one of the volatile fields of one encoded value, which one change
// takes care of.
func together(os summary.Origins) summary.Origins {
	var all summary.Origins
	for _, o := range os {
		i := slices.IndexFunc(all, func(p summary.Origin) bool { return o.Encoded && p.Encoded && p.Pos == o.Pos && p.Volatile != "" })
		if i < 0 || o.Volatile == "" || catalogue.NeedsKeyContext(lastElem(o.Way)) {
			all = append(all, o)
			continue
		}
		all[i].Way = slices.Clone(all[i].Way)
		all[i].Way[0] += ", " + lastElem(o.Way)
	}
	return all
}

// besides tells whether something of the work is hashed as well.
func (c *checker) besides(os summary.Origins, o summary.Origin) bool {
	field := lastElem(o.Way)
	return o.Encoded || os.Has(func(other summary.Origin) bool {
		return other.Volatile == "" && other.Field != field && (other.Field != "" || o.Pos == token.NoPos || !c.sameParam(other, o))
	})
}

// sameParam tells whether a parameter is the struct that a field was read from: its
// own fields have origins of their own.
func (c *checker) sameParam(param, field summary.Origin) bool {
	found := false
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Pos() != field.Pos {
			return !found
		}
		if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok && param.Param >= 0 {
			found = c.TypesInfo.ObjectOf(id) == c.obj.Signature().Params().At(int(param.Param))
		}
		return !found
	})
	return found
}

func goal(ctx rule.Context) string {
	if ctx.Key() {
		return ctx.KeyName()
	}
	return "hash"
}

// lastElem is the name of the field that a way begins with.
func lastElem(way []string) string {
	if len(way) == 0 {
		return ""
	}
	name := way[0]
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// elsewhere are names of hashes that are not to recognise work.
var elsewhere = []string{
	"etag", "sign", "hmac", "mac", "token", "session", "refresh", "pkce", "challenge", "verifier", "nonce", "csrf", "xsrf", "cache", "bust",
	"auth", "password", "passwd", "trace", "span", "log", "sampl", "shard", "partition", "avatar", "color", "chain", "merkle", "prevhash", "seed",
}

// versioned tells whether the function reads the version of what a time of update is
// read from: then both say which state of it the work is about.
func (c *checker) versioned(field string) bool {
	if !strings.HasPrefix(strings.ToLower(field), "updated") && !strings.HasPrefix(strings.ToLower(field), "modified") {
		return false
	}
	var times, versions []string
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			switch sel.Sel.Name {
			case field:
				times = append(times, types.ExprString(sel.X))
			case "Version", "Revision", "Generation", "ResourceVersion":
				versions = append(versions, types.ExprString(sel.X))
			}
		}
		return true
	})
	return slices.ContainsFunc(times, func(x string) bool { return slices.Contains(versions, x) })
}

func (c *checker) report(o summary.Origin, message, goal string) {
	node := c.nodeAt(o.Pos)
	if node == nil || len(o.Way) > 0 && c.versioned(lastElem(o.Way)) {
		return
	}
	c.Report(c.fn, rule.Finding{
		Node: node, Source: o.Pos, Message: message,
		Way:    append(slices.Clone(o.Way), goal),
		Advice: "leave it out: only what identifies the work belongs in",
	})
}

// nodeAt is the expression that begins at a position: the call or the field.
func (c *checker) nodeAt(pos token.Pos) ast.Node {
	var found ast.Node
	c.Inspect(c.fn.Decl, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CallExpr, *ast.SelectorExpr, *ast.Ident, *ast.CompositeLit, *ast.UnaryExpr:
			if found == nil && n.Pos() == pos {
				found = n
			}
		}
		return found == nil
	})
	return found
}
