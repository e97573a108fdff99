package starter

import (
	"encoding/json"
	"go/token"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/resolve"
)

// Whatever a handler looks like, the starter leaves exactly its questions open,
// and is a contract once they are answered.
func TestStarterLeavesItsQuestionsOpenAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := handlers.Draw(t, "handler")
		src, err := Render(h, "work")
		if err != nil {
			t.Fatal(err)
		}
		_, diags := contracts.Parse("work.idem.yaml", src)
		var open []string
		for _, d := range diags {
			open = append(open, d.Path)
		}
		want := []string{"identity", "window", "response"}
		for _, m := range h.Methods {
			name := "effects." + contracts.EffectName(m.Name)
			want = append(want, name+".guard")
			if token.IsKeyword(strings.ToLower(m.Name)) {
				want = append(want, name+".call")
			}
		}
		slices.Sort(open)
		slices.Sort(want)
		if !slices.Equal(open, want) {
			t.Fatalf("open are %v, want %v in\n%s%s", open, want, src, diags.Text())
		}
		answered := strings.NewReplacer("        guard:", "        guard: once", "        call:", "        call: theirs").Replace(string(src)) +
			"    identity: {key: A}\n    window: 90d\n    response: {when_done: return_original, while_running: error, other_payload: error}\n"
		file, diags := contracts.Parse("work.idem.yaml", []byte(answered))
		if len(diags) > 0 {
			t.Fatalf("answered, it is wrong still:\n%s%s", answered, diags.Text())
		}
		if c := file.Contracts[0]; c.Handler.V != h.Handler.String() || len(c.Effects) != len(h.Methods) {
			t.Fatalf("%s with %d effects became %s with %d", h.Handler, len(h.Methods), c.Handler.V, len(c.Effects))
		}
	})
}

var handlers = rapid.Custom(func(t *rapid.T) *Handler {
	ident := rapid.StringMatching(`[A-Z][a-z]{1,8}([A-Z][a-z]{1,8}){0,2}`)
	texts := rapid.SampledFrom([]string{"string", "map[string]*T", "struct{A int `json:\"a: # b\"`}", "func(x any) <-chan int", "*p.T"})
	function := rapid.OneOf(ident, rapid.SampledFrom([]string{"No", "On", "Y"}))
	h := &Handler{Handler: contracts.Handler{Name: function.Draw(t, "name")}, In: texts.Draw(t, "in")}
	if rapid.Bool().Draw(t, "method") {
		h.Handler.Receiver, h.Handler.Pointer = ident.Draw(t, "receiver"), rapid.Bool().Draw(t, "pointer")
	}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		h.Fields = append(h.Fields, resolve.StarterField{Name: ident.Draw(t, "field"), Type: texts.Draw(t, "type"), Volatile: rapid.Bool().Draw(t, "volatile")})
	}
	method := rapid.OneOf(ident.Filter(func(name string) bool { return contracts.ValidName(contracts.EffectName(name)) }), rapid.SampledFrom([]string{"Go", "Type", "Return"}))
	for _, name := range rapid.SliceOfNDistinct(method, 0, 4, rapid.ID).Draw(t, "methods") {
		h.Methods = append(h.Methods, resolve.StarterMethod{Name: contracts.MethodName(contracts.EffectName(name)), Signature: "(" + texts.Draw(t, "argument") + ")"})
	}
	slices.SortFunc(h.Methods, func(a, b resolve.StarterMethod) int { return strings.Compare(a.Name, b.Name) })
	h.Methods = slices.Compact(h.Methods)
	if len(h.Methods) > 0 {
		h.Interface = "Effects"
	}
	return h
})

func TestMethodThatNoEffectNamesIsRefused(t *testing.T) {
	_, err := Render(&Handler{Handler: contracts.Handler{Name: "F"}, Methods: []resolve.StarterMethod{{Name: "Do_it"}}}, "work")
	if err == nil || !strings.Contains(err.Error(), "call it DoIt") {
		t.Errorf("got %v", err)
	}
}

func TestMethodThatIsATruthValueIsRefused(t *testing.T) {
	_, err := Render(&Handler{Handler: contracts.Handler{Name: "F"}, Methods: []resolve.StarterMethod{{Name: "No"}}}, "work")
	if err == nil || !strings.Contains(err.Error(), "rename the method") {
		t.Errorf("a method called No: %v", err)
	}
}

// The answers that the comments list are those that the language has.
func TestStarterListsEveryGuard(t *testing.T) {
	schema, err := contracts.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var language struct {
		Defs struct {
			Effect struct {
				Properties struct {
					Guard struct{ Enum []string }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &language); err != nil {
		t.Fatal(err)
	}
	src, err := Render(&Handler{Handler: contracts.Handler{Name: "F"}, Methods: []resolve.StarterMethod{{Name: "Send"}}}, "work")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(src), "to repeat each method")
	var listed []string
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "#" && strings.HasPrefix(line, "    #   ") {
			listed = append(listed, fields[1])
		}
	}
	guards := language.Defs.Effect.Properties.Guard.Enum
	if len(guards) == 0 || !slices.Equal(guards, listed) {
		t.Errorf("the starter lists %v, the language has %v", listed, guards)
	}
}
