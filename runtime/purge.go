package idem

import (
	"context"
	"slices"
	"time"
)

// Purged counts the rows that a purge has deleted.
type Purged struct {
	// Work is how much was forgotten, the children of other work included.
	Work int
	// Effects, Attempts and Aliases are what belonged to it.
	Effects, Attempts, Aliases int
	// Marks are the places in an order that it held, and Kinds those whose success
	// nobody waits for any more.
	Marks, Kinds int
	// Messages are those whose time is over.
	Messages int
}

func (p Purged) plus(q Purged) Purged {
	return Purged{
		Work: p.Work + q.Work, Effects: p.Effects + q.Effects, Attempts: p.Attempts + q.Attempts, Aliases: p.Aliases + q.Aliases,
		Marks: p.Marks + q.Marks, Kinds: p.Kinds + q.Kinds, Messages: p.Messages + q.Messages,
	}
}

// Purge deletes what the ledger has no use for any more: work whose window is over,
// if it is done or somebody has acknowledged that it is dead, with its effects, its
// attempts and its children; and messages whose time is over. Of done work and of
// messages it changes no answer: they count as forgotten already, and only take room.
// Dead work is dead until it is purged, and new after that.
//
// It deletes at most as much work as most says, children not counted, and as many
// messages; zero or less stands for no limit. It goes in short transactions, each
// as large as fits between two claims, until there is nothing left or ctx ends; then
// it returns ctx's error, and what it has deleted stays deleted. It waits for
// nobody: what another transaction has locked is left for the next time. Several
// programs may purge at once.
func (l *Ledger[Tx]) Purge(ctx context.Context, most int) (total Purged, err error) {
	if err := l.enter(); err != nil {
		return Purged{}, err
	}
	defer l.running.Done()
	p := purge{ctx: ctx, batch: smallestBatch}
	err = p.untilNothing(most, func(limit int) (int, error) { return p.work(l.store, limit, &total) })
	if err != nil {
		return total, err
	}
	err = p.untilNothing(most, func(limit int) (deleted int, err error) {
		return deleted, p.timed(min(limit, p.batch), func(n int) error {
			gone, err := l.store.PurgeMemory(ctx, n)
			total, deleted = total.plus(gone), gone.Messages+gone.Marks
			return err
		})
	})
	return total, err
}

// A batch grows and shrinks so that one takes about as long as a few claims, waiting
// for its turn included: whoever comes meanwhile waits for one batch at most.
const (
	batchTime     = 10 * time.Millisecond
	smallestBatch = 8
	largestBatch  = 512
	// listedAtOnce is how much is read ahead of the deleting. What is deleted together
	// is near each other in the tables' order if it is chosen from many.
	listedAtOnce = 16 << 10
)

type purge struct {
	ctx   context.Context
	batch int
}

// untilNothing calls step until it has deleted as much as most, or nothing.
func (p *purge) untilNothing(most int, step func(limit int) (int, error)) error {
	all := most <= 0
	for all || most > 0 {
		limit := listedAtOnce
		if !all {
			limit = min(most, limit)
		}
		deleted, err := step(limit)
		if err == nil && p.ctx.Err() != nil {
			err = context.Cause(p.ctx)
		}
		if err != nil || deleted == 0 {
			return err
		}
		most -= deleted
	}
	return nil
}

// timed deletes one batch of n, and decides how large the next one is.
func (p *purge) timed(n int, del func(n int) error) error {
	start := time.Now()
	err := del(n)
	switch took := time.Since(start); {
	case took > 2*batchTime:
		p.batch = max(p.batch/2, smallestBatch)
	case took < batchTime && n == p.batch:
		p.batch = min(p.batch*2, largestBatch)
	}
	return err
}

// work deletes what a store lists now, and returns how much of it there was.
func (p *purge) work(store Purger, limit int, total *Purged) (roots int, err error) {
	ids, err := store.Expired(p.ctx, limit)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(ids, func(a, b WorkID) int { return slices.Compare(a.sum[:], b.sum[:]) })
	for len(ids) > 0 && p.ctx.Err() == nil {
		err := p.timed(min(p.batch, len(ids)), func(n int) error {
			gone, err := store.Purge(p.ctx, ids[:n])
			*total, roots, ids = total.plus(gone), roots+min(gone.Work, n), ids[n:]
			return err
		})
		if err != nil {
			return roots, err
		}
	}
	return roots, nil
}
