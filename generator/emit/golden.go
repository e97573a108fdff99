package emit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/model"
)

// testFile renders the tests of golden keys of one contract file; nil if it has no
// contract with one.
func (g *pkg) testFile(mf *model.File) ([]byte, error) {
	f := g.newFile()
	tests := 0
	for _, c := range mf.Contracts {
		if c.Locked.Golden == "" || c.Locked.Samples == nil {
			f.jen.Comment("// " + c.Spec.Kind.V + " has no test: " + c.Locked.NoSample + ".")
			f.jen.Line()
			continue
		}
		tests++
		f.goldenTest(c)
	}
	if tests == 0 {
		return nil, nil
	}
	if f.fills && !g.filledDeclared {
		g.filledDeclared = true
		f.filledFunc()
	}
	f.jen.NoFormat = true
	var buf bytes.Buffer
	if err := f.jen.Render(&buf); err != nil {
		return nil, err
	}
	return append(sourceHeader(mf), groupImports(buf.Bytes())...), nil
}

// goldenTest declares the test that a sample still has the key that idem.lock has.
func (f *file) goldenTest(c *model.Contract) {
	k := f.kinds[c]
	name := f.names.declare("Test"+k.word+"Key", "Test"+k.word+"GoldenKey")
	t, in, id, err := f.v("t"), f.v("in"), f.v("id"), f.v("err")
	s := &sampleWriter{file: f}
	s.in(c, in)
	args := []jen.Code{jen.Id(in)}
	body := s.body
	if c.Spec.Identity.Keyed.V {
		key := f.v("key")
		args = append([]jen.Code{jen.Id(key)}, args...)
		body = append(body,
			jen.List(jen.Id(key), jen.Id(err)).Op(":=").Add(f.idem("NewKey")).Call(jen.Index().Byte().Call(jen.Lit(c.Locked.GoldenSecret))),
			jen.If(jen.Id(err).Op("!=").Nil()).Block(jen.Id(t).Dot("Fatal").Call(jen.Id(err))),
		)
	}
	body = append(body,
		jen.List(jen.Id(id), jen.Id(err)).Op(":=").Id(k.id).Call(args...),
		jen.If(jen.Id(err).Op("!=").Nil()).Block(jen.Id(t).Dot("Fatal").Call(jen.Id(err))),
		jen.If(jen.Id(id).Dot("String").Call().Op("!=").Id(f.v("golden"))).Block(
			jen.Id(t).Dot("Errorf").Call(jen.Lit("the key of this sample is %s, and idem.lock has %s: work that is done would be done again"), jen.Id(id), jen.Id(f.v("golden"))),
		),
	)
	body = append([]jen.Code{jen.Const().Id(f.v("golden")).Op("=").Lit(c.Locked.Golden)}, body...)
	f.jen.Comment("// " + name + " fails where this code, a library or a release of Go gives work of the kind " + c.Spec.Kind.V + " another key than idem.lock has.")
	f.jen.Func().Id(name).Params(jen.Id(t).Op("*").Add(f.q("testing", "T"))).Block(body...)
	f.jen.Line()
}

// filledFunc declares the function that points pointers to something.
func (f *file) filledFunc() {
	p := f.v("p")
	f.jen.Comment("// " + f.filled + " points a pointer to a value of its own, unless it has one.")
	f.jen.Func().Id(f.filled).Types(jen.Id(f.v("T")).Any()).Params(jen.Id(p).Op("**").Id(f.v("T"))).Op("*").Id(f.v("T")).Block(
		jen.If(jen.Op("*").Id(p).Op("==").Nil()).Block(jen.Op("*").Id(p).Op("=").New(jen.Id(f.v("T")))),
		jen.Return(jen.Op("*").Id(p)),
	)
	f.jen.Line()
}

// sampleWriter writes the statements that give an input the values of a sample.
type sampleWriter struct {
	*file
	body []jen.Code
	vars int
}

func (s *sampleWriter) in(c *model.Contract, in string) {
	if c.In.Kind == model.Pointer {
		s.add(jen.Id(in).Op(":=").New(s.typ(c.In.Elem)))
	} else {
		s.add(jen.Var().Id(in).Add(s.typ(c.In)))
	}
	samples, id := c.Locked.Samples, c.Identity
	values := id.List
	if id.Single != nil {
		values = []*model.Value{id.Single}
	}
	if id.Hash != nil {
		values = nil
		if c.Scope != nil {
			values = []*model.Value{c.Scope}
		}
	}
	for i, v := range values {
		s.set(samples[i], s.walk(in, v.Steps))
	}
	if id.Hash != nil {
		s.set(samples[len(samples)-1], in)
	}
}

func (s *sampleWriter) add(code jen.Code) { s.body = append(s.body, code) }

// walk is the place at the end of a path of fields, whose pointers are filled on
// the way.
func (s *sampleWriter) walk(place string, steps []model.Step) string {
	for _, step := range steps {
		place = strings.TrimPrefix(place, "*") + "." + step.Name
		if step.Pointer {
			place = "*" + s.fill(place)
		}
	}
	return place
}

func (s *sampleWriter) fill(place string) string {
	s.fills = true
	if pointer, ok := strings.CutPrefix(place, "*"); ok {
		return s.filled + "(" + pointer + ")"
	}
	return s.filled + "(&" + place + ")"
}

// set assigns a sample to a place: a variable, a field, or what *place points to.
func (s *sampleWriter) set(v *model.Sample, place string) {
	form := v.Form
	switch form.Op {
	case model.OpPointer:
		if !v.Nil {
			s.set(v.Elem, "*"+s.fill(place))
		}
	case model.OpSlice:
		if !v.Nil {
			s.assign(place, jen.Make(s.typ(form.Type), jen.Lit(1)))
			s.set(v.Elem, operand(place)+"[0]")
		}
	case model.OpMap, model.OpIntMap:
		s.mapping(v, place)
	case model.OpStruct:
		for i, m := range form.Members {
			s.set(v.Members[i], s.walk(place, m.Steps))
		}
	default:
		s.leaf(v, place)
	}
}

// operand is a place as what an index or a selector follows.
func operand(place string) string {
	if strings.HasPrefix(place, "*") {
		return "(" + place + ")"
	}
	return place
}

func (s *sampleWriter) assign(place string, value jen.Code) {
	s.add(jen.Id(place).Op("=").Add(value))
}

func (s *sampleWriter) mapping(v *model.Sample, place string) {
	if v.Nil {
		return
	}
	key := jen.Lit("42")
	if v.Form.Op == model.OpIntMap {
		key = jen.Lit(42)
	}
	s.vars++
	elem := s.v(fmt.Sprintf("elem%d", s.vars))
	s.add(jen.Var().Id(elem).Add(s.typ(v.Form.Elem.Type)))
	s.set(v.Elem, elem)
	s.assign(place, s.typ(v.Form.Type).Values(jen.Dict{key: jen.Id(elem)}))
}

// leaf assigns a value that is written by itself.
func (s *sampleWriter) leaf(v *model.Sample, place string) {
	form := v.Form
	op := form.Op
	if op == model.OpMinor {
		op = form.From
	}
	switch op {
	case model.OpString, model.OpNumber:
		text := v.Text
		if form.Op == model.OpNumber {
			text = "42"
		}
		s.assign(place, jen.Op(strconv.QuoteToASCII(text))) // a combining accent is to be seen
	case model.OpInt, model.OpUint:
		s.assign(place, jen.Lit(42))
	case model.OpFloat64, model.OpFloat32:
		s.assign(place, jen.Lit(0.1))
	case model.OpBool:
		s.assign(place, jen.True())
	case model.OpBytes:
		s.assign(place, jen.Index().Byte().Call(jen.Lit("sample")))
	case model.OpTime:
		s.assign(place, s.time(form))
	case model.OpRawJSON:
		s.assign(place, jen.Index().Byte().Call(jen.Op("`"+sampleJSON+"`")))
	case model.OpAny:
		s.assign(place, s.q("encoding/json", "RawMessage").Call(jen.Op("`"+sampleJSON+"`")))
	default: // types that read what they write
		if form.Type.Kind == model.Pointer {
			place = s.fill(place)
		}
		read := jen.Id(strings.TrimPrefix(place, "*")).Dot("UnmarshalText").Call(jen.Index().Byte().Call(jen.Lit(v.Text)))
		err := s.v("err")
		s.add(jen.If(jen.Id(err).Op(":=").Add(read), jen.Id(err).Op("!=").Nil()).Block(jen.Id(s.v("t")).Dot("Fatal").Call(jen.Id(err))))
	}
}

const sampleJSON = `{"b":[1,"two"],"a":null}`

func (s *sampleWriter) time(form *model.Form) jen.Code {
	date := s.q("time", "Date").Call(jen.Lit(2026), s.q("time", "March"), jen.Lit(1), jen.Lit(12), jen.Lit(34), jen.Lit(56), jen.Lit(987654321), s.q("time", "UTC"))
	if form.Type.Pkg == "time" && form.Type.Name == "Time" {
		return date
	}
	return s.typ(form.Type).Call(date)
}
