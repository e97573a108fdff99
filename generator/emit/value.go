package emit

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/model"
)

// expr is a value that can be addressed: a variable or a field of one.
type expr struct {
	text  string
	deref bool // the value is what text points to
}

func (x expr) value() string {
	if x.deref {
		return "*" + x.text
	}
	return x.text
}

// operand is the value in a place where a selector or index follows, which Go
// lets reach through one pointer.
func (x expr) operand() string { return x.text }

func (x expr) address() string {
	if x.deref {
		return x.text
	}
	return "&" + x.text
}

// pointee is what a pointer points to.
func (x expr) pointee() expr {
	if x.deref {
		return expr{"(*" + x.text + ")", true}
	}
	return expr{x.text, true}
}

func (x expr) field(name string) expr { return expr{x.operand() + "." + name, false} }

// writer collects the statements that append canonical text to one variable.
// Constant text is gathered until a value interrupts it.
type writer struct {
	f     *file
	dst   string
	start string                                   // the buffer in which dst begins, until it has
	depth jen.Code                                 // what recursive functions are told; nil is zero
	fail  func(path string, err jen.Code) jen.Code // the statement that ends the function

	pending string
	body    []jen.Code
	usesErr bool
	// branches says that the body holds an if statement, and nothing else if it
	// has one statement.
	branches bool
	marked   bool
	checked  map[string]bool // pointers that are known not to be nil
}

func (f *file) writer(dst string) *writer { return &writer{f: f, dst: dst, checked: map[string]bool{}} }

// branch is a writer for a block inside.
func (w *writer) branch() *writer {
	return &writer{f: w.f, dst: w.dst, depth: w.depth, fail: w.fail, checked: w.checked}
}

func (w *writer) add(code ...jen.Code) { w.body = append(w.body, code...) }
func (w *writer) constant(s string)    { w.pending += s }
func (w *writer) n() string            { return w.f.v("n") }

// flush writes the constant text gathered so far.
func (w *writer) flush() {
	if w.start != "" {
		w.add(jen.Id(w.dst).Op(":=").Append(jen.Id(w.start).Index(jen.Empty(), jen.Lit(0)), literal(w.pending).Op("...")))
		w.start, w.pending = "", ""
	}
	if w.pending != "" {
		w.set(w.appended())
	}
	w.pending = ""
}

// appended is dst with the pending text.
func (w *writer) appended() *jen.Statement {
	if len(w.pending) == 1 {
		return jen.Append(jen.Id(w.dst), jen.LitRune(rune(w.pending[0])))
	}
	return jen.Append(jen.Id(w.dst), literal(w.pending).Op("..."))
}

// literal is s as people write it: JSON reads better in back quotes.
func literal(s string) *jen.Statement {
	if strings.Contains(s, `"`) && strconv.CanBackquote(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

func (w *writer) set(value jen.Code) { w.add(jen.Id(w.dst).Op("=").Add(value)) }

// mark remembers where the next value begins.
func (w *writer) mark() {
	w.flush()
	op := "="
	if !w.marked {
		op = ":="
	}
	w.marked = true
	w.add(jen.Id(w.n()).Op(op).Len(jen.Id(w.dst)))
}

// try appends what call gives, and ends the function if it gives an error.
func (w *writer) try(call jen.Code, path string) {
	w.flush()
	w.usesErr = true
	err := jen.Id(w.f.v("err"))
	w.add(jen.If(
		jen.List(jen.Id(w.dst), err.Clone()).Op("=").Add(call),
		err.Clone().Op("!=").Nil(),
	).Block(w.fail(path, err)))
	w.branches = true
}

// tryLong is try for calls of several lines, which do not read well in an if.
func (w *writer) tryLong(call jen.Code, path string) {
	w.flush()
	w.usesErr = true
	err := jen.Id(w.f.v("err"))
	w.add(
		jen.List(jen.Id(w.dst), err.Clone()).Op("=").Add(call),
		jen.If(err.Clone().Op("!=").Nil()).Block(w.fail(path, err)),
	)
}

func (w *writer) declareErr() []jen.Code {
	if !w.usesErr {
		return nil
	}
	return []jen.Code{jen.Var().Id(w.f.v("err")).Error()}
}

// reach goes to a field of an input. A nil pointer on the way, or at its end,
// is an empty value.
func (w *writer) reach(v *model.Value, in string) expr {
	x, path := expr{text: in}, ""
	for _, s := range v.Steps {
		x = x.field(s.Name)
		path = strings.TrimPrefix(path+"."+s.Name, ".")
		if !s.Pointer {
			continue
		}
		if !w.checked[x.text] {
			w.checked[x.text] = true
			w.flush()
			w.add(jen.If(jen.Id(x.text).Op("==").Nil()).Block(w.fail(path, w.f.canon("ErrEmpty"))))
		}
		x = x.pointee()
	}
	return x
}

// value writes a value in canonical form.
func (w *writer) value(form *model.Form, x expr, path string) {
	switch {
	case form.Op == model.OpPointer && !form.Func:
		w.pointer(form, x, path)
	case form.Op == model.OpStruct && !form.Func:
		w.members(form, x, path)
	case !form.Fallible():
		w.flush()
		w.set(w.f.infallible(w.dst, form, x))
	case form.Elem != nil && w.f.elemFunc(form.Elem) == nil:
		w.tryLong(w.call(form, x), path)
	default:
		w.try(w.call(form, x), path)
	}
}

// pointer writes null or what the pointer points to.
func (w *writer) pointer(form *model.Form, x expr, path string) {
	w.orNull(x, func(inner *writer) { inner.value(form.Elem, x.pointee(), path) })
}

// orNull writes null if x is nil, else what write writes.
func (w *writer) orNull(x expr, write func(*writer)) {
	w.flush()
	null := *w
	null.body, null.pending = nil, "null"
	null.flush()
	inner := w.branch()
	write(inner)
	inner.flush()
	w.usesErr = w.usesErr || inner.usesErr
	test := jen.If(jen.Id(x.value()).Op("==").Nil()).Block(null.body...)
	if len(inner.body) == 1 && inner.branches {
		w.add(test.Else().Add(inner.body[0]))
	} else {
		w.add(test.Else().Block(inner.body...))
	}
	w.branches = true
}

// members writes an object in place.
func (w *writer) members(form *model.Form, x expr, path string) {
	w.constant("{")
	for i, m := range form.Members {
		if i > 0 {
			w.constant(",")
		}
		w.constant(wireKey(m.Wire))
		w.member(m, m.Steps, x, joinPath(path, m.Path))
	}
	w.constant("}")
}

// member goes through embedded pointers, of which a nil one makes the member
// null, and writes the member.
func (w *writer) member(m *model.Member, steps []model.Step, x expr, path string) {
	for i, s := range steps {
		x = x.field(s.Name)
		if s.Pointer {
			w.orNull(x, func(inner *writer) { inner.member(m, steps[i+1:], x, path) })
			return
		}
	}
	w.value(m.Form, x, path)
}

func joinPath(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// call is the call that appends a value and may fail.
func (w *writer) call(form *model.Form, x expr) jen.Code {
	f, dst := w.f, jen.Id(w.dst)
	if form.Func {
		args := []jen.Code{dst, jen.Id(x.value())}
		if form.Recursive {
			args = append(args, w.deeper())
		}
		return jen.Id(f.formFunc(form)).Call(args...)
	}
	switch form.Op {
	case model.OpString:
		return f.stringCall(w.dst, form, x)
	case model.OpFloat64:
		return f.canon("AppendFloat64").Call(dst, f.convert(form, "float64", x))
	case model.OpFloat32:
		return f.canon("AppendFloat32").Call(dst, f.convert(form, "float32", x))
	case model.OpTime:
		return f.canon("AppendTime").Call(dst, jen.Id(x.value()), f.duration(form.Precision))
	case model.OpBigInt:
		return f.canon("AppendBigInt").Call(dst, pointerOrValue(form, x))
	case model.OpDecimal:
		return f.canon("AppendDecimal").Call(dst, jen.Id(x.operand()).Dot("String").Call())
	case model.OpNumber:
		return f.canon("AppendNumber").Call(dst, jen.Id(x.value()))
	case model.OpRawJSON:
		return f.canon(exactly("AppendJSON", form)).Call(dst, jen.Id(x.value()))
	case model.OpAny:
		return f.canon(exactly("AppendAny", form)).Call(dst, jen.Id(x.value()))
	case model.OpAppender:
		return f.canon("AppendCanonical").Call(dst, pointerOrValue(form, x))
	case model.OpText:
		return f.canon(exactly("AppendTextMarshaler", form)).Call(dst, pointerOrValue(form, x))
	case model.OpMinor:
		return f.minorCall(w.dst, form, x)
	case model.OpSlice:
		return f.canon("AppendSlice").Call(dst, jen.Id(x.value()), w.elem(form.Elem))
	case model.OpArray:
		return f.canon("AppendSlice").Call(dst, jen.Id(x.operand()+"[:]"), w.elem(form.Elem))
	case model.OpMap:
		return f.canon("AppendMap").Call(dst, jen.Id(x.value()), w.elem(form.Elem))
	case model.OpIntMap:
		return f.canon("AppendIntMap").Call(dst, jen.Id(x.value()), w.elem(form.Elem))
	}
	panic("emit: form without a call: " + strconv.Itoa(int(form.Op)))
}

// infallible is dst with a value that cannot fail.
func (f *file) infallible(name string, form *model.Form, x expr) jen.Code {
	dst := jen.Id(name)
	switch form.Op {
	case model.OpInt:
		return f.canon("AppendInt").Call(dst, f.convert(form, "int64", x))
	case model.OpUint:
		return f.canon("AppendUint").Call(dst, f.convert(form, "uint64", x))
	case model.OpBool:
		return f.canon("AppendBool").Call(dst, f.convert(form, "bool", x))
	case model.OpBytes:
		return f.canon("AppendBytes").Call(dst, jen.Id(x.value()))
	}
	panic("emit: form that may fail: " + strconv.Itoa(int(form.Op)))
}

func exactly(name string, form *model.Form) string {
	if form.Exact {
		return name + "Exact"
	}
	return name
}

func pointerOrValue(form *model.Form, x expr) jen.Code {
	if form.Addr {
		return jen.Id(x.address())
	}
	return jen.Id(x.value())
}

// convert converts to a predeclared type unless the value is of it.
func (f *file) convert(form *model.Form, to string, x expr) jen.Code {
	if isPredeclared(form.Type, to) {
		return jen.Id(x.value())
	}
	return jen.Id(to).Call(jen.Id(x.value()))
}

func isPredeclared(t *model.Type, name string) bool {
	return t.Kind == model.Named && t.Pkg == "" && t.Name == name && len(t.Args) == 0
}

// deeper is the depth that a recursive function is told.
func (w *writer) deeper() jen.Code {
	if w.depth == nil {
		return jen.Lit(0)
	}
	return w.depth
}

// elem is a function that appends elements.
func (w *writer) elem(form *model.Form) jen.Code {
	if name := w.f.elemFunc(form); name != nil {
		return name
	}
	return w.f.appendLit(form, w.depth)
}
