// Package amqpinvoice issues the invoices that a queue asks for.
package amqpinvoice

import (
	"context"
	"encoding/json"
	"log"

	"github.com/rabbitmq/amqp091-go"
)

type Request struct {
	ID     string
	Amount int64
}

type Billing interface {
	IssueInvoice(ctx context.Context, id string, amount int64) error
}

type Worker struct{ billing Billing }

func (w *Worker) Handle(ctx context.Context, d amqp091.Delivery) {
	var r Request
	if err := json.Unmarshal(d.Body, &r); err != nil {
		log.Printf("no request: %v", err)
		d.Nack(false, false)
		return
	}
	/*effect[*/if err := w.billing.IssueInvoice(ctx, r.ID, r.Amount); err != nil {
		log.Printf("invoice %s: %v", r.ID, err)
		/*nack:d.Ack(false)[*/d.Nack(false, true)/*]*/
		return
	}/*]*/
	/*ack[*/d.Ack(false)/*]*/
}
