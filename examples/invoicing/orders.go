package invoicing

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Orders invoices what was ordered. It is safe for concurrent use.
type Orders struct {
	Payments, CRM, Chat API
}

// OrderPaid is what the shop's webhook says.
type OrderPaid struct {
	OrderID  string `json:"order_id"`
	Customer string `json:"customer"`
	ChatID   int64  `json:"chat_id"`
	Amount   Money  `json:"amount"`
	// ReceivedAt is another one with every delivery. The name tells the generator,
	// which leaves it out when it compares payloads.
	ReceivedAt time.Time `json:"received_at"`
}

// Money is an amount in minor units: 1250 EUR is 12.50 €.
type Money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

func (m Money) String() string {
	return fmt.Sprintf("%s %d.%02d", m.Currency, m.Minor/100, m.Minor%100)
}

// Invoice is what came of an order, and what every duplicate of it is answered.
type Invoice struct {
	Draft  int64  `json:"draft"`
	Intent string `json:"intent"`
}

// OrderPaidEffects is all that MarkPaid does to the world.
type OrderPaidEffects interface {
	CreateDraft(ctx context.Context, in Draft) (DraftRow, error)
	CreatePaymentIntent(ctx context.Context, in Charge) (Intent, error)
	AddNote(ctx context.Context, in Note) (NoteRef, error)
	Notify(ctx context.Context, in Message) (Sent, error)
}

// ErrAmount refuses an amount that nobody can be charged.
var ErrAmount = errors.New("the amount is not over zero")

// MarkPaid invoices a paid order. It may run again from the top after any
// failure: effects that have happened answer with what they answered then.
func (o *Orders) MarkPaid(ctx context.Context, effects OrderPaidEffects, in OrderPaid) (Invoice, error) {
	invoice, err := draftAndCharge(ctx, effects, in.OrderID, in.Amount)
	if err != nil {
		return Invoice{}, err
	}
	note := Note{Customer: in.Customer, Text: fmt.Sprintf("Order %s over %s: %s", in.OrderID, in.Amount, invoice.Intent)}
	if _, err := effects.AddNote(ctx, note); err != nil {
		return Invoice{}, fmt.Errorf("note: %w", err)
	}
	// Last, so that an unknown message holds up nothing else.
	message := Message{ChatID: in.ChatID, Text: fmt.Sprintf("Thank you! Order %s over %s is on its way.", in.OrderID, in.Amount)}
	if _, err := effects.Notify(ctx, message); err != nil {
		return Invoice{}, fmt.Errorf("message: %w", err)
	}
	return invoice, nil
}

// BillingRun asks for the invoice of one patient, period and type. An operator
// starts it, and starts it again when it fails.
type BillingRun struct {
	PatientID string `json:"patient_id"`
	Period    string `json:"period"` // such as 2026-11
	Type      string `json:"type"`   // such as treatment or laboratory
	Amount    Money  `json:"amount"`
}

// PeriodInvoiceEffects is all that InvoicePeriod does to the world.
type PeriodInvoiceEffects interface {
	CreateDraft(ctx context.Context, in Draft) (DraftRow, error)
	CreatePaymentIntent(ctx context.Context, in Charge) (Intent, error)
}

// InvoicePeriod invoices one patient for one period.
func (o *Orders) InvoicePeriod(ctx context.Context, effects PeriodInvoiceEffects, in BillingRun) (Invoice, error) {
	return draftAndCharge(ctx, effects, in.PatientID+" "+in.Period+" "+in.Type, in.Amount)
}

// draftAndCharge is what both kinds of invoice have in common.
func draftAndCharge(ctx context.Context, effects PeriodInvoiceEffects, reference string, amount Money) (Invoice, error) {
	if amount.Minor <= 0 {
		return Invoice{}, fmt.Errorf("%s, %s: %w", reference, amount, ErrAmount)
	}
	draft, err := effects.CreateDraft(ctx, Draft{Reference: reference, Amount: amount})
	if err != nil {
		return Invoice{}, fmt.Errorf("draft: %w", err)
	}
	intent, err := effects.CreatePaymentIntent(ctx, Charge{Reference: reference, Amount: amount})
	if err != nil {
		return Invoice{}, fmt.Errorf("payment intent: %w", err)
	}
	return Invoice{Draft: draft.ID, Intent: intent.ID}, nil
}
