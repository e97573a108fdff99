package invoicing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/idemgen/idem/examples/invoicing"
)

// A handler is plain Go: it is tested with a fake of its effects, without a
// ledger, a database or a server.

// effects records what a handler asks for, and fails at one of the effects.
type effects struct {
	asked []any
	fails error
	at    int // the effect that fails, from 1
}

func (e *effects) ask(in any) error {
	e.asked = append(e.asked, in)
	if len(e.asked) == e.at {
		return e.fails
	}
	return nil
}

func (e *effects) CreateDraft(_ context.Context, in invoicing.Draft) (invoicing.DraftRow, error) {
	return invoicing.DraftRow{ID: 7}, e.ask(in)
}

func (e *effects) CreatePaymentIntent(_ context.Context, in invoicing.Charge) (invoicing.Intent, error) {
	return invoicing.Intent{ID: "pi_1"}, e.ask(in)
}

func (e *effects) AddNote(_ context.Context, in invoicing.Note) (invoicing.NoteRef, error) {
	return invoicing.NoteRef{ID: "note_1"}, e.ask(in)
}

func (e *effects) Notify(_ context.Context, in invoicing.Message) (invoicing.Sent, error) {
	return invoicing.Sent{MessageID: 1}, e.ask(in)
}

var (
	euros = invoicing.Money{Minor: 1250, Currency: "EUR"}
	paid  = invoicing.OrderPaid{OrderID: "1001", Customer: "ada", ChatID: 42, Amount: euros}

	// wanted is what MarkPaid asks for, in this order.
	wanted = []any{
		invoicing.Draft{Reference: "1001", Amount: euros},
		invoicing.Charge{Reference: "1001", Amount: euros},
		invoicing.Note{Customer: "ada", Text: "Order 1001 over EUR 12.50: pi_1"},
		invoicing.Message{ChatID: 42, Text: "Thank you! Order 1001 over EUR 12.50 is on its way."},
	}
)

func TestAPaidOrderIsDraftedChargedNotedAndConfirmed(t *testing.T) {
	e := new(effects)
	invoice, err := new(invoicing.Orders).MarkPaid(t.Context(), e, paid)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(invoicing.Invoice{Draft: 7, Intent: "pi_1"}, invoice); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wanted, e.asked); diff != "" {
		t.Error(diff)
	}
}

func TestNothingHappensAfterAnEffectThatFailed(t *testing.T) {
	broken := errors.New("broken")
	for at := 1; at <= len(wanted); at++ {
		e := &effects{fails: broken, at: at}
		if _, err := new(invoicing.Orders).MarkPaid(t.Context(), e, paid); !errors.Is(err, broken) {
			t.Errorf("effect %d failed, and the handler says %v", at, err)
		}
		if diff := cmp.Diff(wanted[:at], e.asked); diff != "" {
			t.Errorf("effect %d failed:\n%s", at, diff)
		}
	}
}

func TestAnAmountOfZeroIsRefusedBeforeAnythingHappens(t *testing.T) {
	for _, minor := range []int64{0, -1} {
		e := new(effects)
		run := invoicing.BillingRun{PatientID: "p1", Period: "2026-11", Type: "treatment", Amount: invoicing.Money{Minor: minor, Currency: "EUR"}}
		_, err := new(invoicing.Orders).InvoicePeriod(t.Context(), e, run)
		if !errors.Is(err, invoicing.ErrAmount) || len(e.asked) > 0 {
			t.Errorf("amount %d: error %v, effects %v", minor, err, e.asked)
		}
	}
}

func TestAPeriodInvoiceNamesPatientPeriodAndType(t *testing.T) {
	e := new(effects)
	run := invoicing.BillingRun{PatientID: "p1", Period: "2026-11", Type: "treatment", Amount: euros}
	if _, err := new(invoicing.Orders).InvoicePeriod(t.Context(), e, run); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(e.asked, any(invoicing.Draft{Reference: "p1 2026-11 treatment", Amount: euros})) {
		t.Errorf("asked for %v", e.asked)
	}
}
