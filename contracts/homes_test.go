package contracts

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

func TestAWordInAWrongPlaceHasAHome(t *testing.T) {
	for word, want := range map[string][]string{
		"scope": {"identity.scope"}, "provider": {"effects.NAME.provider"}, "window": {"contracts.KIND.window"},
		"max_attempts": {"retry.max_attempts"}, "initial": {"retry.backoff.initial"}, "wait": {"response.while_running.wait"},
		"by": {"latest.by", "retry.by"}, "except": {"identity.hash.except"}, "nosuch": nil, "": nil,
	} {
		if got := homesOf(word); !slices.Equal(got, want) {
			t.Errorf("%q belongs to %q, want %q", word, got, want)
		}
	}
}

// Every word that is not supported says what to do without it.
func TestWhatIsNotSupportedHasAnAlternative(t *testing.T) {
	files := token.NewFileSet()
	for _, name := range []string{"contract.go", "effect.go", "identity.go", "memory.go"} {
		file, err := goparser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fn, ok := call.Fun.(*ast.Ident)
			if !ok || fn.Name != "unsupported" {
				return true
			}
			for _, arg := range call.Args {
				lit, ok := arg.(*ast.BasicLit)
				if !ok {
					t.Errorf("%s: an argument of unsupported is no literal", files.Position(arg.Pos()))
					continue
				}
				if word, err := strconv.Unquote(lit.Value); err != nil || instead[word] == "" {
					t.Errorf("%s: say in instead what to do as long as %s is not supported", files.Position(arg.Pos()), lit.Value)
				}
			}
			return true
		})
	}
}
