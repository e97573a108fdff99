package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/model"
)

// latestFunc declares the place of work among works about one thing. Besides kind
// and thing, the preimage says what the place is and how it is counted: places of
// which one is a revision and the other a time cannot be compared.
func (f *file) latestFunc(c *model.Contract) {
	k, b, in := f.kinds[c], f.v("b"), f.v("in")
	w := f.writer(b)
	w.fail = func(path string, err jen.Code) jen.Code {
		return jen.Return(f.idem("Mark").Values(), f.idem("IdentityError").Call(jen.Lit(c.Spec.Kind.V), jen.Lit(path), err))
	}
	if c.Identity.Input {
		w.nilInput(in)
	}
	w.start = f.v("buf")
	w.constant(fmt.Sprintf("%s:latest:%s %s:", c.Spec.Kind.V, c.Latest.By.Wire, model.Describe(c.Latest.By.Form)))
	values := c.Latest.Of
	if c.Scope != nil {
		values = append([]*model.Value{c.Scope}, values...)
	}
	w.list(values, in)
	w.flush()
	mark := w.place(c.Latest.By, in)
	body := []jen.Code{jen.Var().Id(f.v("buf")).Index(jen.Lit(stackBuffer)).Byte()}
	body = append(body, w.declareErr()...)
	body = append(body, w.body...)
	body = append(body, jen.Return(f.idem("NewMark").Call(jen.Id(b), mark), jen.Nil()))
	f.jen.Commentf("%s is the place of %s among works about one %s: a higher %s is newer.", k.latest, in, describeValues(values), c.Latest.By.Path)
	f.jen.Func().Id(k.latest).Params(jen.Id(in).Add(f.typ(c.In))).Params(f.idem("Mark"), jen.Error()).Block(body...)
	f.jen.Line()
}

// place reads the place of a work.
func (w *writer) place(v *model.Value, in string) jen.Code {
	f := w.f
	x := w.reach(v, in)
	by, err := f.v("by"), f.v("err")
	var call jen.Code
	switch v.Form.Op {
	case model.OpUint:
		call = f.idem("UintMark").Call(f.convert(v.Form, "uint64", x))
	case model.OpTime:
		w.add(jen.If(jen.Id(x.operand()).Dot("IsZero").Call()).Block(w.fail(v.Path, f.canon("ErrEmpty"))))
		call = f.idem("TimeMark").Call(jen.Id(x.value()), f.duration(v.Form.Precision))
	default:
		return f.convert(v.Form, "int64", x)
	}
	w.add(
		jen.List(jen.Id(by), jen.Id(err)).Op(":=").Add(call),
		jen.If(jen.Id(err).Op("!=").Nil()).Block(w.fail(v.Path, jen.Id(err))),
	)
	return jen.Id(by)
}

func describeValues(values []*model.Value) string {
	text := values[0].Path
	for i, v := range values[1:] {
		if i == len(values)-2 {
			text += " and " + v.Path
		} else {
			text += ", " + v.Path
		}
	}
	return text
}
