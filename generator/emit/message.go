package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/model"
)

// message is what makes the effect's message the same as another.
func (f *file) message(e *model.Effect) jen.Code {
	spec := e.Spec.Message
	word := "append" + f.kinds[f.contract].word + e.Method
	to, body := f.names.declare(word+"To"), f.names.declare(word+"Body")
	f.later = append(f.later, func() { f.messageFuncs(to, body, e) })
	return jen.Op("&").Add(f.idem("Message").Types(f.typ(e.In))).Add(multi("{", "}",
		keyed("Channel", jen.Lit(spec.Channel.V)),
		keyed("TTL", f.duration(spec.TTL.V)),
		keyed("To", jen.Id(to)),
		keyed("Body", jen.Id(body)),
	))
}

// messageFuncs declares what appends the recipient, and what the text.
func (f *file) messageFuncs(to, body string, e *model.Effect) {
	dst, in, m := f.v("dst"), f.v("in"), e.Message
	declare := func(name, comment string, write func(w *writer)) {
		w := f.writer(dst)
		w.fail = f.failAt(dst)
		write(w)
		f.jen.Comment("// " + name + " " + comment)
		f.jen.Func().Id(name).Params(jen.Id(dst).Index().Byte(), jen.Id(in).Add(f.typ(e.In))).
			Params(jen.Index().Byte(), jen.Error()).Block(w.finish()...)
		f.jen.Line()
	}
	declare(to, "appends who receives "+e.Spec.Name.V+".", func(w *writer) { w.text(m.To, in) })
	declare(body, "appends what "+e.Spec.Name.V+" says: with the recipient, what makes two messages the same.", func(w *writer) {
		if m.List {
			w.list(m.Body, in)
		} else {
			w.part(m.Body[0], in)
		}
	})
}
