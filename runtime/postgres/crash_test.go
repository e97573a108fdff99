package postgres_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
	"github.com/idemgen/idem/runtime/postgres"
)

type payment struct{ ID string }

var paymentForm = idem.Payload[payment]{Shape: "payment/1", Append: func(dst []byte, p payment) ([]byte, error) {
	text, err := json.Marshal(p)
	return append(dst, text...), err
}}

// TestGuardsKeepTheirPromisesWhereverAProcessDies has a handler with an effect of
// each guard that needs the ledger's help. The server's clock is one that the test
// moves.
func TestGuardsKeepTheirPromisesWhereverAProcessDies(t *testing.T) {
	pool := newPool(t)
	idemtest.CrashEverywhere(t, func(t *testing.T, w *idemtest.World) idemtest.Program[payment, string, pgx.Tx] {
		schema := newSchema(t, pool)
		quoted := pgx.Identifier{schema}.Sanitize()
		mustExec(t, pool, `CREATE SCHEMA `+quoted)
		mustExec(t, pool, `CREATE TABLE `+quoted+`.passed (by interval NOT NULL); INSERT INTO `+quoted+`.passed VALUES ('0')`)
		mustExec(t, pool, `CREATE TABLE `+quoted+`.drafts (id text)`)
		store := openStore(t, pool, postgres.WithSchema(schema), postgres.WithClock(`(clock_timestamp() + (SELECT by FROM `+quoted+`.passed))`))
		w.Count("draft", func() int { return scalar[int](t, pool, `SELECT count(*) FROM `+quoted+`.drafts`) })
		outside := &counting{World: w, seen: map[string]bool{}}
		return idemtest.Program[payment, string, pgx.Tx]{
			Store: store,
			Start: func(store idem.Store[pgx.Tx]) idem.Contract[payment, string] {
				return pays(store, outside, `INSERT INTO `+quoted+`.drafts VALUES ($1)`)
			},
			Input: func() payment { return payment{"1"} },
			Pass:  func(d time.Duration) { mustExec(t, pool, `UPDATE `+quoted+`.passed SET by = by + $1`, d) },
		}
	},
		idemtest.Effect{Name: "draft", Guard: idem.GuardTransaction},
		idemtest.Effect{Name: "charge", Guard: idem.GuardIdempotencyKey, RemembersFor: 24 * time.Hour},
		idemtest.Effect{Name: "note", Guard: idem.GuardFindFirst},
		idemtest.Effect{Name: "mail", Guard: idem.GuardOnce, IfUnknown: idem.Ask},
	)
}

// counting is the outside world.
type counting struct {
	*idemtest.World
	mu   sync.Mutex
	seen map[string]bool
}

// see tells whether a key is known, which it is from now on.
func (c *counting) see(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.seen[key]
	c.seen[key] = true
	return known
}

func pays(store idem.Store[pgx.Tx], outside *counting, insert string) idem.Contract[payment, string] {
	ledger := idem.NewLedger(store, idem.WithLogger(slog.New(slog.DiscardHandler)))
	effect := func(name string, call func(idem.Call)) idem.Effect[payment, string] {
		return idem.Effect[payment, string]{Name: name, Payload: paymentForm, Call: func(_ context.Context, c idem.Call, _ payment) (string, error) {
			call(c)
			return name, nil
		}}
	}
	effects := []*idem.Guarded[payment, string]{
		idem.Transaction(ledger, idem.Effect[payment, string]{Name: "draft", Payload: paymentForm}, func(ctx context.Context, call idem.TxCall[pgx.Tx], in payment) (string, error) {
			_, err := call.Tx().Exec(ctx, insert, in.ID)
			return "draft", err
		}),
		idem.IdempotencyKey(effect("charge", func(c idem.Call) {
			if !outside.see(c.Key()) {
				outside.Happened("charge")
			}
		}), 24*time.Hour),
		idem.FindFirst(effect("note", func(c idem.Call) {
			outside.see(c.Key())
			outside.Happened("note")
		}), func(_ context.Context, c idem.Call, _ payment) (string, bool, error) {
			outside.mu.Lock()
			defer outside.mu.Unlock()
			return "note", outside.seen[c.Key()], nil
		}, time.Hour),
		idem.Once(effect("mail", func(idem.Call) { outside.Happened("mail") }), idem.Ask),
	}
	return idem.Define(ledger, idem.Spec[payment, string]{
		Kind: "payment", Version: 1, Module: "example.com/shop", Digest: "d1", Payload: paymentForm, Window: idem.Forever(),
		ID:       func(p payment) (idem.WorkID, error) { return idem.HashWorkID([]byte("payment:v1:" + p.ID)), nil },
		Response: idem.Response{WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningError, OtherPayload: idem.OtherPayloadError},
		Retry:    idem.Retry{MaxAttempts: 5, Initial: time.Second, Max: time.Minute, Multiplier: 2},
		Lease:    time.Minute, Timeout: time.Minute,
		Handle: func(ctx context.Context, run *idem.Run, in payment) (string, error) {
			for _, e := range effects {
				if _, err := e.Do(ctx, run, in); err != nil {
					return "", err
				}
			}
			return "paid", nil
		},
	})
}
