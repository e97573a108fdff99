package emit

import (
	"fmt"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// stackBuffer is how long a preimage may get before it is built on the heap.
const stackBuffer = 256

// workID declares the derivation of a contract's identity.
func (f *file) workID(c *model.Contract) {
	k, b, in := f.kinds[c], f.v("b"), f.v("in")
	w := f.writer(b)
	w.fail = func(path, err string) string {
		if c.Spec.Identity.Strategy == contracts.ByCallerKey && path == c.Spec.Identity.Key[0].V {
			path += ", which the caller chooses"
		}
		return ret(f.idem("WorkID")+"{}", call(f.idem("IdentityError"), str(c.Spec.Kind.V), str(path), err))
	}
	if c.Identity.Input {
		w.nilInput(in)
	}
	w.start = f.v("buf")
	w.constant(fmt.Sprintf("%s:v%d:", c.Spec.Kind.V, c.Spec.Version.V))
	id := c.Identity
	switch {
	case id.Single != nil:
		w.text(id.Single, in)
	case id.Hash != nil && c.Scope != nil:
		w.constant("[")
		w.part(c.Scope, in)
		w.constant(",")
		w.hash(c, in)
		w.constant("]")
	case id.Hash != nil:
		w.hash(c, in)
	default:
		w.list(id.List, in)
	}
	w.flush()
	params, hash := []string{in + " " + f.typ(c.In)}, call(f.idem("HashWorkID"), b)
	if c.Spec.Identity.Keyed.V {
		key := f.v("key")
		params = []string{key + " " + f.idem("Key"), params[0]}
		hash = call(f.idem("HashKeyedWorkID"), key, b)
	}
	body := append(w.preimage(), ret(hash, "nil"))
	f.declare(fmt.Sprintf("%s derives which work %s %s: %s.", k.id, in, f.tense(c), describeIdentity(c)),
		block("func "+call(k.id, params...)+call(" ", f.idem("WorkID"), "error"), body...))
}

// preimage is the body, with the variables that it needs.
func (w *writer) preimage() []string {
	body := append([]string{fmt.Sprintf("var %s [%d]byte", w.f.v("buf"), stackBuffer)}, w.declareErr()...)
	return append(body, w.body...)
}

// tense is is, and for a version that was honoured was.
func (f *file) tense(c *model.Contract) string {
	if f.kinds[c].field == "" {
		return fmt.Sprintf("was in version %d", c.Spec.Version.V)
	}
	return "is"
}

// honors lists the derivations of earlier versions.
func (f *file) honors(c *model.Contract) string {
	var versions []string
	for _, old := range c.Honored {
		versions = append(versions, fmt.Sprintf("{Version: %d, ID: %s}", old.Spec.Version.V, f.workIDFunc(old)))
	}
	return entries("[]"+generic(f.idem("Honored"), f.typ(c.In)), versions...)
}

// workIDFunc is the derivation as a function of the input alone.
func (f *file) workIDFunc(c *model.Contract) string {
	if id := f.kinds[c].id; !c.Spec.Identity.Keyed.V {
		return id
	}
	return call(f.idem("KeyedID"), f.v("ledger"), f.kinds[c].id)
}

// describeIdentity says in words what the body of the key is.
func describeIdentity(c *model.Contract) string {
	id := c.Spec.Identity
	hash := "the SHA-256 of kind, version and "
	if id.Keyed.V {
		hash = "the HMAC-SHA-256, under the ledger's key, of kind, version and "
	}
	if id.Strategy == contracts.ByCallerKey {
		text := hash
		if id.Scope.Set {
			text += "the list of " + id.Scope.V + " and "
		}
		return text + id.Key[0].V + ", which the caller chooses"
	}
	if c.Identity.Hash == nil {
		var names []string
		if id.Scope.Set {
			names = append(names, id.Scope.V)
		}
		for _, k := range id.Key {
			names = append(names, k.V)
		}
		if c.Identity.Single != nil {
			return hash + names[0]
		}
		return hash + "the list of " + strings.Join(names, ", ")
	}
	text := hash
	if id.Scope.Set {
		text += id.Scope.V + " with "
	}
	var names []string
	for _, p := range append(id.Fields[:len(id.Fields):len(id.Fields)], id.Except...) {
		names = append(names, p.V)
	}
	switch {
	case len(id.Fields) > 0:
		return text + "the fields " + strings.Join(names, ", ")
	case len(id.Except) > 0:
		return text + "all fields but " + strings.Join(names, ", ")
	default:
		return text + "all fields"
	}
}

// nilInput refuses a nil pointer as input.
func (w *writer) nilInput(in string) {
	w.flush()
	w.add(block("if "+in+" == nil", w.fail("input", w.f.canon("ErrEmpty"))))
}

// text writes the one value that is the whole body.
func (w *writer) text(v *model.Value, in string) {
	f := w.f
	x := w.reach(v, in)
	switch {
	case v.Form.Textual():
		w.mark()
		w.try(f.textCall(w.dst, v.Form, x), v.Path)
		w.add(block("if len("+w.dst+") == "+w.n(), w.fail(v.Path, f.canon("ErrEmpty"))))
	case v.Form.Op == model.OpInt:
		w.flush()
		w.set(call(f.q("strconv", "AppendInt"), w.dst, f.convert(v.Form, "int64", x), "10"))
	case v.Form.Op == model.OpUint:
		w.flush()
		w.set(call(f.q("strconv", "AppendUint"), w.dst, f.convert(v.Form, "uint64", x), "10"))
	default:
		w.mark()
		w.value(v.Form, x, v.Path)
		w.notEmpty(v.Form, v.Path)
		w.flush()
		w.set(call(f.canon("Unquote"), w.dst, w.n()))
	}
}

// list writes an array of values.
func (w *writer) list(values []*model.Value, in string) {
	w.constant("[")
	for i, v := range values {
		if i > 0 {
			w.constant(",")
		}
		w.part(v, in)
	}
	w.constant("]")
}

// part writes one value that must not be empty.
func (w *writer) part(v *model.Value, in string) {
	if v.MayBeEmpty {
		w.orEmpty(v, v.Steps, expr{text: in})
		return
	}
	x := w.reach(v, in)
	if !v.Form.NeverEmpty() {
		w.mark()
	}
	w.value(v.Form, x, v.Path)
	w.notEmpty(v.Form, v.Path)
}

// orEmpty writes a value that may say nothing, of which a nil pointer on the way
// makes null.
func (w *writer) orEmpty(v *model.Value, steps []model.Step, x expr) {
	for i, s := range steps {
		x = x.field(s.Name)
		if !s.Pointer {
			continue
		}
		if !w.checked[x.text] {
			w.orNull(x, func(inner *writer) { inner.orEmpty(v, steps[i+1:], x.pointee()) })
			return
		}
		x = x.pointee()
	}
	w.value(v.Form, x, v.Path)
}

// hash writes the object of the hashed fields.
func (w *writer) hash(c *model.Contract, in string) {
	form := c.Identity.Hash
	if !form.NeverEmpty() {
		w.mark()
	}
	w.value(form, expr{text: in, deref: c.Identity.Input}, "hash")
	w.notEmpty(form, "hash")
}

// notEmpty refuses what was written since the mark if it says nothing.
func (w *writer) notEmpty(form *model.Form, path string) {
	if form.NeverEmpty() {
		return
	}
	w.flush()
	empty := call(w.f.canon("Empty"), w.dst+"["+w.n()+":]")
	w.add(block("if "+empty, w.fail(path, w.f.canon("ErrEmpty"))))
}

// scopeFunc declares the scope as text for operators.
func (f *file) scopeFunc(c *model.Contract) {
	k, b, in := f.kinds[c], f.v("b"), f.v("in")
	w := f.writer(b)
	w.fail = func(string, string) string { return ret(`""`) }
	if c.Identity.Input {
		w.nilInput(in)
	}
	x := w.reach(c.Scope, in)
	form := c.Scope.Form
	switch {
	case form.Textual():
		w.try(f.textCall(b, form, x), c.Scope.Path)
	default:
		w.value(form, x, c.Scope.Path)
		w.flush()
		w.set(call(f.canon("Unquote"), b, "0"))
	}
	body := append([]string{"var " + b + " []byte"}, w.declareErr()...)
	body = append(append(body, w.body...), ret(call("string", b)))
	f.declare(fmt.Sprintf("%s is whose work %s is, for operators; it is empty where %s fails.", k.scope, in, k.id),
		block("func "+k.scope+"("+in+" "+f.typ(c.In)+") string", body...))
}

// per is the name of the function that writes the values of once_per.
func (f *file) per(e *model.Effect) string {
	name := f.names.declare("append" + f.kinds[f.contract].word + e.Method + "Per")
	f.later = append(f.later, func() { f.perFunc(name, e) })
	return name
}

// perFunc declares it.
func (f *file) perFunc(name string, e *model.Effect) {
	dst, in := f.v("dst"), f.v("in")
	w := f.writer(dst)
	w.fail = f.failAt(dst)
	w.list(e.Per, in)
	f.declare(name+" appends what "+e.Spec.Name.V+" is once per.",
		block("func "+name+f.appendSignature(dst, in, e.In), w.finish()...))
}
