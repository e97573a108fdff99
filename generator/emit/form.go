package emit

import (
	"strconv"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/runtime/canon"
)

// maxDepth is how deep a value of a recursive type may be: as deep as package
// canon lets JSON be.
const maxDepth = 100

// wireKey is the name of a member as canonical text.
func wireKey(wire string) string { return string(canon.AppendKey(nil, wire)) }

// appendFunc is a function that appends values of the form.
func (f *file) appendFunc(form *model.Form) string {
	if name := f.elemFunc(form); name != "" {
		return name
	}
	return f.appendLit(form, "")
}

// elemFunc is the function that is there already for a form, or empty.
func (f *file) elemFunc(form *model.Form) string {
	switch {
	case form.Func && !form.Recursive:
		return f.formFunc(form)
	case form.Func:
		return ""
	}
	switch form.Op {
	case model.OpString:
		if len(form.Steps) > 0 {
			if isPredeclared(form.Type, "string") {
				return f.chain(form, false)
			}
			return ""
		}
		return generic(f.canon(exactly("AppendString", form)), f.typ(form.Type))
	case model.OpFloat64:
		if isPredeclared(form.Type, "float64") {
			return f.canon("AppendFloat64")
		}
	case model.OpFloat32:
		if isPredeclared(form.Type, "float32") {
			return f.canon("AppendFloat32")
		}
	case model.OpNumber:
		return f.canon("AppendNumber")
	case model.OpAny:
		if isPredeclared(form.Type, "any") {
			return f.canon(exactly("AppendAny", form))
		}
	case model.OpText:
		if !form.Addr {
			return generic(f.canon(exactly("AppendTextMarshaler", form)), f.typ(form.Type))
		}
	case model.OpAppender:
		if !form.Addr {
			return generic(f.canon("AppendCanonical"), f.typ(form.Type))
		}
	}
	return ""
}

// appendLit is a function literal that appends values of the form.
func (f *file) appendLit(form *model.Form, depth string) string {
	dst, item := f.v("dst"), f.v("item")
	w := f.writer(dst)
	w.depth = depth
	w.fail = f.failAt(dst)
	x := expr{text: item}
	switch {
	case !form.Func && (form.Op == model.OpPointer || form.Op == model.OpStruct):
		w.value(form, x, "")
	case !form.Fallible():
		return f.funcLit(form.Type, dst, item, ret(f.infallible(dst, form, x), "nil"))
	default:
		return f.funcLit(form.Type, dst, item, ret(w.call(form, x)))
	}
	return f.funcLit(form.Type, dst, item, w.finish()...)
}

// failAt returns the error with the path to where it stands.
func (f *file) failAt(dst string) func(path, err string) string {
	return func(path, err string) string {
		if path != "" {
			err = call(f.canon("At"), str(path), err)
		}
		return ret(dst, err)
	}
}

// funcLit is a function literal that appends values of a type.
func (f *file) funcLit(t *model.Type, dst, in string, body ...string) string {
	return block("func"+f.appendSignature(dst, in, t), body...)
}

// appendSignature is the signature of functions that append values of a type.
func (f *file) appendSignature(dst, in string, t *model.Type, more ...string) string {
	return call("", append([]string{dst + " []byte", in + " " + f.typ(t)}, more...)...) + " ([]byte, error)"
}

// finish is the whole body of a function that returns dst.
func (w *writer) finish() []string {
	result := w.dst
	if w.pending != "" {
		result = w.appended()
		w.pending = ""
	}
	return append(append(w.declareErr(), w.body...), ret(result, "nil"))
}

// formFunc is the name of the function for a form; it is written later.
func (f *file) formFunc(form *model.Form) string {
	if name, ok := f.funcs[form]; ok {
		return name
	}
	same := form.Type.String() + " " + model.Describe(form)
	if name, ok := f.same[same]; ok {
		f.funcs[form] = name
		return name
	}
	word, kind := form.Type.Word(), f.kinds[f.contract].word
	wanted := []string{"append" + word, "append" + kind + word}
	if form.Own {
		wanted = wanted[1:]
	}
	switch form {
	case f.contract.Payload:
		wanted = append(wanted[:1:1], "append"+kind+"Payload")
		if form.Own {
			wanted = wanted[1:]
		}
	case f.contract.Identity.Hash:
		wanted = []string{"append" + kind + "Identity"}
	}
	name := f.names.declare(wanted...)
	f.funcs[form], f.same[same] = name, name
	f.queue = append(f.queue, form)
	return name
}

// forms declares the functions that were asked for, and those they ask for.
func (f *file) forms() {
	for len(f.queue)+len(f.later) > 0 {
		queue, later := f.queue, f.later
		f.queue, f.later = nil, nil
		for _, form := range queue {
			f.form(form)
		}
		for _, declare := range later {
			declare()
		}
	}
}

func (f *file) form(form *model.Form) {
	dst, v := f.v("dst"), f.v("v")
	w := f.writer(dst)
	w.fail = f.failAt(dst)
	var more []string
	if form.Recursive {
		depth := f.v("depth")
		more = append(more, depth+" int")
		w.depth = depth + "+1"
		w.add(block("if "+depth+" > "+num(maxDepth), ret(dst, f.canon("ErrDepth"))))
	}
	inline := *form
	inline.Func = false
	w.value(&inline, expr{text: v}, "")
	name := f.funcs[form]
	f.declare(name+" appends "+v+" in canonical form"+ownNote(form)+".",
		block("func "+name+f.appendSignature(dst, v, form.Type, more...), w.finish()...))
}

func ownNote(form *model.Form) string {
	if form.Own {
		return ", as the contract has it"
	}
	return ""
}

// stringCall appends a string as a JSON string.
func (f *file) stringCall(dst string, form *model.Form, x expr) string {
	if len(form.Steps) > 0 {
		return call(f.chain(form, false), dst, f.convert(form, "string", x))
	}
	return call(f.canon(exactly("AppendString", form)), dst, x.value())
}

// textCall appends a string as it is.
func (f *file) textCall(dst string, form *model.Form, x expr) string {
	if len(form.Steps) > 0 {
		return call(f.chain(form, true), dst, f.convert(form, "string", x))
	}
	return call(f.canon(exactly("AppendText", form)), dst, x.value())
}

// minorCall appends an amount in minor units.
func (f *file) minorCall(dst string, form *model.Form, x expr) string {
	switch form.From {
	case model.OpString:
		return call(f.chain(form, false), dst, f.convert(form, "string", x))
	default:
		return call(f.canon("AppendMinorUnits"), dst, x.operand()+".String()", num(form.Digits))
	}
}

// chain is the name of the function that appends a string through normalisers.
func (f *file) chain(form *model.Form, text bool) string {
	word, params := "", ""
	for _, s := range form.Steps {
		word += contracts.MethodName(string(s.Name))
		if len(s.Params) > 0 {
			word += "DropParams"
			params = model.StepWord(s)
		}
	}
	if form.Op == model.OpMinor {
		word += "MinorUnits" + strconv.Itoa(form.Digits)
	}
	if form.Exact {
		word += "Exact"
	}
	if text {
		word += "Text"
	}
	if name, ok := f.chains[word+params]; ok {
		return name
	}
	name := f.names.declare("appendAs"+word, "append"+f.kinds[f.contract].word+"As"+word)
	f.chains[word+params] = name
	f.later = append(f.later, func() { f.chainFunc(name, form, text) })
	return name
}

// chainFunc declares the function of a chain.
func (f *file) chainFunc(name string, form *model.Form, text bool) {
	dst, s, err := f.v("dst"), f.v("s"), f.v("err")
	var body []string
	declared := false
	fallible := func(step string) {
		op := " = "
		if !declared {
			op, declared = " := ", true
		}
		body = append(body, s+", "+err+op+step, block("if "+err+" != nil", ret(dst, err)))
	}
	if !form.Exact {
		fallible(call(f.canon("Clean"), s))
	}
	var words []string
	for _, step := range form.Steps {
		words = append(words, string(step.Name))
		args := []string{s}
		for _, name := range step.ParamNames() {
			args = append(args, str(name))
		}
		normalised := call(f.canon(contracts.MethodName(string(step.Name))), args...)
		if step.Name == contracts.Email || step.Name == contracts.URL {
			fallible(normalised)
		} else {
			body = append(body, s+" = "+normalised)
		}
	}
	body = append(body, ret(f.chainEnd(dst, s, form, text)))
	if form.Op == model.OpMinor {
		words = append(words, "minor_units: "+strconv.Itoa(form.Digits))
	}
	f.declare(name+" appends "+s+", normalised by "+strings.Join(words, ", ")+".",
		block("func "+name+"("+dst+" []byte, "+s+" string) ([]byte, error)", body...))
}

func (f *file) chainEnd(dst, s string, form *model.Form, text bool) string {
	switch {
	case form.Op == model.OpMinor:
		return call(f.canon("AppendMinorUnits"), dst, s, num(form.Digits))
	case text:
		return call(f.canon(exactly("AppendText", form)), dst, s)
	default:
		return call(f.canon(exactly("AppendString", form)), dst, s)
	}
}
