package postgres

// The statements of a batch do what those for one write do in the plain case, and
// leave out whatever is not plain: that is written alone. None waits for a row that
// somebody else has locked, and rows are taken in one order.

// settingsSQL is what begin sets, and how a plan is made for all batches alike: by
// the indexes, however small the tables were when it was made. What is forbidden costs
// so much that the server would compile a plan which cannot do without: not worth it.
const settingsSQL = `
SELECT set_config('synchronous_commit', $3::text, true), set_config('lock_timeout', $1::text, true),
	set_config('statement_timeout', $2::text, true), set_config('idle_in_transaction_session_timeout', $2::text, true),
	set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

// tryNamesSQL lists the names that nobody keeps others away from. See nameSharedSQL.
const tryNamesSQL = `
SELECT n.work_id FROM unnest($1::text[], $2::bigint[]) AS n (work_id, lock)
WHERE pg_try_advisory_xact_lock_shared(n.lock)`

// claimManySQL claims what is new.
const claimManySQL = `
WITH given AS (
	SELECT coalesce(a.leads_to, c.work_id) AS place, c.*
	FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bytea[], $6::integer[], $7::text[], $8::bytea[], $9::bytea[],
		$10::text[], $11::bigint[], $12::text[], $13::text[])
		AS c (work_id, kind, version, scope, token, budget_left, payload_codec, payload, payload_hash, payload_shape, micros, release, correlation_id)
	LEFT JOIN idem.work_alias AS a ON a.work_id = c.work_id
), claimed AS (
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
	RETURNING work_id, claim_token, created_at, locked_until
)
SELECT encode(claim_token, 'hex'), work_id, created_at, locked_until, clock_timestamp() FROM claimed`

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

// effectManySQL writes effects whose fences hold, and which nobody else has locked.
// $21 makes them start.
const effectManySQL = `
WITH given AS (
	SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::bytea[],
		$10::text[], $11::bytea[], $12::text[], $13::bytea[], $14::text[], $15::boolean[], $16::text[], $17::text[], $18::integer[], $19::bigint[], $20::integer[])
		AS e (work_id, token, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
			input_codec, input, result_codec, result, external_ref, live, last_error, payload_shape, calls, visible_after, place)
), held AS (
	SELECT given.*, work_log.locked_until FROM given JOIN idem.work_log ON work_log.work_id = given.work_id
	WHERE work_log.claim_token = given.token AND work_log.state = 'running'
	ORDER BY work_log.work_id
	FOR NO KEY UPDATE OF work_log SKIP LOCKED
)
INSERT INTO idem.effect_log AS effect_log (
	work_id, effect, per_hash, seq, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, started_at, payload_shape, calls, visible_after, done_at)
SELECT work_id, effect, per_hash,
	row_number() OVER (PARTITION BY work_id ORDER BY place)
		+ coalesce((SELECT max(seq) FROM idem.effect_log AS e WHERE e.work_id = held.work_id), 0),
	guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, clock.now, payload_shape, calls, visible_after,
	CASE WHEN state IN ('done', 'refused', 'given_up') THEN clock.now END
FROM held, (SELECT clock_timestamp() AS now) AS clock
WHERE NOT live OR held.locked_until > clock.now
` + moveEffect + `	started_at = CASE WHEN $21::boolean THEN excluded.started_at ELSE effect_log.started_at END,
	done_at = excluded.done_at
RETURNING work_id, effect, per_hash, started_at`

// endManySQL ends work whose fences hold, which nobody else has locked, and for whose
// success nobody waits.
const endManySQL = `
WITH given AS (
	SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[],
		$9::bigint[], $10::bigint[], $11::integer[], $12::text[], $13::text[])
		AS e (work_id, token, new_state, codec, body, ref, class, error, retry_in, expires_in, refund, newer, outcome)
), held AS (
	SELECT given.* FROM given JOIN idem.work_log ON work_log.work_id = given.work_id
	WHERE work_log.claim_token = given.token AND work_log.state = 'running'
		AND (given.new_state <> 'done' OR NOT EXISTS (
			SELECT 1 FROM idem.success_log WHERE success_log.kind = work_log.kind AND success_log.scope = work_log.scope))
	ORDER BY work_log.work_id
	FOR NO KEY UPDATE OF work_log SKIP LOCKED
), ended AS (
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
		until_success_of = '',
		superseded_by = held.newer,
		attempt_ended_at = clock_timestamp(),
		outcome = held.outcome
	FROM held
	WHERE work_log.work_id = held.work_id AND work_log.claim_token = held.token AND work_log.state = 'running'
	RETURNING work_log.work_id, work_log.attempt, work_log.budget_left, work_log.next_attempt_at
)
SELECT work_id, attempt, budget_left, next_attempt_at FROM ended`

// batchStatements are the texts of the statements of a batch.
type batchStatements struct {
	tryNames, claim, stand, effect, end string
	read                                string
	lockTimeout, timeout                string // in milliseconds, see settingsSQL
}
