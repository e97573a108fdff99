package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// claimLatest is claim for work of which a newer one may be done.
func (w *writer) claimLatest(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	claimed, err := w.claim(ctx, c)
	if err != nil {
		return idem.Claimed{}, err
	}
	if claimed.Work.State == idem.StateDead && c.Window.UntilSuccessOf() != "" {
		return claimed, w.execAll(ctx, w.watch(claimed.Work.ID, c.Window)...)
	}
	if !claimed.Won || c.Mark.IsZero() || claimed.Doubtful() {
		return claimed, nil
	}
	var newer idem.NewerWork
	if err := w.notNewer(ctx, c.Mark); !errors.As(err, &newer) {
		return claimed, err
	}
	fence := idem.Fence{ID: claimed.Work.ID, Token: c.Token}
	if _, err := w.end(ctx, idem.End{Fence: fence, State: idem.StateDone, Window: c.Window, SupersededBy: newer.ID}); err != nil {
		return idem.Claimed{}, err
	}
	work, _, err := scanWork(w.tx.QueryRow(ctx, w.store.stmts.read, fence.ID.String()))
	return idem.Claimed{Work: work}, err
}

func (w *writer) claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	switch {
	case c.ID.IsZero():
		return idem.Claimed{}, invalid("the work ID is zero")
	case c.Lease <= 0:
		return idem.Claimed{}, invalid("the lease is %v, it must be over zero", c.Lease)
	case c.Budget <= 0:
		return idem.Claimed{}, invalid("the budget is %d attempts, it must be over zero", c.Budget)
	}
	buriedFor, err := expiry(c.Window)
	if err != nil {
		return idem.Claimed{}, err
	}
	c.Release, c.CorrelationID, c.Scope = ledgersql.CleanText(c.Release), ledgersql.CleanText(c.CorrelationID), ledgersql.CleanText(c.Scope)
	own, place := c.ID, idem.Place{Row: c.ID}
	name := w.store.stmts.nameShared
	if w.lasting {
		// Others are to wait for the name and not for the row, or a batch with such
		// a claim would wait with it.
		name = w.store.stmts.nameAlone
	}
	before := []call{{name, []any{nameLock(c.ID)}}}
	if len(c.Predecessors) > 0 {
		if place, before, err = w.place(ctx, &c); err != nil {
			return idem.Claimed{}, err
		}
	}
	c.ID = place.Row
	var work idem.Work
	var fresh bool
	err = w.queryRowAfter(ctx, before, call{w.store.stmts.claim, []any{
		c.ID.String(), c.Kind, c.Version, c.Scope, c.Token[:], c.Budget - 1,
		c.Payload.Codec, storeBody(c.Payload), storeHash(c.PayloadHash), c.PayloadShape,
		toMicros(c.Lease), c.Release, c.CorrelationID, c.AnyPayload, buriedFor, c.Window.UntilSuccessOf(),
	}}, func(row scanner) error {
		work, fresh, err = scanWork(row)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		if err := w.recordAliases(ctx, place); err != nil {
			return idem.Claimed{}, err
		}
		return w.notClaimed(ctx, c)
	}
	if err != nil {
		return idem.Claimed{}, err
	}
	if !fresh && startsAfresh(work) {
		if err := w.forget(ctx, work.ID, own); err != nil {
			return idem.Claimed{}, err
		}
	}
	if err := w.recordAliases(ctx, place); err != nil {
		return idem.Claimed{}, err
	}
	if fresh {
		work.Payload = loadBody(c.Payload.Codec, c.Payload.Data)
		return w.claimedNew(ctx, c, work)
	}
	return w.claimed(ctx, c, work)
}

// nameLock is the number by which a name is locked. Two names of one number wait
// for each other now and then.
func nameLock(id idem.WorkID) int64 { return lockOf(id.String()) }

// startsAfresh tells whether a claim that changed a row has found it forgotten.
func startsAfresh(work idem.Work) bool {
	return work.Attempt == 1 && work.State == idem.StateRunning
}

// claimedNew completes a claim of new work. If another transaction was about to
// make the row and did not, the claim has waited since it read the time, and its
// lease may be as good as over.
func (w *writer) claimedNew(ctx context.Context, c idem.Claim, work idem.Work) (idem.Claimed, error) {
	if work.Now.Sub(work.CreatedAt) > c.Lease/10 {
		extended, _, err := scanWork(w.tx.QueryRow(ctx, w.store.stmts.extend, work.ID.String(), c.Token[:], toMicros(c.Lease)))
		if err != nil {
			return idem.Claimed{}, err
		}
		work = extended
	}
	return idem.Claimed{Won: true, Work: work}, nil
}

// claimed completes a claim that has changed a row: it keeps the record of
// attempts, and reads what earlier ones left. Work that the claim has buried, or that
// begins another life, says all of its latest attempt already.
func (w *writer) claimed(ctx context.Context, c idem.Claim, work idem.Work) (idem.Claimed, error) {
	if work.State != idem.StateRunning {
		return idem.Claimed{Work: work}, nil
	}
	if !startsAfresh(work) {
		if _, err := w.tx.Exec(ctx, w.store.stmts.nextAttempt, work.ID.String(), c.Release, c.CorrelationID); err != nil {
			return idem.Claimed{}, err
		}
	}
	return w.won(ctx, work)
}

func (w *writer) won(ctx context.Context, work idem.Work) (idem.Claimed, error) {
	if work.Attempt == 1 {
		return idem.Claimed{Won: true, Work: work}, nil
	}
	effects, err := w.effects(ctx, work.ID)
	if err != nil {
		return idem.Claimed{}, err
	}
	return idem.Claimed{Won: true, Work: work, Effects: effects}, nil
}

func (w *writer) effects(ctx context.Context, id idem.WorkID) ([]idem.EffectRow, error) {
	rows, err := w.tx.Query(ctx, w.store.stmts.effects, id.String())
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]idem.EffectRow(nil), rows, func(row pgx.CollectableRow) (idem.EffectRow, error) { return scanEffect(row) })
}

// notClaimed says where the work stands that a claim did not get. The claim's own
// statement cannot: it does not see a row that was committed while it ran.
func (w *writer) notClaimed(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	work, _, err := scanWork(w.tx.QueryRow(ctx, w.store.stmts.read, c.ID.String()))
	if errors.Is(err, pgx.ErrNoRows) {
		return idem.Claimed{}, nil
	}
	if err != nil {
		return idem.Claimed{}, err
	}
	if work.State != idem.StateRunning || work.Token != c.Token {
		return idem.Claimed{Work: work}, nil
	}
	work, _, err = scanWork(w.tx.QueryRow(ctx, w.store.stmts.extend, work.ID.String(), c.Token[:], toMicros(c.Lease)))
	if err != nil {
		return idem.Claimed{}, err
	}
	return w.won(ctx, work)
}

// forget removes what a row's former life has left.
func (w *writer) forget(ctx context.Context, row, claimedAs idem.WorkID) error {
	id := row.String()
	if err := w.forgetChildren(ctx, id); err != nil {
		return err
	}
	return w.execAll(ctx,
		call{w.store.stmts.forgetEffects, []any{id}},
		call{w.store.stmts.forgetAttempts, []any{id}},
		call{w.store.stmts.forgetAliases, []any{id, claimedAs.String()}})
}

// forgetChildren removes the children of work that begins a new life, and theirs:
// it would be given the results of the former one. Kinds do not go round in
// circles, so that this ends.
func (w *writer) forgetChildren(ctx context.Context, id string) error {
	rows, err := w.tx.Query(ctx, w.store.stmts.children, id)
	if err != nil {
		return err
	}
	children, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := w.forgetChildren(ctx, child); err != nil {
			return err
		}
		err := w.execAll(ctx,
			call{w.store.stmts.forgetWork, []any{child}},
			call{w.store.stmts.forgetEffects, []any{child}},
			call{w.store.stmts.forgetAttempts, []any{child}},
			call{w.store.stmts.forgetAliases, []any{child, ""}})
		if err != nil {
			return err
		}
	}
	return nil
}

// place finds the row that a claim with predecessors is made on, and what has to
// happen right before the claim. Nobody else gives or takes any of its names until
// the transaction is over.
func (w *writer) place(ctx context.Context, c *idem.Claim) (place idem.Place, before []call, err error) {
	for _, p := range c.Predecessors {
		if p.ID.IsZero() || p.ID == c.ID || p.Version <= 0 || p.Version >= c.Version {
			return place, nil, invalid("version %d of the work %s cannot come before version %d of %s", p.Version, p.ID, c.Version, c.ID)
		}
	}
	ids := c.IDs()
	locks := make([]int64, len(ids))
	names := make([]string, len(ids))
	for i, id := range ids {
		locks[i], names[i] = nameLock(id), id.String()
	}
	slices.Sort(locks) // in one order, or two would wait for each other
	var calls []call
	for _, lock := range slices.Compact(locks) {
		calls = append(calls, call{w.store.stmts.nameAlone, []any{lock}})
	}
	if err := w.execAll(ctx, calls...); err != nil {
		return place, nil, err
	}
	known, err := w.standings(ctx, names)
	if err != nil {
		return place, nil, err
	}
	if place, err = c.Place(known); err != nil {
		return place, nil, err
	}
	if place.Freed {
		before = append(before, call{w.store.stmts.free, []any{place.Row.String()}})
	}
	return place, before, nil
}

func (w *writer) standings(ctx context.Context, names []string) ([]idem.Standing, error) {
	rows, err := w.tx.Query(ctx, w.store.stmts.standings, names)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (s idem.Standing, err error) {
		var id string
		if err := row.Scan(&id, &s.Aliased, &s.Version); err != nil {
			return s, err
		}
		if s.Row, err = idem.ParseWorkID(id); err != nil {
			return s, fmt.Errorf("work_alias: %w", err)
		}
		return s, nil
	})
}

// recordAliases makes a place's aliases lead to its row.
func (w *writer) recordAliases(ctx context.Context, place idem.Place) error {
	var calls []call
	for _, id := range place.Aliases {
		calls = append(calls,
			call{w.store.stmts.dropAliases, []any{id.String()}},
			call{w.store.stmts.recordAlias, []any{id.String(), place.Row.String()}})
	}
	return w.execAll(ctx, calls...)
}
