package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// storedFunc declares the input as the ledger stores it.
func (f *file) storedFunc(c *model.Contract) {
	k := f.kinds[c]
	f.jen.Commentf("%s is %s as the ledger stores it: without %s.", k.stored, f.v("in"), pathList(c.Spec.Redact))
	f.jen.Func().Id(k.stored).Add(f.redactor(c.In, c.Redact))
	f.jen.Line()
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
func (f *file) redactor(t *model.Type, r *model.Redaction) jen.Code {
	in := f.v("in")
	w := &redactWriter{file: f, names: scope{}}
	var body []jen.Code
	if r.Pointer {
		body = append(body, w.copied(in, "stored", r)...)
	} else {
		body = w.fields(in, r)
	}
	body = append(body, jen.Return(jen.Id(in)))
	return jen.Params(jen.Id(in).Add(f.typ(t))).Add(f.typ(t)).Block(body...)
}

type redactWriter struct {
	*file
	names scope // of the copies
}

// fields empties what is in the redaction of x.
func (w *redactWriter) fields(x string, r *model.Redaction) []jen.Code {
	var code []jen.Code
	for _, field := range r.Fields {
		at := x + "." + field.Name
		switch {
		case len(field.Fields) == 0:
			code = append(code, jen.Id(at).Op("=").Add(w.zero(field)))
		case field.Pointer:
			code = append(code, w.copied(at, field.Name, field)...)
		default:
			code = append(code, w.fields(at, field)...)
		}
	}
	return code
}

// copied empties fields of a copy of what x points to, and lets x point there.
func (w *redactWriter) copied(x, name string, r *model.Redaction) []jen.Code {
	name = w.v(w.names.declare(lowerFirst(name)))
	body := []jen.Code{jen.Id(name).Op(":=").Op("*").Id(x)}
	body = append(body, w.fields(name, r)...)
	body = append(body, jen.Id(x).Op("=").Op("&").Id(name))
	return []jen.Code{jen.If(jen.Id(x).Op("!=").Nil()).Block(body...)}
}

func (w *redactWriter) zero(r *model.Redaction) jen.Code {
	if r.Zero != "" {
		return jen.Op(r.Zero)
	}
	return w.typ(r.Type).Values()
}
