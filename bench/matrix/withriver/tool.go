// Package withriver is the work of the matrix, written with River: one unique job
// for each call, each inserted in the transaction that completes what came before.
package withriver

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/idemgen/idem/bench/matrix"
)

// Tools are River with jobs that are tried again, and with calls that are not.
var Tools = []matrix.Tool{
	{Name: "River", Prepare: prepare, Run: func(ctx context.Context, t matrix.Task, p *matrix.Client) (matrix.Outcome, error) {
		return run(ctx, t, p, river.MaxAttemptsDefault)
	}},
	{Name: "River, MaxAttempts 1", Not: []string{"search", "row"}, Prepare: prepare, Run: func(ctx context.Context, t matrix.Task, p *matrix.Client) (matrix.Outcome, error) {
		return run(ctx, t, p, 1)
	}},
}

type chargeArgs struct {
	Order string `json:"order"`
}

func (chargeArgs) Kind() string { return "charge" }

type mailArgs struct {
	Order string `json:"order"`
}

func (mailArgs) Kind() string { return "mail" }

type labelArgs struct {
	Order string `json:"order"`
}

func (labelArgs) Kind() string { return "label" }

type searchArgs struct {
	Order string `json:"order"`
}

func (searchArgs) Kind() string { return "search" }

type publishArgs struct {
	Order string `json:"order"`
}

func (publishArgs) Kind() string { return "publish" }

// unique makes one job of an order that is delivered more than once, also after the
// first was given up.
func unique(attempts int) *river.InsertOpts {
	states := append(rivertype.UniqueOptsByStateDefault(), rivertype.JobStateDiscarded, rivertype.JobStateCancelled)
	return &river.InsertOpts{MaxAttempts: attempts, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: states}}
}

type program struct {
	pool     *pgxpool.Pool
	client   *matrix.Client
	attempts int // of a call that the other side cannot recognise
}

// A job is taken for lost after two seconds here; River's own default is an hour.
const (
	jobTimeout  = 2 * time.Second
	rescueAfter = 2*time.Second + time.Millisecond
)

// atOnce tries again without a pause.
type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

func (p *program) open(again bool) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(p.charge))
	river.AddWorker(workers, river.WorkFunc(p.mail))
	river.AddWorker(workers, river.WorkFunc(p.label))
	river.AddWorker(workers, river.WorkFunc(p.search))
	river.AddWorker(workers, river.WorkFunc(p.publish))
	return river.NewClient(riverpgxv5.New(p.pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}, Workers: workers,
		JobTimeout: jobTimeout, RescueStuckJobsAfter: rescueAfter, RetryPolicy: atOnce{},
		Logger:   slog.New(slog.DiscardHandler),
		TestOnly: true, // maintenance begins without a random pause
		// Who is stopped leads nobody, so that the next process need not wait for the
		// end of its term.
		LeaderElectionDisabled: !again,
	})
}

func prepare(ctx context.Context, t matrix.Task) error {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func run(ctx context.Context, t matrix.Task, p *matrix.Client, attempts int) (out matrix.Outcome, err error) {
	pool, err := pgxpool.New(ctx, t.Database)
	if err != nil {
		return out, err
	}
	if t.Again {
		time.Sleep(rescueAfter + 100*time.Millisecond) // what was stopped is lost by now
	}
	w := &program{pool, p, attempts}
	client, err := w.open(t.Again)
	if err != nil {
		return out, err
	}
	if err := client.Start(ctx); err != nil {
		return out, err
	}
	if err := p.Begin(ctx); err != nil {
		return out, err
	}
	if err := w.deliver(ctx, client, t); err != nil {
		return out, err
	}
	lost, err := over(ctx, t)
	if err != nil {
		return out, err
	}
	out.Unknown = lost
	return out, p.End(ctx)
}

func (p *program) deliver(ctx context.Context, client *river.Client[pgx.Tx], t matrix.Task) (err error) {
	switch t.Scenario {
	case "charge":
		_, err = client.Insert(ctx, chargeArgs{t.Order}, unique(river.MaxAttemptsDefault))
	case "label":
		_, err = client.Insert(ctx, labelArgs{t.Order}, unique(p.attempts))
	case "search":
		_, err = client.Insert(ctx, searchArgs{t.Order}, unique(river.MaxAttemptsDefault))
	case "row":
		err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			inserted, err := client.InsertTx(ctx, tx, publishArgs{t.Order}, unique(river.MaxAttemptsDefault))
			if err != nil || inserted.UniqueSkippedAsDuplicate {
				return err
			}
			_, err = tx.Exec(ctx, matrix.AddAmount, t.Order)
			return err
		})
	}
	return err
}

func (p *program) charge(ctx context.Context, job *river.Job[chargeArgs]) error {
	if _, err := p.client.Charge(ctx, "charge-"+job.Args.Order, job.Args.Order); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		client := river.ClientFromContext[pgx.Tx](ctx)
		if _, err := client.InsertTx(ctx, tx, mailArgs{job.Args.Order}, unique(p.attempts)); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

func (p *program) mail(ctx context.Context, job *river.Job[mailArgs]) error {
	_, err := p.client.Mail(ctx, job.Args.Order)
	return err
}

func (p *program) label(ctx context.Context, job *river.Job[labelArgs]) error {
	_, err := p.client.Label(ctx, job.Args.Order)
	return err
}

func (p *program) search(ctx context.Context, job *river.Job[searchArgs]) error {
	found, err := p.client.FindLabel(ctx, job.Args.Order)
	if err != nil || found.Found {
		return err
	}
	_, err = p.client.Label(ctx, job.Args.Order)
	return err
}

func (p *program) publish(ctx context.Context, job *river.Job[publishArgs]) error {
	_, err := p.client.Publish(ctx, "publish-"+job.Args.Order, job.Args.Order)
	return err
}

// over waits until the last job has ended, and names the calls of which the first
// try was the last: a person finds them among the discarded jobs.
func over(ctx context.Context, t matrix.Task) (lost []string, err error) {
	conn, err := pgx.Connect(ctx, t.Watching)
	if err != nil {
		return nil, err
	}
	last := map[string]string{"charge": "mail", "label": "label", "search": "search", "row": "publish"}[t.Scenario]
	for {
		var ended bool
		err := conn.QueryRow(ctx, `select exists (select from river_job where kind = $1 and finalized_at is not null)
			and not exists (select from river_job where finalized_at is null)`, last).Scan(&ended)
		if err != nil {
			return nil, err
		}
		if ended {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	rows, err := conn.Query(ctx, `select kind from river_job where state in ('discarded', 'cancelled') order by kind`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
