-- Forgets all work: whatever is delivered again after this is done again.

DROP VIEW work_view;
DROP VIEW attempt_log;
DROP TABLE success_log;
DROP TABLE latest_log;
DROP TABLE work_alias;
DROP TABLE contract_log;
DROP TABLE audit_log;
DROP TABLE attempt_history;
DROP TABLE sent_messages;
DROP TABLE effect_log;
DROP TABLE work_log;
DROP TABLE ledger_meta;
