package generator_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator"
)

const oneContract = `contracts:
  order_paid:
    version: 1
    statement: S.
    handler: Pay
    identity: {key: ID}
    window: forever
    response: {when_done: error, while_running: error, other_payload: error}
`

// A module without vendor folder, and flags of the user's that ask for one.
func TestEnvIsForTheGoCommandOfThisRun(t *testing.T) {
	dir := newModule(t)
	t.Setenv("GOFLAGS", "-mod=vendor")
	writeFile(t, filepath.Join(dir, "shop.idem.yaml"), oneContract)
	writeFile(t, filepath.Join(dir, "a.go"), "package shop\n\nimport \"context\"\n\nfunc Pay(context.Context, In) (string, error) { return \"\", nil }\n")
	writeFile(t, filepath.Join(dir, "tagged.go"), "//go:build tagged\n\npackage shop\n\nimport idem \"github.com/idemgen/idem/runtime\"\n\ntype In struct{ ID idem.Call }\n")
	writeFile(t, filepath.Join(dir, "untagged.go"), "//go:build !tagged\n\npackage shop\n\ntype In struct{ ID string }\n")

	r, err := generator.Run(t.Context(), generator.Options{Dir: dir, Env: []string{"GOFLAGS=-mod=mod '-tags=other tagged'"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Diagnostics.Text(); !strings.Contains(got, "tagged.go:7:") || strings.Contains(got, "does not resolve") {
		t.Errorf("want the ID of tagged.go to be refused for its type, which is read with -mod=mod; got\n%s", got)
	}
}
