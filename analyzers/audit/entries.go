package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/survey"
)

// root is an entry point before it is looked into.
type root struct {
	kind   string
	system string // import path of what hands in the work
	name   string
	found  string
	at     *Position
	funcs  []int // what runs, the last being what the entry is for
	main   int   // the function shown
	ledger *contract
	hands  string // the contract that the function was made for, if it was
}

// roots are the entry points of the program, each function once.
func (p *program) roots() []root {
	c := &collector{program: p, byFunc: map[string]int{}, taken: map[int]bool{}}
	for _, kind := range slices.Sorted(maps.Keys(p.contracts)) {
		c.contract(p.contracts[kind])
	}
	for _, r := range p.packages {
		for _, e := range r.Entries {
			c.registered(e)
		}
	}
	called := p.called()
	for i, f := range p.funcs {
		switch {
		case c.taken[i]:
		case f.Handler != "":
			c.add(root{kind: kindOf(f.Handler, ""), name: f.Name, found: "a directive says so", funcs: []int{i}, main: i})
		case f.Means != "" && !called[i]:
			c.add(root{kind: kindOf(f.Means, f.System), system: f.System, name: f.Name, found: "by the types of its parameters; its registration was not seen", funcs: []int{i}, main: i})
		case f.Main:
			c.add(root{kind: "program", name: "main of " + p.packages[p.pkg[i]].Path, found: "a program begins here", funcs: []int{i}, main: i})
		}
	}
	return c.all
}

// collector gathers entry points.
type collector struct {
	*program
	all    []root
	byFunc map[string]int // where in all the entry of a kind and function is
	taken  map[int]bool
}

func (c *collector) contract(k *contract) {
	i, ok := c.index[k.Handler]
	if !ok {
		return
	}
	r := root{kind: "contract", name: k.Kind, found: "a contract: version " + k.Version + " in " + k.File, main: i, ledger: k}
	for _, e := range k.Effects {
		if j, ok := c.index[e.Func]; ok {
			r.funcs = append(r.funcs, j)
		}
	}
	r.funcs = append(r.funcs, i)
	c.add(r)
}

func (c *collector) registered(e survey.Entry) {
	at := c.position(e.File, e.Line, e.Column)
	if i := slices.IndexFunc(e.Funcs, func(f string) bool { return strings.HasPrefix(f, survey.AnyOf) }); i >= 0 {
		for _, f := range c.impls[strings.TrimPrefix(e.Funcs[i], survey.AnyOf)] {
			one := e
			one.Funcs = slices.Clone(e.Funcs)
			one.Funcs[i] = f
			c.registered(one)
		}
		return
	}
	var funcs []int
	for _, f := range e.Funcs {
		if i, ok := c.index[f]; ok && !slices.Contains(funcs, i) {
			funcs = append(funcs, i)
		}
	}
	if len(funcs) == 0 {
		return
	}
	if e.Pulls {
		for _, f := range c.takers(funcs[0], 0) {
			c.add(root{kind: kindOf(e.Means, e.System), system: e.System, name: cmp.Or(e.Route, c.funcs[f].Name), found: "it takes in work itself", at: &at, funcs: []int{f}, main: f})
		}
		return
	}
	last := funcs[len(funcs)-1]
	name := e.Route
	if name == "" {
		name = c.funcs[last].Name
	}
	c.add(root{kind: kindOf(e.Means, e.System), system: e.System, name: name, found: "registered", at: &at, funcs: funcs, main: last, hands: c.runs(e.Ledger)})
}

// takers are the functions that take work out of what a function gives: those that
// call it, if it returns the channel.
func (c *collector) takers(f, depth int) []int {
	if !c.funcs[f].Gives || depth > 3 {
		return []int{f}
	}
	var all []int
	for i, edges := range c.edges {
		if slices.ContainsFunc(edges, func(e edge) bool { return e.to == f }) && i != f {
			all = append(all, c.takers(i, depth+1)...)
		}
	}
	if len(all) == 0 {
		return []int{f}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// add puts an entry in, or another route to one that is there.
func (c *collector) add(r root) {
	key := r.kind + " " + c.funcs[r.main].ID + " " + r.hands
	for _, f := range r.funcs {
		if len(r.funcs) == 1 || f == r.main {
			c.taken[f] = true
		}
	}
	i, known := c.byFunc[key]
	if !known {
		c.byFunc[key] = len(c.all)
		c.all = append(c.all, r)
		return
	}
	if old := &c.all[i]; r.name != old.name && !slices.Contains(strings.Split(old.name, ", "), r.name) {
		old.name += ", " + r.name
		for _, f := range r.funcs {
			if !slices.Contains(old.funcs, f) {
				old.funcs = slices.Insert(old.funcs, 0, f)
			}
		}
	}
}

// called are the functions that another function of the program calls by name.
func (p *program) called() map[int]bool {
	all := map[int]bool{}
	for i, edges := range p.edges {
		for _, e := range edges {
			if c := p.funcs[i].Calls[e.call]; c.To != "" && !c.Passed && e.to != i {
				all[e.to] = true
			}
		}
	}
	return all
}

// kindOf is the kind of an entry by what the catalogue says of it and by what hands
// in the work.
func kindOf(means, system string) string {
	switch {
	case strings.HasPrefix(system, "github.com/aws/aws-lambda-go"):
		return "lambda"
	case system == "github.com/spf13/cobra" || strings.HasPrefix(system, "github.com/urfave/cli"):
		return "command"
	}
	return means
}
