package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

// What the ledger remembers of work beyond its row: the newest of the works about
// one thing, and when a kind last succeeded that others wait for.

// windowOver tells whether a row of work_log, which is to be done or dead, is past
// its window at the time that follows.
const windowOver = `work_log.expires_at IS NOT NULL AND (work_log.until_success_of = '' OR EXISTS (
		SELECT 1 FROM success_log AS success
		WHERE success.kind = work_log.until_success_of AND success.scope IN ('', work_log.scope) AND success.started_at > work_log.done_at))
	AND work_log.expires_at <= `

const overSQL = `SELECT ` + windowOver + `?2 FROM work_log WHERE work_id = ?1 AND done_at = ?3`

// A mark counts for as long as the work that set it is done and remembered.
const (
	newerSQL = `
SELECT work_log.work_id FROM latest_log CROSS JOIN work_log ` + byWork + ` ON work_log.work_id = latest_log.work_id
WHERE latest_log.series = ?1 AND latest_log.mark > ?2 AND work_log.state = 'done' AND NOT (` + windowOver + `?3)`

	raiseSQL = `
INSERT INTO latest_log AS latest_log (series, mark, work_id) VALUES (?1, ?2, ?3)
ON CONFLICT (series) DO UPDATE SET mark = excluded.mark, work_id = excluded.work_id
WHERE excluded.mark >= latest_log.mark OR NOT EXISTS (
	SELECT 1 FROM work_log WHERE work_log.work_id = latest_log.work_id AND work_log.state = 'done' AND NOT (` + windowOver + `?4))`
)

// watchSQL makes the rows that a success has to find: before that nobody waits
// for it, and a success that came earlier is none that the work waits for. Of
// another scope than the work's only that of a kind without one counts.
const watchSQL = `
INSERT INTO success_log (kind, scope)
SELECT until_success_of, scope FROM work_log WHERE work_id = ?1
UNION SELECT until_success_of, '' FROM work_log WHERE work_id = ?1
ON CONFLICT (kind, scope) DO NOTHING`

// succeedSQL counts from the work's first claim: what a later attempt did may rest
// on answers that the first one recorded.
const succeedSQL = `
UPDATE success_log SET started_at = max(coalesce(success_log.started_at, work_log.created_at), work_log.created_at)
FROM work_log ` + byWork + `
WHERE work_log.work_id = ?1 AND success_log.kind = work_log.kind AND success_log.scope = work_log.scope`

// claimLatest is claim for work of which a newer one may be done.
func (w *writer) claimLatest(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	claimed, err := w.claim(ctx, c)
	if err != nil {
		return idem.Claimed{}, err
	}
	if claimed.Work.State == idem.StateDead && c.Window.UntilSuccessOf() != "" {
		return claimed, w.watch(ctx, claimed.Work.ID)
	}
	if !claimed.Won || c.Mark.IsZero() || claimed.Doubtful() {
		return claimed, nil
	}
	var newer idem.NewerWork
	if err := w.notNewer(ctx, c.Mark, w.store.clock.now()); !errors.As(err, &newer) {
		return claimed, err
	}
	fence := idem.Fence{ID: claimed.Work.ID, Token: c.Token}
	if _, err := w.end(ctx, idem.End{Fence: fence, State: idem.StateDone, Window: c.Window, SupersededBy: newer.ID}); err != nil {
		return idem.Claimed{}, err
	}
	work, err := scanWork(w.row(ctx, &w.store.stmts.read, fence.ID.String()), w.store.clock.now())
	return idem.Claimed{Work: work}, err
}

// watch has the successes recorded that the work waits for.
func (w *writer) watch(ctx context.Context, id idem.WorkID) error {
	w.rare.watches = true
	return w.exec(ctx, &w.store.stmts.watch, id.String())
}

// notNewer is a NewerWork if one is remembered as done.
func (w *writer) notNewer(ctx context.Context, mark idem.Mark, now int64) error {
	if mark.IsZero() {
		return nil
	}
	var id string
	err := w.row(ctx, &w.store.stmts.newer, mark.Series[:], mark.By, now).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	newer, err := idem.ParseWorkID(id)
	if err != nil {
		return fmt.Errorf("latest_log: %w", err)
	}
	return idem.NewerWork{ID: newer}
}

// remember keeps what others have to know of work that has ended.
func (w *writer) remember(ctx context.Context, e idem.End, now int64) error {
	ended := e.State == idem.StateDone || e.State == idem.StateDead
	if ended && e.Window.UntilSuccessOf() != "" {
		if err := w.watch(ctx, e.ID); err != nil {
			return err
		}
	}
	if e.State != idem.StateDone || !e.SupersededBy.IsZero() {
		return nil
	}
	if w.rare.watches {
		if err := w.exec(ctx, &w.store.stmts.succeed, e.ID.String()); err != nil {
			return err
		}
	}
	if e.Mark.IsZero() {
		return nil
	}
	return w.exec(ctx, &w.store.stmts.raise, e.Mark.Series[:], e.Mark.By, e.ID.String(), now)
}

// forgotten: the row is there, but its window is over. Dead work is kept until
// somebody has looked at it. over asks overSQL.
func forgotten(w idem.Work, over func(args ...any) scanner) (gone bool, err error) {
	if w.State != idem.StateDone || w.Forever || w.ExpiresAt.After(w.Now) || w.UntilSuccess == "" {
		return w.State == idem.StateDone && !w.Forever && !w.ExpiresAt.After(w.Now), nil
	}
	err = over(w.ID.String(), w.Now.UnixMicro(), w.DoneAt.UnixMicro()).Scan(&gone)
	if errors.Is(err, sql.ErrNoRows) { // somebody has claimed it meanwhile
		return true, nil
	}
	return gone, err
}
