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
	tx    *sql.Tx
}

func (w *writer) stmt(ctx context.Context, prepared *sql.Stmt) *sql.Stmt {
	return w.tx.StmtContext(ctx, prepared)
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
	release, correlation := ledgersql.CleanText(c.Release), ledgersql.CleanText(c.CorrelationID)
	scope := ledgersql.CleanText(c.Scope)
	place := idem.Place{Row: c.ID}
	if len(c.Predecessors) > 0 {
		if place, err = w.place(ctx, &c, now); err != nil {
			return idem.Claimed{}, err
		}
	}
	own := c.ID
	c.ID = place.Row
	var row string
	var lived bool
	err = w.stmt(ctx, w.store.stmts.claim).QueryRowContext(ctx,
		c.ID.String(), c.Kind, c.Version, scope, c.Token[:], c.Budget-1,
		c.Payload.Codec, storeBody(c.Payload), storeHash(c.PayloadHash), c.PayloadShape,
		now+toMicros(c.Lease), release, correlation, now, c.AnyPayload, buriedUntil, c.Window.UntilSuccessOf()).Scan(&row, &lived)
	if errors.Is(err, sql.ErrNoRows) {
		if err := w.recordAliases(ctx, place, now); err != nil {
			return idem.Claimed{}, err
		}
		return w.notClaimed(ctx, c, now)
	}
	if err != nil {
		return idem.Claimed{}, err
	}
	if c.ID, err = idem.ParseWorkID(row); err != nil {
		return idem.Claimed{}, fmt.Errorf("work_log: %w", err)
	}
	work := idem.Work{
		ID: c.ID, Kind: c.Kind, Version: c.Version, Scope: scope, State: idem.StateRunning, Token: c.Token,
		Attempt: 1, BudgetLeft: c.Budget - 1,
		Payload: loadBody(c.Payload.Codec, c.Payload.Data), PayloadHash: c.PayloadHash, PayloadShape: c.PayloadShape,
		LockedUntil: fromMicros(now + toMicros(c.Lease)), CreatedAt: fromMicros(now), Now: fromMicros(now),
	}
	if lived {
		if work, err = scanWork(w.stmt(ctx, w.store.stmts.read).QueryRowContext(ctx, c.ID.String()), now); err != nil {
			return idem.Claimed{}, err
		}
	}
	if lived && startsAfresh(work) {
		if err := w.forget(ctx, work.ID, own); err != nil {
			return idem.Claimed{}, err
		}
	}
	if err := w.recordAliases(ctx, place, now); err != nil {
		return idem.Claimed{}, err
	}
	return w.claimed(ctx, work, now, lived, release, correlation)
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
		w.exec(ctx, w.store.stmts.forgetEffects, id),
		w.exec(ctx, w.store.stmts.forgetAttempts, id),
		w.exec(ctx, w.store.stmts.forgetAliases, id, claimedAs.String()))
}

// claimed completes a claim that has changed the row: it keeps the record of
// attempts, and reads what earlier ones left.
func (w *writer) claimed(ctx context.Context, work idem.Work, now int64, lived bool, release, correlation string) (idem.Claimed, error) {
	id := work.ID.String()
	if lived && !startsAfresh(work) {
		if err := w.exec(ctx, w.store.stmts.abandonAttempt, id, now); err != nil {
			return idem.Claimed{}, err
		}
	}
	if work.State != idem.StateRunning {
		return idem.Claimed{Work: work}, nil
	}
	if err := w.exec(ctx, w.store.stmts.startAttempt, id, work.Attempt, now, release, correlation); err != nil {
		return idem.Claimed{}, err
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

// notClaimed says where the work stands that a claim did not get.
func (w *writer) notClaimed(ctx context.Context, c idem.Claim, now int64) (idem.Claimed, error) {
	work, err := scanWork(w.stmt(ctx, w.store.stmts.read).QueryRowContext(ctx, c.ID.String()), now)
	if errors.Is(err, sql.ErrNoRows) {
		return idem.Claimed{}, nil
	}
	if err != nil {
		return idem.Claimed{}, err
	}
	if work.State != idem.StateRunning || work.Token != c.Token {
		return idem.Claimed{Work: work}, nil
	}
	row := w.stmt(ctx, w.store.stmts.extend).QueryRowContext(ctx, work.ID.String(), c.Token[:], now+toMicros(c.Lease), now)
	if work, err = scanWork(row, now); err != nil {
		return idem.Claimed{}, err
	}
	return w.won(ctx, work)
}

func (w *writer) effects(ctx context.Context, id idem.WorkID) (effects []idem.EffectRow, err error) {
	rows, err := w.stmt(ctx, w.store.stmts.effects).QueryContext(ctx, id.String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		e, err := scanEffect(rows)
		if err != nil {
			return nil, err
		}
		effects = append(effects, e)
	}
	return effects, rows.Err()
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

func (w *writer) moveEffect(ctx context.Context, e idem.EffectWrite, now int64) (time.Time, error) {
	args := []any{
		e.ID.String(), e.Token[:], e.Name, e.Per, string(e.Guard), string(e.State), e.Key, e.Epoch, storeHash(e.PayloadHash),
		e.Input.Codec, storeBody(e.Input), e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef),
		e.Live, e.Restart, ledgersql.CleanError(e.Error), now, e.PayloadShape, e.Calls, toMicros(e.VisibleAfter),
	}
	var startedAt int64
	err := sql.ErrNoRows
	if e.State != idem.EffectStarted {
		err = w.stmt(ctx, w.store.stmts.moveEffect).QueryRowContext(ctx, args...).Scan(&startedAt)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = w.stmt(ctx, w.store.stmts.writeEffect).QueryRowContext(ctx, args...).Scan(&startedAt)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, idem.ErrLeaseLost
	}
	if err != nil {
		return time.Time{}, err
	}
	return fromMicros(startedAt), nil
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
	var until, newer string
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
	if !e.SupersededBy.IsZero() {
		if e.State != idem.StateDone {
			return idem.Ended{}, invalid("work that is superseded is done, and cannot end as %q", e.State)
		}
		newer = e.SupersededBy.String()
	}
	var watched bool
	class, text := string(e.Class), ledgersql.CleanError(e.Error)
	err = w.stmt(ctx, w.store.stmts.end).QueryRowContext(ctx,
		e.ID.String(), e.Token[:], string(e.State), e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef),
		class, text, next, done, expires, e.Refund, now, until, newer).Scan(&ended.Attempt, &ended.BudgetLeft, &watched)
	if errors.Is(err, sql.ErrNoRows) {
		return idem.Ended{}, idem.ErrLeaseLost
	}
	if err != nil {
		return idem.Ended{}, err
	}
	outcome := string(e.State)
	switch {
	case e.Refund:
		outcome = "released"
	case newer != "":
		outcome = "superseded"
	}
	if err := w.exec(ctx, w.store.stmts.endAttempt, e.ID.String(), ended.Attempt, now, outcome, class, text); err != nil {
		return idem.Ended{}, err
	}
	return ended, w.remember(ctx, e, watched, now)
}

// keyCheck is asked for once in the life of a process, so that its statements are
// not prepared.
func (w *writer) keyCheck(ctx context.Context, mine idem.Hash) (known idem.Hash, err error) {
	if _, err := w.tx.ExecContext(ctx, `UPDATE ledger_meta SET key_check = ?1 WHERE key_check IS NULL`, mine[:]); err != nil {
		return idem.Hash{}, err
	}
	var check []byte
	if err := w.tx.QueryRowContext(ctx, `SELECT key_check FROM ledger_meta`).Scan(&check); err != nil {
		return idem.Hash{}, err
	}
	copy(known[:], check)
	return known, nil
}

func (w *writer) renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	now := w.store.clock.now()
	stmt := w.stmt(ctx, w.store.stmts.renew)
	renewals := make([]idem.Renewal, len(leases))
	for i, lease := range leases {
		renewed, err := stmt.ExecContext(ctx, lease.ID.String(), lease.Token[:], now+toMicros(lease.For))
		if err != nil {
			return nil, err
		}
		rows, err := renewed.RowsAffected()
		if err != nil {
			return nil, err
		}
		renewals[i] = idem.LeaseLost
		if rows > 0 {
			renewals[i] = idem.Renewed
		}
	}
	return renewals, nil
}

func (w *writer) exec(ctx context.Context, prepared *sql.Stmt, args ...any) error {
	_, err := w.stmt(ctx, prepared).ExecContext(ctx, args...)
	return err
}
