package postgres

// The texts of all statements name the schema idem and take the time from
// clock_timestamp(): see newStatements. Parameters have their types said, since a
// pool may be in a mode in which neither side asks the other for them.

// workColumns are what scanWork reads.
const workColumns = `work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, payload, payload_hash, payload_shape, result_codec, result, external_ref,
	error_class, last_error, next_attempt_at, locked_until, created_at, done_at, expires_at,
	until_success_of, superseded_by, acknowledged_at`

// aliased is the ID of the row that $1 stands for.
const aliased = `coalesce((SELECT leads_to FROM idem.work_alias WHERE work_alias.work_id = $1::text), $1::text)`

// A row's window, for a row of work_log that is done or dead: when it is over, and
// whether that is so at the present time.
const (
	succeeded = `(work_log.until_success_of = '' OR EXISTS (
		SELECT 1 FROM idem.success_log AS success
		WHERE success.kind = work_log.until_success_of AND success.scope IN ('', work_log.scope) AND success.started_at > work_log.done_at))`
	windowOver = `(work_log.expires_at IS NOT NULL AND work_log.expires_at <= clock_timestamp() AND ` + succeeded + `)`
)

// readSQL reads a row, the time, and whether the row's window is over.
const readSQL = `
SELECT ` + workColumns + `, clock_timestamp(), work_log.state = 'done' AND ` + windowOver + `
FROM idem.work_log WHERE work_id = ` + aliased

// The two ways in which a claim finds work that is not simply taken over. Both
// are about the row as it was before the statement.
const (
	isForgotten = `work_log.state = 'done'` // together with the WHERE: done and past its window
	isSpent     = `work_log.state <> 'done' AND work_log.budget_left = 0`
)

// takesPayload: a new shape (a field was added on deploy, say) replaces the
// payload, so that the hashes of later deliveries can be compared again.
const takesPayload = `(` + isForgotten + ` OR (work_log.payload_shape <> excluded.payload_shape AND NOT (` + isSpent + `)))`

// claimSQL is the one atomic step, and its WHERE is where claims are decided: on
// the newest version of the row, which the statement has locked by then. That may
// have taken a while, so that every time in SET and WHERE is read there, and none
// is taken from excluded, whose times were read before the wait.
//
// It looks at locked_until of running rows only: done work must stay done however
// long ago its lock time passed. Work whose window is over starts afresh. Work
// that is due or abandoned but has no attempt left becomes dead in the same
// statement. A row of this very claim (its acknowledgement was lost) is left alone
// here, and recognised afterwards.
//
// Of work that is taken over, what the row says of its latest attempt is left as it
// was: nextAttemptSQL then keeps it.
//
// A row is new in its first life's first attempt: a takeover counts the attempt, and
// work that was forgotten its lives. Of a new one no payload is returned, which the
// claim knows itself.
const claimSQL = `
WITH claimed AS (
	INSERT INTO idem.work_log AS work_log (
		work_id, kind, version, scope, state, claim_token, attempt, budget_left,
		payload_codec, payload, payload_hash, payload_shape,
		locked_until, release, correlation_id, created_at, updated_at, attempt_at)
	SELECT ` + aliased + `, $2::text, $3::integer, $4::text, 'running', $5::bytea, 1, $6::integer,
		$7::text, $8::bytea, $9::bytea, $10::text,
		clock.now + $11::bigint * interval '1 microsecond', $12::text, $13::text, clock.now, clock.now, clock.now
	FROM (SELECT clock_timestamp() AS now) AS clock
	ON CONFLICT (work_id) DO UPDATE SET
		kind = CASE WHEN ` + isForgotten + ` THEN excluded.kind ELSE work_log.kind END,
		version = CASE WHEN ` + isForgotten + ` THEN excluded.version ELSE work_log.version END,
		scope = CASE WHEN ` + isForgotten + ` THEN excluded.scope ELSE work_log.scope END,
		state = CASE WHEN ` + isSpent + ` THEN 'dead' ELSE 'running' END,
		life = CASE WHEN ` + isForgotten + ` THEN work_log.life + 1 ELSE work_log.life END,
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
		error_class = CASE WHEN ` + isForgotten + ` OR ` + isSpent + ` AND work_log.state = 'running' THEN '' ELSE work_log.error_class END,
		last_error = CASE WHEN ` + isForgotten + ` THEN ''
			WHEN ` + isSpent + ` AND work_log.state = 'running' THEN format('the lease of attempt %s ended without an outcome, and no attempt is left', work_log.attempt)
			ELSE work_log.last_error END,
		next_attempt_at = NULL,
		locked_until = CASE WHEN ` + isSpent + ` THEN NULL ELSE clock_timestamp() + $11::bigint * interval '1 microsecond' END,
		attempt_at = CASE WHEN ` + isForgotten + ` THEN clock_timestamp() ELSE work_log.attempt_at END,
		attempt_ended_at = CASE WHEN ` + isForgotten + ` THEN NULL WHEN ` + isSpent + ` THEN coalesce(work_log.attempt_ended_at, clock_timestamp()) ELSE work_log.attempt_ended_at END,
		outcome = CASE WHEN ` + isForgotten + ` THEN NULL WHEN ` + isSpent + ` THEN coalesce(work_log.outcome, 'abandoned') ELSE work_log.outcome END,
		release = CASE WHEN ` + isForgotten + ` THEN excluded.release ELSE work_log.release END,
		correlation_id = CASE WHEN ` + isForgotten + ` THEN excluded.correlation_id ELSE work_log.correlation_id END,
		run_id = CASE WHEN ` + isForgotten + ` THEN NULL ELSE work_log.run_id END,
		created_at = CASE WHEN ` + isForgotten + ` THEN clock_timestamp() ELSE work_log.created_at END,
		updated_at = clock_timestamp(),
		done_at = CASE WHEN ` + isSpent + ` THEN clock_timestamp() END,
		expires_at = CASE WHEN ` + isSpent + ` THEN clock_timestamp() + $15::bigint * interval '1 microsecond' END,
		until_success_of = CASE WHEN ` + isSpent + ` THEN $16::text ELSE '' END,
		superseded_by = ''
	WHERE (work_log.state = 'done' AND ` + windowOver + `)
		OR ((work_log.state = 'failed' AND work_log.next_attempt_at <= clock_timestamp()
				OR work_log.state = 'running' AND work_log.locked_until <= clock_timestamp() AND work_log.claim_token <> excluded.claim_token)
			AND ($14::boolean OR work_log.payload_shape <> excluded.payload_shape OR work_log.payload_hash IS NOT DISTINCT FROM excluded.payload_hash))
	RETURNING work_log.*, work_log.state = 'running' AND work_log.attempt = 1 AND work_log.life = 1 AS fresh
)
SELECT work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, CASE WHEN NOT fresh THEN payload END, payload_hash, payload_shape, result_codec, result, external_ref,
	error_class, last_error, next_attempt_at, locked_until, created_at, done_at, expires_at,
	until_success_of, superseded_by, acknowledged_at, clock_timestamp(), fresh
FROM claimed`

// extendSQL answers a claim whose caller counts its lease from now on: its
// acknowledgement was lost, or it has waited.
const extendSQL = `
UPDATE idem.work_log SET
	locked_until = greatest(locked_until, clock_timestamp() + $3::bigint * interval '1 microsecond'), updated_at = clock_timestamp()
WHERE work_id = $1::text AND claim_token = $2::bytea
RETURNING ` + workColumns + `, clock_timestamp(), false`

// nextAttemptSQL follows a claim that has taken work over: the attempt before becomes
// history, and the row begins to tell of the new one. Each half sees the row as it was.
const nextAttemptSQL = `
WITH former AS (
	INSERT INTO idem.attempt_history (work_id, attempt, started_at, ended_at, outcome, error_class, error, release, correlation_id)
	SELECT work_id, attempt - 1, attempt_at, coalesce(attempt_ended_at, clock_timestamp()), coalesce(outcome, 'abandoned'),
		CASE WHEN outcome <> 'abandoned' THEN error_class ELSE '' END, CASE WHEN outcome <> 'abandoned' THEN last_error ELSE '' END,
		release, correlation_id
	FROM idem.work_log WHERE work_id = $1::text AND attempt > 1
)
UPDATE idem.work_log SET attempt_at = clock_timestamp(), attempt_ended_at = NULL, outcome = NULL, release = $2::text, correlation_id = $3::text
WHERE work_id = $1::text`

const effectsSQL = `
SELECT effect, per_hash, guard, state, effect_key, key_epoch, calls, payload_hash, payload_shape, input_codec, input,
	result_codec, result, external_ref, last_error, started_at, done_at, visible_after
FROM idem.effect_log WHERE work_id = $1::text ORDER BY seq`

// Claims that look for other names of their work keep all others away from those
// names until they commit. One that has but a name of its own shares it with its
// like, which the row decides between, and waits only for those who give names.
const (
	nameAloneSQL  = `SELECT pg_advisory_xact_lock($1::bigint)`
	nameSharedSQL = `SELECT pg_advisory_xact_lock_shared($1::bigint)`
)

// standingsSQL tells where IDs lead, in the order of a list of them.
const standingsSQL = `
SELECT coalesce(a.leads_to, given.id), a.leads_to IS NOT NULL,
	CASE WHEN work_log.state = 'done' AND ` + windowOver + ` THEN 0 ELSE coalesce(work_log.version, 0) END
FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place)
LEFT JOIN idem.work_alias AS a ON a.work_id = given.id
LEFT JOIN idem.work_log ON work_log.work_id = coalesce(a.leads_to, given.id)
ORDER BY given.place`

// forgetAliasesSQL is for a row that begins a new life: other work may begin
// one of its own. The ID under which the row is claimed still leads there.
const forgetAliasesSQL = `DELETE FROM idem.work_alias WHERE leads_to = $1::text AND work_id <> $2::text`

// recordAliasSQL and dropAliasesSQL keep every alias one step long: what leads to
// an ID that leads on from now on led to a row whose window is over.
const (
	recordAliasSQL = `
INSERT INTO idem.work_alias (work_id, leads_to, created_at) VALUES ($1::text, $2::text, clock_timestamp())
ON CONFLICT (work_id) DO UPDATE SET leads_to = excluded.leads_to, created_at = excluded.created_at`
	dropAliasesSQL = `DELETE FROM idem.work_alias WHERE leads_to = $1::text`
	freeSQL        = `DELETE FROM idem.work_alias WHERE work_id = $1::text`
)

// childrenSQL finds the rows of work that is an effect of other work: the effect's
// key is the child's ID, or a name that leads to it.
const childrenSQL = `
SELECT coalesce((SELECT leads_to FROM idem.work_alias WHERE work_alias.work_id = effect_key), effect_key)
FROM idem.effect_log WHERE work_id = $1::text AND guard = 'work' ORDER BY seq`

const (
	forgetEffectsSQL  = `DELETE FROM idem.effect_log WHERE work_id = $1::text`
	forgetAttemptsSQL = `DELETE FROM idem.attempt_history WHERE work_id = $1::text`
	forgetWorkSQL     = `DELETE FROM idem.work_log WHERE work_id = $1::text`
)
