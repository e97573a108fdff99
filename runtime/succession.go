package idem

import "fmt"

// Honored is an earlier version of a contract whose work goes on under its own
// IDs: the key changed, the work did not.
type Honored[In any] struct {
	Version int
	// ID derives the identity as that version did. An input of which it gives an
	// error cannot have been work of that version.
	ID func(in In) (WorkID, error)
}

// Predecessor is what a claim's work was called in an earlier version.
type Predecessor struct {
	ID      WorkID
	Version int
}

// Standing is what a ledger knows of one of a claim's IDs: where it leads, and
// what stands there.
type Standing struct {
	// Row is the ID of the row: the one that an alias leads to, or the ID itself.
	Row WorkID
	// Aliased says that an alias leads there.
	Aliased bool
	// Version is that of the program that made the row; zero if there is no row,
	// or if its window is over.
	Version int
}

func (s Standing) lives() bool { return s.Version > 0 }

// Place is where a claim with predecessors is made.
type Place struct {
	// Row is the ID of the row that the claim is to be made on.
	Row WorkID
	// Aliases are the IDs that have to lead to Row from now on, whatever they led to.
	Aliases []WorkID
	// Freed says that Row itself has an alias that leads nowhere any more, and that
	// must be gone before the claim is made.
	Freed bool
}

// IDs are those that a claim's row may have: its own, and those of its
// predecessors from the newest to the oldest.
func (c *Claim) IDs() []WorkID {
	ids := make([]WorkID, 0, 1+len(c.Predecessors))
	ids = append(ids, c.ID)
	for _, p := range c.Predecessors {
		ids = append(ids, p.ID)
	}
	return ids
}

// Place decides on which row a claim with predecessors is made. There is one row
// for one piece of work, whatever versions call it, so that nothing can diverge;
// a store's aliases lead to it from its other names. known holds the standing of
// each of [Claim.IDs], in that order, as it is in the transaction of the claim.
//
// The first line that fits decides:
//
//	what is known                                          the claim is made on
//	own ID leads to a row that has one of the claim's IDs  that row
//	a predecessor has a row of its own that a program      that row, and the own ID leads there
//	of its version or an older one made                    unless it leads somewhere
//	a predecessor leads to a row that a program of its     that row, and the own ID leads there
//	version or an older one made                           unless it leads somewhere
//	own ID leads to another row                            that row
//	nothing of all that: the work is new                   the oldest of the IDs that leads to no
//	                                                       row, and the newer ones lead there
//
// New work goes under the oldest ID, so that old programs, which run for as long
// as a deployment takes, find it. A row that a newer program made under the ID of
// a predecessor is one of the pieces into which a finer identity has split the
// work of that ID: it answers for that piece alone. One that an old program made
// stands for all of them.
//
// With a coarser identity several old works have one new ID. Each that was begun
// goes on by itself (the second line and the third: an old version may have it under
// the ID of a still older one), and whatever comes later is answered by the one that
// came first (the fourth).
func (c *Claim) Place(known []Standing) (Place, error) {
	ids := c.IDs()
	if len(known) != len(ids) {
		return Place{}, fmt.Errorf("a claim with %d IDs was placed by what is known of %d", len(ids), len(known))
	}
	own := known[0]
	if own.lives() && has(ids, own.Row) {
		return Place{Row: own.Row}, nil
	}
	var alias []WorkID
	if !own.lives() {
		alias = ids[:1]
	}
	for i, p := range c.Predecessors {
		if at := known[i+1]; at.lives() && !at.Aliased && at.Version <= p.Version {
			return Place{Row: p.ID, Aliases: alias}, nil
		}
	}
	for i, p := range c.Predecessors {
		if at := known[i+1]; at.lives() && at.Aliased && at.Version <= p.Version {
			return Place{Row: at.Row, Aliases: alias}, nil
		}
	}
	if own.lives() {
		return Place{Row: own.Row}, nil
	}
	return newPlace(ids, known), nil
}

// newPlace is where new work goes. The own ID leads nowhere, so there is one.
func newPlace(ids []WorkID, known []Standing) Place {
	oldest := len(ids) - 1
	for known[oldest].lives() {
		oldest--
	}
	p := Place{Row: ids[oldest], Freed: known[oldest].Aliased}
	for i, id := range ids[:oldest] {
		if !known[i].lives() {
			p.Aliases = append(p.Aliases, id)
		}
	}
	return p
}

func has(ids []WorkID, id WorkID) bool {
	for _, other := range ids {
		if other == id {
			return true
		}
	}
	return false
}

// validHonors tells whether the versions are in order, newest first, all older
// than the contract's own.
func (s *Spec[In, Out]) validHonors() bool {
	newer := s.Version
	for _, h := range s.Honors {
		if h.ID == nil || h.Version < 1 || h.Version >= newer {
			return false
		}
		newer = h.Version
	}
	return true
}

// predecessors are what the input's work was called before.
func (s *Spec[In, Out]) predecessors(in In) []Predecessor {
	var list []Predecessor
	for _, h := range s.Honors {
		if id, err := h.ID(in); err == nil {
			list = append(list, Predecessor{ID: id, Version: h.Version})
		}
	}
	return list
}
