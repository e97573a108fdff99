// Package stripecharge charges a customer when an order is confirmed.
package stripecharge

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/charge"
)

type Order struct {
	ID       string
	Customer string
	Amount   int64
}

type Service struct{ db *sql.DB }

func (s *Service) Confirm(ctx context.Context, o Order) error {
	params := &stripe.ChargeParams{
		Amount:   stripe.Int64(o.Amount),
		Currency: stripe.String("eur"),
		Customer: stripe.String(o.Customer),
	}
	params.IdempotencyKey = stripe.String(/*key[*/"order-" + o.ID + "-charge"/*]*/)
	/*effect[*/ch, err := charge.New(params)
	if err != nil {
		return fmt.Errorf("charge order %s: %w", o.ID, err)
	}/*]*/
	/*mark[*/if _, err := /*call2[*/s.db.ExecContext(ctx, "UPDATE orders SET status = 'paid', charge = $2 WHERE id = $1", o.ID, ch.ID)/*]*/; err != nil {
		return fmt.Errorf("record charge of order %s: %w", o.ID, err)
	}/*]*/
	return nil
}
