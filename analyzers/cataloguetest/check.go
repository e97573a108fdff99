package cataloguetest

import (
	"fmt"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// wrong says what an entry says of a package that is not so, or nothing.
func wrong(e *catalogue.Entry, d *declared) string {
	if e.At == nil && (e.Kind == catalogue.Key || e.Kind == catalogue.EntryKind && !e.Pulls) {
		if !d.fields[e.Name] {
			return "no such field"
		}
		return ""
	}
	f, ok := d.funcs[e.Name]
	if !ok && e.Clients && d.fields[e.Name] { // an option may be either
		return ""
	}
	if !ok {
		return "no such function or method"
	}
	var places []catalogue.Place
	if e.At != nil {
		places = append(places, *e.At)
	}
	places = append(places, e.From...)
	if e.Kind == catalogue.Source || e.Kind == catalogue.Flow {
		places = append(places, e.Targets()...)
	}
	for _, c := range e.When {
		places = append(places, c.Arg)
	}
	for _, p := range places {
		if why := f.lacks(p); why != "" {
			return why
		}
	}
	return ""
}

func (s shape) lacks(p catalogue.Place) string {
	switch i, result := p.IsResult(); {
	case p == catalogue.Recv && !s.method:
		return "a function has no receiver"
	case result && i >= s.results:
		return fmt.Sprintf("no result %d: it has %d", i, s.results)
	case !result && int(p) >= s.params:
		return fmt.Sprintf("no parameter %d: it has %d", int(p), s.params)
	}
	return ""
}
