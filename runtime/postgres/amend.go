package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

const (
	// lockWorkSQL keeps the row as it is until the transaction is over.
	lockWorkSQL = `SELECT 1 FROM idem.work_log WHERE work_id = ` + aliased + ` FOR NO KEY UPDATE`

	attemptsSQL = `
SELECT attempt, started_at, ended_at, coalesce(outcome, ''), error_class, error, release, correlation_id
FROM idem.attempt_log WHERE work_id = $1::text ORDER BY attempt`

	auditsSQL = `
SELECT at, who, verb, before, after, reason FROM idem.audit_log WHERE subject = $1::text ORDER BY id`

	retrySQL = `
UPDATE idem.work_log SET
	state = 'failed', next_attempt_at = clock_timestamp(), budget_left = $2::integer, updated_at = clock_timestamp(),
	done_at = NULL, expires_at = NULL, until_success_of = '', acknowledged_at = NULL
WHERE work_id = $1::text`

	acknowledgeSQL = `UPDATE idem.work_log SET acknowledged_at = clock_timestamp(), updated_at = clock_timestamp() WHERE work_id = $1::text`

	amendEffectSQL = `
UPDATE idem.effect_log SET
	state = $4::text, key_epoch = $5::integer, result_codec = $6::text, result = $7::bytea, external_ref = $8::text,
	done_at = CASE WHEN $4::text IN ('done', 'refused', 'given_up') THEN clock_timestamp() END
WHERE work_id = $1::text AND effect = $2::text AND per_hash = $3::text`

	sentAfterAllSQL = `
UPDATE idem.sent_messages SET state = 'sent', result_codec = $3::text, result = $4::bytea, external_ref = $5::text, sent_at = clock_timestamp()
WHERE work_id = $1::text AND effect_key = $2::text AND state = 'sending'`

	notSentAfterAllSQL = `DELETE FROM idem.sent_messages WHERE work_id = $1::text AND effect_key = $2::text AND state = 'sending'`

	auditSQL = `
INSERT INTO idem.audit_log (at, who, verb, subject, before, after, reason)
VALUES (clock_timestamp(), $1::text, $2::text, $3::text, $4::text, $5::text, $6::text)`
)

// amendStatements are those that people's decisions need.
type amendStatements struct {
	lockWork, attempts, audits    string
	retry, acknowledge            string
	amendEffect, audit            string
	sentAfterAll, notSentAfterAll string
}

func newAmendStatements(o *options) amendStatements {
	return amendStatements{
		lockWork: o.sql(lockWorkSQL), attempts: o.sql(attemptsSQL), audits: o.sql(auditsSQL),
		retry: o.sql(retrySQL), acknowledge: o.sql(acknowledgeSQL),
		amendEffect: o.sql(amendEffectSQL), audit: o.sql(auditSQL),
		sentAfterAll: o.sql(sentAfterAllSQL), notSentAfterAll: o.sql(notSentAfterAllSQL),
	}
}

// Inspect reads all about one piece of work: see [idem.Amender].
func (s *Store) Inspect(ctx context.Context, id idem.WorkID) (seen idem.Inspection, err error) {
	if s.closed.Load() {
		return idem.Inspection{}, fmt.Errorf("postgres: inspect: %w", idem.ErrClosed)
	}
	// All of it from one moment, which read committed would not give.
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return idem.Inspection{}, s.wrap(ctx, "inspect", err)
	}
	w := &writer{store: s, tx: tx}
	seen, err = w.inspect(ctx, id)
	if err = errors.Join(err, rollback(ctx, tx)); err != nil {
		return idem.Inspection{}, s.wrap(ctx, "inspect", err)
	}
	return seen, nil
}

// Amend changes work that nobody runs: see [idem.Amender].
func (s *Store) Amend(ctx context.Context, id idem.WorkID, decide func(idem.Inspection) (idem.Amendment, error)) error {
	refused, err := write(ctx, s, "amend", func(ctx context.Context, w *writer) (refused, err error) {
		if _, err := w.tx.Exec(ctx, s.stmts.amend.lockWork, id.String()); err != nil {
			return nil, err
		}
		seen, err := w.inspect(ctx, id)
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

func (w *writer) inspect(ctx context.Context, id idem.WorkID) (seen idem.Inspection, err error) {
	var forgotten bool
	seen.Work, forgotten, err = scanWork(w.tx.QueryRow(ctx, w.store.stmts.read, id.String()))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && forgotten {
		return idem.Inspection{}, nil
	}
	if err != nil {
		return idem.Inspection{}, err
	}
	if seen.Effects, err = w.effects(ctx, seen.Work.ID); err != nil {
		return idem.Inspection{}, err
	}
	if seen.Attempts, err = list(ctx, w.tx, w.store.stmts.amend.attempts, seen.Work.ID, scanAttempt); err != nil {
		return idem.Inspection{}, err
	}
	seen.Audits, err = list(ctx, w.tx, w.store.stmts.amend.audits, seen.Work.ID, scanAudit)
	return seen, err
}

// list reads what a statement says of one piece of work.
func list[T any](ctx context.Context, tx pgx.Tx, text string, id idem.WorkID, scan func(scanner) (T, error)) ([]T, error) {
	rows, err := tx.Query(ctx, text, id.String())
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]T(nil), rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
}

func scanAttempt(row scanner) (a idem.Attempt, err error) {
	var ended *time.Time
	err = row.Scan(&a.Number, &a.StartedAt, &ended, &a.Outcome, (*string)(&a.Class), &a.Error, &a.Release, &a.CorrelationID)
	a.StartedAt, a.EndedAt = a.StartedAt.UTC(), loadTime(ended)
	return a, err
}

func scanAudit(row scanner) (a idem.Audit, err error) {
	err = row.Scan(&a.At, &a.Who, &a.Verb, &a.Before, &a.After, &a.Reason)
	a.At = a.At.UTC()
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
	stmts, id := &w.store.stmts.amend, work.ID.String()
	for _, e := range a.Effects {
		if err := w.amendEffect(ctx, id, e); err != nil {
			return err
		}
	}
	var calls []call
	for _, audit := range a.Audits {
		calls = append(calls, call{stmts.audit, []any{ledgersql.CleanText(audit.Who), audit.Verb, id,
			ledgersql.CleanText(audit.Before), ledgersql.CleanText(audit.After), ledgersql.CleanText(audit.Reason)}})
	}
	switch {
	case a.Retry:
		calls = append(calls, call{stmts.retry, []any{id, a.Budget}})
	case a.Acknowledge:
		calls = append(calls, call{stmts.acknowledge, []any{id}})
	}
	return w.execAll(ctx, calls...)
}

func (w *writer) amendEffect(ctx context.Context, id string, e idem.EffectAmendment) error {
	stmts, ref := &w.store.stmts.amend, ledgersql.CleanText(e.ExternalRef)
	moved, err := w.tx.Exec(ctx, stmts.amendEffect, id, e.Name, e.Per, string(e.State), e.Epoch, e.Result.Codec, storeBody(e.Result), ref)
	if err != nil {
		return err
	}
	if moved.RowsAffected() != 1 {
		return invalid("the work has no effect %s %s", e.Name, e.Per)
	}
	switch e.State {
	case idem.EffectDone:
		return w.execAll(ctx, call{stmts.sentAfterAll, []any{id, e.Key, e.Result.Codec, storeBody(e.Result), ref}})
	case idem.EffectNotApplied:
		return w.execAll(ctx, call{stmts.notSentAfterAll, []any{id, e.Key}})
	}
	return nil
}
