// Package striperefund refunds what support has approved.
package striperefund

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/refund"
)

type Ticket struct {
	ID     string
	Charge string
	Amount int64
}

type Tickets interface {
	Claim(ctx context.Context, id string) (bool, error)
	Release(ctx context.Context, id string) error
	MarkRefunded(ctx context.Context, id string) error
}

var errBusy = errors.New("somebody else refunds it")

type Desk struct{ tickets Tickets }

func refundKey(t Ticket) string { return /*key[*/"refund:" + t.ID/*]*/ }

func (d *Desk) Refund(ctx context.Context, t Ticket) error {
	mine, err := d.tickets.Claim(ctx, t.ID)
	if err != nil {
		return err
	}
	if !mine {
		return errBusy
	}
	params := &stripe.RefundParams{Charge: stripe.String(t.Charge), Amount: stripe.Int64(t.Amount)}
	params.SetIdempotencyKey(/*key[*/refundKey(t)/*]*/)
	if _, err := refund.New(params); err != nil {
		return errors.Join(err, d.tickets.Release(ctx, t.ID))
	}
	/*mark[*/if err := /*call[*/d.tickets.MarkRefunded(ctx, t.ID)/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}
