package fingerprint

import (
	"strconv"
	"testing"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// Each of forty types has three fields of the next one: written out, that is
// more than there is room for.
func TestTypesThatShareOthersAtEveryLevelHaveNoSample(t *testing.T) {
	form := &model.Form{Op: model.OpString, Type: &model.Type{Name: "string"}}
	for i := range 40 {
		object := &model.Form{Op: model.OpStruct, Type: &model.Type{Name: "T" + strconv.Itoa(i)}, Func: true}
		for _, name := range []string{"A", "B", "C"} {
			object.Members = append(object.Members, &model.Member{Wire: name, Path: name, Steps: []model.Step{{Name: name}}, Form: form})
		}
		form = object
	}
	d := &describer{module: "example.com/app"}
	c := &model.Contract{Spec: &contracts.Contract{}, Identity: model.Identity{Hash: form}}
	if golden := d.golden(c); golden != "" {
		t.Errorf("got the golden key %s, want none", golden)
	}
	if n := len(d.members(form)); n != 1+2*40 {
		t.Errorf("%d members are listed, want each object once: %d", n, 1+2*40)
	}
}
