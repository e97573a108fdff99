package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

// mayGo tells whether a row of work_log is of no use at the time that follows. Only
// dead work is acknowledged.
const mayGo = `(state = 'done' OR acknowledged_at IS NOT NULL) AND ` + windowOver

// The indexes that a purge goes by: see byWork.
const (
	byExpiry        = `INDEXED BY work_expiring`
	byKindWaited    = `INDEXED BY work_waiting`
	byMessageExpiry = `INDEXED BY message_expiring`
	byMarkOfWork    = `INDEXED BY latest_work`
)

// expiredSQL is in the order of the index.
const expiredSQL = `
SELECT work_id, expires_at FROM work_log ` + byExpiry + ` WHERE ` + mayGo + `?1 ORDER BY expires_at LIMIT ?2`

// purgeWorkSQL decides once more: a listed row may have been claimed since.
const purgeWorkSQL = `
DELETE FROM work_log ` + byWork + ` WHERE work_id = ?1 AND ` + mayGo + `?2
RETURNING until_success_of, scope, attempt > 0`

const purgeMarksSQL = `DELETE FROM latest_log ` + byMarkOfWork + ` WHERE work_id = ?1`

// What waits for a success of one scope waits for that of none as well.
const (
	purgeKindSQL = `
DELETE FROM success_log WHERE kind = ?1 AND scope = ''
	AND NOT EXISTS (SELECT 1 FROM work_log ` + byKindWaited + ` WHERE until_success_of <> '' AND until_success_of = ?1)`
	purgeScopeSQL = `
DELETE FROM success_log WHERE kind = ?1 AND scope = ?2 AND scope <> ''
	AND NOT EXISTS (SELECT 1 FROM work_log ` + byKindWaited + ` WHERE until_success_of <> '' AND until_success_of = ?1 AND scope = ?2)`
)

// purgeMessagesSQL leaves what is being sent until it is known whether it was: its
// end has a row to be written to.
const purgeMessagesSQL = `
DELETE FROM sent_messages ` + byMessage + ` WHERE (channel, chat_id, content_hash) IN (
	SELECT m.channel, m.chat_id, m.content_hash FROM sent_messages AS m ` + byMessageExpiry + `
	WHERE m.expires_at <= ?1 AND NOT (m.state = 'sending' AND EXISTS (
		SELECT 1 FROM effect_log ` + byEffect + `
		WHERE effect_log.work_id = m.work_id AND effect_log.effect_key = m.effect_key AND effect_log.state IN ('started', 'unknown')))
	ORDER BY m.expires_at LIMIT ?2)`

// purgeStatements are those of a purge.
type purgeStatements struct {
	expired              statement // of the readers
	work, marks          statement
	kind, scope, message statement
}

func (s *Store) purgePreparations() []preparation {
	return []preparation{
		{&s.stmts.purge.expired, s.readers, expiredSQL},
		{&s.stmts.purge.work, s.writer, purgeWorkSQL},
		{&s.stmts.purge.marks, s.writer, purgeMarksSQL},
		{&s.stmts.purge.kind, s.writer, purgeKindSQL},
		{&s.stmts.purge.scope, s.writer, purgeScopeSQL},
		{&s.stmts.purge.message, s.writer, purgeMessagesSQL},
	}
}

// Expired lists work that may be deleted: see [idem.Store].
func (s *Store) Expired(ctx context.Context, limit int) (ids []idem.WorkID, err error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("sqlite: purge: %w", idem.ErrClosed)
	}
	rows, err := s.stmts.purge.expired.prepared.QueryContext(ctx, s.clock.now(), limit)
	if err != nil {
		return nil, s.wrap(ctx, "purge", err)
	}
	defer func() { err = errors.Join(err, s.wrap(ctx, "purge", rows.Close())) }()
	for rows.Next() {
		var row string
		var since int64
		if err := rows.Scan(&row, &since); err != nil {
			return nil, s.wrap(ctx, "purge", err)
		}
		id, err := idem.ParseWorkID(row)
		if err != nil {
			return nil, fmt.Errorf("sqlite: purge: work_log: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, s.wrap(ctx, "purge", rows.Err())
}

// Purge deletes work that nobody remembers: see [idem.Store].
func (s *Store) Purge(ctx context.Context, ids []idem.WorkID) (idem.Purged, error) {
	if len(ids) == 0 {
		return idem.Purged{}, nil
	}
	return write(ctx, s, "purge", func(ctx context.Context, w *writer) (idem.Purged, error) { return w.purge(ctx, ids) })
}

// PurgeMemory deletes messages whose time is over: see [idem.Store].
func (s *Store) PurgeMemory(ctx context.Context, limit int) (idem.Purged, error) {
	return write(ctx, s, "purge", func(ctx context.Context, w *writer) (purged idem.Purged, err error) {
		purged.Messages, err = w.count(ctx, &s.stmts.purge.message, s.clock.now(), limit)
		return purged, err
	})
}

// waitedFor is what work has waited for.
type waitedFor struct{ kind, scope string }

func (w *writer) purge(ctx context.Context, ids []idem.WorkID) (purged idem.Purged, err error) {
	now := w.store.clock.now()
	waited := map[waitedFor]bool{}
	for _, id := range ids {
		var f waitedFor
		var attempted int // the latest attempt is in the row itself
		err := w.row(ctx, &w.store.stmts.purge.work, id.String(), now).Scan(&f.kind, &f.scope, &attempted)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return idem.Purged{}, err
		}
		purged.Work++
		purged.Attempts += attempted
		if f.kind != "" {
			waited[f] = true
		}
		if err := w.purgeRest(ctx, id.String(), &purged); err != nil {
			return idem.Purged{}, err
		}
	}
	for f := range waited {
		err := errors.Join(
			w.add(ctx, &purged.Kinds, &w.store.stmts.purge.scope, f.kind, f.scope),
			w.add(ctx, &purged.Kinds, &w.store.stmts.purge.kind, f.kind))
		if err != nil {
			return idem.Purged{}, err
		}
	}
	return purged, nil
}

// purgeRest deletes what belonged to work whose row is gone, its children with it.
func (w *writer) purgeRest(ctx context.Context, id string, purged *idem.Purged) error {
	children, err := w.children(ctx, id)
	if err != nil {
		return err
	}
	err = errors.Join(
		w.add(ctx, &purged.Effects, &w.store.stmts.forgetEffects, id),
		w.add(ctx, &purged.Attempts, &w.store.stmts.forgetAttempts, id),
		w.add(ctx, &purged.Aliases, &w.store.stmts.forgetAliases, id, ""),
		w.add(ctx, &purged.Marks, &w.store.stmts.purge.marks, id))
	if err != nil {
		return err
	}
	for _, child := range children {
		var attempted int
		switch err := w.row(ctx, &w.store.stmts.forgetWork, child).Scan(&attempted); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		default:
			purged.Work++
			purged.Attempts += attempted
		}
		if err := w.purgeRest(ctx, child, purged); err != nil {
			return err
		}
	}
	return nil
}

// add adds the number of rows that a statement has changed.
func (w *writer) add(ctx context.Context, to *int, st *statement, args ...any) error {
	n, err := w.count(ctx, st, args...)
	*to += n
	return err
}

func (w *writer) count(ctx context.Context, st *statement, args ...any) (int, error) {
	n, err := w.ex.exec(ctx, st, args)
	return int(n), err
}
