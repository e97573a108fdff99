package fingerprint

import (
	"errors"

	"github.com/idemgen/idem/generator/model"
)

// maxTree is how many values a sample may have that people are to read.
const maxTree = 200

var (
	errTooMany = errors.New("its input has too many fields to be written out")
	errArray   = errors.New("a sample has one element, and an array of its identity more")
)

// Samples are the values of which the golden key of a contract was derived: of the
// key's parts in their order, or of the scope, if there is one, and of the object.
func Samples(c *model.Contract, module string) ([]*model.Sample, error) {
	d := &describer{module: module}
	var forms []*model.Form
	switch id := c.Identity; {
	case id.Single != nil:
		forms = append(forms, id.Single.Form)
	case id.Hash != nil && c.Scope != nil:
		forms = append(forms, c.Scope.Form, id.Hash)
	case id.Hash != nil:
		forms = append(forms, id.Hash)
	default:
		for _, v := range id.List {
			forms = append(forms, v.Form)
		}
	}
	var samples []*model.Sample
	for _, f := range forms {
		t := &tree{describer: d, class: d.classes(f), open: map[int]bool{}}
		s, err := t.sample(f)
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// tree makes the values that sampler writes.
type tree struct {
	*describer
	class map[*model.Form]int
	open  map[int]bool
	count int
}

func (t *tree) sample(f *model.Form) (*model.Sample, error) {
	if t.count++; t.count > maxTree {
		return nil, errTooMany
	}
	class := t.class[f]
	t.open[class] = true
	defer delete(t.open, class)
	s := &model.Sample{Form: f}
	var err error
	switch f.Op {
	case model.OpArray:
		return nil, errArray
	case model.OpPointer, model.OpSlice, model.OpMap, model.OpIntMap:
		if s.Nil = t.open[t.class[f.Elem]]; !s.Nil {
			s.Elem, err = t.sample(f.Elem)
		}
	case model.OpStruct:
		for _, m := range f.Members {
			member, err := t.sample(m.Form)
			if err != nil {
				return nil, err
			}
			s.Members = append(s.Members, member)
		}
	case model.OpString, model.OpMinor:
		s.Text = sampleText(f)
	case model.OpBigInt, model.OpDecimal:
		s.Text = "42"
	case model.OpText:
		s.Text = knownTexts[typeName(f.Type)]
	}
	return s, err
}
