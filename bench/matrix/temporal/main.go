// Command temporal is the work of the matrix, written with Temporal: a workflow
// whose ID is the order, its calls as activities.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"github.com/idemgen/idem/bench/matrix"
)

func main() {
	tools := []matrix.Tool{
		{Name: "Temporal", Prepare: prepare, Run: run(0)},
		{Name: "Temporal, MaximumAttempts 1", Prepare: prepare, Run: run(1)},
	}
	if err := matrix.Main(tools); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// prepare creates the table that makes the row's activity one that can be repeated.
func prepare(ctx context.Context, t matrix.Task) (err error) {
	conn, err := pgx.Connect(ctx, t.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, `create table processed (key text primary key)`)
	return err
}

// An activity or a task of a workflow is taken for lost after two seconds.
const lost = 2 * time.Second

// run starts a worker and delivers; the calls that the other side cannot recognise
// have so many attempts, 0 for as many as it takes.
func run(attempts int32) func(ctx context.Context, t matrix.Task, p *matrix.Client) (matrix.Outcome, error) {
	return func(ctx context.Context, t matrix.Task, p *matrix.Client) (out matrix.Outcome, err error) {
		c, err := connect(p)
		if err != nil {
			return out, err
		}
		pool, err := pgxpool.New(ctx, t.Database)
		if err != nil {
			return out, err
		}
		w := worker.New(c, t.Order, worker.Options{StickyScheduleToStartTimeout: lost})
		w.RegisterActivity(&activities{p, pool})
		orders := &orders{attempts}
		w.RegisterWorkflow(orders.Charge)
		w.RegisterWorkflow(orders.Label)
		w.RegisterWorkflow(orders.Search)
		w.RegisterWorkflow(orders.Book)
		if err := w.Start(); err != nil {
			return out, err
		}
		if err := p.Begin(ctx); err != nil {
			return out, err
		}
		flow := map[string]any{"charge": orders.Charge, "label": orders.Label, "search": orders.Search, "row": orders.Book}[t.Scenario]
		// The handle is that of the first delivery, if this is another.
		handle, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: t.Order, TaskQueue: t.Order, WorkflowTaskTimeout: lost,
			WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, flow, t.Order)
		if err != nil {
			return out, err
		}
		if err := handle.Get(ctx, &out); err != nil {
			return out, err
		}
		return out, p.End(ctx)
	}
}

// connect asks before and after each request to the server whether to go on.
func connect(p *matrix.Client) (client.Client, error) {
	watched := func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		name := path.Base(method)
		if err := p.Point(ctx, "before "+name); err != nil {
			return err
		}
		err := invoke(ctx, method, in, out, conn, opts...)
		return errors.Join(err, p.Point(ctx, "after "+name))
	}
	return client.Dial(client.Options{
		HostPort: os.Getenv(matrix.TemporalVariable), Namespace: os.Getenv(matrix.NamespaceVariable),
		Logger:            log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(watched)}},
	})
}

type orders struct{ attempts int32 }

func options(ctx workflow.Context, attempts int32) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: lost,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 10 * time.Millisecond, BackoffCoefficient: 1, MaximumAttempts: attempts},
	})
}

// once calls what may not be repeated, and says so if nobody knows what became of it.
func (o *orders) once(ctx workflow.Context, effect string, activity any, order string) (out matrix.Outcome, err error) {
	err = workflow.ExecuteActivity(options(ctx, o.attempts), activity, order).Get(ctx, nil)
	if _, ok := errors.AsType[*temporal.ActivityError](err); ok && o.attempts == 1 {
		return matrix.Outcome{Unknown: []string{effect}}, nil
	}
	return out, err
}

// Charge is a workflow.
func (o *orders) Charge(ctx workflow.Context, order string) (matrix.Outcome, error) {
	var a *activities
	if err := workflow.ExecuteActivity(options(ctx, 0), a.Charge, order).Get(ctx, nil); err != nil {
		return matrix.Outcome{}, err
	}
	return o.once(ctx, "mail", a.Mail, order)
}

// Label is a workflow.
func (o *orders) Label(ctx workflow.Context, order string) (matrix.Outcome, error) {
	var a *activities
	return o.once(ctx, "label", a.Label, order)
}

// Search is a workflow.
func (o *orders) Search(ctx workflow.Context, order string) (matrix.Outcome, error) {
	var a *activities
	return matrix.Outcome{}, workflow.ExecuteActivity(options(ctx, 0), a.Search, order).Get(ctx, nil)
}

// Book is a workflow.
func (o *orders) Book(ctx workflow.Context, order string) (matrix.Outcome, error) {
	var a *activities
	if err := workflow.ExecuteActivity(options(ctx, 0), a.Row, order).Get(ctx, nil); err != nil {
		return matrix.Outcome{}, err
	}
	return matrix.Outcome{}, workflow.ExecuteActivity(options(ctx, 0), a.Publish, order).Get(ctx, nil)
}

type activities struct {
	client *matrix.Client
	pool   *pgxpool.Pool
}

// Charge has a key that is the same in every attempt.
func (a *activities) Charge(ctx context.Context, order string) (matrix.Answer, error) {
	return a.client.Charge(ctx, order+"-charge", order)
}

// Mail sends.
func (a *activities) Mail(ctx context.Context, order string) (matrix.Answer, error) {
	return a.client.Mail(ctx, order)
}

// Label makes one.
func (a *activities) Label(ctx context.Context, order string) (matrix.Answer, error) {
	return a.client.Label(ctx, order)
}

// Search makes one if there is none.
func (a *activities) Search(ctx context.Context, order string) (matrix.Answer, error) {
	if found, err := a.client.FindLabel(ctx, order); err != nil || found.Found {
		return found, err
	}
	return a.client.Label(ctx, order)
}

// Row adds the amount once for each key.
func (a *activities) Row(ctx context.Context, order string) error {
	return pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
		first, err := tx.Exec(ctx, `insert into processed values ($1) on conflict do nothing`, order+"-row")
		if err != nil || first.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, matrix.AddAmount, order)
		return err
	})
}

// Publish has an ID that is the same in every attempt.
func (a *activities) Publish(ctx context.Context, order string) (matrix.Answer, error) {
	return a.client.Publish(ctx, order+"-publish", order)
}
