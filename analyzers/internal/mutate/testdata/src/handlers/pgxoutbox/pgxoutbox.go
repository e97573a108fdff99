// Package pgxoutbox publishes the rows of an outbox.
package pgxoutbox

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
)

type Row struct {
	ID      string
	Subject string
	Body    []byte
}

type Publisher struct {
	pool *pgxpool.Pool
	js   nats.JetStream
}

func (r *Publisher) Publish(ctx context.Context, row Row) error {
	/*effect[*/if _, err := r.js.Publish(row.Subject, row.Body, nats.MsgId(/*key[*/row.ID/*]*/)); err != nil {
		return err
	}/*]*/
	/*mark[*/if _, err := /*call2[*/r.pool.Exec(ctx, "UPDATE outbox SET published_at = now() WHERE id = $1", row.ID)/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}
