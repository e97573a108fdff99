// Package billing charges orders and mails their receipts.
//
// The handler is plain Go. What must not happen twice is declared beside it, in
// billing.idem.yaml, and idemgen writes billing_idem.go from that.
package billing

//go:generate go tool idemgen

import (
	"context"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

// Order is a webhook's payload. Money is in cents.
type Order struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Cents int64  `json:"cents"`
}

// Bill is what became of an order.
type Bill struct {
	ChargeID string `json:"charge_id"`
	// MailID is empty if nobody knows whether the receipt went out.
	MailID string `json:"mail_id"`
}

// BillEffects is what Bill does to the world. The methods are the effects of the
// contract, one to one; a test of Bill passes a fake.
type BillEffects interface {
	Charge(ctx context.Context, in Charge) (Charged, error)
	SendReceipt(ctx context.Context, in Receipt) (Sent, error)
}

// Shop bills orders through a payment provider and a mail provider.
type Shop struct {
	Payments, Mail *Client
}

// Bill charges an order and mails the receipt.
func (s *Shop) Bill(ctx context.Context, effects BillEffects, order Order) (Bill, error) {
	charged, err := effects.Charge(ctx, Charge{OrderID: order.ID, Cents: order.Cents})
	if err != nil {
		return Bill{}, fmt.Errorf("charge: %w", err)
	}
	sent, err := effects.SendReceipt(ctx, Receipt{OrderID: order.ID, To: order.Email, Cents: order.Cents})
	// Given up means that it may have gone out. The money is what counts here, so
	// the order is billed all the same.
	if err != nil && !errors.Is(err, idem.ErrGivenUp) {
		return Bill{}, fmt.Errorf("send receipt: %w", err)
	}
	return Bill{ChargeID: charged.ID, MailID: sent.ID}, nil
}

// charge sends the effect's key along. It is the same in every attempt, so a
// provider that honours keys answers a repeat with the first charge.
func (s *Shop) charge(ctx context.Context, call idem.Call, in Charge) (Charged, error) {
	return s.Payments.Charge(ctx, call.Key(), in)
}

func (s *Shop) sendReceipt(ctx context.Context, _ idem.Call, in Receipt) (Sent, error) {
	return s.Mail.Send(ctx, in)
}
