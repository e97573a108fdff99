package cycle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// byHand is what a careful developer writes with the ledger's tables and
// database/sql: the same rows, the same fences, the same durability (WAL, FULL,
// four commits), prepared statements, and nothing that is not needed here.
type byHand struct {
	writer, reader                     *sql.DB
	lookup, claim, start, finish, done *sql.Stmt
}

func openByHand(ctx context.Context, path string) (*byHand, error) {
	open := func(pragmas ...string) (*sql.DB, error) {
		query := url.Values{"_pragma": append(pragmas, "busy_timeout(5000)"), "_txlock": {"immediate"}}
		return sql.Open("sqlite", "file:"+path+"?"+query.Encode())
	}
	h := new(byHand)
	var err error
	if h.writer, err = open("journal_mode(WAL)", "synchronous(FULL)"); err != nil {
		return nil, err
	}
	h.writer.SetMaxOpenConns(1)
	if h.reader, err = open("query_only(1)"); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&h.lookup, h.reader, `select state, result from work_log where work_id = ?`},
		{&h.claim, h.writer, `insert into work_log (work_id, kind, version, state, claim_token, attempt, attempt_at, budget_left, payload, payload_codec, payload_hash, payload_shape, locked_until, created_at, updated_at)
			values (?1, 'order', 1, 'running', ?2, 1, ?6, 4, ?3, 'json', ?4, 'order/1', ?5, ?6, ?6)
			on conflict (work_id) do update set state = 'running', claim_token = excluded.claim_token, attempt = work_log.attempt + 1, attempt_at = excluded.attempt_at, attempt_ended_at = null, outcome = null,
				budget_left = work_log.budget_left - 1, locked_until = excluded.locked_until, next_attempt_at = null, updated_at = excluded.updated_at
			where work_log.state = 'failed' and work_log.next_attempt_at <= ?6 or work_log.state = 'running' and work_log.locked_until <= ?6
			returning attempt`},
		{&h.start, h.writer, `insert into effect_log (work_id, effect, guard, state, effect_key, payload_hash, input, input_codec, started_at)
			select ?1, 'charge', 'idempotency_key', 'started', ?2, ?3, ?4, 'json', ?5
			where exists (select 1 from work_log where work_id = ?1 and claim_token = ?6 and state = 'running' and locked_until > ?5)`},
		{&h.finish, h.writer, `update effect_log set state = 'done', result = ?2, result_codec = 'json', external_ref = ?3, done_at = ?4
			where work_id = ?1 and effect = 'charge' and exists (select 1 from work_log where work_id = ?1 and claim_token = ?5 and state = 'running')`},
		{&h.done, h.writer, `update work_log set state = 'done', result = ?3, result_codec = 'json', external_ref = ?4, locked_until = null, claim_token = null,
			done_at = ?5, attempt_ended_at = ?5, outcome = 'done', expires_at = ?6, updated_at = ?5 where work_id = ?1 and claim_token = ?2 and state = 'running'`},
	} {
		if *p.stmt, err = p.db.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *byHand) close() error { return errors.Join(h.reader.Close(), h.writer.Close()) }

var errLost = errors.New("lost the claim")

// do is one order: look, claim, charge, complete.
func (h *byHand) do(ctx context.Context, in order, charge func(context.Context, string) (receipt, error)) (receipt, error) {
	sum := sha256.Sum256([]byte("order:v1:" + in.ID))
	id := hex.EncodeToString(sum[:])
	var state string
	var stored []byte
	err := h.lookup.QueryRowContext(ctx, id).Scan(&state, &stored)
	if err == nil && state == "done" {
		var out receipt
		return out, json.Unmarshal(stored, &out)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return receipt{}, err
	}
	payload, err := json.Marshal(in)
	if err != nil {
		return receipt{}, err
	}
	hash := sha256.Sum256(payload)
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return receipt{}, err
	}
	err = h.tx(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		var attempt int
		return tx.StmtContext(ctx, h.claim).QueryRowContext(ctx, id, token, payload, hash[:], now.Add(2*time.Minute).UnixMicro(), now.UnixMicro()).Scan(&attempt)
	})
	if err != nil {
		return receipt{}, err
	}
	key := sha256.Sum256([]byte(id + ":charge"))
	keyText := hex.EncodeToString(key[:])
	if err := h.fenced(ctx, h.start, id, keyText, hash[:], payload, time.Now().UnixMicro(), token); err != nil {
		return receipt{}, err
	}
	out, err := charge(ctx, keyText)
	if err != nil {
		return receipt{}, err
	}
	result, err := json.Marshal(out)
	if err != nil {
		return receipt{}, err
	}
	if err := h.fenced(ctx, h.finish, id, result, out.Ref, time.Now().UnixMicro(), token); err != nil {
		return receipt{}, err
	}
	return out, h.tx(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		return one(tx.StmtContext(ctx, h.done).ExecContext(ctx, id, token, result, out.Ref, now.UnixMicro(), now.Add(90*24*time.Hour).UnixMicro()))
	})
}

func (h *byHand) fenced(ctx context.Context, stmt *sql.Stmt, args ...any) error {
	return h.tx(ctx, func(tx *sql.Tx) error { return one(tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)) })
}

func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errLost, err)
	}
	return nil
}

func (h *byHand) tx(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := h.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
