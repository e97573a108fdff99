package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/idemgen/idem/generator/model"
)

// testFile renders the tests of one contract file, those of golden keys and those
// that crash; nil if it has no contract with one.
func (g *pkg) testFile(mf *model.File) ([]byte, error) {
	f := g.newFile()
	tests := 0
	for _, c := range mf.Contracts {
		if c.Fakes != "" {
			tests++
			f.crashTest(c)
		}
		if c.Locked.Golden == "" || c.Locked.Samples == nil {
			f.decls = append(f.decls, "// "+c.Spec.Kind.V+" has no test: "+c.Locked.NoSample+".")
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
	return f.render(sourceHeader(mf))
}

// goldenTest declares the test that a sample still has the key that idem.lock has.
func (f *file) goldenTest(c *model.Contract) {
	k := f.kinds[c]
	name := f.names.declare("Test"+k.word+"Key", "Test"+k.word+"GoldenKey")
	t, in, id, err := f.v("t"), f.v("in"), f.v("id"), f.v("err")
	s := &sampleWriter{file: f}
	s.in(c, in)
	args, body := []string{in}, s.body
	failed := block("if "+err+" != nil", t+".Fatal("+err+")")
	if c.Spec.Identity.Keyed.V {
		key := f.v("key")
		args = []string{key, in}
		secret := call("[]byte", str(c.Locked.GoldenSecret))
		body = append(body, key+", "+err+" := "+call(f.idem("NewKey"), secret), failed)
	}
	golden := f.v("golden")
	wrong := str("the key of this sample is %s, and idem.lock has %s: work that is done would be done again")
	body = append(body,
		id+", "+err+" := "+call(k.id, args...), failed,
		block("if "+id+".String() != "+golden, call(t+".Errorf", wrong, id, golden)),
	)
	body = append([]string{"const " + golden + " = " + str(c.Locked.Golden)}, body...)
	f.declare(name+" fails where this code, a library or a release of Go gives work of the kind "+c.Spec.Kind.V+" another key than idem.lock has.",
		block("func "+name+"("+t+" *"+f.q("testing", "T")+")", body...))
}

// filledFunc declares the function that points pointers to something.
func (f *file) filledFunc() {
	p, t := f.v("p"), f.v("T")
	f.declare(f.filled+" points a pointer to a value of its own, unless it has one.",
		block("func "+f.filled+"["+t+" any]("+p+" **"+t+") *"+t,
			block("if *"+p+" == nil", "*"+p+" = new("+t+")"),
			ret("*"+p),
		))
}

// sampleWriter writes the statements that give an input the values of a sample.
type sampleWriter struct {
	*file
	body []string
	vars int
}

func (s *sampleWriter) in(c *model.Contract, in string) {
	if c.In.Kind == model.Pointer {
		s.add(in + " := " + call("new", s.typ(c.In.Elem)))
	} else {
		s.add("var " + in + " " + s.typ(c.In))
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

func (s *sampleWriter) add(code string) { s.body = append(s.body, code) }

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
			s.assign(place, call("make", s.typ(form.Type), "1"))
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

func (s *sampleWriter) assign(place, value string) { s.add(place + " = " + value) }

func (s *sampleWriter) mapping(v *model.Sample, place string) {
	if v.Nil {
		return
	}
	key := `"42"`
	if v.Form.Op == model.OpIntMap {
		key = "42"
	}
	s.vars++
	elem := s.v(fmt.Sprintf("elem%d", s.vars))
	s.add("var " + elem + " " + s.typ(v.Form.Elem.Type))
	s.set(v.Elem, elem)
	s.assign(place, s.typ(v.Form.Type)+"{"+key+": "+elem+"}")
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
		sample := v.Text
		if form.Op == model.OpNumber {
			sample = "42"
		}
		s.assign(place, strconv.QuoteToASCII(sample)) // a combining accent is to be seen
	case model.OpInt, model.OpUint:
		s.assign(place, "42")
	case model.OpFloat64, model.OpFloat32:
		s.assign(place, "0.1")
	case model.OpBool:
		s.assign(place, "true")
	case model.OpBytes:
		s.assign(place, `[]byte("sample")`)
	case model.OpTime:
		s.assign(place, s.time(form))
	case model.OpRawJSON:
		s.assign(place, call("[]byte", text(sampleJSON)))
	case model.OpAny:
		s.assign(place, call(s.q("encoding/json", "RawMessage"), text(sampleJSON)))
	default: // types that read what they write
		if form.Type.Kind == model.Pointer {
			place = s.fill(place)
		}
		read := call(strings.TrimPrefix(place, "*")+".UnmarshalText", call("[]byte", str(v.Text)))
		err := s.v("err")
		s.add(block("if "+err+" := "+read+"; "+err+" != nil", s.v("t")+".Fatal("+err+")"))
	}
}

const sampleJSON = `{"b":[1,"two"],"a":null}`

func (s *sampleWriter) time(form *model.Form) string {
	date := call(s.q("time", "Date"), "2026", s.q("time", "March"), "1", "12", "34", "56", "987654321", s.q("time", "UTC"))
	if form.Type.Pkg == "time" && form.Type.Name == "Time" {
		return date
	}
	return call(s.typ(form.Type), date)
}
