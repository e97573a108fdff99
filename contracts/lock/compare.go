package lock

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// Contract is what a contract says now, and where.
type Contract struct {
	File *contracts.File
	Spec *contracts.Contract
	Now  Version
	// Has tells whether the input of the effect, or of the contract if the name is
	// empty, has the field: under its Go name, or another one under its wire name.
	// An empty name is none. What cannot be known is to be answered with true: it
	// lets a change through only if it is false.
	Has func(effect string, p Part) bool
	// Honored are the versions of [File.Honored] as they would be derived of today's
	// types; those that cannot be are left out, and told about.
	Honored []Version
}

// Update gives the file as it should be once the contracts are generated, and
// what must not change and what has a price, at the places of the contracts. The
// file is left alone; nil stands for a module that has none yet. With errors
// there is no new file.
//
// All says that the contracts are all of the module: then kinds that none of
// them has are retired. Kinds that several of them have are told about by
// whoever resolves them; here the first counts.
func (f *File) Update(all bool, now []Contract) (*File, contracts.Diagnostics) {
	if f == nil {
		f = &File{Path: Name}
	}
	next := &File{Path: f.Path}
	var diags contracts.Diagnostics
	seen := map[string]bool{}
	for _, c := range now {
		name := c.Spec.Kind.V
		if seen[name] {
			continue
		}
		seen[name] = true
		u := &update{Contract: c, lock: f.Path, file: f}
		next.Kinds = append(next.Kinds, u.kind(f.kind(name)))
		u.succession(f)
		diags = append(diags, u.diags...)
	}
	if all {
		diags = append(diags, f.renamedKinds(now, seen)...)
	}
	for _, k := range f.Kinds {
		if !seen[k.Name] {
			k.Retired = k.Retired || all
			next.Kinds = append(next.Kinds, k)
		}
	}
	if diags.HasErrors() {
		return nil, diags.Sorted()
	}
	slices.SortFunc(next.Kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return next, diags.Sorted()
}

// renamedKinds warns, once, of kinds that are new and identify work as one did that
// none of the contracts has any more: nobody is asked about a kind that is gone.
func (f *File) renamedKinds(now []Contract, seen map[string]bool) contracts.Diagnostics {
	var diags contracts.Diagnostics
	for _, c := range now {
		if f.kind(c.Spec.Kind.V) != nil {
			continue
		}
		for i := range f.Kinds {
			k := &f.Kinds[i]
			if !k.Retired && !seen[k.Name] && k.current().Identity.sameWords(c.Now.Identity) {
				diags = append(diags, kindRenamed(f.Path, c, k))
			}
		}
	}
	return diags
}

// sameWords tells whether two identities are described alike, names included.
func (id Identity) sameWords(other Identity) bool {
	alike := func(a, b Part) bool { return a.Field == b.Field && a.Wire == b.Wire }
	return id.Digest() == other.Digest() && slices.EqualFunc(id.parts(), other.parts(), alike)
}

// update is the comparison of one contract.
type update struct {
	Contract
	file  *File
	lock  string // its name in messages
	was   *Kind
	diags contracts.Diagnostics
}

// kind compares a contract with its entry, nil if there is none, and gives the
// entry that it leaves.
func (u *update) kind(was *Kind) Kind {
	k := Kind{Name: u.Spec.Kind.V}
	u.was = was
	if was == nil {
		u.answers(nil)
		k.Versions = []Version{u.Now}
		return k
	}
	old := was.version(u.Now.Number)
	if old != nil {
		u.sameVersion(old)
	}
	u.answers(u.earlier(old))
	u.passed()
	for _, v := range was.Versions {
		if v.Number != u.Now.Number {
			k.Versions = append(k.Versions, v)
		}
	}
	k.Versions = append(k.Versions, u.Now)
	if u.Now.Number < was.last().Number {
		k.Current = u.Now.Number
	}
	slices.SortFunc(k.Versions, func(a, b Version) int { return a.Number - b.Number })
	return k
}

// sameVersion compares what a version says with what it said.
func (u *update) sameVersion(old *Version) {
	switch {
	case !u.sameIdentity(old):
		u.identityChanged(old)
	case old.Golden != "" && u.Now.Golden != "" && old.Golden != u.Now.Golden:
		u.goldenChanged(old)
	}
	u.keepEmpty(old)
	for _, e := range old.Effects {
		u.effect(old, e)
	}
	if u.Now.Window.shorterThan(old.Window) {
		u.windowShorter(old)
	}
}

// keepEmpty remembers how parts that may no longer be empty were written when they
// could be, for when they may again.
func (u *update) keepEmpty(old *Version) {
	if len(old.Identity.Key) != len(u.Now.Identity.Key) {
		return // told about
	}
	u.Now.Identity.Key = slices.Clone(u.Now.Identity.Key)
	for i := range u.Now.Identity.Key {
		part := &u.Now.Identity.Key[i]
		part.Empty = cmp.Or(part.Empty, old.Identity.Key[i].Empty)
	}
}

// sameIdentity tells whether equal work has equal keys.
func (u *update) sameIdentity(old *Version) bool {
	return old.Identity.Digest() == u.Now.Identity.Digest() && u.sameFields("", old.Identity.parts(), u.Now.Identity.parts())
}

// sameFields tells whether each value of a key comes from the field that it came
// from, whatever that is called now.
func (u *update) sameFields(effect string, old, now []Part) bool {
	return len(old) == len(now) && !slices.ContainsFunc(pairs(old, now), func(p pair) bool { return !u.sameField(effect, p) })
}

type pair struct{ old, now *Part }

// pairs are the parts beside each other; where one list is shorter, nil.
func pairs(old, now []Part) []pair {
	list := make([]pair, max(len(old), len(now)))
	for i := range old {
		list[i].old = &old[i]
	}
	for i := range now {
		list[i].now = &now[i]
	}
	return list
}

func (u *update) sameField(effect string, p pair) bool {
	switch {
	case p.old == nil || p.now == nil || p.old.Type != p.now.Type:
		return false
	case p.old.Empty != "" && p.now.Empty != "" && p.old.Empty != p.now.Empty:
		return false
	case p.old.Wire == p.now.Wire:
		return true
	case p.old.Field == p.now.Field:
		// Another tag is another name for the same, unless its old name has gone to
		// another field: then that one now gets what this one got.
		return !u.Has(effect, Part{Wire: p.old.Wire})
	}
	return !u.Has(effect, *p.old)
}

// effect compares an effect that a version had with the one that it has. A read
// may go: it has done nothing.
func (u *update) effect(old *Version, was Effect) {
	now := u.Now.effect(was.Name)
	switch {
	case now == nil && u.removed(was.Name) == nil && was.Guard != contracts.Read && !u.misnamed(was):
		u.effectGone(old, was)
	case now == nil:
	case now.Work != was.Work && was.Guard != contracts.Read:
		u.workChanged(old, was, *now)
	case !u.sameFields(u.called(was.Name), was.OncePer, now.OncePer):
		u.oncePerChanged(old, was, *now)
	case now.Guard != was.Guard && was.leavesUnknown():
		u.guardChanged(was, *now)
	}
}

// leavesUnknown tells whether a process that dies can leave the effect so that
// nobody knows whether it happened.
func (e Effect) leavesUnknown() bool {
	return e.Guard != contracts.Transaction && e.Guard != contracts.Read
}

// removed is what the contract says of an effect that it has no more, or nil.
func (u *update) removed(name string) *contracts.Removed {
	i := slices.IndexFunc(u.Spec.Removed, func(r contracts.Removed) bool { return r.Name.V == name })
	if i < 0 {
		return nil
	}
	return &u.Spec.Removed[i]
}

// misnamed tells whether the contract answers for an effect by a name that the
// ledger does not have, which is told about.
func (u *update) misnamed(was Effect) bool {
	return was.Called != "" && (u.removed(was.Called) != nil ||
		slices.ContainsFunc(u.Spec.Effects, func(e *contracts.Effect) bool { return e.Was.V == was.Called }))
}

// spec is the contract's own entry of an effect that the ledger has by that name,
// or nil.
func (u *update) spec(name string) *contracts.Effect {
	i := slices.IndexFunc(u.Spec.Effects, func(e *contracts.Effect) bool { return e.LedgerName() == name })
	if i < 0 {
		return nil
	}
	return u.Spec.Effects[i]
}

// called is the contract's name of an effect that it has.
func (u *update) called(name string) string {
	if e := u.spec(name); e != nil {
		return e.Name.V
	}
	return name
}

// earlier are the effects that work in flight may have done: those of this version
// or, if it is new, of the one before, and of the versions that it honours.
func (u *update) earlier(old *Version) []Effect {
	if old == nil {
		old = u.was.current()
	}
	effects := slices.Clone(old.Effects)
	for _, v := range u.file.Honored(u.Spec) {
		effects = append(effects, v.Effects...)
	}
	return effects
}

// answers checks what a contract says became of effects against those that there
// were, and keeps the removed ones.
func (u *update) answers(earlier []Effect) {
	named := func(name string) int {
		return slices.IndexFunc(earlier, func(e Effect) bool { return e.Name == name })
	}
	for _, e := range u.Spec.Effects {
		if e.Was.Set && named(e.Was.V) < 0 {
			u.neverWas(earlier, e)
		}
	}
	for _, r := range u.Spec.Removed {
		i := named(r.Name.V)
		if i < 0 {
			u.neverThere(earlier, r)
			continue
		}
		gone := earlier[i]
		gone.Called, gone.Removed = "", true
		u.Now.Effects = append(u.Now.Effects, gone)
	}
	slices.SortFunc(u.Now.Effects, func(a, b Effect) int { return strings.Compare(a.Name, b.Name) })
}

// passed tells, once, what another version than the last one means for work.
func (u *update) passed() {
	current := u.was.current()
	switch {
	case u.Now.Number == current.Number:
	case u.Now.Number < u.was.last().Number:
		u.wentBack(current)
	case u.was.version(u.Now.Number) != nil && !u.Spec.Supersedes.Set:
		u.cameBack(current)
	}
}
