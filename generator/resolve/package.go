package resolve

import (
	"cmp"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// pkg is a package whose contracts are being resolved.
type pkg struct {
	*run
	src    *source
	types  *types.Package
	errs   []types.Error
	u      *universe
	model  *model.Package
	shared map[string]*model.Form
	tx     *txType

	contracts []*contract

	methods map[*types.Named]map[string]*types.Func // declared for receivers

	otherTx *txType           // a second one
	senders map[string]sender // by channel
}

// txType is the transaction type of the package, and the effect that said so.
type txType struct {
	t    types.Type
	from *types.Func
}

// resolvePackage resolves all contracts of a package; nil if one is wrong.
func (r *run) resolvePackage(u *universe, src *source, in *Input) *model.Package {
	before := len(r.diags)
	p := &pkg{run: r, src: src, u: u, shared: map[string]*model.Form{}, methods: map[*types.Named]map[string]*types.Func{}, senders: map[string]sender{}}
	if len(src.files) == 0 {
		p.noGoFiles(in)
		return nil
	}
	p.types, p.errs = u.check(src)
	if !p.checkUniverse(in) || !p.checkCycles(in) {
		return nil
	}
	p.model = &model.Package{Path: src.path, Name: src.name, Dir: src.dir, Module: src.module.path, Imports: u.names()}
	p.reserveNames()
	receivers := map[string]*model.Receiver{}
	for i, f := range in.Files {
		mf := &model.File{Source: in.Dir.Contracts[slices.Index(in.Dir.Contracts, base(f.Path))], Digest: in.Digests[i]}
		mf.Output = OutputName(mf.Source)
		for _, spec := range f.Contracts {
			c := &contract{pkg: p, file: f, spec: spec, m: &model.Contract{Spec: spec}, receivers: receivers, meant: map[string]bool{}}
			c.resolveHandler(c.m)
			c.lost = c.m.In == nil || c.m.Out == nil
			mf.Contracts = append(mf.Contracts, c.m)
			p.contracts = append(p.contracts, c)
		}
		p.model.Files = append(p.model.Files, mf)
	}
	p.checkFamilies()
	for _, c := range p.contracts {
		c.resolve() // against the handlers of the others too
	}
	p.resolveFakes()
	if slices.ContainsFunc(r.diags[before:], func(d *contracts.Diagnostic) bool { return d.Severity == contracts.Error }) {
		return nil
	}
	p.markForms()
	return p.model
}

func (p *pkg) noGoFiles(in *Input) {
	for _, f := range in.Files {
		p.report(f.Errorf(contracts.Pos{}, "", "there is no Go package beside the contracts: the directory has no Go file that a build would take"))
	}
}

// predeclared lists what generated code uses of Go's own names.
var predeclared = []string{
	"any", "append", "bool", "byte", "error", "float32", "float64", "int", "int64", "len", "nil", "string", "true", "uint64",
}

// checkUniverse reports declarations that hide Go's own names, to which nothing
// can give way.
func (p *pkg) checkUniverse(in *Input) (fine bool) {
	fine = true
	for _, name := range predeclared {
		if !p.src.reserved[name] {
			continue
		}
		d := in.Files[0].Errorf(contracts.Pos{}, "", "package %s declares %s, which hides Go's own from generated code: rename it", p.src.name, name)
		p.at(d, p.types.Scope().Lookup(name))
		p.report(d)
		fine = false
	}
	return fine
}

// checkCycles reports generic types of which each instance asks for another,
// without end.
func (p *pkg) checkCycles(in *Input) (fine bool) {
	fine = true
	for _, e := range p.errs {
		if !isEndless(e) {
			continue
		}
		d := in.Files[0].Errorf(contracts.Pos{}, "", "package %s does not compile: a generic type asks for instances of itself without end", p.src.name)
		p.atError(d, e)
		p.report(d)
		fine = false
	}
	return fine
}

// isEndless tells an error that no type may be looked into after.
func isEndless(e types.Error) bool { return strings.HasPrefix(e.Msg, "instantiation cycle") }

// reserveNames hands the package's names to the namer.
func (p *pkg) reserveNames() {
	for path, name := range p.u.names() {
		for _, file := range p.src.files {
			for _, imp := range file.Imports {
				if imp.Name == nil && importPathOf(imp) == path {
					p.src.imports[name] = true
				}
			}
		}
	}
	p.reserveDotImports()
	p.model.Reserved = slices.Sorted(maps.Keys(p.src.reserved))
	p.model.ImportNames = slices.Sorted(maps.Keys(p.src.imports))
}

// reserveDotImports keeps clear of what dot imports bring into files: no
// declaration of the package may have such a name.
func (p *pkg) reserveDotImports() {
	for _, file := range p.src.files {
		for _, imp := range file.Imports {
			if imp.Name == nil || imp.Name.Name != "." {
				continue
			}
			imported, err := p.u.Import(importPathOf(imp))
			if err != nil {
				continue // the compiler will say so
			}
			for _, name := range imported.Scope().Names() {
				if token.IsExported(name) {
					p.src.reserved[name] = true
				}
			}
		}
	}
}

// markForms finds the forms that contain themselves.
func (p *pkg) markForms() {
	for _, f := range p.model.Files {
		for _, c := range f.Contracts {
			for _, form := range c.Forms() {
				model.MarkRecursive(form)
			}
		}
	}
}

// receiver is the package's one receiver of a type; a pointer to it if any
// handler wants one.
func (c *contract) receiver(h contracts.Handler) *model.Receiver {
	r := c.receivers[h.Receiver]
	if r == nil {
		r = &model.Receiver{Name: h.Receiver}
		c.receivers[h.Receiver] = r
		c.model.Receivers = append(c.model.Receivers, r)
	}
	r.Pointer = r.Pointer || h.Pointer
	return r
}

// contract is a contract that is being resolved.
type contract struct {
	*pkg
	file      *contracts.File
	spec      *contracts.Contract
	m         *model.Contract // as far as it is resolved
	receivers map[string]*model.Receiver
	failed    bool
	lost      bool // without a handler that could be read

	handler *types.Func
	recv    types.Type // nil for a function
	in, out types.Type
	iface   *types.Named // effects; nil without

	excuses [][]*types.Var  // the paths that allow_volatile names
	meant   map[string]bool // methods of the interface that a misspelt effect means
	honored bool            // the contract is what an earlier version was
}

// resolve reads what a contract says beside its handler, if that was found.
func (c *contract) resolve() {
	if c.lost {
		return
	}
	c.resolveEffects(c.m)
	c.resolveIdentity(c.m)
	c.m.Redact = c.redaction(c.spec.Redact, "redact", c.in)
	c.resolvePredecessors(c.m)
	c.m.Permanent = c.errorRefs("retry.permanent", c.spec.Retry.Permanent)
	c.m.Transient = c.errorRefs("retry.transient", c.spec.Retry.Transient)
}

// fail reports an error of the contract, with the Go declaration that explains
// it if there is one.
func (c *contract) fail(pos contracts.Pos, path string, decl types.Object, format string, args ...any) *contracts.Diagnostic {
	c.failed = true
	d := c.file.Errorf(pos, path, format, args...)
	c.at(d, decl)
	c.report(d)
	return d
}

// at adds where something is declared in Go, unless that is outside the
// module: export data knows lines only, and of the standard library's files no
// folder.
func (p *pkg) at(d *contracts.Diagnostic, decl types.Object) {
	if decl == nil || !decl.Pos().IsValid() || !p.insideModule(decl.Pos()) {
		return
	}
	file, line, column := p.position(decl.Pos())
	d.At(file, line, column, "%s is declared here", decl.Name())
}

func (p *pkg) insideModule(pos token.Pos) bool {
	rel, err := filepath.Rel(p.src.module.root, p.fset.Position(pos).Filename)
	return err == nil && filepath.IsLocal(rel)
}

// whyInvalid adds what the type checker said about the line on which a type
// does not resolve; else which imports it could not have; else what syntax
// errors there are.
func (p *pkg) whyInvalid(d *contracts.Diagnostic, decl types.Object) {
	var where token.Position
	if decl != nil {
		where = p.fset.Position(decl.Pos())
	}
	var imports []types.Error
	for _, e := range p.errs {
		at := p.fset.Position(e.Pos)
		switch {
		case strings.HasPrefix(e.Msg, "could not import "):
			if !strings.Contains(e.Msg, errNotNeeded.Error()) {
				imports = append(imports, e)
			}
		case !e.Soft && at.Filename == where.Filename && at.Line == where.Line:
			p.atError(d, e)
			return
		}
	}
	for _, e := range imports {
		p.atError(d, e)
	}
	if len(imports) == 0 {
		p.brokenFiles(d)
	}
}

func (p *pkg) atError(d *contracts.Diagnostic, e types.Error) {
	file, line, column := p.position(e.Pos)
	msg, _, _ := strings.Cut(e.Msg, "\n")
	d.At(file, line, column, "%s", msg)
}

// brokenFiles adds the syntax errors of the package and the files of another
// one, behind which a declaration may be lost.
func (p *pkg) brokenFiles(d *contracts.Diagnostic) {
	for _, e := range p.src.broken {
		d.At(p.show(e.Pos.Filename), e.Pos.Line, e.Pos.Column, "%s", e.Msg)
	}
}

// form makes a form and reports what is wrong with it at one place of the
// contract.
func (c *contract) form(b *builder, t types.Type, choices *choice, all bool, pos contracts.Pos, path, subject string) *model.Form {
	f := b.fold(b.form(t, choices, all, "", nil))
	c.reportForm(b, pos, path, subject)
	return f
}

func (c *contract) reportForm(b *builder, pos contracts.Pos, path, subject string) {
	for _, e := range b.errs {
		where := subject
		if e.path != "" {
			where = cmp.Or(subject+".", "") + e.path
			if subject == "" {
				where = e.path
			}
		}
		d := c.fail(pos, path, e.decl, "%s: %s", where, e.msg)
		if e.invalid {
			c.whyInvalid(d, e.decl)
		}
	}
	for _, e := range b.norms {
		c.fail(e.step.Pos, "identity.normalize", e.decl, "%s", e.msg)
	}
	b.forget()
	b.errs, b.norms = nil, nil
}

func (c *contract) builder(use usage) *builder {
	return &builder{own: c.types, use: use, shared: c.shared}
}
