package unboundedretry

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
)

// library says of a package of the test data what the catalogue says of libraries.
const library = `ecosystem: forever
packages:
  - path: example.com/shop/unboundedretry/forever
    retry:
      - {name: Do, at: 0, endless: true, reason: goes round until the function succeeds}
`

func TestUnboundedRetry(t *testing.T) {
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalogue.Builtin().With("library.yaml", []byte(library))
	if err != nil {
		t.Fatal(err)
	}
	analysistest.Run(t, dir, New(rule.NewBase(c)), "./unboundedretry/...")
}
