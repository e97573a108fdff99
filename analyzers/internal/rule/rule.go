package rule

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
	"github.com/idemgen/idem/analyzers/internal/valueflow"
)

// Base is what the rules of one tool have in common.
type Base struct {
	Catalogue *catalogue.Catalogue
	Facts     *analysis.Analyzer // *summary.Result
	Flow      *analysis.Analyzer // *valueflow.Flow
}

// NewBase makes the shared analyzers for a catalogue. Rules that run together must
// have the same base, or facts are computed twice.
func NewBase(c *catalogue.Catalogue) Base {
	facts := summary.Analyzer(c)
	return Base{Catalogue: c, Facts: facts, Flow: valueflow.Analyzer(facts)}
}

// Doc says what a rule is for. The documentation, -explain, the URL and what
// editors show derive from it.
type Doc struct {
	Name   string // also of the folder and in //idemlint:ignore
	Title  string // what it reports, in one line, without the name
	What   string // when exactly
	Why    string // what goes wrong otherwise
	Silent string // what it does not report, and why
	Fails  string // Go code that it reports: the body of a file, without package clause
	Passes string // the same code without the fault
	Beside string // a file of package page that stands beside both, for rules about generated code; not shown
	Fix    string // what to do
}

// Text is the documentation in the form that go/analysis asks for: a title, an
// empty line, and the rest.
func (d Doc) Text() string {
	return d.Title + "\n\n" + d.sections()
}

func (d Doc) sections() string {
	var b strings.Builder
	for _, s := range []struct{ heading, text string }{
		{"What it reports", strings.TrimSpace(d.What)},
		{"Why it matters", strings.TrimSpace(d.Why)},
		{"What it does not report", strings.TrimSpace(d.Silent)},
		{"Reported", indent(d.Fails)},
		{"Not reported", indent(d.Passes)},
		{"How to fix it", strings.TrimSpace(d.Fix)},
	} {
		if s.text != "" {
			fmt.Fprintf(&b, "%s\n\n%s\n\n", s.heading, s.text)
		}
	}
	return strings.TrimSpace(b.String())
}

func indent(code string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(code)) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("\t")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Markdown is the rule's page in the documentation.
func (d Doc) Markdown() string {
	var b strings.Builder
	paragraph := func(text string) { b.WriteString(strings.TrimSpace(text) + "\n\n") }
	paragraph("### " + d.Name)
	paragraph("*" + strings.ToUpper(d.Title[:1]) + d.Title[1:] + ".*")
	paragraph(d.What)
	paragraph(d.Why)
	paragraph("**Not reported:** " + strings.ToLower(strings.TrimSpace(d.Silent)[:1]) + strings.TrimSpace(d.Silent)[1:])
	paragraph("```go\n// reported\n" + strings.TrimSpace(d.Fails) + "\n```")
	paragraph("```go\n// not reported\n" + strings.TrimSpace(d.Passes) + "\n```")
	paragraph("**To fix it:** " + strings.ToLower(strings.TrimSpace(d.Fix)[:1]) + strings.TrimSpace(d.Fix)[1:])
	return strings.TrimSpace(b.String()) + "\n"
}

// URL is where the documentation is to be read.
func (d Doc) URL() string {
	return "https://github.com/idemgen/idem/blob/main/docs/idemlint.md#" + d.Name
}

// New makes the analyzer of a rule. check is called for each function in scope.
func New(doc Doc, base Base, check func(*Pass, *Function)) *analysis.Analyzer {
	return newAnalyzer(doc, base, func(*Pass) func(*Pass, *ast.File) { return eachFunction(check) })
}

// NewPrepared makes the analyzer of a rule that looks at the package as a whole
// first. What prepare returns is called for each function in scope; nil: for none.
func NewPrepared(doc Doc, base Base, prepare func(*Pass) func(*Pass, *Function)) *analysis.Analyzer {
	return newAnalyzer(doc, base, func(p *Pass) func(*Pass, *ast.File) {
		check := prepare(p)
		if check == nil {
			check = func(*Pass, *Function) {}
		}
		return eachFunction(check)
	})
}

func eachFunction(check func(*Pass, *Function)) func(*Pass, *ast.File) {
	return func(p *Pass, file *ast.File) {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				p.one(&Function{Decl: decl, File: file}, check)
			}
		}
		p.reportIgnores()
	}
}

// newAnalyzer makes an analyzer that looks at each file in scope.
func newAnalyzer(doc Doc, base Base, begin func(*Pass) func(*Pass, *ast.File)) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name:             doc.Name,
		Doc:              doc.Text(),
		URL:              doc.URL(),
		Requires:         []*analysis.Analyzer{base.Facts, base.Flow},
		RunDespiteErrors: true,
	}
	tests := a.Flags.Bool("tests", false, "look at test files as well")
	a.Run = func(pass *analysis.Pass) (any, error) {
		p := &Pass{
			Pass:      pass,
			Catalogue: base.Catalogue,
			Facts:     pass.ResultOf[base.Facts].(*summary.Result),
			Flow:      pass.ResultOf[base.Flow].(*valueflow.Flow),
			doc:       doc,
			reported:  map[string]bool{},
		}
		p.run(*tests, begin)
		return nil, nil
	}
	return a
}

// Pass is one package under one rule.
type Pass struct {
	*analysis.Pass
	Catalogue *catalogue.Catalogue
	Facts     *summary.Result
	Flow      *valueflow.Flow

	doc      Doc
	ignores  []*ignore // of the file being looked at
	reported map[string]bool
	visits   int // nodes looked at for the function at hand

	acts  map[actKey]Act
	logs  map[*ast.CallExpr]bool
	decls map[*types.Func]*ast.FuncDecl
	impls map[types.Type][]types.Type // by interface: what implements it
	once  map[string]any

	haveContracts bool
	contracts     []Contract
}

// Function is one declared function with its literals.
type Function struct {
	Decl *ast.FuncDecl
	File *ast.File

	// What has been looked up once, since rules ask for each thing that they find.
	parents map[ast.Node]ast.Node
	idents  map[types.Object][]*ast.Ident
	calls   map[token.Pos]*ast.CallExpr
}

// CallAt is the outermost call that begins at a place, or nil.
func (fn *Function) CallAt(pos token.Pos) *ast.CallExpr {
	if fn.calls == nil {
		fn.calls = map[token.Pos]*ast.CallExpr{}
		ast.Inspect(fn.Decl, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && fn.calls[call.Pos()] == nil {
				fn.calls[call.Pos()] = call
			}
			return true
		})
	}
	return fn.calls[pos]
}

// uses are the places where the function's body uses objects.
func (fn *Function) uses(info *types.Info) map[types.Object][]*ast.Ident {
	if fn.idents == nil {
		fn.idents = map[types.Object][]*ast.Ident{}
		ast.Inspect(fn.Decl.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if obj := info.Uses[id]; obj != nil {
					fn.idents[obj] = append(fn.idents[obj], id)
				}
			}
			return true
		})
	}
	return fn.idents
}

func (p *Pass) run(tests bool, begin func(*Pass) func(*Pass, *ast.File)) {
	if !inScope(p.Pass) || len(p.TypeErrors) > 0 { // what does not compile is told of by others
		return
	}
	look := begin(p)
	for _, file := range p.Files {
		if !tests && isTest(p.Fset, file) || isGenerated(p.Fset, file) {
			continue
		}
		p.ignores = ignoresOf(p.Fset, file)
		look(p, file)
	}
}

// one looks at one function; a fault of the rule becomes a note, so that the rest
// of the package is looked at and somebody sees it.
func (p *Pass) one(fn *Function, check func(*Pass, *Function)) {
	p.visits = 0
	defer func() {
		switch r := recover(); r {
		case nil, errTooLarge:
		default:
			p.Note(fn, fmt.Errorf("%v", r))
		}
	}()
	check(p, fn)
}

// maxVisits bounds the work of a rule on one function: a rule looks through the
// function again for each thing that it finds there, which in functions that
// programs have written comes to hours. Of those in a few hundred packages that
// people have written, the largest comes to a seventh of it.
const maxVisits = 2_000_000

// Once is what f finds, which looks through the whole package, and is asked once.
func (p *Pass) Once(question string, f func() any) any {
	answer, ok := p.once[question]
	if !ok {
		if p.once == nil {
			p.once = map[string]any{}
		}
		answer = f()
		p.once[question] = answer
	}
	return answer
}

// errTooLarge is how a rule leaves a function that would take too long.
var errTooLarge = errors.New("too large")

// Inspect is ast.Inspect within the bounds of a rule's work. A function that
// exceeds them is left, with what has been found in it so far.
func (p *Pass) Inspect(n ast.Node, f func(ast.Node) bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if p.visits++; p.visits > maxVisits {
			panic(errTooLarge)
		}
		return f(n)
	})
}

// NoteCategory marks diagnostics that say that the tool could not do its work.
const NoteCategory = "note"

// Note says that a function could not be looked at.
func (p *Pass) Note(fn *Function, err error) {
	p.Pass.Report(analysis.Diagnostic{
		Pos: fn.Decl.Name.Pos(), End: fn.Decl.Name.End(), Category: NoteCategory,
		Message: fmt.Sprintf("%s could not look at all of %s: %v: this is a fault of idemlint; please report it", p.doc.Name, fn.Decl.Name.Name, err),
	})
}

// Finding is what a rule has to say.
type Finding struct {
	Node    ast.Node  // where it is shown, in the package under analysis
	Source  token.Pos // what it is about: reported once per function; none: Node
	Message string    // what is wrong
	Way     []string  // from the source to the sink
	Advice  string    // what to do, in a few words
	Related []analysis.RelatedInformation
	Fixes   []analysis.SuggestedFix
}

// maxHops is how many steps of a way are shown.
const maxHops = 5

// Text is the message in one line.
func (f Finding) Text() string {
	text := f.Message
	if len(f.Way) > 0 {
		text += ": " + showWay(f.Way)
	}
	if f.Advice != "" {
		text += " (" + f.Advice + ")"
	}
	return text
}

// showWay keeps both ends of a long way: where it starts and where it ends are
// what one looks for.
func showWay(way []string) string {
	const arrow = " → "
	if len(way) <= maxHops {
		return strings.Join(way, arrow)
	}
	head, tail := way[:maxHops-2], way[len(way)-2:]
	return strings.Join(head, arrow) + fmt.Sprintf("%s+%d more%s", arrow, len(way)-maxHops, arrow) + strings.Join(tail, arrow)
}

// Report reports a finding, unless one of the same source has been reported for
// the function or a comment says not to.
func (p *Pass) Report(fn *Function, f Finding) {
	source := f.Source
	if !source.IsValid() {
		source = f.Node.Pos()
	}
	id := fmt.Sprintf("%d %d", fn.Decl.Pos(), source)
	if p.reported[id] {
		return
	}
	p.reported[id] = true
	if p.ignored(f.Node.Pos()) {
		return
	}
	var related []analysis.RelatedInformation
	for _, r := range f.Related {
		if r.Pos.IsValid() { // gopls fails on one without place
			related = append(related, r)
		}
	}
	p.Pass.Report(analysis.Diagnostic{Pos: f.Node.Pos(), End: f.Node.End(), Message: f.Text(), Related: related, SuggestedFixes: f.Fixes})
}
