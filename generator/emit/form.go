package emit

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

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
func (f *file) appendFunc(form *model.Form) jen.Code {
	if name := f.elemFunc(form); name != nil {
		return name
	}
	return f.appendLit(form, nil)
}

// elemFunc is the function that is there already for a form, or nil.
func (f *file) elemFunc(form *model.Form) jen.Code {
	switch {
	case form.Func && !form.Recursive:
		return jen.Id(f.formFunc(form))
	case form.Func:
		return nil
	}
	switch form.Op {
	case model.OpString:
		if len(form.Steps) > 0 {
			if isPredeclared(form.Type, "string") {
				return jen.Id(f.chain(form, false))
			}
			return nil
		}
		return f.canon(exactly("AppendString", form)).Types(f.typ(form.Type))
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
			return f.canon(exactly("AppendTextMarshaler", form)).Types(f.typ(form.Type))
		}
	case model.OpAppender:
		if !form.Addr {
			return f.canon("AppendCanonical").Types(f.typ(form.Type))
		}
	}
	return nil
}

// appendLit is a function literal that appends values of the form.
func (f *file) appendLit(form *model.Form, depth jen.Code) jen.Code {
	dst, item := f.v("dst"), f.v("item")
	w := f.writer(dst)
	w.depth = depth
	w.fail = f.failAt(dst)
	x := expr{text: item}
	switch {
	case !form.Func && (form.Op == model.OpPointer || form.Op == model.OpStruct):
		w.value(form, x, "")
	case !form.Fallible():
		return f.literal(form.Type, dst, item, jen.Return(f.infallible(dst, form, x), jen.Nil()))
	default:
		return f.literal(form.Type, dst, item, jen.Return(w.call(form, x)))
	}
	return f.funcLit(w, form.Type, item)
}

// failAt returns the error with the path to where it stands.
func (f *file) failAt(dst string) func(string, jen.Code) jen.Code {
	return func(path string, err jen.Code) jen.Code {
		if path != "" {
			err = f.canon("At").Call(jen.Lit(path), err)
		}
		return jen.Return(jen.Id(dst), err)
	}
}

// funcLit is the function literal whose body the writer holds.
func (f *file) funcLit(w *writer, t *model.Type, in string) jen.Code {
	return f.literal(t, w.dst, in, w.finish()...)
}

func (f *file) literal(t *model.Type, dst, in string, body ...jen.Code) jen.Code {
	return jen.Func().Params(jen.Id(dst).Index().Byte(), jen.Id(in).Add(f.typ(t))).
		Params(jen.Index().Byte(), jen.Error()).Block(body...)
}

// finish is the whole body of a function that returns dst.
func (w *writer) finish() []jen.Code {
	result := jen.Id(w.dst)
	if w.pending != "" {
		result = w.appended()
		w.pending = ""
	}
	return append(append(w.declareErr(), w.body...), jen.Return(result, jen.Nil()))
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
	params := []jen.Code{jen.Id(dst).Index().Byte(), jen.Id(v).Add(f.typ(form.Type))}
	if form.Recursive {
		depth := f.v("depth")
		params = append(params, jen.Id(depth).Int())
		w.depth = jen.Id(depth).Op("+").Lit(1)
		w.add(jen.If(jen.Id(depth).Op(">").Lit(maxDepth)).Block(jen.Return(jen.Id(dst), f.canon("ErrDepth"))))
	}
	inline := *form
	inline.Func = false
	w.value(&inline, expr{text: v}, "")
	name := f.funcs[form]
	f.jen.Commentf("%s appends %s in canonical form%s.", name, v, ownNote(form))
	f.jen.Func().Id(name).Params(params...).Params(jen.Index().Byte(), jen.Error()).Block(w.finish()...)
	f.jen.Line()
}

func ownNote(form *model.Form) string {
	if form.Own {
		return ", as the contract has it"
	}
	return ""
}

// stringCall appends a string as a JSON string.
func (f *file) stringCall(dst string, form *model.Form, x expr) jen.Code {
	if len(form.Steps) > 0 {
		return jen.Id(f.chain(form, false)).Call(jen.Id(dst), f.convert(form, "string", x))
	}
	return f.canon(exactly("AppendString", form)).Call(jen.Id(dst), jen.Id(x.value()))
}

// textCall appends a string as it is.
func (f *file) textCall(dst string, form *model.Form, x expr) jen.Code {
	if len(form.Steps) > 0 {
		return jen.Id(f.chain(form, true)).Call(jen.Id(dst), f.convert(form, "string", x))
	}
	return f.canon(exactly("AppendText", form)).Call(jen.Id(dst), jen.Id(x.value()))
}

// minorCall appends an amount in minor units.
func (f *file) minorCall(dst string, form *model.Form, x expr) jen.Code {
	switch form.From {
	case model.OpString:
		return jen.Id(f.chain(form, false)).Call(jen.Id(dst), f.convert(form, "string", x))
	default:
		return f.canon("AppendMinorUnits").Call(jen.Id(dst), jen.Id(x.operand()).Dot("String").Call(), jen.Lit(form.Digits))
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
	var body []jen.Code
	declared := false
	fallible := func(call *jen.Statement) {
		op := "="
		if !declared {
			op, declared = ":=", true
		}
		body = append(body,
			jen.List(jen.Id(s), jen.Id(err)).Op(op).Add(call),
			jen.If(jen.Id(err).Op("!=").Nil()).Block(jen.Return(jen.Id(dst), jen.Id(err))))
	}
	if !form.Exact {
		fallible(f.canon("Clean").Call(jen.Id(s)))
	}
	var words []string
	for _, step := range form.Steps {
		words = append(words, string(step.Name))
		args := []jen.Code{jen.Id(s)}
		for _, name := range step.ParamNames() {
			args = append(args, jen.Lit(name))
		}
		call := f.canon(contracts.MethodName(string(step.Name))).Call(args...)
		if step.Name == contracts.Email || step.Name == contracts.URL {
			fallible(call)
		} else {
			body = append(body, jen.Id(s).Op("=").Add(call))
		}
	}
	body = append(body, jen.Return(f.chainEnd(dst, s, form, text)))
	if form.Op == model.OpMinor {
		words = append(words, "minor_units: "+strconv.Itoa(form.Digits))
	}
	f.jen.Commentf("%s appends %s, normalised by %s.", name, s, strings.Join(words, ", "))
	f.jen.Func().Id(name).Params(jen.Id(dst).Index().Byte(), jen.Id(s).String()).
		Params(jen.Index().Byte(), jen.Error()).Block(body...)
	f.jen.Line()
}

func (f *file) chainEnd(dst, s string, form *model.Form, text bool) jen.Code {
	switch {
	case form.Op == model.OpMinor:
		return f.canon("AppendMinorUnits").Call(jen.Id(dst), jen.Id(s), jen.Lit(form.Digits))
	case text:
		return f.canon(exactly("AppendText", form)).Call(jen.Id(dst), jen.Id(s))
	default:
		return f.canon(exactly("AppendString", form)).Call(jen.Id(dst), jen.Id(s))
	}
}
