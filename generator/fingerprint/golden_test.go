package fingerprint

import (
	"testing"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// The keys were made by a program in another language.
func TestGoldenKeyOfAKeyedIdentityIsUnderTheKeyThatEverybodyKnows(t *testing.T) {
	spec := &contracts.Contract{}
	spec.Kind.V, spec.Version.V = "order_paid", 1
	c := &model.Contract{Spec: spec, Identity: model.Identity{Single: &model.Value{Form: form(model.OpString)}}}
	for _, test := range []struct {
		keyed bool
		want  string
	}{
		{true, "b516c7ccc0a32e6863188e98ffa8a99874526678edaa3ff686f57146145c34a1"},
		{false, "8a7d8d16fc99b8d59f5acc87e41f1ee6b8732cae385119412ff7259d35cc6b69"},
	} {
		spec.Identity.Keyed.V = test.keyed
		if got := (&describer{}).golden(c); got != test.want {
			t.Errorf("keyed: %v: %s, want %s", test.keyed, got, test.want)
		}
	}
}
