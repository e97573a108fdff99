package audit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/driver"
)

// Options say what to audit.
type Options struct {
	Tool     string // the program that go vet starts for each package: idemlint
	Dir      string // as an absolute path without links; files are named from it
	Build    []string
	Packages []string
}

// Run audits packages.
func Run(ctx context.Context, o Options) (*Report, error) {
	r, err := driver.Run(ctx, driver.Options{Tool: o.Tool, Dir: o.Dir, Build: o.Build, Packages: o.Packages, Survey: true})
	if err != nil {
		return nil, err
	}
	return Answers(o.Dir, r)
}

// Answers makes the report from what came back of all packages.
func Answers(dir string, r driver.Report) (*Report, error) {
	p, err := join(dir, r.Surveys)
	if err != nil {
		return nil, err
	}
	a := &auditor{program: p, report: &Report{Version: Version, Packages: len(p.packages), Entries: []Entry{}, Problems: problems(r.Errors)}}
	var modules []string
	for _, pkg := range p.packages {
		modules = append(modules, pkg.Module)
	}
	slices.Sort(modules)
	a.report.Module = cmp.Or(strings.Join(slices.Compact(modules), ", "), "no package that can be looked at")
	a.entries()
	a.findings(r)
	a.sort()
	return a.report, nil
}

// problems are what the go command says without what it says of its own work.
func problems(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "go: downloading ") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// auditor fills a report.
type auditor struct {
	*program
	report *Report
	entry  []Entry
}

func (a *auditor) entries() {
	roots := a.roots()
	stop := map[int]bool{}
	contracts := map[int]bool{}
	for _, r := range roots {
		if r.kind == "contract" {
			contracts[r.main] = true
		}
		if r.kind != "program" {
			for _, f := range r.funcs {
				stop[f] = true
			}
		}
	}
	var walkers []*walker
	var effects [][]found
	for _, r := range roots {
		w := &walker{program: a.program, root: r, stop: contracts, reach: map[int]bool{}, effects: map[string]found{}, harm: map[string]bool{}}
		if r.kind == "program" || r.kind == "command" {
			w.stop = stop
		}
		w.walk()
		all := w.sorted()
		walkers, effects = append(walkers, w), append(effects, all)
		a.entry = append(a.entry, w.entry(all))
	}
	for i, w := range walkers {
		a.entry[i].Replay = w.replay(effects[i], a.entry)
	}
}

// sorted are the effects by cost, those without guard first.
func (w *walker) sorted() []found {
	var all []found
	for _, e := range w.effects {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(a.Cost.rank()-b.Cost.rank(), truth(a.Guard.holds())-truth(b.Guard.holds()), cmp.Compare(a.Pos.File, b.Pos.File), a.Pos.Line-b.Pos.Line,
			a.Pos.Column-b.Pos.Column, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class))
	})
	return together(all)
}

// together makes one of the same calls in the same function: branches that answer a
// request are many, and one of them runs.
func together(all []found) []found {
	type key struct {
		f                       int
		name, class, kind, text string
	}
	var out []found
	at := map[key]int{}
	for _, e := range all {
		k := key{e.v.f, e.Name, e.Class, e.Guard.Kind, e.Guard.Text}
		if i, known := at[k]; known && e.Guard.Kind != GuardLedger {
			out[i].Also = append(out[i].Also, e.Pos.Line)
			continue
		}
		at[k] = len(out)
		out = append(out, e)
	}
	return out
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *walker) entry(effects []found) Entry {
	f := w.funcs[w.root.main]
	e := Entry{
		Kind: w.root.kind, Name: w.root.name, Func: f.Name, Pos: w.at(w.root.main, f.Line, f.Column), At: w.root.at, Found: w.root.found,
		Cost: None, Open: None, Effects: []Effect{}, Harmless: len(w.harm), Runs: w.runs, Identity: w.identity(effects), Model: w.model(), Failure: w.failure(),
		Unknown: w.unknown, reach: w.reach,
	}
	for _, x := range effects {
		if x.Cost.rank() < e.Cost.rank() {
			e.Cost = x.Cost
		}
		if !x.Guard.holds() && x.Cost.rank() < e.Open.rank() {
			e.Open = x.Cost
		}
		e.Effects = append(e.Effects, x.Effect)
	}
	for _, i := range w.reached() {
		for _, n := range w.funcs[i].Notes {
			e.Findings = append(e.Findings, Finding{Rule: "audit", Pos: w.at(i, n.Line, n.Column), Message: n.Message})
		}
	}
	return e
}

// findings puts those of the rules where they belong.
func (a *auditor) findings(r driver.Report) {
	for _, f := range r.Notes {
		a.report.Notes = append(a.report.Notes, Finding{Rule: f.Rule, Pos: a.position(f.Pos.File, f.Pos.Line, f.Pos.Column), Message: f.Message})
	}
	for _, f := range r.Findings {
		out := Finding{Rule: f.Rule, Pos: a.position(f.Pos.File, f.Pos.Line, f.Pos.Column), Message: f.Message, URL: f.URL}
		within := a.around(f.Pos)
		placed := false
		for i := range a.entry {
			if within >= 0 && a.entry[i].reach[within] {
				a.entry[i].Findings = append(a.entry[i].Findings, out)
				placed = true
			}
		}
		if !placed {
			a.report.Outside = append(a.report.Outside, out)
		}
	}
	for i := range a.entry {
		slices.SortFunc(a.entry[i].Findings, func(x, y Finding) int {
			return cmp.Or(cmp.Compare(x.Pos.File, y.Pos.File), x.Pos.Line-y.Pos.Line, x.Pos.Column-y.Pos.Column, cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Message, y.Message))
		})
	}
}

// around is the innermost function around a place, or -1.
func (a *auditor) around(pos driver.Position) int {
	best := -1
	for i, f := range a.funcs {
		if f.File == pos.File && f.Line <= pos.Line && pos.Line <= f.End && (best < 0 || f.End-f.Line <= a.funcs[best].End-a.funcs[best].Line) {
			best = i
		}
	}
	return best
}

// sort orders the entries by what a duplicate would cost, those without guard
// first, and sets aside those in which there is nothing to say.
func (a *auditor) sort() {
	for _, e := range a.entry {
		if e.Cost == None && len(e.Runs) == 0 && len(e.Findings) == 0 && e.Model == nil && e.Kind != "contract" {
			a.report.Quiet = append(a.report.Quiet, Quiet{e.Kind, e.Name, e.Pos})
			continue
		}
		a.report.Entries = append(a.report.Entries, e)
	}
	slices.SortStableFunc(a.report.Entries, func(x, y Entry) int {
		return cmp.Or(x.Cost.rank()-y.Cost.rank(), x.Open.rank()-y.Open.rank(), cmp.Compare(x.Pos.File, y.Pos.File), x.Pos.Line-y.Pos.Line, x.Pos.Column-y.Pos.Column, cmp.Compare(x.Name, y.Name))
	})
	slices.SortStableFunc(a.report.Quiet, func(x, y Quiet) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Pos.File, y.Pos.File), x.Pos.Line-y.Pos.Line, cmp.Compare(x.Name, y.Name))
	})
}

// Worst is the highest cost of what has no guard.
func (r *Report) Worst() Cost {
	worst := None
	for _, e := range r.Entries {
		if e.Open.rank() < worst.rank() {
			worst = e.Open
		}
	}
	return worst
}
