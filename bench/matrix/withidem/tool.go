package withidem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/bench/matrix"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// Tools are idem with a call that is never repeated, and with one that is.
var Tools = []matrix.Tool{
	{Name: "idem", Prepare: prepare, Run: func(ctx context.Context, t matrix.Task, p *matrix.Client) (matrix.Outcome, error) {
		return run(ctx, t, p, func(c *Contracts) idem.Contract[Order, matrix.Answer] {
			switch t.Scenario {
			case "charge":
				return c.ChargeOrder
			case "label":
				return c.LabelOrder
			}
			return c.SearchOrder
		})
	}},
	{Name: "idem, repeatable", Not: []string{"search", "row"}, Prepare: prepare, Run: func(ctx context.Context, t matrix.Task, p *matrix.Client) (matrix.Outcome, error) {
		return run(ctx, t, p, func(c *Contracts) idem.Contract[Order, matrix.Answer] {
			if t.Scenario == "charge" {
				return c.ChargeAgain
			}
			return c.LabelAgain
		})
	}},
}

func prepare(ctx context.Context, t matrix.Task) error {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	return postgres.Migrate(ctx, pool)
}

func run(ctx context.Context, t matrix.Task, p *matrix.Client, choose func(*Contracts) idem.Contract[Order, matrix.Answer]) (out matrix.Outcome, err error) {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return out, err
	}
	defer pool.Close()
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		return out, err
	}
	ledger := idem.NewLedger(store, idem.WithLogger(slog.New(slog.DiscardHandler)))
	defer func() { err = errors.Join(err, ledger.Close(ctx)) }()
	contracts := New(ledger, &Orders{p})
	do := func() error { _, err := choose(contracts).Do(ctx, Order{t.Order}); return err }
	if t.Scenario == "row" {
		do = func() error { _, err := contracts.BookOrder.Do(ctx, Order{t.Order}); return err }
	}
	if err := ledger.Register(ctx); err != nil {
		return out, err
	}
	if err := p.Begin(ctx); err != nil {
		return out, err
	}
	if err := deliver(do); err != nil {
		return out, err
	}
	if err := p.End(ctx); err != nil {
		return out, err
	}
	out.Unknown, err = unknown(ctx, pool)
	return out, err
}

// deliver is a source: it delivers until it need not do so any more.
func deliver(do func() error) error {
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := do()
		if idem.ShouldAck(err) || errors.Is(err, idem.ErrOutcomeUnknown) {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("delivered for half a minute: %w", err)
		}
	}
}

// unknown is what a person finds in the ledger.
func unknown(ctx context.Context, pool *pgxpool.Pool) ([]string, error) {
	rows, err := pool.Query(ctx, `select effect from idem.effect_log where state in ('unknown', 'given_up') order by effect`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
