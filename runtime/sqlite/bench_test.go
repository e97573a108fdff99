package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"strconv"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// BenchmarkCycle is a lone caller's claim, effect started, effect done, end: four
// commits. BenchmarkCycleByHand is what somebody would write over database/sql
// for the same rows and the same durability.
func BenchmarkCycle(b *testing.B) {
	s := openStore(b, newLedger(b))
	ctx := b.Context()
	for i := 0; b.Loop(); i++ {
		c := claimOf(strconv.Itoa(i), 1)
		claimed, err := s.Claim(ctx, c)
		if err != nil || !claimed.Won {
			b.Fatalf("won %t, %v", claimed.Won, err)
		}
		e := effectOf(c.Fence, idem.EffectStarted)
		e.Input = idem.Body{Codec: idem.CodecJSON, Data: []byte(`{"n":1}`)}
		if _, err := s.WriteEffect(ctx, e); err != nil {
			b.Fatal(err)
		}
		e.State, e.Result = idem.EffectDone, e.Input
		if _, err := s.WriteEffect(ctx, e); err != nil {
			b.Fatal(err)
		}
		end := doneOf(c.Fence)
		end.Result = e.Input
		if _, err := s.End(ctx, end); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCycleByHand(b *testing.B) {
	db := openApp(b, uri(newLedger(b))+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	db.SetMaxOpenConns(1)
	hand := newHand(b, db)
	for i := 0; b.Loop(); i++ {
		hand.cycle(b, claimOf(strconv.Itoa(i), 1))
	}
}

// hand is the four transactions with prepared statements and nothing else.
type hand struct {
	db                        *sql.DB
	claim, start, finish, end *sql.Stmt
}

func newHand(b *testing.B, db *sql.DB) *hand {
	prepare := func(query string) *sql.Stmt {
		stmt, err := db.PrepareContext(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		return stmt
	}
	const fence = `EXISTS (SELECT 1 FROM work_log WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running' AND locked_until > ?3)`
	return &hand{
		db: db,
		claim: prepare(`INSERT INTO work_log (work_id, kind, version, state, claim_token, attempt, attempt_at, budget_left, payload_codec, payload, locked_until, created_at, updated_at)
			VALUES (?1, 'kind', 1, 'running', ?2, 1, ?3, 2, 'json', ?4, ?3 + 60000000, ?3, ?3)
			ON CONFLICT (work_id) DO UPDATE SET claim_token = excluded.claim_token, attempt = attempt + 1, locked_until = excluded.locked_until
			WHERE state = 'running' AND locked_until <= ?3 RETURNING attempt, payload`),
		start: prepare(`INSERT INTO effect_log (work_id, effect, guard, state, effect_key, input_codec, input, started_at)
			SELECT ?1, 'draft', 'transaction', 'started', 'key', 'json', ?4, ?3 WHERE ` + fence + ` RETURNING started_at`),
		finish: prepare(`UPDATE effect_log SET state = 'done', result_codec = 'json', result = ?4, done_at = ?3 WHERE work_id = ?1 AND effect = 'draft' AND per_hash = '' AND ` + fence + ` RETURNING started_at`),
		end: prepare(`UPDATE work_log SET state = 'done', claim_token = NULL, locked_until = NULL, result_codec = 'json', result = ?4, done_at = ?3, attempt_ended_at = ?3, outcome = 'done', expires_at = ?3 + 3600000000, updated_at = ?3
			WHERE work_id = ?1 AND claim_token = ?2 AND state = 'running' RETURNING attempt`),
	}
}

func (h *hand) cycle(b *testing.B, c idem.Claim) {
	id, body := c.ID.String(), []byte(`{"n":1}`)
	var attempt int
	var payload []byte
	var at int64
	h.tx(b, func(ctx context.Context, tx *sql.Tx, now int64) error {
		return tx.StmtContext(ctx, h.claim).QueryRowContext(ctx, id, c.Token[:], now, body).Scan(&attempt, &payload)
	})
	h.tx(b, func(ctx context.Context, tx *sql.Tx, now int64) error {
		return tx.StmtContext(ctx, h.start).QueryRowContext(ctx, id, c.Token[:], now, body).Scan(&at)
	})
	h.tx(b, func(ctx context.Context, tx *sql.Tx, now int64) error {
		return tx.StmtContext(ctx, h.finish).QueryRowContext(ctx, id, c.Token[:], now, body).Scan(&at)
	})
	h.tx(b, func(ctx context.Context, tx *sql.Tx, now int64) error {
		return tx.StmtContext(ctx, h.end).QueryRowContext(ctx, id, c.Token[:], now, body).Scan(&attempt)
	})
}

func (h *hand) tx(b *testing.B, fn func(ctx context.Context, tx *sql.Tx, now int64) error) {
	tx, err := h.db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := fn(b.Context(), tx, time.Now().UnixMicro()); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLookupOfDoneWork is what most duplicates cost.
func BenchmarkLookupOfDoneWork(b *testing.B) {
	const n = 10_000
	s := openStore(b, newLedger(b), sqlite.WithSynchronous(sqlite.Normal))
	ids := make([]idem.WorkID, n)
	err := s.InTx(b.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
		for i := range ids {
			c := claimOf(string(binary.BigEndian.AppendUint32(nil, uint32(i))), 1)
			ids[i] = c.ID
			if _, err := s.Claim(ctx, c); err != nil {
				return err
			}
			if _, err := s.End(ctx, doneOf(c.Fence)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if work, err := s.Lookup(ctx, ids[i*7919%n]); err != nil || work.State != idem.StateDone {
			b.Fatal(work.State, err)
		}
	}
}
