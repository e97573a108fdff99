package emit_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/emit"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/internal/directive"
)

var update = flag.Bool("update", false, "rewrite the expected output")

func basic(name string) *model.Type { return &model.Type{Name: name} }

func value[T any](v T) contracts.Value[T] { return contracts.Value[T]{V: v, Set: true} }

// billing is a package as resolve would describe it, without any Go code.
func billing() *model.Package {
	str := &model.Form{Op: model.OpString, Type: basic("string")}
	mail := &model.Form{Op: model.OpStruct, Type: basic("Mail"), Func: true, Members: []*model.Member{
		{Wire: "body", Path: "Body", Steps: []model.Step{{Name: "Body"}}, Form: str},
		{Wire: "to", Path: "To", Steps: []model.Step{{Name: "To"}}, Form: &model.Form{Op: model.OpInt, Type: basic("int64")}},
	}}
	url := &model.Form{Op: model.OpString, Type: basic("string"), Own: true, Steps: []contracts.Normalizer{{Name: contracts.URL}}}
	order := &model.Form{Op: model.OpStruct, Type: basic("Order"), Func: true, Own: true, Members: []*model.Member{
		{Wire: "page", Path: "Page", Steps: []model.Step{{Name: "Page"}}, Form: url},
		{Wire: "paid", Path: "Meta.Paid", Steps: []model.Step{{Name: "Meta", Pointer: true}, {Name: "Paid"}}, Form: &model.Form{Op: model.OpTime, Type: &model.Type{Pkg: "time", Name: "Time"}, Precision: time.Second}},
	}}
	spec := &contracts.Contract{
		Kind: value("order_paid"), Version: value(2), Statement: value("Two\nlines, one of them\x00 odd."),
		Handler:  value("(*Orders).Pay"),
		Identity: contracts.Identity{Strategy: contracts.ByKey, Key: []contracts.Value[string]{value("Page")}},
		Window:   contracts.Window{Forever: true},
		Response: contracts.Response{WhenDone: value(contracts.WhenDoneError), WhileRunning: value(contracts.WhileRunningWait), Wait: value(3 * time.Second), OtherPayload: value(contracts.OtherPayloadError)},
		Retry:    contracts.Retry{MaxAttempts: value(3), Backoff: contracts.Backoff{Initial: value(time.Second), Max: value(time.Minute), Multiplier: value(1.5)}},
		Lease:    value(2 * time.Minute), Timeout: value(90 * time.Second),
	}
	send := &contracts.Effect{Name: value("send_mail"), Guard: value(contracts.Once), IfUnknown: value(contracts.Ask), OncePer: []contracts.Value[string]{value("To")}}
	orders := &model.Receiver{Name: "Orders", Pointer: true}
	return &model.Package{
		Path: "example.com/shop/billing", Name: "billing", Module: "example.com/shop",
		Receivers: []*model.Receiver{orders},
		Tx:        &model.Type{Kind: model.Pointer, Elem: &model.Type{Pkg: "database/sql", Name: "Tx"}},
		Reserved:  []string{"Mail", "Order", "Orders", "Effects"},
		Files: []*model.File{{Source: "billing.idem.yaml", Output: "billing_idem.go", Digest: "00", Contracts: []*model.Contract{{
			Spec: spec, Receiver: orders, Handler: "Pay", Interface: "Effects", In: basic("Order"), Out: basic("string"),
			Identity: model.Identity{Single: &model.Value{Path: "Page", Steps: []model.Step{{Name: "Page"}}, Form: url}},
			Payload:  order,
			Locked:   model.Locked{Digest: "d1"},
			Effects: []*model.Effect{{
				Spec: send, Method: "SendMail", In: basic("Mail"), Out: basic("string"),
				Call: model.Func{Method: true, Name: "sendMail"}, Payload: mail,
				Per: []*model.Value{{Path: "To", Steps: []model.Step{{Name: "To"}}, Form: &model.Form{Op: model.OpInt, Type: basic("int64")}}},
			}},
		}}}},
	}
}

func render(t interface{ Fatal(...any) }, p *model.Package) []byte {
	outputs, err := emit.Package(p)
	if err != nil {
		t.Fatal(err)
	}
	return outputs[0].Content
}

func TestOutputReadsAsExpected(t *testing.T) {
	got := render(t, billing())
	path := filepath.Join("testdata", "billing.golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOutputDependsOnTheModelAlone(t *testing.T) {
	first := render(t, billing())
	for range 20 {
		if again := render(t, billing()); !bytes.Equal(first, again) {
			t.Fatalf("two renderings differ:\n%s", cmp.Diff(string(first), string(again)))
		}
	}
}

func TestOutputSaysWhatItIs(t *testing.T) {
	src := render(t, billing())
	if !directive.IsGenerated(src) || directive.Edited(src) {
		t.Error("the output is not recognised as generated and untouched")
	}
	if bytes.ContainsAny(src, "\r\x00") {
		t.Error("the output holds what no Go file should")
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if !ast.IsGenerated(file) {
		t.Error("Go's own test for generated files fails")
	}
	if file.Doc != nil {
		t.Errorf("the directives became the package's documentation: %q", file.Doc.Text())
	}
	var names []string
	for _, group := range file.Comments {
		for _, c := range group.List {
			if d, ok, err := directive.Parse(c.Text); err != nil {
				t.Error(err)
			} else if ok {
				names = append(names, d.Name+" "+d.Get("kind"))
			}
		}
	}
	if want := []string{"source ", "contract order_paid", "effectfunc order_paid"}; !slices.Equal(names, want) {
		t.Errorf("directives %q, want %q", names, want)
	}
}

// TestNamesMeetNobody takes names from generated code away at random, again
// and again, and looks whether the next rendering still keeps clear of them.
func TestNamesMeetNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := billing()
		reserved := slices.Clone(p.Reserved)
		var imports []string
		for range 4 {
			file := parse(t, render(t, p))
			declared, imported, variables := namesOf(file)
			for _, name := range declared {
				if slices.Contains(reserved, name) || slices.Contains(imports, name) {
					t.Fatalf("%s is declared twice", name)
				}
			}
			for _, name := range slices.Concat(imported, variables) {
				if slices.Contains(reserved, name) {
					t.Fatalf("%s hides a declaration", name)
				}
			}
			for _, name := range variables {
				if slices.Contains(imported, name) || slices.Contains(declared, name) {
					t.Fatalf("variable %s hides an import or a declaration", name)
				}
			}
			all := slices.Concat(declared, imported, variables)
			reserved = append(reserved, rapid.SliceOfN(rapid.SampledFrom(all), 0, 6).Draw(t, "reserved")...)
			imports = append(imports, rapid.SliceOfN(rapid.SampledFrom(declared), 0, 2).Draw(t, "imports")...)
			p = billing()
			p.Reserved, p.ImportNames = reserved, imports
		}
	})
}

func TestImportsHideNothingPredeclared(t *testing.T) {
	p := billing()
	p.Files[0].Contracts[0].Out = &model.Type{Pkg: "example.com/len", Name: "Result"}
	src := string(render(t, p))
	for _, want := range []string{"\tlen2 \"example.com/len\"\n", "(len2.Result, error)"} {
		if !strings.Contains(src, want) {
			t.Errorf("%q is not in the file:\n%s", want, src)
		}
	}
}

func parse(t *rapid.T, src []byte) *ast.File {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// namesOf lists what a file declares at package scope, what it imports by, and
// its parameters and variables.
func namesOf(file *ast.File) (declared, imported, variables []string) {
	for _, imp := range file.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		imported = append(imported, name)
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				declared = append(declared, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok {
					declared = append(declared, ts.Name.Name)
				}
			}
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType, *ast.TypeSpec:
				return false // fields hide nothing
			case *ast.Field:
				for _, name := range n.Names {
					variables = append(variables, name.Name)
				}
			case *ast.AssignStmt:
				for _, x := range n.Lhs {
					if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
						variables = append(variables, id.Name)
					}
				}
			case *ast.ValueSpec:
				for _, name := range n.Names {
					variables = append(variables, name.Name)
				}
			}
			return true
		})
	}
	return declared, imported, slices.DeleteFunc(variables, func(s string) bool { return s == "_" })
}

// TestCrashTestHasThePromisesOfTheContract, of its effects under the names that the
// ledger has too, and of those of its children.
func TestCrashTestHasThePromisesOfTheContract(t *testing.T) {
	p := billing()
	order := p.Files[0].Contracts[0]
	order.Fakes = "orderPaidWorld"
	charge := *order.Effects[0]
	charge.Method = "Charge"
	charge.Spec = &contracts.Effect{Name: value("charge"), Was: value("bill"), Guard: value(contracts.IdempotencyKey), RemembersFor: value(90 * time.Minute)}
	child := *order
	childSpec := *order.Spec
	childSpec.Kind = value("parcel")
	child.Spec, child.Effects, child.Fakes = &childSpec, []*model.Effect{order.Effects[0]}, ""
	ship := &model.Effect{Spec: &contracts.Effect{Name: value("ship"), Work: value("parcel"), Guard: value(contracts.ChildWork)}, Method: "Ship", In: basic("Order"), Out: basic("string"), Child: &child}
	order.Effects = []*model.Effect{&charge, ship}
	p.Files[0].Contracts = append(p.Files[0].Contracts, &child)
	outputs, err := emit.Package(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `	idemtest.CrashEverywhere[Order, string](
		t, orderPaidWorld,
		idemtest.Effect{Name: "charge", Was: "bill", Guard: idem.GuardIdempotencyKey, RemembersFor: 90 * time.Minute},
		idemtest.Effect{Name: "ship", Guard: idem.GuardWork},
		idemtest.Effect{Name: "parcel.send_mail", Guard: idem.GuardOnce, IfUnknown: idem.Ask},
	)
`
	if test := outputs[len(outputs)-1]; !strings.Contains(string(test.Content), want) {
		t.Errorf("%s:\n%s", test.Name, test.Content)
	}
}
