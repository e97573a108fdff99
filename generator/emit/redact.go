package emit

import (
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// storedFunc declares the input as the ledger stores it.
func (f *file) storedFunc(c *model.Contract) {
	k := f.kinds[c]
	f.declare(k.stored+" is "+f.v("in")+" as the ledger stores it: without "+pathList(c.Spec.Redact)+".",
		"func "+k.stored+f.redactor(c.In, c.Redact))
}

func pathList(paths []contracts.Value[string]) string {
	var names []string
	for _, p := range paths {
		names = append(names, p.V)
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// redactor is the signature and body of a function that takes fields away from its
// argument. What pointers lead to is copied first: it is the caller's.
func (f *file) redactor(t *model.Type, r *model.Redaction) string {
	in := f.v("in")
	w := &redactWriter{file: f, names: scope{}}
	var body []string
	if r.Pointer {
		body = append(body, w.copied(in, "stored", r)...)
	} else {
		body = w.fields(in, r)
	}
	return block("("+in+" "+f.typ(t)+") "+f.typ(t), append(body, ret(in))...)
}

type redactWriter struct {
	*file
	names scope // of the copies
}

// fields empties what is in the redaction of x.
func (w *redactWriter) fields(x string, r *model.Redaction) []string {
	var code []string
	for _, field := range r.Fields {
		at := x + "." + field.Name
		switch {
		case len(field.Fields) == 0:
			code = append(code, at+" = "+w.zero(field))
		case field.Pointer:
			code = append(code, w.copied(at, field.Name, field)...)
		default:
			code = append(code, w.fields(at, field)...)
		}
	}
	return code
}

// copied empties fields of a copy of what x points to, and lets x point there.
func (w *redactWriter) copied(x, name string, r *model.Redaction) []string {
	name = w.v(w.names.declare(lowerFirst(name)))
	body := []string{name + " := *" + x}
	body = append(body, w.fields(name, r)...)
	body = append(body, x+" = &"+name)
	return []string{block("if "+x+" != nil", body...)}
}

func (w *redactWriter) zero(r *model.Redaction) string {
	if r.Zero != "" {
		return r.Zero
	}
	return w.typ(r.Type) + "{}"
}
