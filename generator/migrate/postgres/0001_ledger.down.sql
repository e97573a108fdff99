-- Forgets all work: whatever is delivered again after this is done again. The
-- schema stays, since it may hold something else.

DROP VIEW idem.work_view;
DROP VIEW idem.attempt_log;
DROP FUNCTION idem.readable(bytea);
DROP TABLE idem.success_log;
DROP TABLE idem.latest_log;
DROP TABLE idem.work_alias;
DROP TABLE idem.contract_log;
DROP TABLE idem.audit_log;
DROP TABLE idem.attempt_history;
DROP TABLE idem.sent_messages;
DROP TABLE idem.effect_log;
DROP TABLE idem.work_log;
DROP TABLE idem.ledger_meta;
