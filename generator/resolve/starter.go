package resolve

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// Starter is what can be seen of a handler that has no contract yet.
type Starter struct {
	Handler   contracts.Handler
	In        string         // its input type, as the package writes it
	Fields    []StarterField // one at least
	Interface string         // of its effects; empty without
	Methods   []StarterMethod
}

// StarterField is a field of the input that an identity could name.
type StarterField struct {
	Name, Type string
	Volatile   bool // looks as if it differed between deliveries
}

// StarterMethod is a method of the effects interface.
type StarterMethod struct {
	Name      string
	Signature string // as the package writes it, without func
}

// Start finds the handler that a name means in the package of a directory: Func,
// Method, T.Method, (T).Method or (*T).Method. The error says what is not as a
// handler has to be, and where that stands.
func Start(ctx context.Context, options Options, dir, name string) (*Starter, error) {
	r := &run{options: options, fset: token.NewFileSet()}
	var err error
	if r.build, err = r.buildContext(ctx); err != nil {
		return nil, err
	}
	src, err := r.parseSource(dir, false)
	if err != nil {
		return nil, err
	}
	if len(src.files) == 0 {
		return nil, errors.New("there is no Go package here: run it in the handler's folder, where a Go file has to be that a build would take")
	}
	h, err := src.handlerNamed(r, name)
	if err != nil {
		return nil, err
	}
	spec := &contracts.Contract{Handler: contracts.Value[string]{V: h.String(), Set: true}}
	file := &contracts.File{Contracts: []*contracts.Contract{spec}}
	universes, err := r.load(ctx, []*Input{{Files: []*contracts.File{file}}}, []*source{src})
	if err != nil {
		return nil, err
	}
	p := &pkg{run: r, src: src, u: universes[src.module.root]}
	p.types, p.errs = p.u.check(src)
	if err := r.readable(); err != nil {
		return nil, err
	}
	return p.starter(h)
}

// handlerNamed finds the one function or method of that name. A receiver may be
// left out, and so may the star of a pointer.
func (s *source) handlerNamed(r *run, name string) (contracts.Handler, error) {
	bare := strings.NewReplacer("(", "", ")", "", "*", "", "&", "").Replace(name)
	receiver, method, ok := strings.Cut(bare, ".")
	if !ok {
		receiver, method = "", bare
	}
	var found []contracts.Handler
	var places, names []string
	for _, file := range s.files {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			h := handlerOf(fn)
			names = append(names, h.Name)
			if h.Name == method && (receiver == "" || h.Receiver == receiver) {
				file, line, _ := r.position(fn.Pos())
				found = append(found, h)
				places = append(places, fmt.Sprintf("%s (%s:%d)", h, file, line))
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return contracts.Handler{}, fmt.Errorf("several handlers could be meant by %s: %s", name, strings.Join(places, ", "))
	case len(s.broken) > 0:
		b := s.broken[0]
		return contracts.Handler{}, fmt.Errorf("package %s has no %s, or it is behind a syntax error: %s:%d:%d: %s", s.name, name, r.show(b.Pos.Filename), b.Pos.Line, b.Pos.Column, b.Msg)
	}
	return contracts.Handler{}, fmt.Errorf("package %s has no function or method %s%s", s.name, name, contracts.DidYouMean(method, names))
}

// handlerOf is a declared function as a contract would name it.
func handlerOf(fn *ast.FuncDecl) contracts.Handler {
	h := contracts.Handler{Name: fn.Name.Name}
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return h
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
		case *ast.StarExpr:
			h.Pointer, t = true, x.X
		case *ast.IndexExpr: // of a generic type, which is told below
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			h.Receiver = x.Name
			return h
		default:
			return h
		}
	}
}

// starter reads what the handler's signature says.
func (p *pkg) starter(h contracts.Handler) (*Starter, error) {
	fn, err := p.lookupHandler(h)
	if err != nil {
		return nil, err
	}
	sig := fn.Signature()
	params, results := sig.Params(), sig.Results()
	const want = "want func(context.Context, EFFECTS, INPUT) (RESULT, error), or without EFFECTS if it has none"
	fits := (params.Len() == 2 || params.Len() == 3) && !sig.Variadic() && sig.TypeParams().Len() == 0 &&
		results.Len() == 2 && isError(results.At(1).Type())
	for _, tuple := range []*types.Tuple{params, results} {
		for v := range tuple.Variables() {
			if invalid(v.Type()) {
				return nil, p.startError(fn, "a type in the signature of %s does not resolve%s", h, p.firstError(fn))
			}
		}
	}
	if !fits || !isContext(params.At(0).Type()) {
		return nil, p.startError(fn, "%s is %s: %s", h, describe(p.types, sig), want)
	}
	in := params.At(params.Len() - 1).Type()
	s := &Starter{Handler: h, In: describe(p.types, in), Fields: p.starterFields(in)}
	if len(s.Fields) == 0 {
		return nil, p.startError(fn, "the input of %s is %s: want a struct, of which a field, or several, say which work it is", h, s.In)
	}
	if params.Len() == 2 {
		return s, nil
	}
	n := named(params.At(1).Type())
	if n == nil || !types.IsInterface(n) || n.Obj().Pkg() != p.types || n.TypeArgs().Len() > 0 {
		return nil, p.startError(fn, "the effects parameter of %s is %s: want an interface that is declared in this package, with one method per effect", h, describe(p.types, params.At(1).Type()))
	}
	s.Interface = n.Obj().Name()
	for m := range n.Underlying().(*types.Interface).Methods() {
		s.Methods = append(s.Methods, StarterMethod{m.Name(), strings.TrimPrefix(describe(p.types, m.Type()), "func")})
	}
	if len(s.Methods) == 0 {
		return nil, p.startError(n.Obj(), "the effects interface %s has no methods: give it one per effect, or leave the parameter out", s.Interface)
	}
	p.asDeclared(s.Methods, n)
	return s, nil
}

// asDeclared sorts methods by where they stand, which is how people think of
// them; the type checker has them by name.
func (p *pkg) asDeclared(methods []StarterMethod, n *types.Named) {
	at := map[string]token.Position{}
	for m := range n.Underlying().(*types.Interface).Methods() {
		at[m.Name()] = p.fset.Position(m.Pos())
	}
	slices.SortStableFunc(methods, func(a, b StarterMethod) int {
		if x, y := at[a.Name], at[b.Name]; x.Filename == y.Filename {
			return x.Offset - y.Offset
		}
		return strings.Compare(at[a.Name].Filename, at[b.Name].Filename)
	})
}

func (p *pkg) lookupHandler(h contracts.Handler) (*types.Func, error) {
	scope := p.types.Scope()
	if h.Receiver == "" {
		if fn, ok := scope.Lookup(h.Name).(*types.Func); ok {
			return fn, nil
		}
		return nil, fmt.Errorf("package %s has no function %s", p.src.name, h.Name)
	}
	tn, ok := scope.Lookup(h.Receiver).(*types.TypeName)
	if !ok {
		return nil, fmt.Errorf("package %s has no type %s", p.src.name, h.Receiver)
	}
	if n := named(tn.Type()); n != nil && n.TypeParams().Len() > 0 {
		return nil, p.startError(tn, "%s is generic, so that nothing says which of its types is meant: declare a type for one", h.Receiver)
	}
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(tn.Type()), true, p.types, h.Name)
	fn, ok := obj.(*types.Func)
	if !ok {
		return nil, p.startError(tn, "type %s has no method %s", h.Receiver, h.Name)
	}
	return fn, nil
}

// starterFields are the fields of the input that reach the ledger, if it has any.
func (p *pkg) starterFields(in types.Type) []StarterField {
	t, _ := deref(in)
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var fields []StarterField
	all, _ := jsonFields(st)
	for _, f := range all {
		v := f.field()
		fields = append(fields, StarterField{v.Name(), describe(p.types, v.Type()), volatile(v.Name(), f.wire, v.Type()) != ""})
	}
	return fields
}

// startError is an error with the place of a declaration before it.
func (p *pkg) startError(decl types.Object, format string, args ...any) error {
	file, line, column := p.position(decl.Pos())
	return fmt.Errorf("%s:%d:%d: %w", file, line, column, fmt.Errorf(format, args...))
}

// firstError is what the type checker said about the declaration's line.
func (p *pkg) firstError(decl types.Object) string {
	where := p.fset.Position(decl.Pos())
	for _, e := range p.errs {
		if at := p.fset.Position(e.Pos); !e.Soft && at.Filename == where.Filename && at.Line == where.Line {
			msg, _, _ := strings.Cut(e.Msg, "\n")
			return ": " + msg
		}
	}
	return ""
}
