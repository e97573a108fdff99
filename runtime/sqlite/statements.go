package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// statements are the writer's, prepared once per connection.
type statements struct {
	claim, read, extend           *sql.Stmt
	forgetEffects, forgetAttempts *sql.Stmt
	children, forgetWork          *sql.Stmt
	abandonAttempt, startAttempt  *sql.Stmt
	effects                       *sql.Stmt
	writeEffect, moveEffect       *sql.Stmt
	claimMessage, message         *sql.Stmt
	moveMessage, dropMessage      *sql.Stmt
	end, endAttempt               *sql.Stmt
	renew, mark                   *sql.Stmt
	newer, raise                  *sql.Stmt // see memory.go
	watch, succeed                *sql.Stmt
	standings, recordAlias        *sql.Stmt
	dropAliases, forgetAliases    *sql.Stmt
	free                          *sql.Stmt
	purge                         purgeStatements
}

// preparation is one statement to be prepared.
type preparation struct {
	stmt **sql.Stmt
	db   *sql.DB
	text string
}

// The indexes of the primary keys of work_log, effect_log and sent_messages. The
// statements name them wherever SQLite has a choice: it goes by statistics if there
// are any, and an ANALYZE of the application while a ledger was nearly empty would
// have it read whole tables for good.
const (
	byWork    = `INDEXED BY sqlite_autoindex_work_log_1`
	byEffect  = `INDEXED BY sqlite_autoindex_effect_log_1`
	byMessage = `INDEXED BY sqlite_autoindex_sent_messages_1`
)

// preparations are all that Open prepares.
func (s *Store) preparations() []preparation {
	return append(s.purgePreparations(), []preparation{
		{&s.lookup, s.readers, readSQL},
		{&s.stmts.claim, s.writer, claimSQL},
		{&s.stmts.read, s.writer, readSQL},
		{&s.stmts.extend, s.writer, extendSQL},
		{&s.stmts.forgetEffects, s.writer, `DELETE FROM effect_log ` + byEffect + ` WHERE work_id = ?1`},
		{&s.stmts.children, s.writer, childrenSQL},
		{&s.stmts.forgetWork, s.writer, `DELETE FROM work_log WHERE work_id = ?1`},
		{&s.stmts.forgetAttempts, s.writer, `DELETE FROM attempt_log WHERE work_id = ?1`},
		{&s.stmts.abandonAttempt, s.writer, abandonAttemptSQL},
		{&s.stmts.startAttempt, s.writer, startAttemptSQL},
		{&s.stmts.effects, s.writer, effectsSQL},
		{&s.stmts.writeEffect, s.writer, writeEffectSQL},
		{&s.stmts.moveEffect, s.writer, moveEffectSQL},
		{&s.stmts.claimMessage, s.writer, claimMessageSQL},
		{&s.stmts.message, s.writer, messageSQL},
		{&s.stmts.moveMessage, s.writer, moveMessageSQL},
		{&s.stmts.dropMessage, s.writer, dropMessageSQL},
		{&s.stmts.end, s.writer, endSQL},
		{&s.stmts.endAttempt, s.writer, endAttemptSQL},
		{&s.stmts.renew, s.writer, renewSQL},
		{&s.stmts.mark, s.writer, markSQL},
		{&s.over, s.readers, overSQL},
		{&s.stmts.newer, s.writer, newerSQL},
		{&s.stmts.raise, s.writer, raiseSQL},
		{&s.stmts.watch, s.writer, watchSQL},
		{&s.stmts.succeed, s.writer, succeedSQL},
		{&s.stmts.standings, s.writer, standingsSQL},
		{&s.stmts.recordAlias, s.writer, recordAliasSQL},
		{&s.stmts.dropAliases, s.writer, dropAliasesSQL},
		{&s.stmts.forgetAliases, s.writer, forgetAliasesSQL},
		{&s.stmts.free, s.writer, freeSQL},
	}...)
}

func (s *Store) prepare(ctx context.Context) error {
	for _, p := range s.preparations() {
		stmt, err := p.db.PrepareContext(ctx, p.text)
		if err != nil {
			return fmt.Errorf("%s: %w", p.text, err)
		}
		*p.stmt = stmt
	}
	return nil
}

// workColumns are what scanWork reads.
const workColumns = `work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, payload, payload_hash, payload_shape, result_codec, result, external_ref,
	error_class, last_error, next_attempt_at, locked_until, created_at, done_at, expires_at,
	until_success_of, superseded_by, acknowledged_at`

const readSQL = `SELECT ` + workColumns + ` FROM work_log WHERE work_id = ` + aliased

// The two ways in which a claim finds work that is not simply taken over. Both
// are about the row as it was before the statement.
const (
	isForgotten = `work_log.state = 'done'` // together with the WHERE: done and past its window
	isSpent     = `work_log.state <> 'done' AND work_log.budget_left = 0`
)

// claimSQL is the one atomic step. Its WHERE is where claims are decided, and it
// looks at locked_until of running rows only: done work must stay done however
// long ago its lock time passed.
//
// Work whose window is over starts afresh. Work that is due or abandoned but has
// no attempt left becomes dead in the same statement. A row of this very claim
// (its acknowledgement was lost) is left alone here, and recognised afterwards.
//
// What it returns says which row it is, and whether that had a life before and is
// to be read. New work is what the claim says it is.
const claimSQL = `
INSERT INTO work_log AS work_log (
	work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, payload, payload_hash, payload_shape,
	locked_until, release, correlation_id, created_at, updated_at)
VALUES (` + aliased + `, ?2, ?3, ?4, 'running', ?5, 1, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14)
ON CONFLICT (work_id) DO UPDATE SET
	kind = CASE WHEN ` + isForgotten + ` THEN excluded.kind ELSE work_log.kind END,
	version = CASE WHEN ` + isForgotten + ` THEN excluded.version ELSE work_log.version END,
	scope = CASE WHEN ` + isForgotten + ` THEN excluded.scope ELSE work_log.scope END,
	state = CASE WHEN ` + isSpent + ` THEN 'dead' ELSE 'running' END,
	claim_token = CASE WHEN ` + isSpent + ` THEN NULL ELSE excluded.claim_token END,
	attempt = CASE WHEN ` + isForgotten + ` THEN 1 WHEN ` + isSpent + ` THEN work_log.attempt ELSE work_log.attempt + 1 END,
	budget_left = CASE WHEN ` + isForgotten + ` THEN excluded.budget_left WHEN ` + isSpent + ` THEN 0 ELSE work_log.budget_left - 1 END,
	payload_codec = CASE WHEN ` + takesPayload + ` THEN excluded.payload_codec ELSE work_log.payload_codec END,
	payload = CASE WHEN ` + takesPayload + ` THEN excluded.payload ELSE work_log.payload END,
	payload_hash = CASE WHEN ` + takesPayload + ` THEN excluded.payload_hash ELSE work_log.payload_hash END,
	payload_shape = CASE WHEN ` + takesPayload + ` THEN excluded.payload_shape ELSE work_log.payload_shape END,
	result_codec = CASE WHEN ` + isSpent + ` THEN work_log.result_codec ELSE '' END,
	result = CASE WHEN ` + isSpent + ` THEN work_log.result END,
	external_ref = CASE WHEN ` + isSpent + ` THEN work_log.external_ref ELSE '' END,
	error_class = CASE WHEN ` + isForgotten + ` OR ` + isSpent + ` THEN '' ELSE work_log.error_class END,
	last_error = CASE WHEN ` + isForgotten + ` THEN ''
		WHEN ` + isSpent + ` AND work_log.state = 'running' THEN printf('the lease of attempt %d ended without an outcome, and no attempt is left', work_log.attempt)
		WHEN ` + isSpent + ` THEN printf('no attempt is left after attempt %d: %s', work_log.attempt, work_log.last_error)
		ELSE work_log.last_error END,
	next_attempt_at = NULL,
	locked_until = CASE WHEN ` + isSpent + ` THEN NULL ELSE excluded.locked_until END,
	release = CASE WHEN ` + isSpent + ` THEN work_log.release ELSE excluded.release END,
	correlation_id = CASE WHEN ` + isSpent + ` THEN work_log.correlation_id ELSE excluded.correlation_id END,
	run_id = CASE WHEN ` + isForgotten + ` THEN NULL ELSE work_log.run_id END,
	created_at = CASE WHEN ` + isForgotten + ` THEN excluded.created_at ELSE work_log.created_at END,
	updated_at = excluded.updated_at,
	done_at = CASE WHEN ` + isSpent + ` THEN excluded.updated_at END,
	expires_at = CASE WHEN ` + isSpent + ` THEN ?16 END,
	until_success_of = CASE WHEN ` + isSpent + ` THEN ?17 ELSE '' END,
	superseded_by = ''
WHERE (work_log.state = 'done' AND ` + windowOver + `?14)
	OR ((work_log.state = 'failed' AND work_log.next_attempt_at <= ?14
			OR work_log.state = 'running' AND work_log.locked_until <= ?14 AND work_log.claim_token <> excluded.claim_token)
		AND (?15 OR work_log.payload_shape <> excluded.payload_shape OR work_log.payload_hash IS excluded.payload_hash))
RETURNING work_id, EXISTS (SELECT 1 FROM attempt_log WHERE attempt_log.work_id = work_log.work_id)`

// takesPayload: a new shape (a field was added on deploy, say) replaces the
// payload, so that the hashes of later deliveries can be compared again.
const takesPayload = isForgotten + ` OR (work_log.payload_shape <> excluded.payload_shape AND NOT (` + isSpent + `))`

// extendSQL answers a claim whose acknowledgement was lost: its caller counts
// its lease from now on.
const extendSQL = `
UPDATE work_log SET locked_until = max(locked_until, ?3), updated_at = ?4
WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running'
RETURNING ` + workColumns

const abandonAttemptSQL = `
UPDATE attempt_log SET ended_at = ?2, outcome = 'abandoned' WHERE work_id = ?1 AND outcome IS NULL`

const startAttemptSQL = `
INSERT INTO attempt_log (work_id, attempt, started_at, release, correlation_id) VALUES (?1, ?2, ?3, ?4, ?5)`

const effectsSQL = `
SELECT effect, per_hash, guard, state, effect_key, key_epoch, calls, payload_hash, payload_shape, input_codec, input,
	result_codec, result, external_ref, last_error, started_at, done_at, visible_after
FROM effect_log WHERE work_id = ?1 ORDER BY seq`

// writeEffectSQL is fenced: without an owner there is no row to select, and
// nothing is inserted or updated. ?15 demands a live lease, ?16 a new start.
const writeEffectSQL = `
INSERT INTO effect_log AS effect_log (
	work_id, effect, per_hash, seq, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, started_at, payload_shape, calls, visible_after, done_at)
SELECT ?1, ?3, ?4,
	1 + coalesce((SELECT seq FROM effect_log WHERE work_id = ?1 ORDER BY seq DESC LIMIT 1), 0),
	?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?17, ?18, ?19, ?20, ?21,
	CASE WHEN ?6 IN ('done', 'refused', 'given_up') THEN ?18 END
WHERE EXISTS (
	SELECT 1 FROM work_log
	WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running' AND (NOT ?15 OR locked_until > ?18))
ON CONFLICT (work_id, effect, per_hash) DO UPDATE SET
	guard = excluded.guard,
	state = excluded.state,
	effect_key = excluded.effect_key,
	key_epoch = excluded.key_epoch,
	calls = excluded.calls,
	visible_after = excluded.visible_after,
	payload_hash = excluded.payload_hash,
	payload_shape = excluded.payload_shape,
	input = CASE WHEN excluded.input_codec = '' THEN effect_log.input ELSE excluded.input END,
	input_codec = CASE WHEN excluded.input_codec = '' THEN effect_log.input_codec ELSE excluded.input_codec END,
	result_codec = excluded.result_codec,
	result = excluded.result,
	external_ref = excluded.external_ref,
	last_error = excluded.last_error,
	started_at = CASE WHEN ?16 THEN excluded.started_at ELSE effect_log.started_at END,
	done_at = excluded.done_at
RETURNING started_at`

// moveEffectSQL does the same, with the same parameters, for an effect that most
// likely has a row: it costs half as much.
const moveEffectSQL = `
UPDATE effect_log SET
	guard = ?5, state = ?6, effect_key = ?7, key_epoch = ?8, calls = ?20, visible_after = ?21, payload_hash = ?9, payload_shape = ?19,
	input = CASE WHEN ?10 = '' THEN input ELSE ?11 END,
	input_codec = CASE WHEN ?10 = '' THEN input_codec ELSE ?10 END,
	result_codec = ?12, result = ?13, external_ref = ?14, last_error = ?17,
	started_at = CASE WHEN ?16 THEN ?18 ELSE started_at END,
	done_at = CASE WHEN ?6 IN ('done', 'refused', 'given_up') THEN ?18 END
WHERE work_id = ?1 AND effect = ?3 AND per_hash = ?4 AND EXISTS (
	SELECT 1 FROM work_log
	WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running' AND (NOT ?15 OR locked_until > ?18))
RETURNING started_at`

const endSQL = `
UPDATE work_log SET
	state = ?3,
	claim_token = NULL,
	locked_until = NULL,
	result_codec = ?4,
	result = ?5,
	external_ref = ?6,
	error_class = ?7,
	last_error = ?8,
	next_attempt_at = ?9,
	done_at = ?10,
	expires_at = ?11,
	budget_left = budget_left + ?12,
	updated_at = ?13,
	until_success_of = ?14,
	superseded_by = ?15
WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running'
RETURNING attempt, budget_left, EXISTS (SELECT 1 FROM success_log WHERE success_log.kind = work_log.kind AND success_log.scope = work_log.scope)`

const endAttemptSQL = `
UPDATE attempt_log SET ended_at = ?3, outcome = ?4, error_class = ?5, error = ?6
WHERE work_id = ?1 AND attempt = ?2`

// renewSQL extends a lease and makes none shorter. One that is over but that nobody
// took is still the caller's. One statement for a whole list of them would leave
// SQLite a choice that it makes by statistics: see byWork.
const renewSQL = `
UPDATE work_log SET locked_until = max(locked_until, ?3)
WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running'`

const markSQL = `
UPDATE ledger_meta SET clock_high_water = max(clock_high_water, ?1) RETURNING clock_high_water`
