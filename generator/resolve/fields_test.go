package resolve

//lint:file-ignore SA5008 odd tags are what is tested
//lint:file-ignore U1000 the types are read by go/types and reflect only

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The types below are read twice: from this file by go/types, and by
// encoding/json, which is the judge of what a field is called.
type (
	plain struct {
		A int
		B int `json:"b"`
		C int `json:",omitempty"`
		D int `json:"d,string"`
		E int `json:"-,"`
		F int `json:"bad\\name"`
		G int `json:"ünïcode"`
		H int `json:"with space"`
		i int
		_ int
	}
	innermost struct {
		A int
		X int `json:"x"`
	}
	Exported  struct{ Y, A int }
	embedding struct {
		innermost
		Exported
		Z int
	}
	EmbeddedPointer struct{ P int }
	pointers        struct {
		*EmbeddedPointer
		Q int `json:"P"`
	}
	Word     string
	word     string
	nonsense struct {
		Word
		word `json:"lost"`
	}
	tagged struct {
		innermost `json:"inside"`
		A         int
	}
	Left     struct{ Same int }
	Right    struct{ Same int }
	conflict struct {
		Left
		Right
		Own int
	}
	LeftTag struct {
		N int `json:"Same"`
	}
	tagWins struct {
		LeftTag
		Right
	}
	Bottom  struct{ Deep int }
	ViaA    struct{ Bottom }
	ViaB    struct{ Bottom }
	diamond struct {
		ViaA
		ViaB
	}
	Loop struct {
		*Loop
		Name string
	}
)

func TestFieldsAreWhatEncodingJSONCallsThem(t *testing.T) {
	scope := ownTypes(t)
	for name, value := range map[string]any{
		"plain": plain{}, "embedding": embedding{}, "nonsense": nonsense{}, "tagged": tagged{},
		"conflict": conflict{}, "tagWins": tagWins{}, "diamond": diamond{},
		"pointers": pointers{EmbeddedPointer: &EmbeddedPointer{}}, "Loop": Loop{Loop: &Loop{}},
	} {
		fields, _ := jsonFields(scope.Lookup(name).Type().Underlying().(*types.Struct))
		var got []string
		for _, f := range fields {
			got = append(got, f.wire)
		}
		slices.Sort(got)
		if diff := cmp.Diff(jsonNames(t, value), got); diff != "" {
			t.Errorf("%s: (-encoding/json +jsonFields)\n%s", name, diff)
		}
	}
}

// jsonNames are the members that encoding/json writes, without omitempty.
func jsonNames(t *testing.T, v any) []string {
	r := reflect.New(reflect.TypeOf(v)).Elem()
	r.Set(reflect.ValueOf(v))
	for i := range r.NumField() {
		if f := r.Field(i); f.CanSet() && f.Kind() == reflect.Int {
			f.SetInt(1)
		}
	}
	src, err := json.Marshal(r.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(src, &m); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(m))
}

func ownTypes(t *testing.T) *types.Scope {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "fields_test.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{IgnoreFuncBodies: true, Importer: noImporter{}, Error: func(error) {}}
	p, _ := conf.Check("example.com/fields", fset, []*ast.File{file}, nil)
	return p.Scope()
}

type noImporter struct{}

func (noImporter) Import(string) (*types.Package, error) { return nil, errNotNeeded }
