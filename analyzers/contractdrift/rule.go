package contractdrift

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
	"github.com/idemgen/idem/internal/directive"
)

// New makes the analyzer. It goes by Go files alone, as the caches of the tools do
// that run it; contract files are looked at by the driver of idemlint.
func New(base rule.Base) *analysis.Analyzer { return rule.NewPrepared(Doc, base, prepare) }

// drift is something that does not fit a contract's generated code.
type drift struct{ message, advice string }

const again = "run idemgen"

// checker looks at one package.
type checker struct {
	*rule.Pass
	found map[*types.Func][]drift // by the function that it is reported at
}

func prepare(p *rule.Pass) func(*rule.Pass, *rule.Function) {
	c := &checker{Pass: p, found: map[*types.Func][]drift{}}
	var generated []*ast.File
	for _, file := range p.Files {
		if summary.IsContracts(file) {
			generated = append(generated, file)
			c.edited(file)
		}
	}
	if len(generated) == 0 {
		return nil
	}
	c.format(generated)
	c.interfaces()
	if len(c.found) == 0 {
		return nil
	}
	return c.check
}

func (c *checker) check(_ *rule.Pass, fn *rule.Function) {
	obj, ok := c.TypesInfo.Defs[fn.Decl.Name].(*types.Func)
	if !ok {
		return
	}
	var messages, advice []string
	for _, d := range c.found[obj] {
		messages, advice = append(messages, d.message), append(advice, d.advice)
	}
	if len(messages) > 0 {
		c.Report(fn, rule.Finding{Node: fn.Decl.Name, Message: strings.Join(messages, "; "), Advice: strings.Join(slices.Compact(advice), "; ")})
	}
}

// say puts something down for the handler of a contract or, if that is not known,
// for the first function of the package that people have written: what stands in
// generated files nobody reads, and other tools leave it out.
func (c *checker) say(handler *types.Func, message, advice string) {
	if handler == nil || handler.Pkg() != c.Pkg {
		handler = c.firstFunction()
	}
	if handler != nil {
		c.found[handler] = append(c.found[handler], drift{message, advice})
	}
}

func (c *checker) firstFunction() *types.Func {
	for _, file := range c.Files {
		if !c.Handwritten(file) {
			continue
		}
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				if fn, ok := c.TypesInfo.Defs[decl.Name].(*types.Func); ok {
					return fn
				}
			}
		}
	}
	return nil
}

// edited looks whether a generated file is as it was written.
func (c *checker) edited(file *ast.File) {
	name := c.Fset.File(file.FileStart).Name()
	src, err := c.ReadFile(name)
	if err != nil || !directive.Edited(src) {
		return // what cannot be read here is none of this package's own files
	}
	c.say(c.handlerOf(file), filepath.Base(name)+" was changed after it was generated", "change the contract instead, and run idemgen")
}

// handlerOf is the handler of the first contract that a generated file is about; a
// file of tests is about those of the file beside it.
func (c *checker) handlerOf(file *ast.File) *types.Func {
	source := sourceOf(file)
	for _, other := range append([]*ast.File{file}, c.Files...) {
		if !summary.IsContracts(other) || sourceOf(other) != source {
			continue
		}
		for _, d := range summary.Directives(other, directive.Contract) {
			if fn := summary.Named(c.Pkg, nil, d.Get("handler")); fn != nil {
				return fn
			}
		}
	}
	return nil
}

func sourceOf(file *ast.File) string {
	for _, d := range summary.Directives(file, directive.Source) {
		return d.Get("file")
	}
	return ""
}

// format looks whether generated code says which runtime it was made for. If it
// does and that is another one, it does not compile, and the name of what is missing
// says what to do.
func (c *checker) format(generated []*ast.File) {
	var first *ast.File
	for _, file := range generated {
		if len(summary.Directives(file, directive.Contract)) == 0 {
			continue
		}
		if first == nil {
			first = file
		}
		if c.namesFormat(file) {
			return
		}
	}
	if first != nil {
		c.say(c.handlerOf(first), "the generated code of this package does not say which runtime it was made for: it is older than this one", again)
	}
}

func (c *checker) namesFormat(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "RuntimeFormat") {
			obj := c.TypesInfo.Uses[id]
			found = found || obj != nil && obj.Pkg() != nil && rule.Runtime(obj.Pkg().Path())
		}
		return !found
	})
	return found
}

// interfaces looks whether each effect that generated code knows still is a method
// of the handler's interface. One that is new there keeps the package from compiling.
func (c *checker) interfaces() {
	for _, contract := range c.Contracts() {
		if contract.Pkg != c.Pkg || contract.Effects == nil {
			continue
		}
		var gone []string
		for _, f := range contract.Funcs {
			if !has(contract.Effects, f.Effect) && !slices.Contains(gone, f.Effect) {
				gone = append(gone, f.Effect)
			}
		}
		if len(gone) > 0 {
			c.say(contract.Handler, contract.Effects.Obj().Name()+" has no method any more for what generated code calls "+strings.Join(gone, ", "), again)
		}
	}
}

func has(t *types.Named, effect string) bool {
	it, ok := t.Underlying().(*types.Interface)
	if !ok {
		return true
	}
	for m := range it.Methods() {
		if rule.IsEffect(m.Name(), effect) {
			return true
		}
	}
	return false
}
