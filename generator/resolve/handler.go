package resolve

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// resolveHandler finds the handler and reads its types.
func (c *contract) resolveHandler(m *model.Contract) {
	h, ok := contracts.ParseHandler(c.spec.Handler.V)
	if !ok {
		c.fail(c.spec.Handler.Pos, "handler", nil, "want Func, (*T).Method or (T).Method")
		return
	}
	if !c.findHandler(h) {
		return
	}
	if !c.handlerTypes(h) {
		return
	}
	m.Handler = h.Name
	if h.Receiver != "" {
		m.Receiver = c.receiver(h)
	}
	if c.iface != nil {
		m.Interface = c.iface.Obj().Name()
	}
	m.In = c.typeRef(c.in, c.spec.Handler, "handler", "input")
	if c.storable(c.out, c.spec.Handler.Pos, "handler", "the result "+describe(c.types, c.out)) {
		m.Out = c.typeRef(c.out, c.spec.Handler, "handler", "result")
	} else if ref, err := typeRef(c.types, c.out); err == nil {
		m.Out = ref // so that the rest of the contract is looked at too
	}
}

// typeRef is a type that generated code can write, or nil after a report.
func (c *contract) typeRef(t types.Type, at contracts.Value[string], path, what string) *model.Type {
	ref, err := typeRef(c.types, t)
	if err != nil {
		c.fail(at.Pos, path, nil, "the %s of %s is %s", what, at.V, err)
		return nil
	}
	return ref
}

func (c *contract) findHandler(h contracts.Handler) bool {
	at := c.spec.Handler
	if h.Receiver == "" {
		obj := c.types.Scope().Lookup(h.Name)
		if obj == nil {
			c.noHandler(h, nil, fmt.Sprintf("package %s has no function %s", c.src.name, h.Name), c.suggestHandler(h))
			return false
		}
		fn, ok := obj.(*types.Func)
		if !ok {
			c.fail(at.Pos, "handler", obj, "%s is %s: want a declared function or method%s", h.Name, kindOfObject(obj), c.suggestMethod(h))
			return false
		}
		c.handler = fn
		return true
	}
	tn, ok := c.types.Scope().Lookup(h.Receiver).(*types.TypeName)
	if !ok {
		c.noHandler(h, nil, fmt.Sprintf("package %s has no type %s", c.src.name, h.Receiver), contracts.DidYouMean(h.Receiver, c.typeNames()))
		return false
	}
	if n := named(tn.Type()); n != nil && n.TypeParams().Len() > 0 {
		c.fail(at.Pos, "handler", tn, "%s is generic, so that nothing says which of its types is meant: declare a type for one", h.Receiver)
		return false
	}
	c.recv = tn.Type()
	if h.Pointer {
		c.recv = types.NewPointer(tn.Type())
	}
	fn := c.methodOf(h.Name)
	if fn == nil {
		c.noMethod(h, tn)
		return false
	}
	c.handler = fn
	return true
}

func (c *contract) noMethod(h contracts.Handler, tn *types.TypeName) {
	if sel := types.NewMethodSet(types.NewPointer(tn.Type())).Lookup(c.types, h.Name); sel != nil && !h.Pointer {
		c.fail(c.spec.Handler.Pos, "handler", sel.Obj(), "%s is a method of *%s: write (*%s).%s", h.Name, h.Receiver, h.Receiver, h.Name)
		return
	}
	c.noHandler(h, tn, fmt.Sprintf("type %s has no method %s", h.Receiver, h.Name), contracts.DidYouMean(h.Name, c.methodNames()))
}

// noHandler reports a handler that is not there: where it is instead, what may be
// meant, or what to write.
func (c *contract) noHandler(h contracts.Handler, decl types.Object, what, hint string) {
	at := c.spec.Handler.Pos
	if fn, why := c.src.leftOut(h); fn != nil {
		d := c.fail(at, "handler", decl, "%s that this build sees", what)
		file, line, column := c.position(fn.Name.Pos())
		d.At(file, line, column, "%s is declared here, in a file %s", h.Name, why)
		return
	}
	if hint == "" && len(c.src.broken) == 0 {
		hint = ": write " + toWrite(h, len(c.spec.Effects) > 0)
	}
	c.brokenFiles(c.fail(at, "handler", decl, "%s%s", what, hint))
}

// toWrite is the head of a handler that is not there yet.
func toWrite(h contracts.Handler, effects bool) string {
	receiver := ""
	if h.Receiver != "" {
		first, _ := utf8.DecodeRuneInString(h.Receiver)
		star := ""
		if h.Pointer {
			star = "*"
		}
		receiver = fmt.Sprintf("(%c %s%s) ", unicode.ToLower(first), star, h.Receiver)
	}
	if effects {
		return fmt.Sprintf("func %s%s(ctx context.Context, effects Effects, in In) (Out, error), where Effects is an interface of this package with one method per effect", receiver, h.Name)
	}
	return fmt.Sprintf("func %s%s(ctx context.Context, in In) (Out, error)", receiver, h.Name)
}

// methodOf is a method of the receiver, or nil.
func (c *contract) methodOf(name string) *types.Func {
	if c.recv == nil {
		return nil
	}
	t, isPointer := deref(c.recv)
	if n := named(t); n != nil && c.declaredMethods(n)[name] != nil {
		fn := c.declaredMethods(n)[name]
		if _, wantsPointer := deref(fn.Signature().Recv().Type()); wantsPointer && !isPointer {
			return nil
		}
		return fn
	}
	obj, _, _ := types.LookupFieldOrMethod(c.recv, false, c.types, name) // of what is embedded
	fn, _ := obj.(*types.Func)
	return fn
}

// declaredMethods are those of a receiver's type, which the contracts of a package
// mostly share: one with thousands of methods is not to be gone through for each.
func (c *contract) declaredMethods(t *types.Named) map[string]*types.Func {
	if c.methods[t] == nil {
		c.methods[t] = map[string]*types.Func{}
		for fn := range t.Methods() {
			c.methods[t][fn.Name()] = fn
		}
	}
	return c.methods[t]
}

func (c *contract) methodNames() []string {
	var names []string
	for sel := range types.NewMethodSet(c.recv).Methods() {
		names = append(names, sel.Obj().Name())
	}
	return names
}

func (c *contract) typeNames() []string {
	return slices.DeleteFunc(c.types.Scope().Names(), func(name string) bool {
		_, ok := c.types.Scope().Lookup(name).(*types.TypeName)
		return !ok
	})
}

func (c *contract) funcNames() []string {
	return slices.DeleteFunc(c.types.Scope().Names(), func(name string) bool {
		_, ok := c.types.Scope().Lookup(name).(*types.Func)
		return !ok
	})
}

// suggestHandler also finds the method that a bare name was meant to be.
func (c *contract) suggestHandler(h contracts.Handler) string {
	if method := c.suggestMethod(h); method != "" {
		return method
	}
	return contracts.DidYouMean(h.Name, c.funcNames())
}

func (c *contract) suggestMethod(h contracts.Handler) string {
	for _, name := range c.typeNames() {
		n := named(c.types.Scope().Lookup(name).Type())
		if n == nil {
			continue
		}
		for fn := range n.Methods() {
			if fn.Name() == h.Name {
				_, pointer := deref(fn.Signature().Recv().Type())
				return fmt.Sprintf(" (did you mean %s?)", contracts.Handler{Receiver: name, Pointer: pointer, Name: h.Name})
			}
		}
	}
	return ""
}

// handlerTypes reads input, result and effects of the handler's signature.
func (c *contract) handlerTypes(h contracts.Handler) bool {
	sig := c.handler.Signature()
	effects := len(c.spec.Effects) > 0
	want := 2
	if effects {
		want = 3
	}
	params, results := sig.Params(), sig.Results()
	if c.unresolved(sig, c.spec.Handler, "handler", c.handler) {
		return false
	}
	fits := params.Len() == want && !sig.Variadic() && sig.TypeParams().Len() == 0 &&
		isContext(params.At(0).Type()) && results.Len() == 2 && isError(results.At(1).Type())
	if !fits {
		c.fail(c.spec.Handler.Pos, "handler", c.handler, "%s is %s: want %s", h, describe(c.types, sig), c.wantedHandler(sig, effects))
		return false
	}
	c.in, c.out = params.At(want-1).Type(), results.At(0).Type()
	return !effects || c.effectsInterface(params.At(1))
}

// wantedHandler is the signature that the handler should have, as near to the
// one it has as possible.
func (c *contract) wantedHandler(sig *types.Signature, effects bool) string {
	in, out, iface := "In", "Out", "Effects"
	inputs := 0
	for v := range sig.Params().Variables() {
		switch t := v.Type(); {
		case isContext(t):
		case types.IsInterface(t) && named(t) != nil:
			iface = describe(c.types, t)
		case isTypeParam(t):
		default:
			inputs++
			in = describe(c.types, t)
		}
	}
	if inputs > 1 {
		in = "In" // one of them is not what was meant
	}
	for v := range sig.Results().Variables() {
		if t := v.Type(); !implementsError(t) && !isTypeParam(t) {
			out = describe(c.types, t)
		}
	}
	if effects {
		return fmt.Sprintf("func(context.Context, %s, %s) (%s, error), where %s is an interface of this package with one method per effect", iface, in, out, iface)
	}
	return fmt.Sprintf("func(context.Context, %s) (%s, error), since the contract has no effects", in, out)
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// unresolved reports a signature of which a type does not resolve.
func (c *contract) unresolved(sig *types.Signature, at contracts.Value[string], path string, fn *types.Func) bool {
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			if !invalid(v.Type()) {
				continue
			}
			d := c.fail(at.Pos, path, fn, "a type in the signature of %s does not resolve", fn.Name())
			var where types.Object = fn
			if v.Pos().IsValid() {
				where = v
			}
			c.whyInvalid(d, where)
			return true
		}
	}
	return false
}

// effectsInterface checks the effects parameter.
func (c *contract) effectsInterface(v *types.Var) bool {
	n := named(v.Type())
	var iface *types.Interface
	if n != nil {
		iface, _ = n.Underlying().(*types.Interface)
	}
	switch {
	case iface == nil, n.Obj().Pkg() == nil, n.Obj().Pkg().Path() != c.types.Path():
		c.fail(c.spec.Handler.Pos, "handler", c.handler, "the effects parameter of %s is %s: want an interface that is declared in this package, with one method per effect",
			c.handler.Name(), describe(c.types, v.Type()))
		return false
	case n.TypeArgs().Len() > 0:
		c.fail(c.spec.Handler.Pos, "handler", n.Obj(), "the effects interface %s is generic", n.Obj().Name())
		return false
	}
	c.iface = n
	return true
}

// interfaceMethods are the names of the effects interface's methods.
func (c *contract) interfaceMethods() []string {
	var names []string
	for fn := range c.iface.Underlying().(*types.Interface).Methods() {
		names = append(names, fn.Name())
	}
	return names
}

func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
