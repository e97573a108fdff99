package resolve

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// resolveEffects checks effects and the interface against each other, both ways.
func (c *contract) resolveEffects(m *model.Contract) {
	if c.iface == nil {
		return
	}
	byMethod := map[string]*contracts.Effect{}
	for _, e := range c.spec.Effects {
		if had := byMethod[e.Method()]; had != nil {
			c.fail(e.Name.Pos, "effects", nil, "%s and %s both stand for the method %s", had.Name.V, e.Name.V, e.Method())
			continue
		}
		byMethod[e.Method()] = e
		if c.unexported(e) {
			continue // told below
		}
		if me := c.effect(e); me != nil {
			m.Effects = append(m.Effects, me)
		}
	}
	for fn := range c.iface.Underlying().(*types.Interface).Methods() {
		if byMethod[fn.Name()] != nil {
			continue
		}
		if c.meant[fn.Name()] {
			continue // told with the effect that is misspelt
		}
		name := contracts.EffectName(fn.Name())
		if !fn.Exported() {
			c.fail(c.spec.Handler.Pos, "effects", fn, "method %s of %s is not exported: an effect is a method with a capital letter, %s", fn.Name(), c.iface.Obj().Name(), contracts.MethodName(name))
			continue
		}
		var names []string
		for _, e := range c.spec.Effects {
			names = append(names, e.Name.V)
		}
		c.fail(c.spec.Handler.Pos, "effects", fn, "method %s of %s has no effect: add %s with its guard%s",
			fn.Name(), c.iface.Obj().Name(), name, c.unclaimed(name, names))
	}
}

// unexported tells whether the effect's method is there but for its first letter.
func (c *contract) unexported(e *contracts.Effect) bool {
	for fn := range c.iface.Underlying().(*types.Interface).Methods() {
		if !fn.Exported() && contracts.MethodName(contracts.EffectName(fn.Name())) == e.Method() {
			return true
		}
	}
	return false
}

// unclaimed suggests the effect that a method was meant for, unless that has a
// method of its own.
func (c *contract) unclaimed(name string, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return slices.Contains(c.interfaceMethods(), contracts.MethodName(n))
	})
	return contracts.DidYouMean(name, names)
}

func (c *contract) effect(e *contracts.Effect) *model.Effect {
	before := len(c.diags)
	path := "effects." + e.Name.V
	if e.Work.Set {
		return c.childEffect(e, path)
	}
	method := c.interfaceMethod(e, path)
	if method == nil {
		return nil
	}
	in, out, ok := c.effectTypes(e, path, method)
	if !ok {
		return nil
	}
	me := &model.Effect{Spec: e, Method: e.Method()}
	me.In, me.Out = c.effectRef(e, path, in, "input"), c.effectRef(e, path, out, "result")
	c.storable(out, e.Name.Pos, path, "the result "+describe(c.types, out))
	c.effectFuncs(me, path, in, out)
	me.Payload = c.form(c.builder(forEffect), in, nil, true, e.Name.Pos, path, "the input "+describe(c.types, in))
	me.Per = c.oncePer(e, path, in)
	me.Message = c.message(e, path+".message", in, out, method)
	me.Redact = c.redaction(e.Redact, path+".redact", in)
	if e.ExternalRef.Set {
		me.ExternalRef = c.externalRef(e.ExternalRef, path+".external_ref", out)
	}
	if len(c.diags) > before {
		return nil
	}
	return me
}

func (c *contract) effectRef(e *contracts.Effect, path string, t types.Type, what string) *model.Type {
	return c.typeRef(t, e.Name, path, what)
}

// interfaceMethod is the method that stands for the effect, or nil.
func (c *contract) interfaceMethod(e *contracts.Effect, path string) *types.Func {
	for fn := range c.iface.Underlying().(*types.Interface).Methods() {
		if fn.Name() == e.Method() {
			return fn
		}
	}
	in, out := "X", "Y"
	if child := c.kind(e.Work.V); child != nil && child.in != nil {
		in, out = describe(c.types, child.in), child.describeResult()
	} else if fn := c.lookFunc(e.CallName()); fn != nil {
		if sig := fn.Signature(); sig.Params().Len() == 3 && sig.Results().Len() == 2 {
			in, out = describe(c.types, sig.Params().At(2).Type()), describe(c.types, sig.Results().At(0).Type())
		}
	}
	hint := ""
	if meant := contracts.Suggest(e.Method(), c.methodsWithoutEffect()); meant != "" {
		c.meant[meant] = true
		hint = fmt.Sprintf(" (did you mean %s, of the effect %s?)", meant, contracts.EffectName(meant))
	}
	c.fail(e.Name.Pos, path, c.iface.Obj(), "%s has no method %s%s: want %s(context.Context, %s) (%s, error)",
		c.iface.Obj().Name(), e.Method(), hint, e.Method(), in, out)
	return nil
}

// methodsWithoutEffect are the methods that no effect claims.
func (c *contract) methodsWithoutEffect() []string {
	return slices.DeleteFunc(c.interfaceMethods(), func(name string) bool { return c.spec.EffectByMethod(name) != nil })
}

// effectTypes reads the interface method's signature.
func (c *contract) effectTypes(e *contracts.Effect, path string, fn *types.Func) (in, out types.Type, ok bool) {
	sig := fn.Signature()
	if c.unresolved(sig, e.Name, path, fn) {
		return nil, nil, false
	}
	p, r := sig.Params(), sig.Results()
	if p.Len() != 2 || sig.Variadic() || !isContext(p.At(0).Type()) || r.Len() != 2 || !isError(r.At(1).Type()) {
		c.fail(e.Name.Pos, path, fn, "method %s of %s is %s: want func(context.Context, X) (Y, error)", fn.Name(), c.iface.Obj().Name(), describe(c.types, sig))
		return nil, nil, false
	}
	return p.At(1).Type(), r.At(0).Type(), true
}

// effectFuncs finds the functions that carry the effect out.
func (c *contract) effectFuncs(me *model.Effect, path string, in, out types.Type) {
	e := me.Spec
	at := e.Name
	if e.Call.Set {
		at, path = e.Call, path+".call"
	}
	call := "idem.Call"
	if e.Guard.V == contracts.Transaction {
		call = "idem.TxCall[" + c.txName() + "]"
	}
	wanted := func() string {
		return fmt.Sprintf("func(context.Context, %s, %s) (%s, error)", call, describe(c.types, in), describe(c.types, out))
	}
	me.Call = c.effectFunc(at, path, e.CallName(), wanted, func(sig *types.Signature, fn *types.Func) bool {
		return c.fitsEffect(sig, fn, e.Guard.V == contracts.Transaction, in, out, false)
	})
	if e.Guard.V == contracts.FindFirst {
		wanted := func() string {
			return fmt.Sprintf("func(context.Context, idem.Call, %s) (%s, bool, error)", describe(c.types, in), describe(c.types, out))
		}
		find := c.effectFunc(e.Find, "effects."+e.Name.V+".find", e.Find.V, wanted, func(sig *types.Signature, fn *types.Func) bool {
			return c.fitsEffect(sig, fn, false, in, out, true)
		})
		me.Find = &find
	}
	c.checkTx(at, path)
}

// lookFunc is the function that a contract names, or nil; nothing is reported.
func (c *contract) lookFunc(name string) *types.Func {
	f, ok := contracts.ParseFunc(name)
	switch {
	case !ok:
		return nil
	case !f.Far():
		return c.findFunc(name)
	}
	p, _ := c.farPackage(f)
	if p == nil {
		return nil
	}
	fn, _ := p.Scope().Lookup(f.Name).(*types.Func)
	return fn
}

// findFunc is a method of the receiver or a function of the package.
func (c *contract) findFunc(name string) *types.Func {
	if fn := c.methodOf(name); fn != nil {
		return fn
	}
	fn, _ := c.types.Scope().Lookup(name).(*types.Func)
	return fn
}

func (c *contract) effectFunc(at contracts.Value[string], path, name string, wanted func() string, fits func(*types.Signature, *types.Func) bool) model.Func {
	var fn *types.Func
	var pkg string
	written := name
	if f, ok := contracts.ParseFunc(name); ok && f.Far() {
		if fn = c.farFunc(at, path, f, wanted); fn == nil {
			return model.Func{}
		}
		name, pkg = f.Name, fn.Pkg().Path()
	} else if fn = c.findFunc(name); fn == nil {
		c.noEffectFunc(at, path, name, wanted())
		return model.Func{}
	}
	if c.unresolved(fn.Signature(), at, path, fn) {
		return model.Func{}
	}
	if !fits(fn.Signature(), fn) {
		c.fail(at.Pos, path, fn, "%s is %s: want %s", written, describe(c.types, fn.Signature()), wanted())
	}
	return model.Func{Method: fn.Signature().Recv() != nil, Pkg: pkg, Name: name}
}

func (c *contract) noEffectFunc(at contracts.Value[string], path, name, wanted string) {
	candidates := c.funcNames()
	where := "package " + c.src.name + " has no function"
	var decl types.Object
	if c.recv != nil {
		candidates = append(c.methodNames(), candidates...)
		t, _ := deref(c.recv)
		decl = named(t).Obj()
		where = "neither type " + decl.Name() + " nor the package has a method or function"
		if sel := types.NewMethodSet(types.NewPointer(t)).Lookup(c.types, name); sel != nil {
			c.fail(at.Pos, path, sel.Obj(), "%s is a method of *%s, and the handler's receiver is %s", name, decl.Name(), decl.Name())
			return
		}
	}
	candidates = slices.DeleteFunc(candidates, func(n string) bool { return n == c.handler.Name() })
	d := c.fail(at.Pos, path, decl, "%s %s%s: want %s", where, name, contracts.DidYouMean(name, candidates), wanted)
	c.brokenFiles(d)
}

// fitsEffect tells whether a function has the signature of an effect, or with
// find of one that looks for it.
func (c *contract) fitsEffect(sig *types.Signature, fn *types.Func, tx bool, in, out types.Type, find bool) bool {
	p, r := sig.Params(), sig.Results()
	last := r.Len() - 1
	wantResults := 2
	if find {
		wantResults = 3
	}
	if p.Len() != 3 || sig.Variadic() || sig.TypeParams().Len() > 0 || r.Len() != wantResults {
		return false
	}
	if find && !types.Identical(r.At(1).Type(), types.Typ[types.Bool]) {
		return false
	}
	if !isContext(p.At(0).Type()) || !isError(r.At(last).Type()) ||
		!types.Identical(p.At(2).Type(), in) || !types.Identical(r.At(0).Type(), out) {
		return false
	}
	call := p.At(1).Type()
	if !tx {
		return isNamed(call, idemPath, "Call")
	}
	if !isNamed(call, idemPath, "TxCall") || named(call).TypeArgs().Len() != 1 {
		return false
	}
	c.useTx(named(call).TypeArgs().At(0), fn)
	return true
}

// useTx notes the transaction type that an effect takes.
func (c *contract) useTx(t types.Type, fn *types.Func) {
	if c.tx == nil {
		c.tx = &txType{t: t, from: fn}
	}
	if !types.Identical(c.tx.t, t) {
		c.otherTx = &txType{t: t, from: fn}
	}
}

// txName is the transaction type that an effect should take: that of the effects
// before it, or that of the store that is there.
func (c *contract) txName() string {
	if c.tx != nil {
		return describe(c.types, c.tx.t)
	}
	return "*sql.Tx"
}

// checkTx reports a second transaction type: one ledger has one.
func (c *contract) checkTx(at contracts.Value[string], path string) {
	if other := c.otherTx; other != nil {
		c.otherTx = nil
		d := c.fail(at.Pos, path, other.from, "%s takes transactions of type %s, and %s those of type %s: the effects of a package share one ledger, and it has one type of transactions",
			other.from.Name(), describe(c.types, other.t), c.tx.from.Name(), describe(c.types, c.tx.t))
		c.at(d, c.tx.from)
		return
	}
	if c.tx != nil && c.model.Tx == nil {
		ref, err := typeRef(c.types, c.tx.t)
		if err != nil {
			c.fail(at.Pos, path, c.tx.from, "the type of transactions is %s", err)
			return
		}
		c.model.Tx = ref
	}
}

// oncePer resolves the fields that set one call of an effect apart from the next.
func (c *contract) oncePer(e *contracts.Effect, path string, in types.Type) []*model.Value {
	var values []*model.Value
	for _, v := range e.OncePer {
		if value := c.value(v, path+".once_per", in, nil, forPer); value != nil {
			values = append(values, value)
		}
	}
	return values
}

// externalRef resolves the field of a result that names it in the other system.
func (c *contract) externalRef(v contracts.Value[string], path string, out types.Type) *model.Text {
	p, perr := follow(c.types, out, v.V, false)
	if perr != nil {
		c.fail(v.Pos, path, perr.decl, "%s", perr.msg)
		return nil
	}
	text := &model.Text{Path: v.V, Steps: p.steps}
	t, isPointer := deref(p.last().Type())
	if sig, pointer := method(t, "String"); isStringer(sig) && !(pointer && isPointer) || isStringer(sig) {
		text.Kind = model.TextStringer
		return text
	}
	u, ok := t.Underlying().(*types.Basic)
	switch {
	case ok && u.Info()&types.IsString != 0:
		text.Plain = types.Identical(t, types.Typ[types.String])
	case ok && u.Info()&types.IsUnsigned != 0:
		text.Kind = model.TextUint
	case ok && u.Info()&types.IsInteger != 0:
		text.Kind = model.TextInt
	default:
		c.fail(v.Pos, path, p.last(), "want a string, an integer or a type with a String method; field %s is %s", v.V, describe(c.types, p.last().Type()))
		return nil
	}
	return text
}

func isStringer(sig *types.Signature) bool {
	return sig != nil && sig.Params().Len() == 0 && sig.Results().Len() == 1 &&
		types.Identical(sig.Results().At(0).Type(), types.Typ[types.String])
}
