// Package byhand is the work of the matrix, written with a table of keys: which
// step an order has reached, and until when somebody is at it.
package byhand

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/bench/matrix"
)

// Tools is this one.
var Tools = []matrix.Tool{{Name: "by hand", Prepare: prepare, Run: run}}

func prepare(ctx context.Context, t matrix.Task) error {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.Exec(ctx, `create table keys (
		key          text primary key,
		step         text not null,
		locked_until timestamptz not null
	)`)
	return err
}

// errBusy: somebody is at the order, or was a moment ago.
var errBusy = errors.New("busy")

const lock = `interval '2 seconds'`

func run(ctx context.Context, t matrix.Task, p *matrix.Client) (out matrix.Outcome, err error) {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return out, err
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil {
		return out, err
	}
	if err := p.Begin(ctx); err != nil {
		return out, err
	}
	o := &order{t.Order, pool, p}
	for err = o.handle(ctx, t.Scenario); errors.Is(err, errBusy); err = o.handle(ctx, t.Scenario) {
		time.Sleep(50 * time.Millisecond)
	}
	return out, errors.Join(err, p.End(ctx))
}

type order struct {
	id     string
	pool   *pgxpool.Pool
	client *matrix.Client
}

func (o *order) handle(ctx context.Context, scenario string) error {
	step, err := o.claim(ctx)
	if err != nil || step == "finished" {
		return err
	}
	switch scenario {
	case "charge":
		return o.charge(ctx, step)
	case "label":
		return o.label(ctx)
	case "search":
		return o.search(ctx)
	}
	return o.book(ctx, step)
}

// claim locks the order, and says how far it has come.
func (o *order) claim(ctx context.Context) (step string, err error) {
	err = o.pool.QueryRow(ctx, `insert into keys values ($1, 'started', clock_timestamp() + `+lock+`)
		on conflict (key) do update set locked_until = excluded.locked_until
		where keys.step <> 'finished' and keys.locked_until <= clock_timestamp()
		returning step`, o.id).Scan(&step)
	if !errors.Is(err, pgx.ErrNoRows) {
		return step, err
	}
	if err := o.pool.QueryRow(ctx, `select step from keys where key = $1`, o.id).Scan(&step); err != nil {
		return "", err
	}
	if step != "finished" {
		return "", errBusy
	}
	return step, nil
}

func (o *order) reached(ctx context.Context, step string) error {
	_, err := o.pool.Exec(ctx, `update keys set step = $2, locked_until = clock_timestamp() + `+lock+` where key = $1`, o.id, step)
	return err
}

func (o *order) charge(ctx context.Context, step string) error {
	if step == "started" {
		if _, err := o.client.Charge(ctx, "charge-"+o.id, o.id); err != nil {
			return err
		}
		if err := o.reached(ctx, "charged"); err != nil {
			return err
		}
	}
	if _, err := o.client.Mail(ctx, o.id); err != nil {
		return err
	}
	return o.reached(ctx, "finished")
}

func (o *order) label(ctx context.Context) error {
	if _, err := o.client.Label(ctx, o.id); err != nil {
		return err
	}
	return o.reached(ctx, "finished")
}

func (o *order) search(ctx context.Context) error {
	found, err := o.client.FindLabel(ctx, o.id)
	if err != nil {
		return err
	}
	if !found.Found {
		return o.label(ctx)
	}
	return o.reached(ctx, "finished")
}

func (o *order) book(ctx context.Context, step string) error {
	if step == "started" {
		err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, matrix.AddAmount, o.id); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `update keys set step = 'booked' where key = $1`, o.id)
			return err
		})
		if err != nil {
			return err
		}
	}
	if _, err := o.client.Publish(ctx, "booked-"+o.id, o.id); err != nil {
		return err
	}
	return o.reached(ctx, "finished")
}
