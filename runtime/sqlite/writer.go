package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// A writer makes the ledger's writes in a transaction that somebody else opened
// and will commit.
type writer struct {
	store *Store
	ex    executor
	rare  *rare
	wrote bool  // the last claim has changed a row that was there
	args  []any // of the statement that is made, for those made for each work
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
	now := w.store.clock.now()
	buriedUntil, err := expiry(now, c.Window)
	if err != nil {
		return idem.Claimed{}, err
	}
	c.Release, c.CorrelationID = ledgersql.CleanText(c.Release), ledgersql.CleanText(c.CorrelationID)
	c.Scope = ledgersql.CleanText(c.Scope)
	own, place := c.ID, idem.Place{Row: c.ID}
	if len(c.Predecessors) > 0 {
		if place, err = w.place(ctx, &c, now); err != nil {
			return idem.Claimed{}, err
		}
	}
	if c.ID, err = w.leadsTo(ctx, place.Row); err != nil {
		return idem.Claimed{}, err
	}
	claimed, err := w.claimRow(ctx, c, own, now, buriedUntil)
	if err != nil {
		return idem.Claimed{}, err
	}
	return claimed, w.recordAliases(ctx, place, now)
}

// leadsTo is the row that an ID stands for.
func (w *writer) leadsTo(ctx context.Context, id idem.WorkID) (idem.WorkID, error) {
	if !w.rare.aliases {
		return id, nil
	}
	var row string
	switch err := w.row(ctx, &w.store.stmts.leadsTo, id.String()).Scan(&row); {
	case errors.Is(err, sql.ErrNoRows):
		return id, nil
	case err != nil:
		return id, err
	}
	id, err := idem.ParseWorkID(row)
	if err != nil {
		return id, fmt.Errorf("work_alias: %w", err)
	}
	return id, nil
}

// claimRow claims the row of c.ID, for which the work was asked for by the ID own.
func (w *writer) claimRow(ctx context.Context, c idem.Claim, own idem.WorkID, now int64, buriedUntil any) (idem.Claimed, error) {
	row, until := c.ID.String(), now+toMicros(c.Lease)
	payload, hash := storeBody(c.Payload), storeHash(c.PayloadHash)
	w.args = append(w.args[:0],
		row, c.Kind, c.Version, c.Scope, c.Token[:], now, c.Budget-1,
		c.Payload.Codec, payload, hash, c.PayloadShape,
		until, c.Release, c.CorrelationID, now, now)
	isNew, err := w.change(ctx, &w.store.stmts.claimNew, w.args...)
	if err != nil {
		return idem.Claimed{}, err
	}
	if isNew {
		return idem.Claimed{Won: true, Work: newWork(c, now, until)}, nil
	}
	again := []any{
		row, c.Kind, c.Version, c.Scope, c.Token[:], c.Budget - 1,
		c.Payload.Codec, payload, hash, c.PayloadShape,
		until, c.Release, c.CorrelationID, now, c.AnyPayload, buriedUntil, c.Window.UntilSuccessOf(),
	}
	if err := w.exec(ctx, &w.store.stmts.keepAttempt, again...); err != nil {
		return idem.Claimed{}, err
	}
	taken, err := w.change(ctx, &w.store.stmts.claimAgain, again...)
	switch {
	case err != nil:
		return idem.Claimed{}, err
	case !taken:
		return w.notClaimed(ctx, c, now)
	}
	w.wrote = true
	work, err := scanWork(w.row(ctx, &w.store.stmts.read, row), now)
	if err != nil {
		return idem.Claimed{}, err
	}
	if startsAfresh(work) {
		if err := w.forget(ctx, work.ID, own); err != nil {
			return idem.Claimed{}, err
		}
	}
	if work.State != idem.StateRunning {
		return idem.Claimed{Work: work}, nil
	}
	return w.won(ctx, work)
}

// newWork is what a claim makes where there was nothing.
func newWork(c idem.Claim, now, until int64) idem.Work {
	return idem.Work{
		ID: c.ID, Kind: c.Kind, Version: c.Version, Scope: c.Scope, State: idem.StateRunning, Token: c.Token,
		Attempt: 1, BudgetLeft: c.Budget - 1,
		Payload: loadBody(c.Payload.Codec, c.Payload.Data), PayloadHash: c.PayloadHash, PayloadShape: c.PayloadShape,
		LockedUntil: fromMicros(until), CreatedAt: fromMicros(now), Now: fromMicros(now),
	}
}

// startsAfresh tells whether a claim that changed a row has found it forgotten.
func startsAfresh(work idem.Work) bool {
	return work.Attempt == 1 && work.State == idem.StateRunning
}

// forget removes what a row's former life has left.
func (w *writer) forget(ctx context.Context, row, claimedAs idem.WorkID) error {
	id := row.String()
	return errors.Join(
		w.forgetChildren(ctx, id),
		w.exec(ctx, &w.store.stmts.forgetEffects, id),
		w.exec(ctx, &w.store.stmts.forgetAttempts, id),
		w.exec(ctx, &w.store.stmts.forgetAliases, id, claimedAs.String()))
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

// notClaimed says where the work stands that a claim did not get.
func (w *writer) notClaimed(ctx context.Context, c idem.Claim, now int64) (idem.Claimed, error) {
	work, err := scanWork(w.row(ctx, &w.store.stmts.read, c.ID.String()), now)
	if errors.Is(err, sql.ErrNoRows) {
		return idem.Claimed{}, nil
	}
	if err != nil {
		return idem.Claimed{}, err
	}
	if work.State != idem.StateRunning || work.Token != c.Token {
		return idem.Claimed{Work: work}, nil
	}
	row := w.row(ctx, &w.store.stmts.extend, work.ID.String(), c.Token[:], now+toMicros(c.Lease), now)
	if work, err = scanWork(row, now); err != nil {
		return idem.Claimed{}, err
	}
	return w.won(ctx, work)
}

func (w *writer) effects(ctx context.Context, id idem.WorkID) (effects []idem.EffectRow, err error) {
	err = w.each(ctx, &w.store.stmts.effects, func(r scanner) error {
		e, err := scanEffect(r)
		effects = append(effects, e)
		return err
	}, id.String())
	return effects, err
}

// writeEffect moves an effect, and its message with it: the message first where
// the effect starts, since it is not to start without.
func (w *writer) writeEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	now := w.store.clock.now()
	if e.Live {
		if err := w.notNewer(ctx, e.Mark, now); err != nil {
			return idem.EffectWritten{}, err
		}
	}
	if e.Message != nil && e.State == idem.EffectStarted {
		taken, err := w.claimMessage(ctx, e, now)
		if err != nil || taken != nil {
			return idem.EffectWritten{Taken: taken}, err
		}
	}
	startedAt, err := w.moveEffect(ctx, e, now)
	if err != nil {
		return idem.EffectWritten{}, err
	}
	if e.Message != nil {
		err = w.settleMessage(ctx, e, now)
	}
	return idem.EffectWritten{StartedAt: startedAt}, err
}

// moveEffect begins with the statement that most likely does it.
func (w *writer) moveEffect(ctx context.Context, e idem.EffectWrite, now int64) (time.Time, error) {
	text, ref := ledgersql.CleanError(e.Error), ledgersql.CleanText(e.ExternalRef)
	id, hash, input, result := e.ID.String(), storeHash(e.PayloadHash), storeBody(e.Input), storeBody(e.Result)
	var done any
	switch e.State {
	case idem.EffectStarted:
		if !e.Live || e.Result.Codec != "" || ref != "" || text != "" {
			break
		}
		w.args = append(w.args[:0],
			id, e.Name, e.Per, string(e.Guard), e.Key, e.Epoch, hash, e.PayloadShape,
			e.Input.Codec, input, now, e.Calls, toMicros(e.VisibleAfter),
			id, e.Token[:], now)
		started, err := w.change(ctx, &w.store.stmts.startEffect, w.args...)
		if started || err != nil {
			return fromMicros(now), err
		}
	case idem.EffectDone, idem.EffectRefused, idem.EffectGivenUp:
		done = now
	}
	if e.State != idem.EffectStarted && !e.Restart && e.Input.Codec == "" {
		w.args = append(w.args[:0],
			string(e.Guard), string(e.State), e.Key, e.Epoch, e.Calls, toMicros(e.VisibleAfter), hash, e.PayloadShape,
			e.Result.Codec, result, ref, text, done,
			id, e.Name, e.Per, id, e.Token[:], e.Live, now)
		moved, err := w.change(ctx, &w.store.stmts.moveEffect, w.args...)
		if moved || err != nil {
			return time.Time{}, err
		}
	}
	var startedAt int64
	err := w.row(ctx, &w.store.stmts.writeEffect,
		id, e.Token[:], e.Name, e.Per, string(e.Guard), string(e.State), e.Key, e.Epoch, hash,
		e.Input.Codec, input, e.Result.Codec, result, ref,
		e.Live, e.Restart, text, now, e.PayloadShape, e.Calls, toMicros(e.VisibleAfter), done).Scan(&startedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, idem.ErrLeaseLost
	}
	return fromMicros(startedAt), err
}

// expiry is when a window that opens now is over; nil stands for never.
func expiry(now int64, w idem.Window) (any, error) {
	window, forever := w.Duration()
	switch {
	case forever:
		return nil, nil
	case window <= 0:
		return nil, invalid("the window is %v, it must be over zero or for ever", window)
	}
	return now + toMicros(window), nil
}

func (w *writer) end(ctx context.Context, e idem.End) (ended idem.Ended, err error) {
	now := w.store.clock.now()
	var next, done, expires any
	var until string
	switch e.State {
	case idem.StateFailed:
		due := now + toMicros(e.RetryIn)
		next, ended.NextAttemptAt = due, fromMicros(due)
	case idem.StateDone, idem.StateDead:
		done = now
		if expires, err = expiry(now, e.Window); err != nil {
			return idem.Ended{}, err
		}
		until = e.Window.UntilSuccessOf()
	case idem.StateUnknown:
	default:
		return idem.Ended{}, invalid("work cannot end as %q", e.State)
	}
	newer, outcome := "", string(e.State)
	if !e.SupersededBy.IsZero() {
		if e.State != idem.StateDone {
			return idem.Ended{}, invalid("work that is superseded is done, and cannot end as %q", e.State)
		}
		newer, outcome = e.SupersededBy.String(), "superseded"
	}
	if e.Refund {
		outcome = "released"
	}
	result, ref, text := storeBody(e.Result), ledgersql.CleanText(e.ExternalRef), ledgersql.CleanError(e.Error)
	var held bool
	if outcome == string(idem.StateDone) && until == "" && e.Class == "" && text == "" {
		w.args = append(w.args[:0],
			e.Result.Codec, result, ref, now, expires, now, now, e.ID.String(), e.Token[:])
		held, err = w.change(ctx, &w.store.stmts.complete, w.args...)
	} else {
		held, err = w.change(ctx, &w.store.stmts.end,
			string(e.State), e.Result.Codec, result, ref, string(e.Class), text,
			next, done, expires, e.Refund, now, now, outcome, until, newer, e.ID.String(), e.Token[:])
	}
	switch {
	case err != nil:
		return idem.Ended{}, err
	case !held:
		return idem.Ended{}, idem.ErrLeaseLost
	}
	return ended, w.remember(ctx, e, now)
}

// keyCheck is asked for once in the life of a process, so that its statements are
// not prepared.
func (w *writer) keyCheck(ctx context.Context, mine idem.Hash) (known idem.Hash, err error) {
	if _, err := w.execText(ctx, `UPDATE ledger_meta SET key_check = ?1 WHERE key_check IS NULL`, mine[:]); err != nil {
		return idem.Hash{}, err
	}
	var check []byte
	if err := w.rowText(ctx, `SELECT key_check FROM ledger_meta`).Scan(&check); err != nil {
		return idem.Hash{}, err
	}
	copy(known[:], check)
	return known, nil
}

func (w *writer) renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	now := w.store.clock.now()
	renewals := make([]idem.Renewal, len(leases))
	for i, lease := range leases {
		held, err := w.change(ctx, &w.store.stmts.renew, lease.ID.String(), lease.Token[:], now+toMicros(lease.For))
		if err != nil {
			return nil, err
		}
		renewals[i] = idem.LeaseLost
		if held {
			renewals[i] = idem.Renewed
		}
	}
	return renewals, nil
}
