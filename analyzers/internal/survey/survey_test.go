package survey

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

func TestAnUpdateThatGoesByWhatIsThereAddsToIt(t *testing.T) {
	for statement, want := range map[string]bool{
		"UPDATE accounts SET balance = balance + $1 WHERE id = $2":       true,
		"UPDATE accounts SET balance=balance-?":                          true,
		"update t set n = (n * 2)":                                       true,
		"UPDATE t SET n = COALESCE(n, 0) + 1":                            true,
		"UPDATE t SET log = log || $1":                                   true,
		"UPDATE t SET status = 'done', updated_at = now() WHERE id = $1": false,
		"UPDATE t SET a = $1, b = $2 WHERE c = $3":                       false,
	} {
		if got := adding.MatchString(statement); got != want {
			t.Errorf("%s: %v", statement, got)
		}
	}
}

func TestTheTableOfAStatementIsFound(t *testing.T) {
	for statement, want := range map[string][2]string{
		`INSERT INTO "public"."users" (a) VALUES ($1)`:             {"INSERT INTO", `public"."users`},
		"-- name: X\nINSERT OR IGNORE INTO events (id) VALUES (?)": {"INSERT OR IGNORE INTO", "events"},
		"WITH x AS (SELECT 1) UPDATE ONLY jobs SET a = 1":          {"UPDATE", "jobs"},
		"delete from sessions where id = 1":                        {"delete from", "sessions"},
	} {
		m := writing.FindStringSubmatch(statement)
		if m == nil || m[1] != want[0] || trimmed(m[2]) != want[1] {
			t.Errorf("%s: %q", statement, m)
		}
	}
}

// stubs has empty types in place of net/http's.
type stubs struct{}

func (stubs) Import(path string) (*types.Package, error) {
	pkg := types.NewPackage(path, "http")
	for _, name := range []string{"ResponseWriter", "Request"} {
		tn := types.NewTypeName(token.NoPos, pkg, name, nil)
		types.NewNamed(tn, types.NewStruct(nil, nil), nil)
		pkg.Scope().Insert(tn)
	}
	pkg.MarkComplete()
	return pkg, nil
}

// check type-checks a file.
func check(t *testing.T, src string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: stubs{}}).Check("example.com/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func TestMethodsOfTheSameTypeHaveTheSameSignature(t *testing.T) {
	pkg := check(t, `package p
type Err = error
func A(n int, f func(a string, b any) error) (m map[string]*T, err error) { return nil, nil }
func B(x int, g func(string, interface{}) Err) (map[string]*T, error)      { return nil, nil }
func C(n int, f func(a string, b any) error) (map[string]T, error)         { return nil, nil }
func D(n ...int)                                                           {}
func E(n []int)                                                            {}
type T struct{}
`)
	of := func(name string) string {
		return signature("M", pkg.Scope().Lookup(name).Type().(*types.Signature))
	}
	if of("A") != of("B") {
		t.Error("names of parameters or aliases make a difference")
	}
	if of("A") == of("C") || of("D") == of("E") {
		t.Error("different types have the same signature")
	}
}

func TestParametersTellWhatComesIn(t *testing.T) {
	pkg := check(t, `package p
import "net/http"
func Handler(w http.ResponseWriter, r *http.Request)              {}
func Returns(w http.ResponseWriter, r *http.Request) error        { return nil }
func Helper(w http.ResponseWriter, r *http.Request, status int)   {}
func Other(r *http.Request)                                       {}
func Value(w http.ResponseWriter, r *http.Request) string            { return "" }
func Generic[T any](w http.ResponseWriter, r *http.Request)       {}
`)
	for name, want := range map[string]string{"Handler": "http", "Returns": "http", "Helper": "", "Other": "", "Value": "", "Generic": ""} {
		if got, _ := meansByType(pkg.Scope().Lookup(name).Type().(*types.Signature)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
