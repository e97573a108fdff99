package lock

import "github.com/idemgen/idem/contracts"

// Made is what a generated file says of a contract: what the lock had of it when
// the file was generated.
type Made struct {
	Kind    string
	Version int
	Digest  string // of the identity
	File    string // the generated file
}

// Lost tells of versions that files were generated from and that the lock does
// not have: nil stands for a lock that is not there. Without it a run would take
// a changed identity for a new one.
func (f *File) Lost(made []Made) contracts.Diagnostics {
	if f == nil {
		return lostAll(made)
	}
	var diags contracts.Diagnostics
	for _, m := range made {
		var v *Version
		if k := f.kind(m.Kind); k != nil {
			v = k.version(m.Version)
		}
		switch {
		case v == nil:
			diags = append(diags, at(f.Path, 0, "version %d of %s is not in this file, and %s was generated with it: restore what a merge or an edit has lost. If that version has never run, delete the generated file, and run idemgen", m.Version, m.Kind, m.File))
		case v.Identity.Digest() != m.Digest:
			diags = append(diags, at(f.Path, v.line, "version %d of %s has another identity in this file than when %s was generated: restore the one that has been released. If that is this one, delete the generated file, and run idemgen", m.Version, m.Kind, m.File))
		}
	}
	return diags
}

func lostAll(made []Made) contracts.Diagnostics {
	if len(made) == 0 {
		return nil
	}
	d := at(Name, 0, "the file is gone, and without it nobody can tell whether done work would be new again: restore it from version control. If no work of this module has ever run, delete the generated files, and run idemgen")
	const shown = 5
	for i, m := range made {
		if i == shown {
			break
		}
		d.At(m.File, 0, 0, "version %d of %s was generated with it", m.Version, m.Kind)
	}
	return contracts.Diagnostics{d}
}

// at is an error about a lock.
func at(path string, line int, format string, args ...any) *contracts.Diagnostic {
	return (&contracts.File{Path: path}).Errorf(contracts.Pos{Line: line}, "", format, args...)
}
