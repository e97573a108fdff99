package generator_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idem/generator"
)

// As make -j with go generate does.
func TestConcurrentRunsForOneModuleLoseNoEntryOfTheLock(t *testing.T) {
	const packages = 6
	dir := newModule(t)
	var runs sync.WaitGroup
	for i := range packages {
		name := fmt.Sprintf("shop%d", i)
		writeFile(t, filepath.Join(dir, name, "shop.idem.yaml"), strings.Replace(oneContract, "order_paid", name, 1))
		writeFile(t, filepath.Join(dir, name, "shop.go"), "package shop\n\nimport \"context\"\n\ntype In struct{ ID string }\n\nfunc Pay(context.Context, In) (string, error) { return \"\", nil }\n")
	}
	for i := range packages {
		runs.Go(func() {
			r, err := generator.Run(t.Context(), generator.Options{Dir: dir, Patterns: []string{fmt.Sprintf("./shop%d", i)}})
			if err != nil || r.Diagnostics.HasErrors() {
				t.Error(err, r.Diagnostics.Text())
			}
		})
	}
	runs.Wait()
	r, err := generator.Run(t.Context(), generator.Options{Dir: dir, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Files {
		if f.Change != generator.Unchanged {
			t.Errorf("%s is %s\n%s", f.Path, f.Change, f.Diff)
		}
	}
}
