package main

import (
	"context"
	"path/filepath"
	"testing"
)

// BenchmarkVet measures the tools of this repository on a small module. The whole
// comparison, with tools that have to be downloaded, is a program: see doc.go.
func BenchmarkVet(b *testing.B) {
	ctx := context.Background()
	bin, module := b.TempDir(), b.TempDir()
	if err := buildHere(ctx, bin); err != nil {
		b.Fatal(err)
	}
	if err := prepare(ctx, module, ""); err != nil {
		b.Fatal(err)
	}
	vet, err := output(ctx, "", "go", "tool", "-n", "vet")
	if err != nil {
		b.Fatal(err)
	}
	own, _, err := packages(ctx, module)
	if err != nil {
		b.Fatal(err)
	}
	tools := []tool{{"go vet", vet, vettool}, {"nothing", filepath.Join(bin, "nothing"), vettool}, {"idemlint", filepath.Join(bin, "idemlint"), vettool}}
	for b.Loop() {
		r := &bench{dir: module, scratch: b.TempDir(), leaf: leaf(own), first: map[string][]cost{}, second: map[string][]cost{}}
		if err := r.run(ctx, tools, 1); err != nil {
			b.Fatal(err)
		}
		base := median(r.first["go vet"]).cpu
		for _, name := range []string{"nothing", "idemlint"} {
			b.ReportMetric(ratio(median(r.first[name]).cpu, base), name+"/vet")
		}
	}
}
