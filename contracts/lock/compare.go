package lock

import (
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
		u := &update{Contract: c, lock: f.Path}
		next.Kinds = append(next.Kinds, u.kind(f.kind(name)))
		u.succession(f)
		diags = append(diags, u.diags...)
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

// update is the comparison of one contract.
type update struct {
	Contract
	lock  string // the file's name in messages
	was   *Kind
	diags contracts.Diagnostics
}

// kind compares a contract with its entry, nil if there is none, and gives the
// entry that it leaves.
func (u *update) kind(was *Kind) Kind {
	k := Kind{Name: u.Spec.Kind.V}
	u.was = was
	if was == nil {
		k.Versions = []Version{u.Now}
		return k
	}
	old := was.version(u.Now.Number)
	if old != nil {
		u.sameVersion(old)
	}
	u.passed()
	for _, v := range was.Versions {
		if v.Number != u.Now.Number {
			k.Versions = append(k.Versions, v)
		}
	}
	k.Versions = append(k.Versions, u.Now)
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
	for _, e := range old.Effects {
		u.effect(old, e)
	}
	if u.Now.Window.shorterThan(old.Window) {
		u.windowShorter(old)
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

// effect compares an effect that a version had with the one that it has.
func (u *update) effect(old *Version, was Effect) {
	i := slices.IndexFunc(u.Now.Effects, func(e Effect) bool { return e.Name == was.Name })
	if i < 0 {
		u.effectGone(old, was)
		return
	}
	now := u.Now.Effects[i]
	if !u.sameFields(was.Name, was.OncePer, now.OncePer) {
		u.oncePerChanged(old, was, now)
	}
	if now.Guard != was.Guard {
		u.guardChanged(was)
	}
}

// passed tells what an older version than the last one means for work.
func (u *update) passed() {
	if last := u.was.last(); u.Now.Number < last.Number {
		u.wentBack(last)
	}
}
