package emit

import "github.com/idemgen/idem/generator/model"

// message is what makes the effect's message the same as another.
func (f *file) message(e *model.Effect) string {
	spec := e.Spec.Message
	word := "append" + f.kinds[f.contract].word + e.Method
	to, body := f.names.declare(word+"To"), f.names.declare(word+"Body")
	f.later = append(f.later, func() { f.messageFuncs(to, body, e) })
	return "&" + literal(generic(f.idem("Message"), f.typ(e.In)),
		pair{"Channel", str(spec.Channel.V)},
		pair{"TTL", f.duration(spec.TTL.V)},
		pair{"To", to},
		pair{"Body", body},
	)
}

// messageFuncs declares what appends the recipient, and what the text.
func (f *file) messageFuncs(to, body string, e *model.Effect) {
	dst, in, m := f.v("dst"), f.v("in"), e.Message
	declare := func(name, doc string, write func(w *writer)) {
		w := f.writer(dst)
		w.fail = f.failAt(dst)
		write(w)
		f.declare(name+" "+doc, block("func "+name+f.appendSignature(dst, in, e.In), w.finish()...))
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
