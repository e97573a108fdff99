package contracts

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever contract can be written, an editor must not underline it.
func TestSchemaAcceptsRandomContracts(t *testing.T) {
	schema := compileSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		var all []*Contract
		for _, kind := range rapid.SliceOfNDistinct(names(), 1, 3, rapid.ID).Draw(t, "kinds") {
			all = append(all, drawContract(t, kind))
		}
		src := write(all, rapid.Bool().Draw(t, "flow"), rapid.Bool().Draw(t, "quotes"))
		v, ok := asJSON([]byte(src))
		if !ok {
			t.Fatalf("no JSON:\n%s", src)
		}
		if err := schema.Validate(v); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}

// FuzzSchema looks for a file that Parse accepts and the schema refuses.
func FuzzSchema(f *testing.F) {
	addArchives(f)
	schema := compileSchema(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, ds := Parse("f", src); ds.HasErrors() {
			return
		}
		v, ok := asJSON(src)
		if !ok {
			t.Fatal("accepted, and no JSON")
		}
		if err := schema.Validate(v); err != nil {
			t.Fatal(err)
		}
	})
}
