package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/survey"
)

// The verdicts on an identity.
const (
	IdentityStable = "stable"
	IdentityPartly = "partly"
	IdentityNew    = "new on every attempt"
	IdentityNone   = "none seen"
)

// nearest follows a key up the way to its entry, as long as callers give the value
// under the same name, and tells where it comes from.
func (w *walker) nearest(v *visit, k survey.Key) (survey.Key, int) {
	for v.by != nil && !slices.ContainsFunc(k.Origins, func(o survey.Origin) bool { return o.Volatile != "" }) {
		c := &w.funcs[v.by.f].Calls[v.call]
		i := slices.IndexFunc(c.Keys, func(up survey.Key) bool { return up.Sink == k.Sink })
		if i < 0 && len(c.Keys) == 1 {
			i = 0
		}
		if i < 0 {
			break
		}
		k, v = c.Keys[i], v.by
	}
	return k, v.f
}

// fresh tells whether a key is new on every attempt, and by which way.
func (w *walker) fresh(v *visit, k survey.Key) (way string, fresh bool) {
	k, _ = w.nearest(v, k)
	for _, o := range k.Origins {
		if o.Volatile.New() && !o.Partial {
			return strings.Join(o.Way, " → "), true
		}
	}
	return "", false
}

// from says where the value of a key comes from.
func (w *walker) from(v *visit, k survey.Key) string {
	k, f := w.nearest(v, k)
	var parts []string
	for _, o := range k.Origins {
		switch {
		case o.Volatile.New() && o.Partial:
			parts = append(parts, "on some paths new: "+strings.Join(o.Way, " → "))
		case o.Volatile.New():
			parts = append(parts, "new on every attempt: "+strings.Join(o.Way, " → "))
		case o.Volatile == catalogue.Request, o.Volatile == catalogue.Received:
			parts = append(parts, "new for each delivery: "+strings.Join(o.Way, " → "))
		case o.Volatile == catalogue.Inbound:
			parts = append(parts, "what the caller sent: "+strings.Join(o.Way, " → "))
		case o.Param != "":
			parts = append(parts, w.given(v, f, o.Param))
		}
	}
	if len(parts) == 0 {
		return k.Text + " in " + w.funcs[f].Name
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "; ")
}

// given says what a parameter of a function on the way is given: the expression in
// the function nearest to the entry in which it is more than a parameter.
func (w *walker) given(v *visit, f int, param string) string {
	for v != nil && v.f != f {
		v = v.by
	}
	for v != nil && v.by != nil {
		name, field, _ := strings.Cut(param, ".")
		i := slices.Index(w.funcs[v.f].Params, name)
		args := w.funcs[v.by.f].Calls[v.call].Args
		if i < 0 || i >= len(args) {
			break
		}
		param, f, v = args[i], v.by.f, v.by
		if field != "" {
			param += "." + field
		}
	}
	return param + " in " + w.funcs[f].Name
}

// identity is what tells that two runs are of the same work, as far as it decides
// over one of the effects.
func (w *walker) identity(effects []found) Identity {
	var id Identity
	add := func(s Source) {
		if !slices.ContainsFunc(id.Sources, func(o Source) bool { return o.Kind == s.Kind && o.Pos == s.Pos }) {
			id.Sources = append(id.Sources, s)
		}
	}
	if k := w.root.ledger; k != nil {
		add(Source{Kind: "contract", Text: "contract " + k.Kind + ", version " + k.Version, From: "what its identity names, in " + k.File, Pos: w.position(k.file, 1, 1)})
	}
	for _, r := range w.runs {
		add(Source{Kind: "contract", Text: "contract " + cmp.Or(r.Contract, "(not seen which)"), From: "what its identity names", Pos: r.Pos})
	}
	open, fresh, memory := 0, 0, 0
	for _, e := range effects {
		switch e.Guard.Kind {
		case GuardNone:
			open++
		case GuardNative, GuardNatural, GuardBroken:
			if e.Guard.Kind == GuardBroken {
				fresh++
			}
			if len(e.keys) > 0 {
				k := e.keys[0]
				add(Source{Kind: e.Guard.Kind, Text: cmp.Or(k.Sink, "key"), From: w.from(e.v, k), Pos: w.at(e.v.f, k.Line, 0), New: e.Guard.Kind == GuardBroken})
			} else if e.Guard.Pos != nil {
				add(Source{Kind: e.Guard.Kind, Text: e.Name, From: "what a unique index of the table says", Pos: *e.Guard.Pos})
			}
		case GuardClaim, GuardSearch, GuardMemory:
			if e.Guard.Kind == GuardMemory {
				memory++
			}
			from := "what it says of itself"
			if e.Guard.by != "" {
				from = w.given(e.v, e.Guard.f, e.Guard.by)
			}
			add(Source{Kind: e.Guard.Kind, Text: e.Guard.check, From: from, Pos: *e.Guard.Pos})
		}
	}
	switch stable := len(id.Sources) - len(slices.DeleteFunc(slices.Clone(id.Sources), func(s Source) bool { return !s.New })); {
	case len(id.Sources) == 0:
		id.Verdict = IdentityNone
	case stable == 0:
		id.Verdict = IdentityNew
	case open > 0 || fresh > 0 || memory > 0:
		id.Verdict = IdentityPartly
	default:
		id.Verdict = IdentityStable
	}
	return id
}
