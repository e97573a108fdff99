package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheTestingPageShowsTheExample: its function is that of the example, which is
// run.
func TestTheTestingPageShowsTheExample(t *testing.T) {
	page := read(t, "docs/testing.md")
	example := read(t, "examples/invoicing/crash_test.go")
	shown := blocks(page, "go")
	if len(shown) == 0 || !strings.Contains(example, shown[0]) {
		t.Error("the function that the page shows first is not in examples/invoicing/crash_test.go")
	}
}

func TestTheTestingPageNamesTheFieldsOfAProgram(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "runtime", "idemtest", "idemtest.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "Program" {
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				fields = append(fields, f.Names[0].Name)
			}
		}
		return true
	})
	slices.Sort(fields)
	if named := firstWords(section(t, read(t, "docs/testing.md"), "## Say how a world is built")); len(fields) == 0 || !slices.Equal(named, fields) {
		t.Errorf("the page names %v, Program has %v", named, fields)
	}
}

func TestTheTestingPageQuotesWhatIsSaid(t *testing.T) {
	said := read(t, "runtime/idemtest/promise.go") + read(t, "runtime/idemtest/play.go")
	quoted := 0
	for _, row := range rows(section(t, read(t, "docs/testing.md"), "## When it fails")) {
		for _, m := range regexp.MustCompile(`\*([^*]+)\*`).FindAllStringSubmatch(row[0], -1) {
			quoted++
			if !strings.Contains(said, m[1]) {
				t.Errorf("nothing in idemtest says %q", m[1])
			}
		}
	}
	if quoted == 0 {
		t.Error("nothing is quoted")
	}
}
