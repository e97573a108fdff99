package lock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// Honored are the versions whose work a contract lets go on, newest first: the one
// that it supersedes, if it honours that, then what that one honoured, and so on.
// Versions that the file does not hold are left out. The file may be nil.
func (f *File) Honored(c *contracts.Contract) []Version {
	if f == nil || !c.Supersedes.Honors() {
		return nil
	}
	k := f.kind(c.Kind.V)
	if k == nil {
		return nil
	}
	var list []Version
	for v := k.version(c.Supersedes.Version.V); v != nil; v = k.version(v.Supersedes) {
		list = append(list, *v)
		if v.OldWork != contracts.Honor {
			break
		}
	}
	return list
}

// honors tells whether a version keeps its work under the keys of an earlier one.
func (k *Kind) honors(v *Version, earlier int) bool {
	for v != nil && v.OldWork == contracts.Honor {
		if v.Supersedes == earlier {
			return true
		}
		v = k.version(v.Supersedes)
	}
	return false
}

// succession checks what a contract says of the versions before it.
func (u *update) succession(f *File) {
	s := &u.Spec.Supersedes
	fresh := u.was == nil || u.was.version(u.Now.Number) == nil
	switch {
	case !s.Set:
		if fresh && u.was != nil && u.was.Versions[0].Number < u.Now.Number {
			u.bumpUnsaid()
		}
	case u.was == nil && s.Honors():
		u.report(u.File.Errorf(s.Version.Pos, "supersedes.version", "%s has no entry for %s, so that nobody knows what the keys of version %d were made of: restore the file from version control, or write old_work: reprocess", u.lock, u.Spec.Kind.V, s.Version.V))
	case u.was == nil:
	case u.was.version(s.Version.V) == nil:
		u.report(u.File.Errorf(s.Version.Pos, "supersedes.version", "%s has no version %d of %s: it has %s", u.lock, s.Version.V, u.was.Name, u.was.numbers()))
	case fresh:
		u.skipped(s.Version.V)
	}
	if !fresh {
		u.stillHonored(u.was.version(u.Now.Number))
	}
	for _, old := range f.Honored(u.Spec) {
		u.honored(&old)
	}
}

func (k *Kind) numbers() string {
	var list []string
	for _, v := range k.Versions {
		list = append(list, fmt.Sprint(v.Number))
	}
	return strings.Join(list, ", ")
}

// before is the newest version below that of the contract.
func (u *update) before() *Version {
	var before *Version
	for i := range u.was.Versions {
		if v := &u.was.Versions[i]; v.Number < u.Now.Number {
			before = v
		}
	}
	return before
}

// sayIt is the line that says what a bump means, with both answers.
func sayIt(version int) string {
	return fmt.Sprintf("supersedes: {version: %d, because: \"…\", old_work: honor}, with which it goes on under its old keys and what is done stays done, or the same with old_work: reprocess, with which all of it is new work", version)
}

func (u *update) bumpUnsaid() {
	last := u.before()
	u.report(u.File.Errorf(u.Spec.Version.Pos, "version",
		"version %d is new: say what becomes of the work of version %d. Write %s", u.Now.Number, last.Number, sayIt(last.Number)).
		At(u.lock, last.line, 0, "version %d is locked here", last.Number))
}

// skipped warns of versions between the one that is superseded and this one.
func (u *update) skipped(superseded int) {
	if last := u.before(); last.Number > superseded {
		u.report(u.File.Warnf(u.Spec.Supersedes.Version.Pos, "supersedes.version",
			"version %d comes in between: nothing is said of its work, which is new again, done work too", last.Number).
			At(u.lock, last.line, 0, "version %d is locked here", last.Number))
	}
}

// stillHonored warns if a version that was honoured no longer is.
func (u *update) stillHonored(old *Version) {
	s := &u.Spec.Supersedes
	if old.OldWork != contracts.Honor || s.Honors() && s.Version.V == old.Supersedes {
		return
	}
	window := "its window"
	if v := u.was.version(old.Supersedes); v != nil {
		window = "its window, which was " + v.Window.String()
	}
	pos := s.Pos
	if !s.Set {
		pos = u.Spec.Version.Pos
	}
	u.report(u.File.Warnf(pos, "supersedes",
		"work of version %d is honoured no longer: what of it is not yet past %s, and was not delivered again since version %d, is new again, done work too", old.Supersedes, window, u.Now.Number).
		At(u.lock, old.line, 0, "version %d honoured it", u.Now.Number))
}

// honored checks that the keys of an old version can still be derived, and that
// its work can go on.
func (u *update) honored(old *Version) {
	i := slices.IndexFunc(u.Honored, func(v Version) bool { return v.Number == old.Number })
	if i < 0 {
		return // told about where the types are
	}
	now := u.Honored[i]
	pos := u.Spec.Supersedes.Version.Pos
	switch {
	case old.Identity.Digest() != now.Identity.Digest():
		d := u.File.Errorf(pos, "supersedes.version",
			"the keys of version %d cannot be derived any more: the Go types give them other bytes. Restore the fields as they were (under new ones beside them, if need be), or write old_work: reprocess%s", old.Number, u.chained(old))
		u.showShape(d, old, now.Identity)
		u.report(d)
	case old.Golden != "" && now.Golden != "" && old.Golden != now.Golden:
		u.report(u.File.Errorf(pos, "supersedes.version",
			"the identity of version %d is the one in %s, and yet its golden key would be another one: the file was edited by hand, or this idemgen derives other keys than the one that wrote it", old.Number, u.lock).
			At(u.lock, old.line, 0, "was %s, is %s", old.Golden, now.Golden))
	}
	for _, e := range old.Effects {
		if !u.toldOf(e) {
			u.effect(old, e)
		}
	}
}

// toldOf tells whether something is wrong with an effect, which is then the same
// in every version that had it.
func (u *update) toldOf(e Effect) bool {
	path := "effects." + e.Name
	return slices.ContainsFunc(u.diags, func(d *contracts.Diagnostic) bool {
		return d.Path == path || strings.HasPrefix(d.Path, path+".")
	})
}

// chained is what else helps where a version is honoured because another one did.
func (u *update) chained(old *Version) string { return Chained(u.Spec, u.lock, old.Number) }

// Locked adds to a diagnostic where a version stands in the file, and its key as it
// was made there.
func (f *File) Locked(d *contracts.Diagnostic, v Version) {
	d.At(f.Path, v.line, 0, "version %d is locked here", v.Number)
	for i, p := range v.Identity.Key {
		d.At(f.Path, p.line, 0, "key %d was %s", i+1, &p)
	}
}

// Chained says how to let a version go that a contract honours because a version
// that it honours did; "" for the one that it names itself.
func Chained(c *contracts.Contract, lock string, version int) string {
	if version == c.Supersedes.Version.V {
		return ""
	}
	return fmt.Sprintf("; or, if all work of version %d is past its window, delete the lines supersedes and old_work of the version that honoured it from %s", version, lock)
}
