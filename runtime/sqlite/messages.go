package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// claimMessageSQL gives an effect the message that it is about to send. It returns
// nothing if another effect has it: one that is sending it, has sent it or has
// given it up, and whose time is not over. An effect of the same key without a row
// is another one: its work was forgotten, and what had it may have sent it.
const claimMessageSQL = `
INSERT INTO sent_messages AS sent_messages (channel, chat_id, content_hash, effect_key, expires_at, state, work_id, effect, per_hash)
VALUES (?1, ?2, ?3, ?4, ?5, 'sending', ?6, ?7, ?9)
ON CONFLICT (channel, chat_id, content_hash) DO UPDATE SET
	state = 'sending', work_id = excluded.work_id, effect = excluded.effect, per_hash = excluded.per_hash, effect_key = excluded.effect_key,
	result_codec = '', result = NULL, external_ref = '', last_error = '', sent_at = NULL, expires_at = excluded.expires_at
WHERE sent_messages.expires_at <= ?8
	OR sent_messages.state = 'sending' AND sent_messages.effect_key = excluded.effect_key
		AND EXISTS (SELECT 1 FROM effect_log ` + byEffect + ` WHERE effect_log.work_id = ?6 AND effect_log.effect = ?7 AND effect_log.per_hash = ?9)
RETURNING 1`

// messageSQL says who has it, and first whether who asks may: ?7 demands a live lease.
const messageSQL = `
SELECT EXISTS (
		SELECT 1 FROM work_log
		WHERE work_id = ?4 AND claim_token = ?5 AND state = 'running' AND (NOT ?7 OR locked_until > ?6)),
	m.state, m.work_id, m.effect, m.per_hash, m.effect_key, m.result_codec, m.result, m.external_ref, m.last_error, m.sent_at, m.expires_at,
	min(m.expires_at, coalesce(CASE w.state WHEN 'running' THEN w.locked_until WHEN 'failed' THEN w.next_attempt_at END, m.expires_at))
FROM sent_messages AS m ` + byMessage + ` LEFT JOIN work_log AS w ` + byWork + ` ON w.work_id = m.work_id
WHERE m.channel = ?1 AND m.chat_id = ?2 AND m.content_hash = ?3`

// moveMessageSQL ends the sending, of the effect that has it alone.
const moveMessageSQL = `
UPDATE sent_messages SET
	state = ?5, result_codec = ?6, result = ?7, external_ref = ?8, last_error = ?9, sent_at = ?10, expires_at = coalesce(?11, expires_at)
WHERE channel = ?1 AND chat_id = ?2 AND content_hash = ?3 AND effect_key = ?4`

const dropMessageSQL = `
DELETE FROM sent_messages
WHERE channel = ?1 AND chat_id = ?2 AND content_hash = ?3 AND effect_key = ?4 AND state = 'sending'`

// messageKey are the first parameters of each statement.
func messageKey(m idem.MessageID) []any {
	return []any{ledgersql.CleanText(m.Channel), ledgersql.CleanText(m.To), m.Content[:]}
}

// claimMessage claims it, or returns the message if another effect has it.
func (w *writer) claimMessage(ctx context.Context, e idem.EffectWrite, now int64) (*idem.SentMessage, error) {
	if e.Message.TTL <= 0 {
		return nil, invalid("a message is remembered for %v, it must be over zero", e.Message.TTL)
	}
	key := messageKey(e.Message.MessageID)
	args := append(key, e.Key, now+toMicros(e.Message.TTL), e.ID.String(), e.Name, now, e.Per)
	var claimed bool
	err := w.row(ctx, &w.store.stmts.claimMessage, args...).Scan(&claimed)
	switch {
	case err == nil:
		return nil, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	}
	args = append(key, e.ID.String(), e.Token[:], now, e.Live)
	return scanMessage(w.row(ctx, &w.store.stmts.message, args...))
}

func scanMessage(row scanner) (*idem.SentMessage, error) {
	var (
		m              idem.SentMessage
		held           bool
		id             string
		result         []byte
		sent           sql.NullInt64
		expires, until int64
	)
	err := row.Scan(&held, (*string)(&m.State), &id, &m.Effect, &m.Per, &m.Key, &m.Result.Codec, &result, &m.ExternalRef, &m.Error, &sent, &expires, &until)
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, idem.ErrLeaseLost
	}
	if m.ID, err = idem.ParseWorkID(id); err != nil {
		return nil, fmt.Errorf("sent_messages: %w", err)
	}
	m.Result = loadBody(m.Result.Codec, result)
	m.SentAt, m.ExpiresAt, m.Until = loadTime(sent), fromMicros(expires), fromMicros(until)
	return &m, nil
}

// settleMessage makes the message go with its effect, which has moved to e.State.
func (w *writer) settleMessage(ctx context.Context, e idem.EffectWrite, now int64) error {
	args := append(messageKey(e.Message.MessageID), e.Key)
	switch e.State {
	case idem.EffectDone:
		return w.exec(ctx, &w.store.stmts.moveMessage, append(args, string(idem.MessageSent),
			e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef), ledgersql.CleanError(e.Error), now, now+toMicros(e.Message.TTL))...)
	case idem.EffectGivenUp:
		return w.exec(ctx, &w.store.stmts.moveMessage, append(args, string(idem.MessageGivenUp),
			idem.CodecNone, nil, "", ledgersql.CleanError(e.Error), nil, nil)...)
	case idem.EffectNotApplied, idem.EffectRefused:
		return w.exec(ctx, &w.store.stmts.dropMessage, args...)
	}
	return nil
}
