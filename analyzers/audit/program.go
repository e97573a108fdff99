package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/driver"
	"github.com/idemgen/idem/analyzers/internal/survey"
)

// program is the surveys of all packages, joined.
type program struct {
	packages  []survey.Record
	funcs     []survey.Func
	index     map[string]int      // of funcs, by ID
	pkg       []int               // of funcs: the package
	impls     map[string][]string // interface and method → functions
	contracts map[string]*contract
	guarded   map[string][]guarded // functions that contracts run as effects
	edges     [][]edge
	dir       string
}

// contract is one with its package.
type contract struct {
	survey.Contract
	path string
	file string
}

// guarded is an effect of a contract.
type guarded struct{ kind, effect, guard string }

func (g guarded) String() string {
	return fmt.Sprintf("contract %s, effect %s: %s", g.kind, g.effect, g.guard)
}

// edge is a call of a function of the program.
type edge struct {
	to   int
	call int // index of the caller's calls
	of   int // how many functions it may be
}

func (p *program) position(file string, line, column int) Position {
	return Position{File: slash(driver.Relative(p.dir, file)), Line: line, Column: column}
}

func slash(s string) string { return strings.ReplaceAll(s, "\\", "/") }

func (p *program) at(f int, line, column int) Position {
	return p.position(p.funcs[f].File, line, column)
}

// join reads the surveys. They come in no order, and of a package that was built
// more than once there may be several: one is enough.
func join(dir string, surveys []string) (*program, error) {
	p := &program{index: map[string]int{}, contracts: map[string]*contract{}, guarded: map[string][]guarded{}, dir: dir}
	seen := map[string]bool{}
	slices.Sort(surveys)
	for _, s := range surveys {
		var r survey.Record
		if err := json.Unmarshal([]byte(s), &r); err != nil {
			return nil, fmt.Errorf("reading the survey of a package: %w", err)
		}
		if !seen[r.Path] {
			seen[r.Path] = true
			p.packages = append(p.packages, r)
		}
	}
	slices.SortFunc(p.packages, func(a, b survey.Record) int { return cmp.Compare(a.Path, b.Path) })
	for i, r := range p.packages {
		for _, f := range r.Funcs {
			if _, known := p.index[f.ID]; known {
				continue // init, of which a package has several
			}
			p.index[f.ID] = len(p.funcs)
			p.funcs, p.pkg = append(p.funcs, f), append(p.pkg, i)
		}
		for _, c := range r.Contracts {
			p.contract(r.Path, c)
		}
	}
	p.implement()
	p.connect()
	return p, nil
}

func (p *program) contract(path string, c survey.Contract) {
	file := ""
	for _, r := range p.packages {
		if r.Path == path && len(r.Funcs) > 0 {
			file = r.Funcs[0].File[:strings.LastIndexAny(r.Funcs[0].File, `/\`)+1] + c.File
		}
	}
	p.contracts[c.Kind] = &contract{c, path, file}
	for _, e := range c.Effects {
		if e.Func != "" {
			p.guarded[e.Func] = append(p.guarded[e.Func], guarded{c.Kind, e.Name, e.Guard})
		}
	}
}

// implement finds, for each interface that is called, the methods of the program's
// types that may be meant.
func (p *program) implement() {
	p.impls = map[string][]string{}
	type impl struct {
		methods map[string]string // by signature
		all     []survey.Method
	}
	var types []impl
	bySig := map[string][]int{}
	for _, r := range p.packages {
		for _, t := range r.Types {
			m := impl{methods: map[string]string{}, all: t.Methods}
			for _, method := range t.Methods {
				m.methods[method.Sig] = method.To
				bySig[method.Sig] = append(bySig[method.Sig], len(types))
			}
			types = append(types, m)
		}
	}
	for _, r := range p.packages {
		for _, name := range slices.Sorted(maps.Keys(r.Interfaces)) {
			sigs := r.Interfaces[name]
			if len(sigs) == 0 || p.impls[name+" "] != nil {
				continue
			}
			p.impls[name+" "] = []string{}
			for _, t := range bySig[sigs[0]] {
				if slices.ContainsFunc(sigs, func(s string) bool { _, ok := types[t].methods[s]; return !ok }) {
					continue
				}
				for _, s := range sigs {
					method, _, _ := strings.Cut(s, " ")
					if to := types[t].methods[s]; to != "" && !slices.Contains(p.impls[name+" "+method], to) {
						p.impls[name+" "+method] = append(p.impls[name+" "+method], to)
					}
				}
			}
		}
	}
}

// connect makes the edges between functions.
func (p *program) connect() {
	p.edges = make([][]edge, len(p.funcs))
	for i, f := range p.funcs {
		for j, c := range f.Calls {
			var targets []string
			switch {
			case c.To != "":
				targets = []string{c.To}
			case c.Iface != "":
				targets = p.impls[c.Iface+" "+c.Method]
			}
			var known []int
			for _, t := range targets {
				if k, ok := p.index[t]; ok && !p.isLedger(k) {
					known = append(known, k)
				}
			}
			for _, k := range known {
				p.edges[i] = append(p.edges[i], edge{k, j, len(known)})
			}
		}
	}
}

// ledgerPath is the package that runs contracts: what it does is its own business.
const ledgerPath = "github.com/idemgen/idem/runtime"

func (p *program) isLedger(f int) bool {
	path := p.packages[p.pkg[f]].Path
	return path == ledgerPath || strings.HasPrefix(path, ledgerPath+"/")
}

// leads tells whether the source of what a call calls is known.
func (p *program) leads(f, call int) bool {
	return slices.ContainsFunc(p.edges[f], func(e edge) bool { return e.call == call })
}

// runs tells which contract a call hands work to.
func (p *program) runs(field string) string {
	path, name, ok := strings.Cut(field, " ")
	if !ok {
		return ""
	}
	fold := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	for _, kind := range slices.Sorted(maps.Keys(p.contracts)) {
		if p.contracts[kind].path == path && fold(kind) == fold(name) {
			return kind
		}
	}
	return ""
}
