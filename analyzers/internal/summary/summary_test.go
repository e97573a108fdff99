package summary

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

func TestSummariesOfFunctions(t *testing.T) {
	analysistest.Run(t, testdata(t), Analyzer(catalogue.Builtin()), "./summary")
}

func testdata(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
