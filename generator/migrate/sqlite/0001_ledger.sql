-- The effect ledger, version 1.
--
-- Lists are written out with OR: for an IN of more than two SQLite builds a table in each
-- statement, which takes longer than all the rest of it.
--
-- Times are microseconds since 1970-01-01 UTC. A body is what a codec wrote;
-- its codec column is the flag of its presence ('' means that there is none),
-- so that an empty value and no value differ. Free text is never null.

CREATE TABLE ledger_meta (
  one              INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  ledger_id        TEXT    NOT NULL,
  schema_version   INTEGER NOT NULL,
  -- the lowest schema version that a program must know to write these tables
  min_runtime      INTEGER NOT NULL,
  clock_high_water INTEGER NOT NULL,
  -- tells the key of keyed identities from others, and nothing about it; null
  -- until the first one is used
  key_check        BLOB    CHECK (length(key_check) = 32)
) STRICT;

CREATE TABLE work_log (
  work_id         TEXT    NOT NULL PRIMARY KEY CHECK (length(work_id) = 64),
  kind            TEXT    NOT NULL,
  version         INTEGER NOT NULL,
  scope           TEXT    NOT NULL DEFAULT '',
  state           TEXT    NOT NULL CHECK (state = 'running' OR state = 'done' OR state = 'failed' OR state = 'unknown' OR state = 'waiting' OR state = 'dead'),
  claim_token     BLOB    CHECK (length(claim_token) = 16),
  -- the number of the latest attempt; what came before it is in attempt_history
  attempt         INTEGER NOT NULL CHECK (attempt >= 0),
  attempt_at      INTEGER,
  -- null while it runs
  attempt_ended_at INTEGER,
  outcome         TEXT    CHECK (outcome = 'done' OR outcome = 'superseded' OR outcome = 'failed' OR outcome = 'unknown' OR outcome = 'waiting' OR outcome = 'dead' OR outcome = 'released' OR outcome = 'abandoned'),
  budget_left     INTEGER NOT NULL CHECK (budget_left >= 0),
  payload         BLOB,
  payload_codec   TEXT    NOT NULL DEFAULT '',
  payload_hash    BLOB    CHECK (length(payload_hash) = 32),
  payload_shape   TEXT    NOT NULL DEFAULT '',
  result          BLOB,
  result_codec    TEXT    NOT NULL DEFAULT '',
  external_ref    TEXT    NOT NULL DEFAULT '',
  error_class     TEXT    NOT NULL DEFAULT '' CHECK (error_class = '' OR error_class = 'transient' OR error_class = 'not_applied' OR error_class = 'permanent' OR error_class = 'unknown'),
  last_error      TEXT    NOT NULL DEFAULT '',
  next_attempt_at INTEGER,
  locked_until    INTEGER,
  release         TEXT    NOT NULL DEFAULT '',
  run_id          TEXT,
  correlation_id  TEXT    NOT NULL DEFAULT '',
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  done_at         INTEGER,
  -- of done and dead work; null: never
  expires_at      INTEGER,
  -- the kind that has to succeed besides before the work is forgotten
  until_success_of TEXT   NOT NULL DEFAULT '',
  -- the newer work because of which this one is done without a result
  superseded_by   TEXT    NOT NULL DEFAULT '' CHECK (superseded_by = '' OR length(superseded_by) = 64),
  -- when a person said that dead work may be forgotten
  acknowledged_at INTEGER,
  CHECK ((payload_codec = '') = (payload IS NULL)),
  CHECK ((result_codec = '') = (result IS NULL)),
  -- a lease without an end, or an owner without a lease, cannot exist
  CHECK ((state = 'running') = (locked_until IS NOT NULL)),
  CHECK ((state = 'running') = (claim_token IS NOT NULL)),
  CHECK ((attempt = 0) = (attempt_at IS NULL)),
  CHECK ((outcome IS NULL) = (attempt_ended_at IS NULL)),
  CHECK ((outcome IS NULL) = (state = 'running' OR attempt = 0)),
  CHECK ((state = 'failed') = (next_attempt_at IS NOT NULL)),
  CHECK ((state IN ('done', 'dead')) = (done_at IS NOT NULL)),
  CHECK (expires_at IS NULL OR state IN ('done', 'dead')),
  CHECK (until_success_of = '' OR expires_at IS NOT NULL),
  CHECK (superseded_by = '' OR state = 'done'),
  CHECK (acknowledged_at IS NULL OR state = 'dead')
) STRICT;

-- Each index costs each row whose place in it changes, and each statement that might
-- change it. work_open is for whoever looks for work that is due, abandoned, or to be
-- looked at by a person; work_expiring for a purge.
CREATE INDEX work_open      ON work_log (state, next_attempt_at, updated_at) WHERE state <> 'done';
CREATE INDEX work_expiring  ON work_log (expires_at) WHERE expires_at IS NOT NULL AND (state = 'done' OR acknowledged_at IS NOT NULL);
CREATE INDEX work_waiting   ON work_log (until_success_of, scope) WHERE until_success_of <> '';

CREATE TABLE effect_log (
  -- the order in which effects were asked for first, those of all work
  seq          INTEGER NOT NULL PRIMARY KEY,
  work_id      TEXT    NOT NULL,
  effect       TEXT    NOT NULL,
  per_hash     TEXT    NOT NULL DEFAULT '',
  guard        TEXT    NOT NULL CHECK (guard = 'transaction' OR guard = 'idempotency_key' OR guard = 'upsert' OR guard = 'find_first' OR guard = 'once' OR guard = 'repeatable' OR guard = 'read' OR guard = 'work'),
  state        TEXT    NOT NULL CHECK (state = 'done' OR state = 'started' OR state = 'not_applied' OR state = 'refused' OR state = 'given_up' OR state = 'unknown'),
  effect_key   TEXT    NOT NULL DEFAULT '',
  -- raised when the call under effect_key is known to have done nothing and the next
  -- one needs another key
  key_epoch    INTEGER NOT NULL DEFAULT 0 CHECK (key_epoch >= 0),
  -- calls that were started, whatever came of them
  calls        INTEGER NOT NULL DEFAULT 0 CHECK (calls >= 0),
  -- after which a call shows at the target, as the contract has it
  visible_after INTEGER NOT NULL DEFAULT 0 CHECK (visible_after >= 0),
  payload_hash BLOB    CHECK (length(payload_hash) = 32),
  payload_shape TEXT   NOT NULL DEFAULT '',
  input        BLOB,
  input_codec  TEXT    NOT NULL DEFAULT '',
  result       BLOB,
  result_codec TEXT    NOT NULL DEFAULT '',
  external_ref TEXT    NOT NULL DEFAULT '',
  last_error   TEXT    NOT NULL DEFAULT '',
  started_at   INTEGER NOT NULL,
  done_at      INTEGER,
  UNIQUE (work_id, effect, per_hash),
  CHECK ((input_codec = '') = (input IS NULL)),
  CHECK ((result_codec = '') = (result IS NULL)),
  CHECK ((state = 'done' OR state = 'refused' OR state = 'given_up') = (done_at IS NOT NULL))
) STRICT;

-- What was sent to whom, so that nobody sends it again before it expires. The
-- content is a hash; the result is that of the effect that sent it.
CREATE TABLE sent_messages (
  channel      TEXT    NOT NULL,
  chat_id      TEXT    NOT NULL,
  content_hash BLOB    NOT NULL CHECK (length(content_hash) = 32),
  state        TEXT    NOT NULL CHECK (state = 'sending' OR state = 'sent' OR state = 'given_up'),
  work_id      TEXT    NOT NULL,
  effect       TEXT    NOT NULL,
  per_hash     TEXT    NOT NULL DEFAULT '',
  effect_key   TEXT    NOT NULL,
  result       BLOB,
  result_codec TEXT    NOT NULL DEFAULT '',
  external_ref TEXT    NOT NULL DEFAULT '',
  last_error   TEXT    NOT NULL DEFAULT '',
  sent_at      INTEGER,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (channel, chat_id, content_hash),
  CHECK ((result_codec = '') = (result IS NULL)),
  CHECK ((state = 'sent') = (sent_at IS NOT NULL))
) STRICT;

CREATE INDEX message_expiring ON sent_messages (expires_at);
CREATE INDEX message_sending  ON sent_messages (work_id) WHERE state = 'sending';

-- The attempts that others have succeeded; the latest one is in work_log.
CREATE TABLE attempt_history (
  work_id        TEXT    NOT NULL,
  attempt        INTEGER NOT NULL CHECK (attempt > 0),
  started_at     INTEGER NOT NULL,
  ended_at       INTEGER NOT NULL,
  outcome        TEXT    NOT NULL CHECK (outcome = 'done' OR outcome = 'superseded' OR outcome = 'failed' OR outcome = 'unknown' OR outcome = 'waiting' OR outcome = 'dead' OR outcome = 'released' OR outcome = 'abandoned'),
  error_class    TEXT    NOT NULL DEFAULT '',
  error          TEXT    NOT NULL DEFAULT '',
  release        TEXT    NOT NULL DEFAULT '',
  correlation_id TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (work_id, attempt)
) STRICT, WITHOUT ROWID;

-- All attempts. While one runs, and if nobody ended it, the error of its work is that
-- of the one before, or says that it was abandoned.
CREATE VIEW attempt_log AS
SELECT work_id, attempt, started_at, ended_at, outcome, error_class, error, release, correlation_id
FROM attempt_history
UNION ALL
SELECT work_id, attempt, attempt_at, attempt_ended_at, outcome,
  CASE WHEN outcome IS NULL OR outcome = 'abandoned' THEN '' ELSE error_class END,
  CASE WHEN outcome IS NULL OR outcome = 'abandoned' THEN '' ELSE last_error END,
  release, correlation_id
FROM work_log WHERE attempt > 0;

-- What people have changed: who, why, and what it was before. It outlives the work.
CREATE TABLE audit_log (
  id      INTEGER NOT NULL PRIMARY KEY,
  at      INTEGER NOT NULL,
  who     TEXT    NOT NULL,
  verb    TEXT    NOT NULL,
  -- the ID of work
  subject TEXT    NOT NULL,
  -- JSON
  before  TEXT    NOT NULL,
  after   TEXT    NOT NULL,
  reason  TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_subject ON audit_log (subject);

-- The highest mark that was done among works about one thing, for as long as the
-- work that set it is remembered.
CREATE TABLE latest_log (
  series  BLOB    NOT NULL PRIMARY KEY CHECK (length(series) = 32),
  mark    INTEGER NOT NULL,
  work_id TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX latest_work ON latest_log (work_id);

-- The kinds that some work waits for before it is forgotten, each with the newest
-- of its works that succeeded: when that was claimed first; null: none did.
CREATE TABLE success_log (
  kind       TEXT    NOT NULL,
  scope      TEXT    NOT NULL,
  started_at INTEGER,
  PRIMARY KEY (kind, scope)
) STRICT, WITHOUT ROWID;

-- Other names of work: what a later version of its contract calls it, if that
-- honours the earlier one. An alias is one step long, and forgotten with its row.
CREATE TABLE work_alias (
  work_id    TEXT    NOT NULL PRIMARY KEY CHECK (length(work_id) = 64),
  leads_to   TEXT    NOT NULL CHECK (length(leads_to) = 64 AND leads_to <> work_id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX work_alias_row ON work_alias (leads_to);

-- Whose a kind and version are: the contract of one module, with one identity.
CREATE TABLE contract_log (
  kind       TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  digest     TEXT    NOT NULL,
  module     TEXT    NOT NULL,
  first_seen INTEGER NOT NULL,
  PRIMARY KEY (kind, version)
) STRICT, WITHOUT ROWID;

-- For people: bodies as text where they are JSON, times as text in UTC.
CREATE VIEW work_view AS
SELECT
  work_id, kind, version, scope, state, attempt, budget_left,
  CASE WHEN payload_codec IN ('json', 'redacted') THEN CAST(payload AS TEXT) END AS payload,
  payload_codec,
  CASE result_codec WHEN 'json' THEN CAST(result AS TEXT) END AS result,
  result_codec,
  external_ref, error_class, last_error,
  strftime('%Y-%m-%dT%H:%M:%S', next_attempt_at / 1000000, 'unixepoch') || printf('.%06dZ', next_attempt_at % 1000000) AS next_attempt_at,
  strftime('%Y-%m-%dT%H:%M:%S', locked_until / 1000000, 'unixepoch') || printf('.%06dZ', locked_until % 1000000) AS locked_until,
  release, run_id, correlation_id,
  strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch') || printf('.%06dZ', created_at % 1000000) AS created_at,
  strftime('%Y-%m-%dT%H:%M:%S', updated_at / 1000000, 'unixepoch') || printf('.%06dZ', updated_at % 1000000) AS updated_at,
  strftime('%Y-%m-%dT%H:%M:%S', done_at / 1000000, 'unixepoch') || printf('.%06dZ', done_at % 1000000) AS done_at,
  strftime('%Y-%m-%dT%H:%M:%S', expires_at / 1000000, 'unixepoch') || printf('.%06dZ', expires_at % 1000000) AS expires_at,
  until_success_of, superseded_by,
  strftime('%Y-%m-%dT%H:%M:%S', acknowledged_at / 1000000, 'unixepoch') || printf('.%06dZ', acknowledged_at % 1000000) AS acknowledged_at
FROM work_log;

INSERT INTO ledger_meta (one, ledger_id, schema_version, min_runtime, clock_high_water)
VALUES (1, lower(hex(randomblob(16))), 1, 1, 0);
