package canonhash

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// rawURL reports a URL that is hashed as it came.
func (c *checker) rawURL(fn *types.Func, call *ast.CallExpr) {
	s := c.Facts.Of(fn, summary.Args{Info: c.TypesInfo, Call: call})
	obj, ok := c.TypesInfo.Defs[c.fn.Decl.Name].(*types.Func)
	if s == nil || !ok || !c.Catalogue.Covers(fn.Pkg().Path()) || c.normalises() {
		return
	}
	for _, h := range s.Hashes {
		for _, arg := range summary.Operands(c.TypesInfo, call, h.From) {
			for _, o := range c.Facts.Origins(obj, arg, 0, "") {
				if o.Volatile != "" || o.Param < 0 || o.Field != "" {
					continue
				}
				param := obj.Signature().Params().At(int(o.Param))
				if isString(param.Type()) && namesURL(param.Name()) {
					c.report(call, arg, "key is made of a URL that was never parsed: the same page has many", param.Name(), "parse it and write it in one form: case of the host, order of the query, no tracking parameters")
					return
				}
			}
		}
	}
}

// normalises tells whether the function parses a URL, or calls something that says
// it does.
func (c *checker) normalises() bool {
	found := false
	c.Inspect(c.fn.Decl, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn := summary.Callee(c.TypesInfo, call); fn != nil && fn.Pkg() != nil {
				name := strings.ToLower(fn.Name())
				found = found || fn.Pkg().Path() == "net/url"
				for _, w := range []string{"normal", "canon", "clean", "sanit"} {
					found = found || strings.Contains(name, w)
				}
			}
		}
		return !found
	})
	return found
}

func namesURL(name string) bool {
	name = strings.ToLower(name)
	for _, w := range []string{"url", "uri", "link", "href"} {
		if strings.HasSuffix(name, w) {
			return true
		}
	}
	return false
}

// dropsQuery reports a function that returns host and path of a URL and never looks
// at its query, where the package uses what it returns as a key.
func (c *checker) dropsQuery() {
	used := map[string]ast.Expr{}
	c.Inspect(c.fn.Decl.Body, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && isURL(c.TypesInfo.TypeOf(sel.X)) && used[sel.Sel.Name] == nil {
			used[sel.Sel.Name] = sel
		}
		return true
	})
	path := used["Path"]
	if path == nil || used["Host"] == nil && used["Hostname"] == nil {
		return
	}
	for _, whole := range []string{"RawQuery", "Query", "String", "RequestURI"} {
		if used[whole] != nil {
			return
		}
	}
	ctx := c.Context(c.fn, path)
	if !ctx.Returned || ctx.Says(elsewhere...) {
		return
	}
	if ctx.Key() {
		c.report(path, path, "key leaves the query of a URL out, by which most pages differ", text(path), "keep it, sorted and without tracking parameters")
		return
	}
	if way := c.keyOfCallers(); way != nil {
		c.Report(c.fn, rule.Finding{
			Node: path, Message: "key leaves the query of a URL out, by which most pages differ", Way: way,
			Advice: "keep it, sorted and without tracking parameters",
		})
	}
}

func isURL(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "net/url" && named.Obj().Name() == "URL"
}

// keyOfCallers is the way from the function to the key that it is used for: by its
// own name, or by what a caller in the package does with the result.
func (c *checker) keyOfCallers() (way []string) {
	self := c.fn.Decl.Name.Name
	for _, file := range c.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || way != nil {
				continue
			}
			fn := &rule.Function{Decl: decl, File: file}
			c.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || way != nil {
					return way == nil
				}
				if callee := summary.Callee(c.TypesInfo, call); callee != nil && callee == c.TypesInfo.Defs[c.fn.Decl.Name] {
					if ctx := c.Context(fn, call); ctx.Key() && !ctx.Says(elsewhere...) {
						way = []string{self, ctx.KeyName()}
					}
				}
				return true
			})
		}
	}
	return way
}
