package invoicing_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing"
	idem "github.com/idemgen/idem/runtime"
)

// deliverTogether delivers each order to each program several times at once, and
// waits for all answers.
func deliverTogether(t *testing.T, orders, times int, programs ...*invoicing.Contracts) {
	t.Helper()
	var all sync.WaitGroup
	start := make(chan struct{})
	for n := range orders {
		for i := range times {
			for _, program := range programs {
				all.Go(func() {
					<-start
					in := order(n + 1)
					in.ReceivedAt = in.ReceivedAt.Add(time.Duration(i) * time.Second)
					result, err := program.OrderPaid.Do(t.Context(), in)
					switch {
					case errors.Is(err, idem.ErrRunning), errors.Is(err, idem.ErrRetryLater):
						// On a busy machine it may take longer than the contract allows.
						// The source will deliver it again, as wantOnce does.
					case err != nil:
						t.Error(err)
					case result.Value.Intent == "" || result.Value.Draft == 0:
						t.Errorf("%s was answered with %+v", in.OrderID, result.Value)
					}
				})
			}
		}
	}
	close(start)
	all.Wait()
}

func TestConcurrentDuplicatesInOneProcessInvoiceOnce(t *testing.T) {
	w := newWorld(t)
	w.payments.SetDelay(5 * time.Millisecond)
	const orders = 8
	deliverTogether(t, orders, 8, w.Contracts)
	w.wantOnce(orders)
}

func TestConcurrentDuplicatesInTwoProcessesInvoiceOnce(t *testing.T) {
	w := newWorld(t)
	w.payments.SetDelay(5 * time.Millisecond)
	other, _ := w.open()
	const orders = 6
	deliverTogether(t, orders, 4, w.Contracts, other)
	w.wantOnce(orders)
}

// wantOnce delivers every order until it is done, and once more: then it must be
// answered from the ledger.
func (w *world) wantOnce(orders int) {
	w.t.Helper()
	for n := range orders {
		in := order(n + 1)
		if _, err := redeliver(w, w.OrderPaid, in); err != nil {
			w.t.Errorf("%s: %v", in.OrderID, err)
		}
		result, err := w.OrderPaid.Do(w.t.Context(), in)
		if err != nil || !result.Replayed || result.ExternalRef != result.Value.Intent {
			w.t.Errorf("%s: %+v, %v", in.OrderID, result, err)
		}
		w.wantCounts(in, counts{1, 1, 1, 1})
	}
}

func TestARedeliveryIsAnsweredAsTheOriginalWas(t *testing.T) {
	w := newWorld(t)
	first, err := w.OrderPaid.Do(t.Context(), order(1))
	if err != nil || first.Replayed {
		t.Fatalf("%+v, %v", first, err)
	}
	w.clock.advance(89 * 24 * time.Hour)
	again, err := w.OrderPaid.Do(t.Context(), order(1)) // received at another time
	if err != nil || !again.Replayed || again.Value != first.Value {
		t.Errorf("%+v, %v, want the value of %+v", again, err, first)
	}
}

func TestAnOrderWithAnotherAmountIsNotInvoicedAgain(t *testing.T) {
	w := newWorld(t)
	in := order(1)
	if _, err := w.OrderPaid.Do(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	other := in
	other.Amount.Minor++
	if _, err := w.OrderPaid.Do(t.Context(), other); !errors.Is(err, idem.ErrPayloadMismatch) {
		t.Errorf("error is %v, want %v", err, idem.ErrPayloadMismatch)
	}
	w.wantCounts(in, counts{1, 1, 1, 1})
}

func TestTwoPeriodsAndTwoTypesAreFourInvoices(t *testing.T) {
	w := newWorld(t)
	refs := make(map[string]bool)
	for _, period := range []string{"2026-10", "2026-11"} {
		for _, kind := range []string{"treatment", "laboratory"} {
			result, err := w.PeriodInvoice.Do(t.Context(), invoicing.BillingRun{PatientID: "p1", Period: period, Type: kind, Amount: euros})
			if err != nil {
				t.Fatal(err)
			}
			refs[result.Value.Intent] = true
		}
	}
	if len(refs) != 4 {
		t.Errorf("%d payment intents, want 4", len(refs))
	}
}
