package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// bySending is the index of messages that are being sent: see byWork.
const bySending = `INDEXED BY message_sending`

// Prepared by nobody: people are rare.
const (
	attemptsSQL = `
SELECT attempt, started_at, ended_at, outcome, error_class, error, release, correlation_id
FROM attempt_history WHERE work_id = ?1
UNION ALL
SELECT attempt, attempt_at, attempt_ended_at, coalesce(outcome, ''),
	CASE WHEN outcome IS NULL OR outcome = 'abandoned' THEN '' ELSE error_class END,
	CASE WHEN outcome IS NULL OR outcome = 'abandoned' THEN '' ELSE last_error END, release, correlation_id
FROM work_log ` + byWork + ` WHERE work_id = ?1 AND attempt > 0
ORDER BY 1`

	auditsSQL = `
SELECT at, who, verb, before, after, reason FROM audit_log INDEXED BY audit_subject WHERE subject = ?1 ORDER BY id`

	retrySQL = `
UPDATE work_log SET
	state = 'failed', next_attempt_at = ?2, budget_left = ?3, updated_at = ?2,
	done_at = NULL, expires_at = NULL, until_success_of = '', acknowledged_at = NULL
WHERE work_id = ?1`

	acknowledgeSQL = `UPDATE work_log SET acknowledged_at = ?2, updated_at = ?2 WHERE work_id = ?1`

	amendEffectSQL = `
UPDATE effect_log ` + byEffect + ` SET
	state = ?4, key_epoch = ?5, result_codec = ?6, result = ?7, external_ref = ?8,
	done_at = CASE WHEN ?4 IN ('done', 'refused', 'given_up') THEN ?9 END
WHERE work_id = ?1 AND effect = ?2 AND per_hash = ?3`

	sentAfterAllSQL = `
UPDATE sent_messages ` + bySending + ` SET state = 'sent', result_codec = ?3, result = ?4, external_ref = ?5, sent_at = ?6
WHERE work_id = ?1 AND effect_key = ?2 AND state = 'sending'`

	notSentAfterAllSQL = `DELETE FROM sent_messages ` + bySending + ` WHERE work_id = ?1 AND effect_key = ?2 AND state = 'sending'`

	auditSQL = `
INSERT INTO audit_log (at, who, verb, subject, before, after, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
)

// amendStatements are the texts, for whoever looks at their plans.
var amendStatements = []string{attemptsSQL, auditsSQL, retrySQL, acknowledgeSQL, amendEffectSQL, sentAfterAllSQL, notSentAfterAllSQL}

// Inspect reads all about one piece of work: see [idem.Amender].
func (s *Store) Inspect(ctx context.Context, id idem.WorkID) (seen idem.Inspection, err error) {
	if s.closed.Load() {
		return idem.Inspection{}, fmt.Errorf("sqlite: inspect: %w", idem.ErrClosed)
	}
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // all of it from one moment
	if err != nil {
		return idem.Inspection{}, s.wrap(ctx, "inspect", err)
	}
	seen, err = s.inspect(ctx, inSQLTx{tx}, id)
	if err = errors.Join(err, rollback(tx)); err != nil {
		return idem.Inspection{}, s.wrap(ctx, "inspect", err)
	}
	return seen, nil
}

// Amend changes work that nobody runs: see [idem.Amender].
func (s *Store) Amend(ctx context.Context, id idem.WorkID, decide func(idem.Inspection) (idem.Amendment, error)) error {
	refused, err := write(ctx, s, "amend", func(ctx context.Context, w *writer) (refused, err error) {
		seen, err := s.inspect(ctx, w.ex, id)
		if err != nil {
			return nil, err
		}
		amendment, refused := decide(seen)
		if refused != nil {
			return refused, nil // an answer, and no failure of the transaction
		}
		return nil, w.amend(ctx, seen.Work, amendment)
	})
	if err != nil {
		return err
	}
	return refused
}

// inspect reads in a transaction.
func (s *Store) inspect(ctx context.Context, ex executor, id idem.WorkID) (seen idem.Inspection, err error) {
	seen.Work, err = scanWork(firstOf(ex.queryText(ctx, readSQL, []any{id.String()})), 0)
	if errors.Is(err, sql.ErrNoRows) {
		return idem.Inspection{}, nil
	}
	if err != nil {
		return idem.Inspection{}, err
	}
	seen.Work.Now = fromMicros(s.clock.now())
	gone, err := forgotten(seen.Work, func(args ...any) scanner { return firstOf(ex.queryText(ctx, overSQL, args)) })
	if err != nil || gone {
		return idem.Inspection{}, err
	}
	row := seen.Work.ID.String()
	if seen.Effects, err = list(ctx, ex, effectsSQL, row, scanEffect); err != nil {
		return idem.Inspection{}, err
	}
	if seen.Attempts, err = list(ctx, ex, attemptsSQL, row, scanAttempt); err != nil {
		return idem.Inspection{}, err
	}
	seen.Audits, err = list(ctx, ex, auditsSQL, row, scanAudit)
	return seen, err
}

// list reads what a statement says of one piece of work.
func list[T any](ctx context.Context, ex executor, text, row string, scan func(scanner) (T, error)) (all []T, err error) {
	rows, err := ex.queryText(ctx, text, []any{row})
	err = each(rows, err, func(r scanner) error {
		one, err := scan(r)
		all = append(all, one)
		return err
	})
	return all, err
}

func scanAttempt(row scanner) (a idem.Attempt, err error) {
	var started int64
	var ended sql.NullInt64
	err = row.Scan(&a.Number, &started, &ended, &a.Outcome, (*string)(&a.Class), &a.Error, &a.Release, &a.CorrelationID)
	a.StartedAt, a.EndedAt = fromMicros(started), loadTime(ended)
	return a, err
}

func scanAudit(row scanner) (a idem.Audit, err error) {
	var at int64
	err = row.Scan(&at, &a.Who, &a.Verb, &a.Before, &a.After, &a.Reason)
	a.At = fromMicros(at)
	return a, err
}

// amend writes what was decided about work as it was read in this transaction.
func (w *writer) amend(ctx context.Context, work idem.Work, a idem.Amendment) error {
	switch {
	case work.State == "":
		return invalid("there is no work to be amended")
	case work.State == idem.StateRunning:
		return invalid("work that runs is amended by nobody but its owner")
	case a.Acknowledge && (work.State != idem.StateDead || a.Retry):
		return invalid("work that is not dead is not acknowledged")
	}
	now, id := w.store.clock.now(), work.ID.String()
	for _, e := range a.Effects {
		if err := w.amendEffect(ctx, id, e, now); err != nil {
			return err
		}
	}
	for _, audit := range a.Audits {
		if _, err := w.execText(ctx, auditSQL, now, ledgersql.CleanText(audit.Who), audit.Verb, id,
			ledgersql.CleanText(audit.Before), ledgersql.CleanText(audit.After), ledgersql.CleanText(audit.Reason)); err != nil {
			return err
		}
	}
	switch {
	case a.Retry:
		_, err := w.execText(ctx, retrySQL, id, now, a.Budget)
		return err
	case a.Acknowledge:
		_, err := w.execText(ctx, acknowledgeSQL, id, now)
		return err
	}
	return nil
}

func (w *writer) amendEffect(ctx context.Context, id string, e idem.EffectAmendment, now int64) error {
	ref := ledgersql.CleanText(e.ExternalRef)
	moved, err := w.execText(ctx, amendEffectSQL, id, e.Name, e.Per, string(e.State), e.Epoch, e.Result.Codec, storeBody(e.Result), ref, now)
	if err != nil {
		return err
	}
	if moved != 1 {
		return invalid("the work has no effect %s %s", e.Name, e.Per)
	}
	switch e.State {
	case idem.EffectDone:
		_, err = w.execText(ctx, sentAfterAllSQL, id, e.Key, e.Result.Codec, storeBody(e.Result), ref, now)
	case idem.EffectNotApplied:
		_, err = w.execText(ctx, notSentAfterAllSQL, id, e.Key)
	}
	return err
}
