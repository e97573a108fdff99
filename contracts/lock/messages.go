package lock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// next is the version that a bump has to write.
func (u *update) next() int { return max(u.was.last().Number, u.Now.Number) + 1 }

func (u *update) report(d *contracts.Diagnostic) { u.diags = append(u.diags, d) }

func (u *update) identityChanged(old *Version) {
	d := u.File.Errorf(u.Spec.Identity.Pos, "identity",
		"this is another identity than version %d has in %s, so that work which is done would be done again: restore the contract, Go types and json tags, or set version: %d and say what becomes of the work of version %d: %s", old.Number, u.lock, u.next(), u.was.last().Number, sayIt(u.was.last().Number))
	u.showShape(d, old, u.Now.Identity)
	u.report(d)
}

// showShape tells the old and the new shape field by field.
func (u *update) showShape(d *contracts.Diagnostic, old *Version, now Identity) {
	was := old.Identity
	if was.Body != now.Body {
		d.At(u.lock, was.line, 0, "identity: was %s, is %s", bodies[was.Body], bodies[now.Body])
	}
	if was.Keyed != now.Keyed {
		d.At(u.lock, was.line, 0, "keyed: was %t, is %t", was.Keyed, now.Keyed)
	}
	if was.Scope != nil || now.Scope != nil {
		u.showPart(d, "", "scope", pair{was.Scope, now.Scope}, was.line)
	}
	for i, p := range pairs(was.Key, now.Key) {
		u.showPart(d, "", fmt.Sprintf("key %d", i+1), p, was.line)
	}
	u.showMembers(d, was, now)
}

var bodies = map[Body]string{Key: "the text of one value", List: "a list of values", Hash: "a hash of an object"}

func (u *update) showPart(d *contracts.Diagnostic, effect, what string, p pair, line int) {
	switch {
	case p.old == nil:
		d.At(u.lock, line, 0, "%s: was not there, is %s", what, p.now)
	case p.now == nil:
		d.At(u.lock, p.old.line, 0, "%s: was %s, is gone", what, p.old)
	case u.sameField(effect, p):
		d.At(u.lock, p.old.line, 0, "%s: is %s, as it was", what, p.now)
	default:
		d.At(u.lock, p.old.line, 0, "%s: was %s, is %s", what, p.old, p.now)
	}
}

// String is a part as messages show it.
func (p *Part) String() string {
	encoded := p.Type
	if p.Empty != "" {
		encoded += ", empty " + string(p.Empty)
	}
	if p.Wire == p.Field {
		return p.Field + " (" + encoded + ")"
	}
	return p.Field + " (" + p.Wire + " in JSON, " + encoded + ")"
}

// maxShown is how many members are shown that did not change; of those that did
// all are.
const maxShown = 12

func (u *update) showMembers(d *contracts.Diagnostic, was, now Identity) {
	same := 0
	for _, path := range paths(was.Members, now.Members) {
		o, n := member(was.Members, path), member(now.Members, path)
		switch {
		case o == nil:
			d.At(u.lock, was.line, 0, "%s: was not there, is %s", path, n.Type)
		case n == nil:
			d.At(u.lock, o.line, 0, "%s: was %s, is gone", path, o.Type)
		case o.Type != n.Type:
			d.At(u.lock, o.line, 0, "%s: was %s, is %s", path, o.Type, n.Type)
		default:
			if same++; same <= maxShown {
				d.At(u.lock, o.line, 0, "%s: is %s, as it was", path, n.Type)
			}
		}
	}
	if same > maxShown {
		d.At(u.lock, was.line, 0, "and %d more as they were", same-maxShown)
	}
}

// paths are those of both lists, sorted and each once.
func paths(a, b []Member) []string {
	var list []string
	for _, m := range slices.Concat(a, b) {
		list = append(list, m.Path)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// member is the one of that path, or nil; members are sorted.
func member(members []Member, path string) *Member {
	i, ok := slices.BinarySearchFunc(members, path, func(m Member, path string) int { return strings.Compare(m.Path, path) })
	if !ok {
		return nil
	}
	return &members[i]
}

func (u *update) goldenChanged(old *Version) {
	u.report(u.File.Errorf(u.Spec.Identity.Pos, "identity",
		"the identity is the one in %s, and yet its golden key would be another one: the file was edited by hand, or this idemgen derives other keys than the one that wrote it. Restore the file from version control; if it still says so, generate with that idemgen, and report this", u.lock).
		At(u.lock, old.line, 0, "was %s, is %s", old.Golden, u.Now.Golden))
}

func (u *update) effectGone(old *Version, was Effect) {
	why := "and no longer here: work in flight that has done it would do it again under another name, or leave it half done"
	if was.Removed {
		why = "as removed, and the contract no longer says so: work in flight may have done it as long as the version lives"
	}
	u.report(u.File.Errorf(u.Spec.Kind.Pos, "effects."+was.Name,
		"version %d has this effect in %s %s. If it was renamed, give the effect was: %s; if work in flight can do without it, write %[4]s: {removed: \"why\"} among the effects; or restore it", old.Number, u.lock, why, was.Name).
		At(u.lock, was.line, 0, "%s was guarded by %s%s", was.Name, was.Guard, oncePer(was.OncePer)))
}

func (u *update) neverWas(earlier []Effect, e *contracts.Effect) {
	name := e.Was.V
	if i := slices.IndexFunc(earlier, func(o Effect) bool { return o.Called == name }); i >= 0 {
		u.report(u.File.Errorf(e.Was.Pos, "effects."+e.Name.V+".was", "%s was %s before: write was: %[2]s, the name that the ledger has", name, earlier[i].Name))
		return
	}
	u.report(u.File.Errorf(e.Was.Pos, "effects."+e.Name.V+".was", "no effect of %s is called %s in %s%s: leave was out if the effect is new", u.Spec.Kind.V, name, u.lock, contracts.DidYouMean(name, effectNames(earlier))))
}

func (u *update) neverThere(earlier []Effect, r contracts.Removed) {
	name := r.Name.V
	if i := slices.IndexFunc(earlier, func(o Effect) bool { return o.Called == name }); i >= 0 {
		u.report(u.File.Errorf(r.Name.Pos, "effects."+name, "%s was renamed before it was removed: write %s: {removed: …}, by the name that the ledger has", name, earlier[i].Name))
		return
	}
	u.report(u.File.Errorf(r.Name.Pos, "effects."+name, "no effect of %s is called %s in %s%s: there is nothing to remove", u.Spec.Kind.V, name, u.lock, contracts.DidYouMean(name, effectNames(earlier))))
}

// effectNames are the names in the ledger.
func effectNames(effects []Effect) []string {
	var names []string
	for _, e := range effects {
		names = append(names, e.Name)
	}
	return names
}

func oncePer(parts []Part) string {
	if len(parts) == 0 {
		return ", once per work"
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.Field)
	}
	return ", once per " + strings.Join(names, ", ")
}

func (u *update) oncePerChanged(old *Version, was, now Effect) {
	e := u.spec(was.Name)
	pos := e.Name.Pos
	if len(e.OncePer) > 0 {
		pos = e.OncePer[0].Pos
	}
	d := u.File.Errorf(pos, "effects."+e.Name.V+".once_per",
		"this is not what version %d has in %s, so that work in flight would repeat the effect under another key: restore it; or, if work in flight can do both, give the effect another name and write %s: {removed: \"why\"} for the old one; or set version: %d", old.Number, u.lock, was.Name, u.next())
	for i, p := range pairs(was.OncePer, now.OncePer) {
		u.showPart(d, e.Name.V, fmt.Sprintf("once_per %d", i+1), p, was.line)
	}
	u.report(d)
}

func (u *update) workChanged(old *Version, was, now Effect) {
	e := u.spec(was.Name)
	pos, path := e.Guard.Pos, "effects."+e.Name.V+".guard"
	if e.Work.Set {
		pos, path = e.Work.Pos, "effects."+e.Name.V+".work"
	}
	u.report(u.File.Errorf(pos, path,
		"this is not what version %d has in %s, where it is %s; it would be %s, and work in flight would do it again under another key. Restore it; or, if work in flight can do both, give the effect another name and write %s: {removed: \"why\"} for the old one; or set version: %d", old.Number, u.lock, was.doneBy(), now.doneBy(), was.Name, u.next()).
		At(u.lock, was.line, 0, "%s is locked here", was.Name))
}

// doneBy says what carries an effect out.
func (e Effect) doneBy() string {
	if e.Work == "" {
		return "done by a function"
	}
	return "work of the kind " + e.Work
}

func (u *update) guardChanged(was, now Effect) {
	e := u.spec(was.Name)
	u.report(u.File.Warnf(e.Guard.Pos, "effects."+e.Name.V+".guard",
		"the guard was %s: of unfinished work, a call whose outcome is unknown was made without what makes a repeat safe under %s, and will wait for a person", was.Guard, now.Guard).
		At(u.lock, was.line, 0, "%s is locked here", was.Name))
}

func (u *update) windowShorter(old *Version) {
	u.report(u.File.Warnf(u.Spec.Window.Pos, "window",
		"the window was %s and is %s: work that was done longer ago than that is forgotten, and done again if it comes again", old.Window, u.Now.Window).
		At(u.lock, old.line, 0, "version %d is locked here", old.Number))
}

func kindRenamed(lock string, c Contract, gone *Kind) *contracts.Diagnostic {
	return c.File.Warnf(c.Spec.Kind.Pos, "",
		"%s is new, and %s, which told work apart by the same, is gone: if it was renamed, all that it has done is new again, since the kind is part of every key. Keep the name %[2]s then: handlers and types may be called anything", c.Spec.Kind.V, gone.Name).
		At(lock, gone.line, 0, "%s is locked here", gone.Name)
}

func (u *update) wentBack(current *Version) {
	fate := fmt.Sprintf(": what version %d has done is new again", current.Number)
	if u.was.honors(current, u.Now.Number) {
		fate = fmt.Sprintf(". What version %d has done is known all the same, since it was kept under the old keys; what only version %[1]d took for one work is done again", current.Number)
	}
	u.report(u.File.Warnf(u.Spec.Version.Pos, "version",
		"version %d is not version %d, which %s has%s. If version %[2]d never ran, restore %[3]s from version control", u.Now.Number, current.Number, u.lock, fate).
		At(u.lock, current.line, 0, "version %d is locked here", current.Number))
}

func (u *update) cameBack(current *Version) {
	u.report(u.File.Warnf(u.Spec.Version.Pos, "version",
		"version %d is back: what version %d has done meanwhile is new again", u.Now.Number, current.Number).
		At(u.lock, current.line, 0, "version %d is locked here", current.Number))
}
