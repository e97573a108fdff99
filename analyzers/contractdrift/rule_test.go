package contractdrift

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

func TestContractDrift(t *testing.T) {
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	analysistest.Run(t, dir, New(rule.NewBase(catalogue.Builtin())), "./contractdrift/...")
}
