package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// statements are the writer's, prepared once per connection.
type statements struct {
	begin, commit, rollback, rare statement
	claimNew, claimAgain, read    statement
	leadsTo, keepAttempt, extend  statement
	forgetEffects, forgetAttempts statement
	children, forgetWork          statement
	effects                       statement
	startEffect                   statement
	writeEffect, moveEffect       statement
	claimMessage, message         statement
	moveMessage, dropMessage      statement
	complete, end                 statement
	renew, mark                   statement
	newer, raise                  statement // see memory.go
	watch, succeed                statement
	standings, recordAlias        statement
	dropAliases, forgetAliases    statement
	free                          statement
	purge                         purgeStatements
}

// preparation is one statement to be prepared.
type preparation struct {
	stmt *statement
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
		{&s.exists, s.readers, existsSQL},
		{&s.lookup, s.readers, readSQL},
		{&s.stmts.begin, s.writer, beginSQL},
		{&s.stmts.commit, s.writer, commitSQL},
		{&s.stmts.rollback, s.writer, rollbackSQL},
		{&s.stmts.rare, s.writer, rareSQL},
		{&s.stmts.claimNew, s.writer, claimNewSQL},
		{&s.stmts.claimAgain, s.writer, claimAgainSQL},
		{&s.stmts.leadsTo, s.writer, leadsToSQL},
		{&s.stmts.keepAttempt, s.writer, keepAttemptSQL},
		{&s.stmts.read, s.writer, readSQL},
		{&s.stmts.extend, s.writer, extendSQL},
		{&s.stmts.forgetEffects, s.writer, `DELETE FROM effect_log ` + byEffect + ` WHERE work_id = ?1`},
		{&s.stmts.children, s.writer, childrenSQL},
		{&s.stmts.forgetWork, s.writer, `DELETE FROM work_log WHERE work_id = ?1 RETURNING attempt > 0`},
		{&s.stmts.forgetAttempts, s.writer, `DELETE FROM attempt_history WHERE work_id = ?1`},
		{&s.stmts.effects, s.writer, effectsSQL},
		{&s.stmts.startEffect, s.writer, startEffectSQL},
		{&s.stmts.writeEffect, s.writer, writeEffectSQL},
		{&s.stmts.moveEffect, s.writer, moveEffectSQL},
		{&s.stmts.claimMessage, s.writer, claimMessageSQL},
		{&s.stmts.message, s.writer, messageSQL},
		{&s.stmts.moveMessage, s.writer, moveMessageSQL},
		{&s.stmts.dropMessage, s.writer, dropMessageSQL},
		{&s.stmts.complete, s.writer, completeSQL},
		{&s.stmts.end, s.writer, endSQL},
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
		*p.stmt = statement{text: p.text, prepared: stmt}
	}
	return nil
}

// workColumns are what scanWork reads.
const workColumns = `work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, payload, payload_hash, payload_shape, result_codec, result, external_ref,
	error_class, last_error, next_attempt_at, locked_until, created_at, done_at, expires_at,
	until_success_of, superseded_by, acknowledged_at`

const existsSQL = `SELECT 1 FROM work_log WHERE work_id = ` + aliased

const readSQL = `SELECT ` + workColumns + ` FROM work_log WHERE work_id = ` + aliased

// The two ways in which a claim finds work that is not simply taken over. Both
// are about the row as it was before the statement.
const (
	isForgotten = `work_log.state = 'done'` // together with the WHERE: done and past its window
	isSpent     = `work_log.state <> 'done' AND work_log.budget_left = 0`
)

// claimNewSQL is all of a claim of new work, which is most of them. Its arguments have
// no numbers, as in all statements that are made for each work: the driver looks up
// what has a name.
const claimNewSQL = `
INSERT INTO work_log (
	work_id, kind, version, scope, state, claim_token, attempt, attempt_at, budget_left,
	payload_codec, payload, payload_hash, payload_shape,
	locked_until, release, correlation_id, created_at, updated_at)
VALUES (?, ?, ?, ?, 'running', ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (work_id) DO NOTHING`

const leadsToSQL = `SELECT leads_to FROM work_alias WHERE work_id = ?1`

// isTaken is the WHERE in which claims of work that was begun are decided. It looks at
// locked_until of running rows only: done work must stay done however long ago its lock
// time passed.
const isTaken = `(work_log.state = 'failed' AND work_log.next_attempt_at <= ?14
			OR work_log.state = 'running' AND work_log.locked_until <= ?14 AND work_log.claim_token <> ?5)
		AND (?15 OR work_log.payload_shape <> ?10 OR work_log.payload_hash IS ?9)`

// keepAttemptSQL moves the attempt that claimAgainSQL is about to succeed to the others.
// It has its arguments.
const keepAttemptSQL = `
INSERT INTO attempt_history (work_id, attempt, started_at, ended_at, outcome, error_class, error, release, correlation_id)
SELECT work_id, attempt, attempt_at, coalesce(attempt_ended_at, ?14), coalesce(outcome, 'abandoned'),
	CASE WHEN outcome IS NULL OR outcome = 'abandoned' THEN '' ELSE error_class END,
	CASE WHEN outcome IS NULL OR outcome = 'abandoned' THEN '' ELSE last_error END,
	release, correlation_id
FROM work_log ` + byWork + ` WHERE work_id = ?1 AND attempt > 0 AND budget_left > 0 AND ` + isTaken

// claimAgainSQL is the one atomic step of a claim of work that is not new.
//
// Work whose window is over starts afresh. Work that is due or abandoned but has
// no attempt left becomes dead in the same statement. A row of this very claim
// (its acknowledgement was lost) is left alone here, and recognised afterwards.
const claimAgainSQL = `
UPDATE work_log ` + byWork + ` SET
	kind = CASE WHEN ` + isForgotten + ` THEN ?2 ELSE kind END,
	version = CASE WHEN ` + isForgotten + ` THEN ?3 ELSE version END,
	scope = CASE WHEN ` + isForgotten + ` THEN ?4 ELSE scope END,
	state = CASE WHEN ` + isSpent + ` THEN 'dead' ELSE 'running' END,
	claim_token = CASE WHEN ` + isSpent + ` THEN NULL ELSE ?5 END,
	attempt = CASE WHEN ` + isForgotten + ` THEN 1 WHEN ` + isSpent + ` THEN attempt ELSE attempt + 1 END,
	attempt_at = CASE WHEN ` + isSpent + ` THEN attempt_at ELSE ?14 END,
	attempt_ended_at = CASE WHEN ` + isSpent + ` THEN coalesce(attempt_ended_at, ?14) END,
	outcome = CASE WHEN ` + isSpent + ` THEN coalesce(outcome, 'abandoned') END,
	budget_left = CASE WHEN ` + isForgotten + ` THEN ?6 WHEN ` + isSpent + ` THEN 0 ELSE budget_left - 1 END,
	payload_codec = CASE WHEN ` + takesPayload + ` THEN ?7 ELSE payload_codec END,
	payload = CASE WHEN ` + takesPayload + ` THEN ?8 ELSE payload END,
	payload_hash = CASE WHEN ` + takesPayload + ` THEN ?9 ELSE payload_hash END,
	payload_shape = CASE WHEN ` + takesPayload + ` THEN ?10 ELSE payload_shape END,
	result_codec = CASE WHEN ` + isSpent + ` THEN result_codec ELSE '' END,
	result = CASE WHEN ` + isSpent + ` THEN result END,
	external_ref = CASE WHEN ` + isSpent + ` THEN external_ref ELSE '' END,
	error_class = CASE WHEN ` + isForgotten + ` OR ` + isSpent + ` AND state = 'running' THEN '' ELSE error_class END,
	last_error = CASE WHEN ` + isForgotten + ` THEN ''
		WHEN ` + isSpent + ` AND state = 'running' THEN printf('the lease of attempt %d ended without an outcome, and no attempt is left', attempt)
		ELSE last_error END,
	next_attempt_at = NULL,
	locked_until = CASE WHEN ` + isSpent + ` THEN NULL ELSE ?11 END,
	release = CASE WHEN ` + isSpent + ` THEN release ELSE ?12 END,
	correlation_id = CASE WHEN ` + isSpent + ` THEN correlation_id ELSE ?13 END,
	run_id = CASE WHEN ` + isForgotten + ` THEN NULL ELSE run_id END,
	created_at = CASE WHEN ` + isForgotten + ` THEN ?14 ELSE created_at END,
	updated_at = ?14,
	done_at = CASE WHEN ` + isSpent + ` THEN ?14 END,
	expires_at = CASE WHEN ` + isSpent + ` THEN ?16 END,
	until_success_of = CASE WHEN ` + isSpent + ` THEN ?17 ELSE '' END,
	superseded_by = ''
WHERE work_id = ?1 AND ((work_log.state = 'done' AND ` + windowOver + `?14) OR (` + isTaken + `))`

// takesPayload: a new shape (a field was added on deploy, say) replaces the
// payload, so that the hashes of later deliveries can be compared again.
const takesPayload = isForgotten + ` OR (work_log.payload_shape <> ?10 AND NOT (` + isSpent + `))`

// extendSQL answers a claim whose acknowledgement was lost: its caller counts
// its lease from now on.
const extendSQL = `
UPDATE work_log SET locked_until = max(locked_until, ?3), updated_at = ?4
WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running'
RETURNING ` + workColumns

const effectsSQL = `
SELECT effect, per_hash, guard, state, effect_key, key_epoch, calls, payload_hash, payload_shape, input_codec, input,
	result_codec, result, external_ref, last_error, started_at, done_at, visible_after
FROM effect_log ` + byEffect + ` WHERE work_id = ?1 ORDER BY seq`

// startEffectSQL is all that the start of an effect needs which has no row, as most.
const startEffectSQL = `
INSERT INTO effect_log (
	work_id, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash, payload_shape,
	input_codec, input, started_at, calls, visible_after)
SELECT ?, ?, ?, ?, 'started', ?, ?, ?, ?, ?, ?, ?, ?, ?
FROM work_log ` + byWork + ` WHERE work_id = ? AND claim_token = ? AND state = 'running' AND locked_until > ?
ON CONFLICT (work_id, effect, per_hash) DO NOTHING`

// writeEffectSQL writes any effect. ?15 demands a live lease, ?16 a new start.
const writeEffectSQL = `
INSERT INTO effect_log AS effect_log (
	work_id, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, started_at, payload_shape, calls, visible_after, done_at)
SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?17, ?18, ?19, ?20, ?21, ?22
WHERE EXISTS (
	SELECT 1 FROM work_log ` + byWork + `
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

// moveEffectSQL moves an effect that has a row, and leaves its input and the time of its
// start as they are.
const moveEffectSQL = `
UPDATE effect_log SET
	guard = ?, state = ?, effect_key = ?, key_epoch = ?, calls = ?, visible_after = ?, payload_hash = ?, payload_shape = ?,
	result_codec = ?, result = ?, external_ref = ?, last_error = ?, done_at = ?
WHERE work_id = ? AND effect = ? AND per_hash = ? AND EXISTS (
	SELECT 1 FROM work_log ` + byWork + `
	WHERE work_id = ? AND claim_token = ? AND state = 'running' AND (NOT ? OR locked_until > ?))`

// completeSQL is endSQL for what most work comes to: it is done, and nobody waits for it
// before that is forgotten. Of what it leaves alone a running row has nothing.
const completeSQL = `
UPDATE work_log ` + byWork + ` SET
	state = 'done', claim_token = NULL, locked_until = NULL,
	result_codec = ?, result = ?, external_ref = ?, error_class = '', last_error = '',
	done_at = ?, expires_at = ?, updated_at = ?, attempt_ended_at = ?, outcome = 'done'
WHERE work_id = ? AND claim_token = ? AND state = 'running'`

const endSQL = `
UPDATE work_log ` + byWork + ` SET
	state = ?, claim_token = NULL, locked_until = NULL,
	result_codec = ?, result = ?, external_ref = ?, error_class = ?, last_error = ?,
	next_attempt_at = ?, done_at = ?, expires_at = ?, budget_left = budget_left + ?,
	updated_at = ?, attempt_ended_at = ?, outcome = ?, until_success_of = ?, superseded_by = ?
WHERE work_id = ? AND claim_token = ? AND state = 'running'`

// renewSQL extends a lease and makes none shorter. One that is over but that nobody
// took is still the caller's. One statement for a whole list of them would leave
// SQLite a choice that it makes by statistics: see byWork.
const renewSQL = `
UPDATE work_log ` + byWork + ` SET locked_until = max(locked_until, ?3)
WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running'`

const markSQL = `
UPDATE ledger_meta SET clock_high_water = max(clock_high_water, ?1) RETURNING clock_high_water`
