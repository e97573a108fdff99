package main

import (
	"context"
	"fmt"

	"example.com/billing/billing"
)

// naive is what everybody writes first: charge, then mail.
type naive struct {
	payments, mail *billing.Client
}

func (n naive) bill(ctx context.Context, order billing.Order) (billing.Bill, error) {
	charged, err := n.payments.Charge(ctx, "", billing.Charge{OrderID: order.ID, Cents: order.Cents})
	if err != nil {
		return billing.Bill{}, fmt.Errorf("charge: %w", err)
	}
	sent, err := n.mail.Send(ctx, billing.Receipt{OrderID: order.ID, To: order.Email, Cents: order.Cents})
	if err != nil {
		return billing.Bill{}, fmt.Errorf("send receipt: %w", err)
	}
	return billing.Bill{ChargeID: charged.ID, MailID: sent.ID}, nil
}
