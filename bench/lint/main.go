package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

type options struct {
	module, gopls string
	runs, edits   int
}

func main() {
	var o options
	flag.StringVar(&o.module, "module", "", "a `folder`, or a module of the proxy with its version")
	flag.StringVar(&o.gopls, "gopls", "", "a `file` that idemlint gopls has built")
	flag.IntVar(&o.runs, "runs", 3, "how often each tool runs; 0: only gopls does")
	flag.IntVar(&o.edits, "edits", 20, "how many edits are made in gopls")
	flag.Parse()
	if err := run(context.Background(), o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, w io.Writer) error {
	scratch, err := os.MkdirTemp("", "bench-lint-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return err
	}
	bin, module := filepath.Join(scratch, "bin"), filepath.Join(scratch, "module")
	for _, dir := range []string{bin, module} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := prepare(ctx, module, o.module); err != nil {
		return err
	}
	own, all, err := packages(ctx, module)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d packages of the module, %d with their dependencies\n\n", len(own), all)
	if o.runs > 0 {
		tools, err := build(ctx, bin)
		if err != nil {
			return err
		}
		b := &bench{dir: module, scratch: scratch, leaf: leaf(own), first: map[string][]cost{}, second: map[string][]cost{}}
		if err := b.run(ctx, tools, o.runs); err != nil {
			return err
		}
		b.report(w, tools)
	}
	if o.gopls == "" {
		return nil
	}
	return editing(ctx, o, w, module, own)
}

// editing reports what the rules add to the time between an edit and its
// diagnostics.
func editing(ctx context.Context, o options, w io.Writer, module string, own []pkg) error {
	file, err := largest(own)
	if err != nil {
		return err
	}
	with, without, err := edits(ctx, o.gopls, module, file, o.edits)
	if err != nil {
		return err
	}
	slices.Sort(with)
	slices.Sort(without)
	a, z := with[len(with)/2], without[len(without)/2]
	rel, err := filepath.Rel(module, file)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nan edit of %s in gopls: %v with the rules, %v without: %.2f\n", rel, a.Round(time.Millisecond), z.Round(time.Millisecond), float64(a)/float64(z))
	return nil
}

// bench is the runs over one module.
type bench struct {
	dir, scratch, leaf string
	first, second      map[string][]cost // by tool: cold, and after an edit of the leaf
}

func (b *bench) run(ctx context.Context, tools []tool, runs int) error {
	src, err := os.ReadFile(b.leaf)
	if err != nil {
		return err
	}
	for round := range runs + 1 {
		for i, t := range tools {
			if round == 0 && i != 1 {
				continue // the tool that does nothing compiles all that is needed
			}
			dir, err := os.MkdirTemp(b.scratch, "run-")
			if err != nil {
				return err
			}
			file, err := fresh(t.file, dir)
			if err != nil {
				return err
			}
			args, env := t.command(file, filepath.Join(dir, "cache"))
			first, err := measure(ctx, b.dir, env, args...)
			if err != nil {
				return err
			}
			edited := fmt.Sprintf("%s\nfunc edited%d_%d() {}\n", src, round, i)
			if err := os.WriteFile(b.leaf, []byte(edited), 0o644); err != nil {
				return err
			}
			second, err := measure(ctx, b.dir, env, args...)
			if err != nil {
				return err
			}
			if round > 0 {
				b.first[t.name], b.second[t.name] = append(b.first[t.name], first), append(b.second[t.name], second)
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(b.leaf, src, 0o644)
}

func (b *bench) report(w io.Writer, tools []tool) {
	fmt.Fprintln(w, "| tool | CPU | ratio | lowest to highest | peak memory | after an edit of a leaf | ratio |\n| --- | --- | --- | --- | --- | --- | --- |")
	base := tools[0].name
	cold, warm := median(b.first[base]).cpu, median(b.second[base]).cpu
	for _, t := range tools {
		first, second := median(b.first[t.name]), median(b.second[t.name])
		low, high := b.first[t.name][0].cpu, b.first[t.name][0].cpu
		for _, c := range b.first[t.name] {
			low, high = min(low, c.cpu), max(high, c.cpu)
		}
		fmt.Fprintf(w, "| %s | %.1f s | %.2f | %.2f to %.2f | %d MB | %.1f s | %.2f |\n", t.name,
			first.cpu.Seconds(), ratio(first.cpu, cold), ratio(low, cold), ratio(high, cold), first.memory>>20,
			second.cpu.Seconds(), ratio(second.cpu, warm))
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// median is that of each of the two by itself.
func median(all []cost) cost {
	if len(all) == 0 {
		return cost{}
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b cost) int { return cmp.Compare(a.memory, b.memory) })
	memory := all[len(all)/2].memory
	slices.SortFunc(all, func(a, b cost) int { return cmp.Compare(a.cpu, b.cpu) })
	return cost{cpu: all[len(all)/2].cpu, memory: memory}
}
