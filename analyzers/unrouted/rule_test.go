package unrouted

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

func TestUnrouted(t *testing.T) {
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	analyzer := New(rule.NewBase(catalogue.Builtin()))
	if err := analyzer.Flags.Set("tests", "true"); err != nil { // tests may go around, whatever is asked for
		t.Fatal(err)
	}
	analysistest.Run(t, dir, analyzer, "./unrouted/...")
}
