// Package withdbos is the work of the matrix, written with DBOS Transact: a workflow
// whose ID is the order, its calls as steps, the row as a transaction.
package withdbos

import (
	"context"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/bench/matrix"
)

// Tools is this one.
var Tools = []matrix.Tool{{Name: "DBOS", Prepare: prepare, Run: run}}

type program struct {
	client *matrix.Client
	source *dbos.DataSource
}

// start connects, and recovers what an earlier process of the same executor has left.
func start(ctx context.Context, t matrix.Task, p *matrix.Client) (dbos.Context, *program, *pgxpool.Pool, error) {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := dbos.NewContext(ctx, dbos.Config{
		AppName: "matrix", SystemDBPool: pool, ApplicationVersion: "1", ExecutorID: "local",
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, nil, err
	}
	source, err := dbos.NewDataSource(d, pool)
	if err != nil {
		return nil, nil, nil, err
	}
	w := &program{p, source}
	dbos.RegisterWorkflow(d, w.charge, dbos.WithWorkflowName("charge"))
	dbos.RegisterWorkflow(d, w.label, dbos.WithWorkflowName("label"))
	dbos.RegisterWorkflow(d, w.search, dbos.WithWorkflowName("search"))
	dbos.RegisterWorkflow(d, w.book, dbos.WithWorkflowName("row"))
	return d, w, pool, dbos.Launch(d)
}

func prepare(ctx context.Context, t matrix.Task) error {
	d, _, pool, err := start(ctx, t, nil)
	if err != nil {
		return err
	}
	dbos.Shutdown(d, time.Second)
	pool.Close()
	return nil
}

func run(ctx context.Context, t matrix.Task, p *matrix.Client) (out matrix.Outcome, err error) {
	d, w, _, err := start(ctx, t, p)
	if err != nil {
		return out, err
	}
	if err := p.Begin(ctx); err != nil {
		return out, err
	}
	handle, err := dbos.RunWorkflow(d, w.workflow(t.Scenario), t.Order, dbos.WithWorkflowID(t.Order))
	if err != nil {
		return out, err
	}
	if _, err := handle.GetResult(); err != nil {
		return out, err
	}
	return out, p.End(ctx)
}

func (p *program) workflow(scenario string) dbos.Workflow[string, string] {
	switch scenario {
	case "charge":
		return p.charge
	case "label":
		return p.label
	case "search":
		return p.search
	}
	return p.book
}

func (p *program) charge(ctx dbos.Context, order string) (string, error) {
	id, err := dbos.GetWorkflowID(ctx)
	if err != nil {
		return "", err
	}
	charged, err := dbos.RunAsStep(ctx, func(ctx context.Context) (matrix.Answer, error) {
		return p.client.Charge(ctx, id+"-charge", order)
	}, dbos.WithStepName("charge"))
	if err != nil {
		return "", err
	}
	_, err = dbos.RunAsStep(ctx, func(ctx context.Context) (matrix.Answer, error) {
		return p.client.Mail(ctx, order)
	}, dbos.WithStepName("mail"))
	return charged.Ref, err
}

func (p *program) label(ctx dbos.Context, order string) (string, error) {
	made, err := dbos.RunAsStep(ctx, func(ctx context.Context) (matrix.Answer, error) {
		return p.client.Label(ctx, order)
	}, dbos.WithStepName("label"))
	return made.Ref, err
}

func (p *program) search(ctx dbos.Context, order string) (string, error) {
	made, err := dbos.RunAsStep(ctx, func(ctx context.Context) (matrix.Answer, error) {
		if found, err := p.client.FindLabel(ctx, order); err != nil || found.Found {
			return found, err
		}
		return p.client.Label(ctx, order)
	}, dbos.WithStepName("label"))
	return made.Ref, err
}

func (p *program) book(ctx dbos.Context, order string) (string, error) {
	id, err := dbos.GetWorkflowID(ctx)
	if err != nil {
		return "", err
	}
	_, err = dbos.RunAsTransaction(ctx, p.source, func(ctx context.Context, tx dbos.Tx) (string, error) {
		_, err := tx.Exec(ctx, matrix.AddAmount, order)
		return order, err
	})
	if err != nil {
		return "", err
	}
	sent, err := dbos.RunAsStep(ctx, func(ctx context.Context) (matrix.Answer, error) {
		return p.client.Publish(ctx, id+"-publish", order)
	}, dbos.WithStepName("publish"))
	return sent.Ref, err
}
