package postgres

// A fence is the work's ID and its token: only running work has a token. Were the state
// asked for as well, the planner would at times look for the work in the index of all
// that runs, and read that from end to end.

// lockFenceSQL holds the fence until the transaction is over: whoever wants to take
// the work over waits. It is a statement of its own, so that those which follow see
// what was written by whomever it waited for. $3 demands a live lease.
const lockFenceSQL = `
SELECT NOT $3::boolean OR locked_until > clock_timestamp()
FROM idem.work_log WHERE work_id = $1::text AND claim_token = $2::bytea
FOR NO KEY UPDATE`

// writeEffectSQL is fenced once more: without an owner there is no row to select,
// and nothing is inserted or updated. $15 demands a live lease, $20 a new start.
const writeEffectSQL = `
INSERT INTO idem.effect_log AS effect_log (
	work_id, effect, per_hash, guard, state, effect_key, key_epoch, payload_hash,
	input_codec, input, result_codec, result, external_ref, last_error, started_at, payload_shape, calls, visible_after, done_at)
SELECT $1::text, $3::text, $4::text,
	$5::text, $6::text, $7::text, $8::integer, $9::bytea, $10::text, $11::bytea, $12::text, $13::bytea, $14::text, $17::text,
	clock.now, $18::text, $19::integer, $16::bigint,
	CASE WHEN $6::text IN ('done', 'refused', 'given_up') THEN clock.now END
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE EXISTS (
	SELECT 1 FROM idem.work_log
	WHERE work_id = $1::text AND claim_token = $2::bytea AND (NOT $15::boolean OR locked_until > clock.now))
` + moveEffect + `	started_at = CASE WHEN $20::boolean THEN excluded.started_at ELSE effect_log.started_at END,
	done_at = excluded.done_at
RETURNING started_at`

// moveEffect is what happens to an effect that has a row, except to its start.
const moveEffect = `ON CONFLICT (work_id, effect, per_hash) DO UPDATE SET
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
`

// endSQL ends the work and its attempt. What it returns last says that some work
// waits for a success of this work's kind.
const endSQL = `
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
	until_success_of = $12::text,
	superseded_by = $13::text,
	attempt_ended_at = clock_timestamp(),
	outcome = $14::text
WHERE work_id = $1::text AND claim_token = $2::bytea
RETURNING next_attempt_at,
	EXISTS (SELECT 1 FROM idem.success_log WHERE success_log.kind = work_log.kind AND success_log.scope = work_log.scope)`

// renewSQL takes all leases at once, as three lists. A lease that is over but that
// nobody took is still the caller's. None gets shorter. What somebody else has
// locked is skipped: a renewal that waited would hold up those of all other work.
//
// It returns every lease that the caller still has, and whether it was renewed.
const renewSQL = `
WITH lease AS (
	SELECT l.work_id, decode(l.token, 'hex') AS token, l.micros
	FROM unnest($1::text[], $2::text[], $3::bigint[]) AS l (work_id, token, micros)
), free AS (
	SELECT work_log.work_id, lease.micros
	FROM lease JOIN idem.work_log ON work_log.work_id = lease.work_id
	WHERE work_log.claim_token = lease.token
	ORDER BY work_log.work_id
	FOR NO KEY UPDATE OF work_log SKIP LOCKED
), renewed AS (
	UPDATE idem.work_log SET locked_until = greatest(locked_until, clock_timestamp() + free.micros * interval '1 microsecond')
	FROM free WHERE work_log.work_id = free.work_id
	RETURNING work_log.work_id
)
SELECT work_log.work_id, encode(work_log.claim_token, 'hex'), EXISTS (SELECT 1 FROM renewed WHERE renewed.work_id = work_log.work_id)
FROM lease JOIN idem.work_log ON work_log.work_id = lease.work_id
WHERE work_log.claim_token = lease.token`

// A mark counts for as long as the work that set it is done and remembered.
const setsMark = `work_log.work_id = latest_log.work_id AND work_log.state = 'done' AND NOT ` + windowOver

const newerSQL = `
SELECT work_log.work_id FROM idem.latest_log JOIN idem.work_log ON ` + setsMark + `
WHERE latest_log.series = $1::bytea AND latest_log.mark > $2::bigint`

// While a series is worked with, its number is locked for all who do so, against a
// purge, which could take its row between two statements.
//
// A series is raised in three statements, so that the last one, which compares,
// sees what those did whom the first two have waited for: first who makes its row,
// then who has it locked.
const (
	enterSeriesSQL = `
INSERT INTO idem.latest_log (series, mark, work_id) VALUES ($1::bytea, $2::bigint, $3::text) ON CONFLICT (series) DO NOTHING`
	lockSeriesSQL = `SELECT 1 FROM idem.latest_log WHERE series = $1::bytea FOR UPDATE`
	raiseSQL      = `
UPDATE idem.latest_log SET mark = $2::bigint, work_id = $3::text
WHERE series = $1::bytea AND (mark <= $2::bigint OR NOT EXISTS (SELECT 1 FROM idem.work_log WHERE ` + setsMark + `))`
)

// watchSQL makes the rows that a success has to find: before that nobody waits
// for it, and a success that came earlier is none that the work waits for. Of
// another scope than the work's only that of a kind without one counts.
//
// A success that commits before these rows do goes unseen, and the work is
// remembered until the next one: too long, and never too short.
const watchSQL = `
INSERT INTO idem.success_log (kind, scope)
SELECT DISTINCT until_success_of, s.scope
FROM idem.work_log, LATERAL (VALUES (work_log.scope), ('')) AS s (scope)
WHERE work_id = $1::text
ORDER BY 1, 2
ON CONFLICT (kind, scope) DO NOTHING`

// succeedSQL counts from the work's first claim: what a later attempt did may rest
// on answers that the first one recorded.
const succeedSQL = `
UPDATE idem.success_log SET started_at = greatest(success_log.started_at, work_log.created_at)
FROM idem.work_log
WHERE work_log.work_id = $1::text AND success_log.kind = work_log.kind AND success_log.scope = work_log.scope`

// claimMessageSQL gives an effect the message that it is about to send. It returns
// nothing if another effect has it: one that is sending it, has sent it or has
// given it up, and whose time is not over. An effect of the same key without a row
// is another one: its work was forgotten, and what had it may have sent it.
const claimMessageSQL = `
INSERT INTO idem.sent_messages AS sent_messages (channel, chat_id, content_hash, effect_key, expires_at, state, work_id, effect, per_hash)
VALUES ($1::text, $2::text, $3::bytea, $4::text, clock_timestamp() + $5::bigint * interval '1 microsecond', 'sending', $6::text, $7::text, $8::text)
ON CONFLICT (channel, chat_id, content_hash) DO UPDATE SET
	state = 'sending', work_id = excluded.work_id, effect = excluded.effect, per_hash = excluded.per_hash, effect_key = excluded.effect_key,
	result_codec = '', result = NULL, external_ref = '', last_error = '', sent_at = NULL,
	expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond'
WHERE sent_messages.expires_at <= clock_timestamp()
	OR sent_messages.state = 'sending' AND sent_messages.effect_key = excluded.effect_key
		AND EXISTS (SELECT 1 FROM idem.effect_log WHERE effect_log.work_id = $6::text AND effect_log.effect = $7::text AND effect_log.per_hash = $8::text)
RETURNING true`

// messageSQL says who has it.
const messageSQL = `
SELECT m.state, m.work_id, m.effect, m.per_hash, m.effect_key, m.result_codec, m.result, m.external_ref, m.last_error, m.sent_at, m.expires_at,
	least(m.expires_at, CASE w.state WHEN 'running' THEN w.locked_until WHEN 'failed' THEN w.next_attempt_at END)
FROM idem.sent_messages AS m LEFT JOIN idem.work_log AS w ON w.work_id = m.work_id
WHERE m.channel = $1::text AND m.chat_id = $2::text AND m.content_hash = $3::bytea`

// moveMessageSQL ends the sending, of the effect that has it alone. Sent messages
// have a time from now on.
const moveMessageSQL = `
UPDATE idem.sent_messages SET
	state = $5::text, result_codec = $6::text, result = $7::bytea, external_ref = $8::text, last_error = $9::text,
	sent_at = CASE $5::text WHEN 'sent' THEN clock_timestamp() END,
	expires_at = CASE $5::text WHEN 'sent' THEN clock_timestamp() + $10::bigint * interval '1 microsecond' ELSE expires_at END
WHERE channel = $1::text AND chat_id = $2::text AND content_hash = $3::bytea AND effect_key = $4::text`

const dropMessageSQL = `
DELETE FROM idem.sent_messages
WHERE channel = $1::text AND chat_id = $2::text AND content_hash = $3::bytea AND effect_key = $4::text AND state = 'sending'`

const (
	registerSQL = `
INSERT INTO idem.contract_log (kind, version, digest, module, first_seen)
VALUES ($1::text, $2::integer, $3::text, $4::text, clock_timestamp())
ON CONFLICT (kind, version) DO NOTHING`

	registeredSQL = `SELECT digest, module, first_seen FROM idem.contract_log WHERE kind = $1::text AND version = $2::integer`

	setKeyCheckSQL = `UPDATE idem.ledger_meta SET key_check = $1::bytea WHERE key_check IS NULL`
	keyCheckSQL    = `SELECT key_check FROM idem.ledger_meta`

	versionSQL = `SELECT schema_version, min_runtime FROM idem.ledger_meta`
)
