package postgres

import "strconv"

// The statements of a batch do what those for one write do in the plain case, and
// leave out whatever is not plain: that is written alone. None waits for a row that
// somebody else has locked, and rows are taken in one order.

// settings are what begin sets (of another isolation the server says here that it is
// too late to change), and how a plan is made for all batches alike: by the
// indexes, however small the tables were when it was made. What is forbidden costs so
// much that the server would compile a plan which cannot do without: not worth it.
const settings = `
SELECT set_config('transaction_isolation', 'read committed', true), set_config('synchronous_commit', $3::text, true), set_config('lock_timeout', $1::text, true),
	set_config('statement_timeout', $2::text, true), set_config('idle_in_transaction_session_timeout', $2::text, true), ` + planSettings

const planSettings = `set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true),
	set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

// A batch with claims takes its names first, in a statement before theirs: what those
// see has to be as it is once nobody else can give a name away. Which of the names it
// did not get is told them by a setting, so that nobody has to ask in between.
// See nameSharedSQL.
const (
	settingsNamesSQL = settings + `, set_config('ledger.taken', coalesce((
	SELECT array_agg(n.place) FROM unnest($4::bigint[]) WITH ORDINALITY AS n (lock, place)
	WHERE NOT pg_try_advisory_xact_lock_shared(n.lock)), '{}')::text, true)`

	settingsNameSQL = settings + `,
	set_config('ledger.taken', CASE WHEN pg_try_advisory_xact_lock_shared($4::bigint) THEN '' ELSE 'taken' END, true)`
)

// claimManySQL claims what is new.
const claimManySQL = `
WITH given AS (
	SELECT coalesce(a.leads_to, c.work_id) AS place, c.*
	FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bytea[], $6::integer[], $7::text[], $8::bytea[], $9::bytea[],
		$10::text[], $11::bigint[], $12::text[], $13::text[]) WITH ORDINALITY
		AS c (work_id, kind, version, scope, token, budget_left, payload_codec, payload, payload_hash, payload_shape, micros, release, correlation_id, n)
	LEFT JOIN idem.work_alias AS a ON a.work_id = c.work_id
	WHERE c.n <> ALL ((SELECT current_setting('ledger.taken')::bigint[])::bigint[])
)
INSERT INTO idem.work_log AS work_log (
	work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, payload, payload_hash, payload_shape,
	locked_until, release, correlation_id, created_at, updated_at, attempt_at)
SELECT place, kind, version, scope, 'running', token, 1, budget_left,
	payload_codec, payload, payload_hash, payload_shape,
	clock.now + micros * interval '1 microsecond', release, correlation_id, clock.now, clock.now, clock.now
FROM given, (SELECT clock_timestamp() AS now) AS clock
ORDER BY place
ON CONFLICT (work_id) DO NOTHING
RETURNING encode(claim_token, 'hex'), work_id, created_at, locked_until, clock_timestamp()`

// claimOneSQL is claimManySQL for one. Work that another name leads to is there, and
// not new.
const claimOneSQL = `
INSERT INTO idem.work_log AS work_log (
	work_id, kind, version, scope, state, claim_token, attempt, budget_left,
	payload_codec, payload, payload_hash, payload_shape,
	locked_until, release, correlation_id, created_at, updated_at, attempt_at)
SELECT $1::text, $2::text, $3::integer, $4::text, 'running', $5::bytea, 1, $6::integer,
	$7::text, $8::bytea, $9::bytea, $10::text,
	clock.now + $11::bigint * interval '1 microsecond', $12::text, $13::text, clock.now, clock.now, clock.now
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE current_setting('ledger.taken') = ''
	AND NOT EXISTS (SELECT 1 FROM idem.work_alias WHERE work_alias.work_id = $1::text)
ON CONFLICT (work_id) DO NOTHING
RETURNING encode(claim_token, 'hex'), work_id, created_at, locked_until, clock_timestamp()`

// standManySQL says where work stands that none of the claims can take.
const standManySQL = `
SELECT encode(c.token, 'hex'), ` + workColumns + `, clock_timestamp(), false
FROM (
	SELECT coalesce(a.leads_to, c.id) AS place, c.token
	FROM unnest($1::text[], $2::bytea[]) AS c (id, token)
	LEFT JOIN idem.work_alias AS a ON a.work_id = c.id
) AS c
JOIN idem.work_log ON work_log.work_id = c.place
WHERE work_log.claim_token IS DISTINCT FROM c.token AND NOT (
	work_log.state = 'done' AND ` + windowOver + `
	OR work_log.state = 'failed' AND work_log.next_attempt_at <= clock_timestamp()
	OR work_log.state = 'running' AND work_log.locked_until <= clock_timestamp())`

// heldMany are effects whose fences hold, and which nobody else has locked.
const heldMany = `
WITH given AS (
	SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::bytea[],
		$10::text[], $11::bytea[], $12::text[], $13::bytea[], $14::text[], $15::boolean[], $16::bigint[], $17::text[], $18::text[], $19::integer[]) WITH ORDINALITY
		AS e (work_id, token, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
			input_codec, input, result_codec, result, external_ref, live, visible_after, last_error, payload_shape, calls, place)
), held AS (
	SELECT given.*, work_log.locked_until FROM given JOIN idem.work_log ON work_log.work_id = given.work_id
	WHERE work_log.claim_token = given.token
	ORDER BY work_log.work_id
	FOR NO KEY UPDATE OF work_log SKIP LOCKED
)`

// effectManySQL writes such effects. $20 makes them start.
const effectManySQL = heldMany + `
INSERT INTO idem.effect_log AS effect_log (
	work_id, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, started_at, payload_shape, calls, visible_after, done_at)
SELECT work_id, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, clock.now, payload_shape, calls, visible_after,
	CASE WHEN state IN ('done', 'refused', 'given_up') THEN clock.now END
FROM held, (SELECT clock_timestamp() AS now) AS clock
WHERE NOT live OR held.locked_until > clock.now
ORDER BY place
` + moveEffect + `	started_at = CASE WHEN $20::boolean THEN excluded.started_at ELSE effect_log.started_at END,
	done_at = excluded.done_at
RETURNING work_id, effect, per_hash, started_at`

// moveManySQL moves such effects that have rows.
const moveManySQL = heldMany + `
UPDATE idem.effect_log SET
	guard = held.guard,
	state = held.state,
	effect_key = held.effect_key,
	key_epoch = held.key_epoch,
	calls = held.calls,
	visible_after = held.visible_after,
	payload_hash = held.payload_hash,
	payload_shape = held.payload_shape,
	input = CASE WHEN held.input_codec = '' THEN effect_log.input ELSE held.input END,
	input_codec = CASE WHEN held.input_codec = '' THEN effect_log.input_codec ELSE held.input_codec END,
	result_codec = held.result_codec,
	result = held.result,
	external_ref = held.external_ref,
	last_error = held.last_error,
	done_at = CASE WHEN held.state IN ('done', 'refused', 'given_up') THEN clock_timestamp() END
FROM held
WHERE effect_log.work_id = held.work_id AND effect_log.effect = held.effect AND effect_log.per_hash = held.per_hash
	AND (NOT held.live OR held.locked_until > clock_timestamp())
RETURNING effect_log.work_id, effect_log.effect, effect_log.per_hash, started_at`

const heldOne = `(
	SELECT locked_until FROM idem.work_log
	WHERE work_id = $1::text AND claim_token = $2::bytea
	FOR NO KEY UPDATE SKIP LOCKED) AS held`

// effectOneSQL is effectManySQL for one.
const effectOneSQL = `
INSERT INTO idem.effect_log AS effect_log (
	work_id, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, started_at, payload_shape, calls, visible_after, done_at)
SELECT $1::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::integer, $9::bytea,
	$10::text, $11::bytea, $12::text, $13::bytea, $14::text, $17::text, clock.now, $18::text, $19::integer, $16::bigint,
	CASE WHEN $6::text IN ('done', 'refused', 'given_up') THEN clock.now END
FROM ` + heldOne + `, (SELECT clock_timestamp() AS now) AS clock
WHERE NOT $15::boolean OR held.locked_until > clock.now
` + moveEffect + `	started_at = CASE WHEN $20::boolean THEN excluded.started_at ELSE effect_log.started_at END,
	done_at = excluded.done_at
RETURNING work_id, effect, per_hash, started_at`

// moveOneSQL is moveManySQL for one.
const moveOneSQL = `
UPDATE idem.effect_log SET
	guard = $5::text,
	state = $6::text,
	effect_key = $7::text,
	key_epoch = $8::integer,
	calls = $19::integer,
	visible_after = $16::bigint,
	payload_hash = $9::bytea,
	payload_shape = $18::text,
	input = CASE WHEN $10::text = '' THEN input ELSE $11::bytea END,
	input_codec = CASE WHEN $10::text = '' THEN input_codec ELSE $10::text END,
	result_codec = $12::text,
	result = $13::bytea,
	external_ref = $14::text,
	last_error = $17::text,
	done_at = CASE WHEN $6::text IN ('done', 'refused', 'given_up') THEN clock_timestamp() END
FROM ` + heldOne + `
WHERE work_id = $1::text AND effect = $3::text AND per_hash = $4::text AND (NOT $15::boolean OR held.locked_until > clock_timestamp())
RETURNING work_id, effect, per_hash, started_at`

// endManySQL ends work whose fences hold, which nobody else has locked, and for whose
// success nobody waits.
const endManySQL = `
WITH given AS (
	SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[],
		$9::bigint[], $10::bigint[], $11::integer[], $12::text[])
		AS e (work_id, token, new_state, codec, body, ref, class, error, retry_in, expires_in, refund, outcome)
), held AS (
	SELECT given.* FROM given JOIN idem.work_log ON work_log.work_id = given.work_id
	WHERE work_log.claim_token = given.token
		AND (given.new_state <> 'done' OR NOT EXISTS (
			SELECT 1 FROM idem.success_log WHERE success_log.kind = work_log.kind AND success_log.scope = work_log.scope))
	ORDER BY work_log.work_id
	FOR NO KEY UPDATE OF work_log SKIP LOCKED
)
UPDATE idem.work_log SET
	state = held.new_state,
	claim_token = NULL,
	locked_until = NULL,
	result_codec = held.codec,
	result = held.body,
	external_ref = held.ref,
	error_class = held.class,
	last_error = held.error,
	next_attempt_at = CASE held.new_state WHEN 'failed' THEN clock_timestamp() + held.retry_in * interval '1 microsecond' END,
	done_at = CASE WHEN held.new_state IN ('done', 'dead') THEN clock_timestamp() END,
	expires_at = clock_timestamp() + held.expires_in * interval '1 microsecond',
	budget_left = budget_left + held.refund,
	updated_at = clock_timestamp(),
	attempt_ended_at = clock_timestamp(),
	outcome = held.outcome
FROM held
WHERE work_log.work_id = held.work_id AND work_log.claim_token = held.token
RETURNING work_log.work_id, work_log.next_attempt_at`

// endOneSQL is endManySQL for one. It waits for whoever has the row locked, for as
// long as a batch waits.
const endOneSQL = `
UPDATE idem.work_log SET
	state = $3::text,
	claim_token = NULL,
	locked_until = NULL,
	result_codec = $4::text,
	result = $5::bytea,
	external_ref = $6::text,
	error_class = $7::text,
	last_error = $8::text,
	next_attempt_at = CASE $3::text WHEN 'failed' THEN clock_timestamp() + $9::bigint * interval '1 microsecond' END,
	done_at = CASE WHEN $3::text IN ('done', 'dead') THEN clock_timestamp() END,
	expires_at = clock_timestamp() + $10::bigint * interval '1 microsecond',
	budget_left = budget_left + $11::integer,
	updated_at = clock_timestamp(),
	attempt_ended_at = clock_timestamp(),
	outcome = $12::text
WHERE work_id = $1::text AND claim_token = $2::bytea
	AND ($3::text <> 'done' OR NOT EXISTS (
		SELECT 1 FROM idem.success_log WHERE success_log.kind = work_log.kind AND success_log.scope = work_log.scope))
RETURNING work_id, next_attempt_at`

// batchStatements are the texts of the statements of a batch.
type batchStatements struct {
	claim, effect, move, end              string
	claimOne, effectOne, moveOne, endOne  string
	settings, settingsName, settingsNames string
	stand, read                           string
	lockTimeout, timeout                  string // in milliseconds, see settings
	brief                                 string // how long a batch waits for the row of its one end
}

func newBatchStatements(o *options) batchStatements {
	lock, statement := o.timeouts()
	const brief = 10
	return batchStatements{
		claim: o.sql(claimManySQL), effect: o.sql(effectManySQL), move: o.sql(moveManySQL), end: o.sql(endManySQL),
		claimOne: o.sql(claimOneSQL), effectOne: o.sql(effectOneSQL), moveOne: o.sql(moveOneSQL), endOne: o.sql(endOneSQL),
		settings: settings, settingsName: settingsNameSQL, settingsNames: settingsNamesSQL,
		stand: o.sql(standManySQL), read: o.sql(readManySQL),
		lockTimeout: strconv.FormatInt(lock, 10), timeout: strconv.FormatInt(statement, 10),
		brief: strconv.FormatInt(min(lock, brief), 10),
	}
}
