-- The effect ledger, version 1.
--
-- Everything is in one PostgreSQL schema, whose name a store can be told.
--
-- A body is what a codec wrote; its codec column is the flag of its presence (''
-- means that there is none), so that an empty value and no value differ. Free
-- text is never null. Identifiers and names compare byte by byte.

CREATE SCHEMA IF NOT EXISTS idem;

CREATE TABLE idem.ledger_meta (
  one              integer NOT NULL PRIMARY KEY CHECK (one = 1),
  ledger_id        text    NOT NULL,
  schema_version   integer NOT NULL,
  -- the lowest schema version that a program must know to write these tables
  min_runtime      integer NOT NULL,
  -- tells the key of keyed identities from others, and nothing about it; null
  -- until the first one is used
  key_check        bytea   CHECK (octet_length(key_check) = 32)
);

-- No index holds locked_until, so that a renewal touches the table alone: keep it
-- so. The fillfactor leaves room for the new versions of a row beside it.
--
-- The latest attempt is here as well: its number is attempt, and what it came to is
-- in error_class and last_error.
--
-- A statement parses each CHECK of its table anew, which with one for every rule here
-- took three quarters of its time. So those of the tables that each piece of work
-- writes are in the tests, but for this one: a lease without an end, or an owner
-- without a lease, cannot exist.
CREATE TABLE idem.work_log (
  work_id          text COLLATE "C" NOT NULL PRIMARY KEY,
  kind             text COLLATE "C" NOT NULL,
  version          integer NOT NULL,
  scope            text COLLATE "C" NOT NULL DEFAULT '',
  -- running, failed, unknown, waiting, dead or done
  state            text COLLATE "C" NOT NULL,
  -- work begins another life when it comes again after its window
  life             integer NOT NULL DEFAULT 1,
  claim_token      bytea,
  attempt          integer NOT NULL,
  budget_left      integer NOT NULL,
  payload          bytea,
  payload_codec    text    NOT NULL DEFAULT '',
  payload_hash     bytea,
  payload_shape    text COLLATE "C" NOT NULL DEFAULT '',
  result           bytea,
  result_codec     text    NOT NULL DEFAULT '',
  external_ref     text    NOT NULL DEFAULT '',
  -- transient, not_applied, permanent, unknown or empty
  error_class      text    NOT NULL DEFAULT '',
  last_error       text    NOT NULL DEFAULT '',
  next_attempt_at  timestamptz,
  locked_until     timestamptz,
  release          text    NOT NULL DEFAULT '',
  run_id           text,
  correlation_id   text    NOT NULL DEFAULT '',
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  done_at          timestamptz,
  -- of done and dead work; null: never
  expires_at       timestamptz,
  -- the kind that has to succeed besides before the work is forgotten
  until_success_of text COLLATE "C" NOT NULL DEFAULT '',
  -- the newer work because of which this one is done without a result
  superseded_by    text COLLATE "C" NOT NULL DEFAULT '',
  -- when a person said that dead work may be forgotten
  acknowledged_at  timestamptz,
  -- of the latest attempt; null if there was none
  attempt_at       timestamptz,
  -- null while it runs
  attempt_ended_at timestamptz,
  -- done, superseded, failed, unknown, waiting, dead, released, abandoned; null while it runs
  outcome          text,
  CHECK (num_nonnulls(claim_token, locked_until) = CASE state WHEN 'running' THEN 2 ELSE 0 END)
) WITH (fillfactor = 80);

CREATE INDEX work_due       ON idem.work_log (next_attempt_at) WHERE state = 'failed';
CREATE INDEX work_running   ON idem.work_log (attempt_at)      WHERE state = 'running';
CREATE INDEX work_attention ON idem.work_log (updated_at)      WHERE state = 'unknown' OR state = 'dead' AND acknowledged_at IS NULL;
CREATE INDEX work_expiring  ON idem.work_log (expires_at)      WHERE state = 'done' AND expires_at IS NOT NULL;
CREATE INDEX work_acknowledged ON idem.work_log (expires_at)    WHERE acknowledged_at IS NOT NULL;
CREATE INDEX work_waiting   ON idem.work_log (until_success_of, scope) WHERE until_success_of <> '';

CREATE TABLE idem.effect_log (
  work_id       text COLLATE "C" NOT NULL,
  effect        text COLLATE "C" NOT NULL,
  per_hash      text COLLATE "C" NOT NULL DEFAULT '',
  -- grows from one effect of the work to the next
  seq           bigint  GENERATED ALWAYS AS IDENTITY,
  -- transaction, idempotency_key, upsert, find_first, once, repeatable, read or work
  guard         text    NOT NULL,
  -- started, not_applied, done, refused, given_up or unknown
  state         text    NOT NULL,
  effect_key    text COLLATE "C" NOT NULL DEFAULT '',
  -- raised when the call under effect_key is known to have done nothing and the next
  -- one needs another key
  key_epoch     integer NOT NULL DEFAULT 0,
  -- calls that were started, whatever came of them
  calls         integer NOT NULL DEFAULT 0,
  -- microseconds after which a call shows at the target, as the contract has it
  visible_after bigint  NOT NULL DEFAULT 0,
  payload_hash  bytea,
  payload_shape text COLLATE "C" NOT NULL DEFAULT '',
  input         bytea,
  input_codec   text    NOT NULL DEFAULT '',
  result        bytea,
  result_codec  text    NOT NULL DEFAULT '',
  external_ref  text    NOT NULL DEFAULT '',
  last_error    text    NOT NULL DEFAULT '',
  started_at    timestamptz NOT NULL,
  done_at       timestamptz,
  PRIMARY KEY (work_id, effect, per_hash)
) WITH (fillfactor = 80);

-- What was sent to whom, so that nobody sends it again before it expires. The
-- content is a hash; the result is that of the effect that sent it.
CREATE TABLE idem.sent_messages (
  channel      text COLLATE "C" NOT NULL,
  chat_id      text COLLATE "C" NOT NULL,
  content_hash bytea   NOT NULL CHECK (octet_length(content_hash) = 32),
  state        text    NOT NULL CHECK (state IN ('sending', 'sent', 'given_up')),
  work_id      text COLLATE "C" NOT NULL,
  effect       text    NOT NULL,
  per_hash     text COLLATE "C" NOT NULL DEFAULT '',
  effect_key   text COLLATE "C" NOT NULL,
  result       bytea,
  result_codec text    NOT NULL DEFAULT '',
  external_ref text    NOT NULL DEFAULT '',
  last_error   text    NOT NULL DEFAULT '',
  sent_at      timestamptz,
  expires_at   timestamptz NOT NULL,
  PRIMARY KEY (channel, chat_id, content_hash),
  CHECK ((result_codec = '') = (result IS NULL)),
  CHECK ((state = 'sent') = (sent_at IS NOT NULL))
);

CREATE INDEX message_expiring ON idem.sent_messages (expires_at);
CREATE INDEX message_sending  ON idem.sent_messages (work_id) WHERE state = 'sending';

-- The attempts that another one has followed.
CREATE TABLE idem.attempt_history (
  work_id        text COLLATE "C" NOT NULL,
  attempt        integer NOT NULL,
  started_at     timestamptz NOT NULL,
  ended_at       timestamptz NOT NULL,
  outcome        text    NOT NULL,
  error_class    text    NOT NULL DEFAULT '',
  error          text    NOT NULL DEFAULT '',
  release        text    NOT NULL DEFAULT '',
  correlation_id text    NOT NULL DEFAULT '',
  PRIMARY KEY (work_id, attempt)
) WITH (fillfactor = 80);

-- All attempts. The error of one that runs, or that ended without a word, would be
-- that of the attempt before.
CREATE VIEW idem.attempt_log AS
SELECT work_id, attempt, started_at, ended_at, outcome, error_class, error, release, correlation_id
FROM idem.attempt_history
UNION ALL
SELECT work_id, attempt, attempt_at, attempt_ended_at, outcome,
  CASE WHEN outcome <> 'abandoned' THEN error_class ELSE '' END,
  CASE WHEN outcome <> 'abandoned' THEN last_error ELSE '' END,
  release, correlation_id
FROM idem.work_log WHERE attempt > 0;

-- What people have changed: who, why, and what it was before. It outlives the work.
CREATE TABLE idem.audit_log (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL,
  who     text NOT NULL,
  verb    text NOT NULL,
  -- the ID of work
  subject text COLLATE "C" NOT NULL,
  -- JSON
  before  text NOT NULL,
  after   text NOT NULL,
  reason  text NOT NULL
);

CREATE INDEX audit_subject ON idem.audit_log (subject);

-- The highest mark that was done among works about one thing, for as long as the
-- work that set it is remembered. Without a work it is a place that a transaction
-- has taken to keep others out, and stands for nothing.
CREATE TABLE idem.latest_log (
  series  bytea  NOT NULL PRIMARY KEY CHECK (octet_length(series) = 32),
  mark    bigint NOT NULL,
  work_id text COLLATE "C" NOT NULL
);

CREATE INDEX latest_work ON idem.latest_log (work_id);

-- The kinds that some work waits for before it is forgotten, each with the newest
-- of its works that succeeded: when that was claimed first; null: none did.
CREATE TABLE idem.success_log (
  kind       text COLLATE "C" NOT NULL,
  scope      text COLLATE "C" NOT NULL,
  started_at timestamptz,
  PRIMARY KEY (kind, scope)
);

-- Other names of work: what a later version of its contract calls it, if that
-- honours the earlier one. An alias is one step long, and forgotten with its row.
CREATE TABLE idem.work_alias (
  work_id    text COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(work_id) = 64),
  leads_to   text COLLATE "C" NOT NULL CHECK (length(leads_to) = 64 AND leads_to <> work_id),
  created_at timestamptz NOT NULL
);

CREATE INDEX work_alias_row ON idem.work_alias (leads_to);

-- Whose a kind and version are: the contract of one module, with one identity.
CREATE TABLE idem.contract_log (
  kind       text COLLATE "C" NOT NULL,
  version    integer NOT NULL,
  digest     text    NOT NULL,
  module     text    NOT NULL,
  first_seen timestamptz NOT NULL,
  PRIMARY KEY (kind, version)
);

-- For the view: bytes that are no UTF-8 must not make all of it unreadable.
CREATE FUNCTION idem.readable(body bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN convert_from(body, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  RETURN encode(body, 'escape');
END
$$;

-- For people: bodies as text where they are JSON, times as text in UTC.
CREATE VIEW idem.work_view AS
SELECT
  work_id, kind, version, scope, state, attempt, budget_left,
  CASE WHEN payload_codec IN ('json', 'redacted') THEN idem.readable(payload) END AS payload,
  payload_codec,
  CASE result_codec WHEN 'json' THEN idem.readable(result) END AS result,
  result_codec,
  external_ref, error_class, last_error,
  to_char(next_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS next_attempt_at,
  to_char(locked_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS locked_until,
  release, run_id, correlation_id,
  to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at,
  to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS updated_at,
  to_char(done_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS done_at,
  to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS expires_at,
  until_success_of, superseded_by,
  to_char(acknowledged_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS acknowledged_at
FROM idem.work_log;

INSERT INTO idem.ledger_meta (one, ledger_id, schema_version, min_runtime)
VALUES (1, replace(gen_random_uuid()::text, '-', ''), 1, 1);
