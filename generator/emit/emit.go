package emit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/internal/directive"
)

// The packages that generated code calls.
const (
	idemPath  = "github.com/idemgen/idem/runtime"
	canonPath = "github.com/idemgen/idem/runtime/canon"
)

// realNames are the names of packages that generated code itself asks for.
var realNames = map[string]string{
	idemPath: "idem", canonPath: "canon",
	"context": "context", "strconv": "strconv", "time": "time",
}

// Package renders the files of a package, in the order of the model. An error
// means that the generator is wrong, not the contract.
func Package(p *model.Package) ([]Output, error) {
	g := &pkg{Package: p, names: newNames(p)}
	g.nameAll()
	var outputs []Output
	for i, mf := range p.Files {
		src, err := g.file(mf, i == 0)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", mf.Output, err)
		}
		outputs = append(outputs, output(mf.Output, src))
	}
	for _, mf := range p.Files {
		src, err := g.testFile(mf)
		if err != nil {
			return nil, fmt.Errorf("render the test of %s: %w", mf.Output, err)
		}
		if src != nil {
			outputs = append(outputs, output(strings.TrimSuffix(mf.Output, ".go")+"_test.go", src))
		}
	}
	return outputs, nil
}

// pkg is the package at work.
type pkg struct {
	*model.Package
	names     *names
	contracts string // name of the type Contracts
	new       string // name of the function New
	filled    string // name of the function that tests fill pointers with

	filledDeclared bool
	receivers      map[*model.Receiver]string
	kinds          map[*model.Contract]*kindNames
}

// kindNames are the names of one contract's declarations.
type kindNames struct {
	field   string // of Contracts
	new     string
	id      string
	scope   string
	stored  string
	latest  string
	guards  string
	effects string
	word    string // OrderPaid
	local   string // the contract as a variable; empty if it is no child
}

// nameAll gives all names that stand at package scope and in signatures, before
// anything is rendered, so that imports can keep clear of them.
func (g *pkg) nameAll() {
	g.contracts = g.names.declare("Contracts", "IdemContracts")
	g.new = g.names.declare("New", "New"+g.contracts)
	g.filled = g.names.declare("filled", "filledPointer")
	g.receivers = map[*model.Receiver]string{}
	for _, r := range g.Receivers {
		g.receivers[r] = g.names.parameter(lowerFirst(r.Name))
	}
	g.kinds = map[*model.Contract]*kindNames{}
	fields := scope{}
	for _, f := range g.Files {
		for _, c := range f.Contracts {
			g.kinds[c] = g.nameKind(c, fields)
		}
	}
	for _, c := range g.Children() {
		k := g.kinds[c]
		k.local = g.names.parameter(lowerFirst(k.word) + "Contract")
	}
}

func (g *pkg) nameKind(c *model.Contract, fields scope) *kindNames {
	word := contracts.MethodName(c.Spec.Kind.V)
	lower := lowerFirst(word)
	k := &kindNames{word: word, field: fields.declare(word)}
	k.new = g.names.declare("new"+word, "new"+word+"Contract")
	k.id = g.names.declare(lower+"ID", lower+"WorkID")
	for _, old := range c.Honored {
		version := fmt.Sprintf("V%d", old.Spec.Version.V)
		g.kinds[old] = &kindNames{word: word + version, id: g.names.declare(lower+"ID"+version, lower+"WorkID"+version)}
	}
	if c.Scope != nil {
		k.scope = g.names.declare(lower+"Scope", lower+"WorkScope")
	}
	if c.Redact != nil {
		k.stored = g.names.declare(lower+"Stored", lower+"StoredInput")
	}
	if c.Latest != nil {
		k.latest = g.names.declare(lower+"Latest", lower+"WorkLatest")
	}
	if len(c.Effects) > 0 {
		k.guards = g.names.declare(lower+"Guards", lower+"GuardedEffects")
		k.effects = g.names.declare(lower+"Effects", lower+"LedgerEffects")
	}
	return k
}

// file is the file at work.
type file struct {
	*pkg
	frame       *jen.File              // package clause and imports
	imports     map[string]string      // paths, and names with a dot
	importNames scope                  // their names
	decls       []string               // all other declarations, with their comments
	funcs       map[*model.Form]string // functions for forms
	same        map[string]string      // the same, by type and description
	queue       []*model.Form          // those that are still to be written
	chains      map[string]string      // functions for normalisers
	later       []func()               // their declarations
	contract    *model.Contract        // at work
	fills       bool                   // it calls the function filled
}

func (g *pkg) newFile() *file {
	f := &file{
		pkg: g, frame: jen.NewFilePathName(g.Path, g.Name), imports: map[string]string{}, importNames: scope{},
		funcs: map[*model.Form]string{}, same: map[string]string{}, chains: map[string]string{},
	}
	f.frame.NoFormat = true
	f.frame.Comment(endOfFrame)
	return f
}

func (g *pkg) file(mf *model.File, first bool) ([]byte, error) {
	f := g.newFile()
	if first {
		f.fits()
		f.contractsType()
		f.newFunc()
	}
	for _, c := range mf.Contracts {
		f.contract = c
		f.kind(mf, c)
		f.forms()
	}
	return f.render(header(mf))
}

// declare adds a declaration with the comment above it.
func (f *file) declare(doc, code string) { f.decls = append(f.decls, docComment(doc)+code) }

// endOfFrame stands after the imports in what jennifer renders. It imports what it
// sees used, so what follows is a use of each import.
const endOfFrame = "// End of the imports."

// render is the file with what stands above the package clause.
func (f *file) render(header []byte) ([]byte, error) {
	var frame strings.Builder
	if err := f.frame.Render(&frame); err != nil {
		return nil, err
	}
	head, _, _ := strings.Cut(frame.String(), "\n"+endOfFrame)
	head = strings.TrimRight(groupImports(head), "\n")
	size := len(header) + len(head)
	for _, d := range f.decls {
		size += len(d) + len(d)/4
	}
	out := indented(append(make([]byte, 0, size), header...), head)
	for _, d := range f.decls {
		out = append(out, '\n')
		out = indented(out, d)
	}
	return out, nil
}

// sourceHeader says what a file was generated from.
func sourceHeader(mf *model.File) []byte {
	source := directive.Directive{Name: directive.Source, Args: []directive.Arg{{Name: "file", Value: mf.Source}, {Name: "sha256", Value: mf.Digest}}}
	return []byte(directive.Header(mf.Source) + "\n\n" + source.String() + "\n\n")
}

func header(mf *model.File) []byte {
	lines := []string{directive.Header(mf.Source), ""}
	add := func(name string, args ...directive.Arg) {
		args = slices.DeleteFunc(args, func(a directive.Arg) bool { return a.Value == "" })
		lines = append(lines, directive.Directive{Name: name, Args: args}.String())
	}
	add(directive.Source, directive.Arg{Name: "file", Value: mf.Source}, directive.Arg{Name: "sha256", Value: mf.Digest})
	for _, c := range mf.Contracts {
		kind := directive.Arg{Name: "kind", Value: c.Spec.Kind.V}
		add(directive.Contract, kind,
			directive.Arg{Name: "version", Value: strconv.Itoa(c.Spec.Version.V)},
			directive.Arg{Name: "digest", Value: c.Locked.Digest},
			directive.Arg{Name: "handler", Value: c.Spec.Handler.V},
			directive.Arg{Name: "effects", Value: c.Interface})
		for _, e := range c.Effects {
			effect := directive.Arg{Name: "effect", Value: e.Spec.Name.V}
			guard := directive.Arg{Name: "guard", Value: string(e.Spec.Guard.V)}
			if e.Child != nil {
				add(directive.EffectFunc, kind, effect, guard, directive.Arg{Name: "work", Value: e.Child.Spec.Kind.V})
				continue
			}
			add(directive.EffectFunc, kind, effect, guard, directive.Arg{Name: "func", Value: funcName(c, e.Call)})
			if e.Find != nil {
				add(directive.EffectFunc, kind, effect, guard, directive.Arg{Name: "find", Value: funcName(c, *e.Find)})
			}
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n\n")
}

// funcName is the function as contracts write handlers, or that of another package
// with its whole import path.
func funcName(c *model.Contract, fn model.Func) string {
	if fn.Pkg != "" {
		return fn.Pkg + "." + fn.Name
	}
	h := contracts.Handler{Name: fn.Name}
	if fn.Method {
		h.Receiver, h.Pointer = c.Receiver.Name, c.Receiver.Pointer
	}
	return h.String()
}

// q is a name of another package.
func (f *file) q(path, name string) string {
	if path == f.Path {
		return name
	}
	prefix, ok := f.imports[path]
	if !ok {
		prefix = f.use(path) + "."
		f.imports[path] = prefix
	}
	return prefix + name
}

// use imports a package, and tells jennifer the name, which it would otherwise
// guess from the path, not seeing what the name would hide.
func (f *file) use(path string) string {
	real := cmp.Or(f.Imports[path], realNames[path])
	if real == "" {
		real = path[strings.LastIndexByte(path, '/')+1:]
	}
	name := f.names.importName(real, f.importNames)
	if name == real && strings.HasSuffix("/"+path, "/"+real) {
		f.frame.ImportName(path, name)
	} else {
		f.frame.ImportAlias(path, name)
	}
	f.frame.Qual(path, "_")
	return name
}

func (f *file) idem(name string) string  { return f.q(idemPath, name) }
func (f *file) canon(name string) string { return f.q(canonPath, name) }

// typ is a type as code.
func (f *file) typ(t *model.Type) string {
	switch t.Kind {
	case model.Pointer:
		return "*" + f.typ(t.Elem)
	case model.Slice:
		return "[]" + f.typ(t.Elem)
	case model.Array:
		return "[" + strconv.FormatInt(t.Len, 10) + "]" + f.typ(t.Elem)
	case model.Map:
		return "map[" + f.typ(t.Key) + "]" + f.typ(t.Elem)
	case model.Struct:
		return f.structType(t)
	}
	name := t.Name
	if t.Pkg != "" {
		name = f.q(t.Pkg, t.Name)
	}
	if len(t.Args) == 0 {
		return name
	}
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = f.typ(a)
	}
	return generic(name, args...)
}

func (f *file) structType(t *model.Type) string {
	members := make([]member, len(t.Fields))
	for i, field := range t.Fields {
		m := member{typ: f.typ(field.Type)}
		if !field.Embedded {
			m.name = field.Name
		}
		if field.Tag != "" {
			m.tag = tagLiteral(field.Tag)
		}
		members[i] = m
	}
	return structType(members...)
}

func tagLiteral(tag string) string {
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}

// groupImports puts the standard library before everything else, as gofmt and
// people do.
func groupImports(src string) string {
	before, rest, ok := strings.Cut(src, "\nimport (\n")
	block, after, closed := strings.Cut(rest, "\n)\n")
	if !ok || !closed {
		return src
	}
	var std, other []string
	for line := range strings.SplitSeq(block, "\n") {
		_, path, _ := strings.Cut(line, `"`)
		first, _, _ := strings.Cut(path, "/")
		if strings.Contains(first, ".") {
			other = append(other, line)
		} else {
			std = append(std, line)
		}
	}
	if len(std) > 0 && len(other) > 0 {
		std = append(std, "")
	}
	return before + "\nimport (\n" + strings.Join(append(std, other...), "\n") + "\n)\n" + after
}

// lowerFirst makes an unexported name: orderPaid, crmID, urlList.
func lowerFirst(name string) string {
	runes := []rune(name)
	end := 0
	for end < len(runes) && unicode.IsUpper(runes[end]) {
		end++
	}
	if end > 1 && end < len(runes) && unicode.IsLower(runes[end]) {
		end-- // the last capital begins the next word
	}
	for i := range end {
		runes[i] = unicode.ToLower(runes[i])
	}
	lower := string(runes)
	if r, _ := utf8.DecodeRuneInString(lower); !unicode.IsLetter(r) && r != '_' {
		return "x" + lower
	}
	return lower
}
