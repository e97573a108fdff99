package explain

import (
	"fmt"

	"github.com/idemgen/idem/contracts"
)

// superseded says what becomes of the work of the version before.
func superseded(w *writer, c *contracts.Contract) {
	s := &c.Supersedes
	if !s.Set {
		return
	}
	v := s.Version.V
	w.heading(fmt.Sprintf("What becomes of the work of version %d", v))
	w.para("The version changed for this reason: %s", sentence(s.Because.V))
	if s.OldWork.V == contracts.Reprocess {
		w.para("All work is new, what version %d has done too: its effects happen again if its message comes again.", v)
		w.para("Work that version %d has not finished stays in the ledger as it is. Nobody but a program of version %[1]d tries it again, so that one effect of it may have happened and another not. If both versions run for a time, each does the work that is brought to it.", v)
		return
	}
	w.para("The key changed, the work did not: the work of version %d goes on under its old ID, with the keys and the records of its effects.", v)
	w.table([][]string{
		{fmt.Sprintf("the work of version %d is", v), "what a delivery finds"},
		{"done", "the answer to a duplicate, until the window is over that it had then"},
		{"running", "the answer to a duplicate; once the lease of a dead process is over, the next attempt"},
		{"failed", "the next attempt, when it is due, with the attempts that were left"},
		{"unknown, or waiting for a person", "the same: a person decides"},
		{"dead", "the same: it stays given up"},
	})
	w.para("New work is kept under the ID that version %d would have given it, so that programs of both versions may run side by side: each finds what the other has begun, and takes over from it. The same goes for the versions that version %[1]d honoured.", v)
	w.para("If what was one work are several now, each is done once; those that version %d has begun are one still. If what were several are one now, each that version %[1]d has begun is finished by itself, and version %[1]d goes on telling them apart for as long as it runs.", v)
	w.para("Keep this until no program of version %d runs any more and all that it did is past the window that it had, which idem.lock tells.", v)
}
