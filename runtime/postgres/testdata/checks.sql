-- What a row of the tables that each piece of work writes can be. The tests have them
-- checked by the server; see the migration for why programs do not.

ALTER TABLE idem.work_log
  ADD CONSTRAINT check_01 CHECK (length(work_id) = 64),
  ADD CONSTRAINT check_02 CHECK (state IN ('running', 'failed', 'unknown', 'waiting', 'dead', 'done')),
  ADD CONSTRAINT check_03 CHECK (life > 0),
  ADD CONSTRAINT check_04 CHECK (octet_length(claim_token) = 16),
  ADD CONSTRAINT check_05 CHECK (attempt >= 0 AND budget_left >= 0),
  ADD CONSTRAINT check_06 CHECK (octet_length(payload_hash) = 32),
  ADD CONSTRAINT check_07 CHECK (error_class IN ('', 'transient', 'not_applied', 'permanent', 'unknown')),
  ADD CONSTRAINT check_08 CHECK (superseded_by = '' OR length(superseded_by) = 64 AND state = 'done'),
  ADD CONSTRAINT check_09 CHECK ((payload_codec = '') = (payload IS NULL)),
  ADD CONSTRAINT check_10 CHECK ((result_codec = '') = (result IS NULL)),
  ADD CONSTRAINT check_11 CHECK ((state = 'failed') = (next_attempt_at IS NOT NULL)),
  ADD CONSTRAINT check_12 CHECK ((state IN ('done', 'dead')) = (done_at IS NOT NULL)),
  ADD CONSTRAINT check_13 CHECK (expires_at IS NULL OR state IN ('done', 'dead')),
  ADD CONSTRAINT check_14 CHECK (until_success_of = '' OR expires_at IS NOT NULL),
  ADD CONSTRAINT check_15 CHECK (acknowledged_at IS NULL OR state = 'dead'),
  ADD CONSTRAINT check_16 CHECK ((attempt = 0) = (attempt_at IS NULL)),
  ADD CONSTRAINT check_17 CHECK ((attempt_ended_at IS NULL) = (outcome IS NULL)),
  ADD CONSTRAINT check_18 CHECK (state = 'running' OR attempt = 0 OR outcome IS NOT NULL),
  ADD CONSTRAINT check_19 CHECK (outcome IN ('done', 'superseded', 'failed', 'unknown', 'waiting', 'dead', 'released', 'abandoned'));

ALTER TABLE idem.effect_log
  ADD CONSTRAINT check_01 CHECK (key_epoch >= 0 AND calls >= 0 AND visible_after >= 0),
  ADD CONSTRAINT check_02 CHECK (guard IN ('transaction', 'idempotency_key', 'upsert', 'find_first', 'once', 'repeatable', 'read', 'work')),
  ADD CONSTRAINT check_03 CHECK (state IN ('started', 'not_applied', 'done', 'refused', 'given_up', 'unknown')),
  ADD CONSTRAINT check_04 CHECK (octet_length(payload_hash) = 32),
  ADD CONSTRAINT check_05 CHECK ((input_codec = '') = (input IS NULL)),
  ADD CONSTRAINT check_06 CHECK ((result_codec = '') = (result IS NULL)),
  ADD CONSTRAINT check_07 CHECK ((state IN ('done', 'refused', 'given_up')) = (done_at IS NOT NULL));

ALTER TABLE idem.attempt_history
  ADD CONSTRAINT check_01 CHECK (attempt > 0),
  ADD CONSTRAINT check_02 CHECK (outcome IN ('done', 'superseded', 'failed', 'unknown', 'waiting', 'dead', 'released', 'abandoned'));
