package emit

import (
	"fmt"

	"github.com/idemgen/idem/generator/model"
)

// latestFunc declares the place of work among works about one thing. Besides kind
// and thing, the preimage says what the place is and how it is counted: places of
// which one is a revision and the other a time cannot be compared.
func (f *file) latestFunc(c *model.Contract) {
	k, b, in := f.kinds[c], f.v("b"), f.v("in")
	w := f.writer(b)
	w.fail = func(path, err string) string {
		return ret(f.idem("Mark")+"{}", call(f.idem("IdentityError"), str(c.Spec.Kind.V), str(path), err))
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
	body := append(w.preimage(), ret(call(f.idem("NewMark"), b, mark), "nil"))
	f.declare(fmt.Sprintf("%s is the place of %s among works about one %s: a higher %s is newer.", k.latest, in, describeValues(values), c.Latest.By.Path),
		block("func "+k.latest+"("+in+" "+f.typ(c.In)+")"+call(" ", f.idem("Mark"), "error"), body...))
}

// place reads the place of a work.
func (w *writer) place(v *model.Value, in string) string {
	f := w.f
	x := w.reach(v, in)
	by, err := f.v("by"), f.v("err")
	var found string
	switch v.Form.Op {
	case model.OpUint:
		found = call(f.idem("UintMark"), f.convert(v.Form, "uint64", x))
	case model.OpTime:
		w.add(block("if "+x.operand()+".IsZero()", w.fail(v.Path, f.canon("ErrEmpty"))))
		found = call(f.idem("TimeMark"), x.value(), tight(f.duration(v.Form.Precision)))
	default:
		return f.convert(v.Form, "int64", x)
	}
	w.add(by+", "+err+" := "+found, block("if "+err+" != nil", w.fail(v.Path, err)))
	return by
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
