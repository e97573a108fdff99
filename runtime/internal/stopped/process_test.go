//go:build unix

package stopped

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
	"github.com/idemgen/idem/runtime/sqlite"
)

// The two processes.
const (
	first  = "first" // is stopped
	second = "second"
)

// jobVariable holds the job of a process that is not the test.
const jobVariable = "IDEM_STOPPED_JOB"

type job struct {
	Client   client
	SQLite   string // a file
	Postgres string // a URL
	Guard    string
}

// report is what a process says of its job on its output.
type report struct {
	Ref   string // of the result
	Error string // the reason why there is none, and its cause
	State idem.State
}

const (
	lease        = 2 * time.Second
	visibleAfter = 500 * time.Millisecond
)

// work does a job.
func work(j job) report {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	contract, err := open(ctx, j)
	if err != nil {
		return report{Error: err.Error()}
	}
	for {
		result, err := contract.Do(ctx, struct{}{})
		e, failed := errors.AsType[*idem.Error](err)
		switch {
		case !failed:
			return report{Ref: result.Value, State: result.State}
		case j.Client.Who == second && ctx.Err() == nil && waits(e.Reason):
			time.Sleep(50 * time.Millisecond)
		default:
			return report{Error: err.Error(), State: e.State}
		}
	}
}

// waits tells whether the second process has to ask again: the first one still has
// the work, or all of the database.
func waits(reason error) bool {
	return reason == idem.ErrRunning || reason == idem.ErrRetryLater || reason == idem.ErrLedger
}

func open(ctx context.Context, j job) (idem.Contract[struct{}, string], error) {
	if j.SQLite != "" {
		store, err := sqlite.Open(ctx, j.SQLite)
		if err != nil {
			return nil, err
		}
		return define(idem.NewLedger(store), j, func(ctx context.Context, tx *sql.Tx, who string) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO drafts VALUES (?)`, who)
			return err
		}), nil
	}
	pool, err := pgxpool.New(ctx, j.Postgres)
	if err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		return nil, err
	}
	return define(idem.NewLedger(store), j, func(ctx context.Context, tx pgx.Tx, who string) error {
		_, err := tx.Exec(ctx, `INSERT INTO drafts VALUES ($1)`, who)
		return err
	}), nil
}

func appendNothing(dst []byte, _ struct{}) ([]byte, error) { return append(dst, "{}"...), nil }

func define[Tx any](ledger *idem.Ledger[Tx], j job, insert func(ctx context.Context, tx Tx, who string) error) idem.Contract[struct{}, string] {
	c, payload := j.Client, idem.Payload[struct{}]{Shape: "1", Append: appendNothing}
	effect := idem.Effect[struct{}, string]{
		Name: "charge", Payload: payload, VisibleAfter: visibleAfter,
		Call: func(ctx context.Context, call idem.Call, _ struct{}) (string, error) {
			c.reach(beforeCall)
			return c.ask(ctx, "/call", url.Values{"key": {call.Key()}})
		},
	}
	var g *idem.Guarded[struct{}, string]
	switch j.Guard {
	case "transaction":
		g = idem.Transaction(ledger, effect, func(ctx context.Context, call idem.TxCall[Tx], _ struct{}) (string, error) {
			err := insert(ctx, call.Tx(), c.Who)
			c.reach(inTx)
			return c.Who, err
		})
	case "idempotency_key":
		g = idem.IdempotencyKey(effect, time.Hour)
	case "upsert":
		g = idem.Upsert(effect)
	case "find_first":
		g = idem.FindFirst(effect, func(ctx context.Context, call idem.Call, _ struct{}) (string, bool, error) {
			ref, err := c.ask(ctx, "/find", url.Values{"key": {call.Key()}})
			return ref, ref != "", err
		}, visibleAfter)
	case "once, ask":
		g = idem.Once(effect, idem.Ask)
	case "once, give_up":
		g = idem.Once(effect, idem.GiveUp)
	case "once, repeat":
		g = idem.Once(effect, idem.Repeat)
	case "repeatable":
		g = idem.Repeatable(effect)
	case "read":
		effect.VisibleAfter = 0
		g = idem.Read(effect)
	default:
		panic("no guard " + j.Guard)
	}
	return idem.Define(ledger, idem.Spec[struct{}, string]{
		Kind: "stopped", Version: 1, Module: "example.com/shop", Digest: "d1",
		ID:      func(struct{}) (idem.WorkID, error) { return workID, nil },
		Payload: payload, Window: idem.Forever(),
		Response: idem.Response{WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningError, OtherPayload: idem.OtherPayloadError},
		Retry:    idem.Retry{MaxAttempts: 10, Initial: 50 * time.Millisecond, Max: 100 * time.Millisecond, Multiplier: 1},
		Lease:    lease, Timeout: 30 * time.Second,
		Effects: []idem.Declared{g},
		Handle: func(ctx context.Context, run *idem.Run, in struct{}) (string, error) {
			if j.Guard == "transaction" {
				c.reach(beforeCall)
			}
			out, err := g.Do(ctx, run, in)
			if errors.Is(err, idem.ErrGivenUp) {
				return "given up", nil
			}
			return out, err
		},
	})
}

var workID = idem.HashWorkID([]byte("stopped:v1:it"))

// runJob is what the other processes do in place of the tests.
func runJob(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	out, err := json.Marshal(work(j))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, string(out))
	return err
}
