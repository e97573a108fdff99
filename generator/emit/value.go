package emit

import (
	"strconv"
	"strings"

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
	start string                        // the buffer in which dst begins, until it has
	depth string                        // what recursive functions are told; empty is zero
	fail  func(path, err string) string // the statement that ends the function

	pending string
	body    []string
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

func (w *writer) add(code ...string) { w.body = append(w.body, code...) }
func (w *writer) constant(s string)  { w.pending += s }
func (w *writer) n() string          { return w.f.v("n") }

// flush writes the constant text gathered so far.
func (w *writer) flush() {
	if w.start != "" {
		w.add(w.dst + " := append(" + w.start + "[:0], " + text(w.pending) + "...)")
		w.start, w.pending = "", ""
	}
	if w.pending != "" {
		w.set(w.appended())
	}
	w.pending = ""
}

// appended is dst with the pending text.
func (w *writer) appended() string {
	if len(w.pending) == 1 {
		return call("append", w.dst, strconv.QuoteRune(rune(w.pending[0])))
	}
	return call("append", w.dst, text(w.pending)+"...")
}

func (w *writer) set(value string) { w.add(w.dst + " = " + value) }

// mark remembers where the next value begins.
func (w *writer) mark() {
	w.flush()
	op := " = "
	if !w.marked {
		op = " := "
	}
	w.marked = true
	w.add(w.n() + op + "len(" + w.dst + ")")
}

// try appends what call gives, and ends the function if it gives an error.
func (w *writer) try(call, path string) {
	w.flush()
	w.usesErr = true
	err := w.f.v("err")
	w.add(block("if "+w.dst+", "+err+" = "+call+"; "+err+" != nil", w.fail(path, err)))
	w.branches = true
}

// tryLong is try for calls of several lines, which do not read well in an if.
func (w *writer) tryLong(call, path string) {
	w.flush()
	w.usesErr = true
	err := w.f.v("err")
	w.add(w.dst+", "+err+" = "+call, block("if "+err+" != nil", w.fail(path, err)))
}

func (w *writer) declareErr() []string {
	if !w.usesErr {
		return nil
	}
	return []string{"var " + w.f.v("err") + " error"}
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
			w.add(block("if "+x.text+" == nil", w.fail(path, w.f.canon("ErrEmpty"))))
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
	case form.Elem != nil && w.f.elemFunc(form.Elem) == "":
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
	test := block("if "+x.value()+" == nil", null.body...) + " else"
	if len(inner.body) == 1 && inner.branches {
		w.add(test + " " + inner.body[0])
	} else {
		w.add(block(test, inner.body...))
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
func (w *writer) call(form *model.Form, x expr) string {
	f, dst := w.f, w.dst
	if form.Func {
		args := []string{dst, x.value()}
		if form.Recursive {
			args = append(args, w.deeper())
		}
		return call(f.formFunc(form), args...)
	}
	switch form.Op {
	case model.OpString:
		return f.stringCall(w.dst, form, x)
	case model.OpFloat64:
		return call(f.canon("AppendFloat64"), dst, f.convert(form, "float64", x))
	case model.OpFloat32:
		return call(f.canon("AppendFloat32"), dst, f.convert(form, "float32", x))
	case model.OpTime:
		return call(f.canon("AppendTime"), dst, x.value(), tight(f.duration(form.Precision)))
	case model.OpBigInt:
		return call(f.canon("AppendBigInt"), dst, pointerOrValue(form, x))
	case model.OpDecimal:
		return call(f.canon("AppendDecimal"), dst, x.operand()+".String()")
	case model.OpNumber:
		return call(f.canon("AppendNumber"), dst, x.value())
	case model.OpRawJSON:
		return call(f.canon(exactly("AppendJSON", form)), dst, x.value())
	case model.OpAny:
		return call(f.canon(exactly("AppendAny", form)), dst, x.value())
	case model.OpAppender:
		return call(f.canon("AppendCanonical"), dst, pointerOrValue(form, x))
	case model.OpText:
		return call(f.canon(exactly("AppendTextMarshaler", form)), dst, pointerOrValue(form, x))
	case model.OpMinor:
		return f.minorCall(w.dst, form, x)
	case model.OpSlice:
		return call(f.canon("AppendSlice"), dst, x.value(), w.elem(form.Elem))
	case model.OpArray:
		return call(f.canon("AppendSlice"), dst, x.operand()+"[:]", w.elem(form.Elem))
	case model.OpMap:
		return call(f.canon("AppendMap"), dst, x.value(), w.elem(form.Elem))
	case model.OpIntMap:
		return call(f.canon("AppendIntMap"), dst, x.value(), w.elem(form.Elem))
	}
	panic("emit: form without a call: " + strconv.Itoa(int(form.Op)))
}

// infallible is dst with a value that cannot fail.
func (f *file) infallible(dst string, form *model.Form, x expr) string {
	switch form.Op {
	case model.OpInt:
		return call(f.canon("AppendInt"), dst, f.convert(form, "int64", x))
	case model.OpUint:
		return call(f.canon("AppendUint"), dst, f.convert(form, "uint64", x))
	case model.OpBool:
		return call(f.canon("AppendBool"), dst, f.convert(form, "bool", x))
	case model.OpBytes:
		return call(f.canon("AppendBytes"), dst, x.value())
	}
	panic("emit: form that may fail: " + strconv.Itoa(int(form.Op)))
}

func exactly(name string, form *model.Form) string {
	if form.Exact {
		return name + "Exact"
	}
	return name
}

func pointerOrValue(form *model.Form, x expr) string {
	if form.Addr {
		return x.address()
	}
	return x.value()
}

// convert converts to a predeclared type unless the value is of it.
func (f *file) convert(form *model.Form, to string, x expr) string {
	if isPredeclared(form.Type, to) {
		return x.value()
	}
	return call(to, x.value())
}

func isPredeclared(t *model.Type, name string) bool {
	return t.Kind == model.Named && t.Pkg == "" && t.Name == name && len(t.Args) == 0
}

// deeper is the depth that a recursive function is told.
func (w *writer) deeper() string {
	if w.depth == "" {
		return "0"
	}
	return w.depth
}

// elem is a function that appends elements.
func (w *writer) elem(form *model.Form) string {
	if name := w.f.elemFunc(form); name != "" {
		return name
	}
	return w.f.appendLit(form, w.depth)
}
