package invoicing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing"
	"github.com/idemgen/idem/examples/invoicing/fakes"
	idem "github.com/idemgen/idem/runtime"
)

// TestAServiceThatGoesWrongIsAskedAgainAndAppliesOnce: whatever a provider with
// keys and a CRM that can be searched do, the order ends up invoiced once.
func TestAServiceThatGoesWrongIsAskedAgainAndAppliesOnce(t *testing.T) {
	faults := map[string][]fakes.Fault{
		"it applies and hangs":                     {fakes.AppliedHang},
		"it applies and answers 500":               {fakes.AppliedError},
		"it applies and resets the connection":     {fakes.AppliedReset},
		"it answers 500 and does nothing":          {fakes.Error},
		"it resets the connection, does nothing":   {fakes.Reset},
		"it answers 429 twice":                     {fakes.TooManyRequests, fakes.TooManyRequests},
		"429, then 500, then applied without word": {fakes.TooManyRequests, fakes.Error, fakes.AppliedReset},
	}
	services := map[string]func(w *world, faults []fakes.Fault){
		"payments": func(w *world, faults []fakes.Fault) {
			w.payments.Next(faults...)
			w.paymentsClient.Timeout = impatience
		},
		"crm": func(w *world, faults []fakes.Fault) {
			w.crm.Next(faults...)
			w.crmClient.Timeout = impatience
		},
	}
	for service, set := range services {
		for name, faults := range faults {
			t.Run(service+": "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				set(w, faults)
				_, err := w.OrderPaid.Do(t.Context(), order(1))
				if !errors.Is(err, idem.ErrRetryLater) || idem.ShouldAck(err) {
					t.Fatalf("the first delivery says %v, want %v, not to be acknowledged", err, idem.ErrRetryLater)
				}
				if w.chat.Applied("1") != 0 {
					t.Error("the customer was told before the rest was done")
				}
				if _, err := redeliver(w, w.OrderPaid, order(1)); err != nil {
					t.Fatal(err)
				}
				w.wantCounts(order(1), counts{1, 1, 1, 1})
			})
		}
	}
}

// TestAMessageThatMayHaveBeenSentIsNotSentAgain: nobody can ask the chat, so
// nobody guesses.
func TestAMessageThatMayHaveBeenSentIsNotSentAgain(t *testing.T) {
	for _, test := range []struct {
		fault fakes.Fault
		sent  int
	}{
		{fakes.AppliedHang, 1}, {fakes.AppliedError, 1}, {fakes.AppliedReset, 1},
		{fakes.Error, 0}, {fakes.Reset, 0},
	} {
		t.Run(string(test.fault), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.chat.Next(test.fault)
			w.chatClient.Timeout = impatience
			for range 3 {
				_, err := w.OrderPaid.Do(t.Context(), order(1))
				e, ok := errors.AsType[*idem.Error](err)
				if !ok || e.Reason != idem.ErrOutcomeUnknown || e.State != idem.StateUnknown {
					t.Fatalf("the delivery says %v, want %v", err, idem.ErrOutcomeUnknown)
				}
				w.clock.advance(time.Hour)
			}
			w.wantCounts(order(1), counts{1, 1, 1, test.sent})
		})
	}
}

func TestAMessageThatWasRefusedForNowIsSentLater(t *testing.T) {
	w := newWorld(t)
	w.chat.Next(fakes.TooManyRequests)
	if _, err := redeliver(w, w.OrderPaid, order(1)); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(order(1), counts{1, 1, 1, 1})
}

// TestALostNoteIsLookedForOnlyOnceItCanBeFound: the CRM's search lags, so the
// next attempt waits for visible_after.
func TestALostNoteIsLookedForOnlyOnceItCanBeFound(t *testing.T) {
	w := newWorld(t)
	const visibleAfter = 2 * time.Second // of the contract
	w.crm.Lag = visibleAfter - 500*time.Millisecond
	w.crm.Next(fakes.AppliedReset)
	began := w.clock.now()
	_, err := w.OrderPaid.Do(t.Context(), order(1))
	e, ok := errors.AsType[*idem.Error](err)
	if !ok || e.RetryAt.Before(began.Add(visibleAfter)) {
		t.Fatalf("the next attempt is not put off until the note can be found: %v", err)
	}
	if _, err := redeliver(w, w.OrderPaid, order(1)); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(order(1), counts{1, 1, 1, 1})
}

func TestASearchThatFailsDoesNotMeanThatTheNoteIsMissing(t *testing.T) {
	w := newWorld(t)
	w.crm.Next(fakes.AppliedReset)
	w.crm.Search.Next(fakes.Error, fakes.Reset, fakes.TooManyRequests)
	if _, err := redeliver(w, w.OrderPaid, order(1)); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(order(1), counts{1, 1, 1, 1})
}

// TestALagOverWhatIsDeclaredCostsOneNote is what find_first does not promise.
func TestALagOverWhatIsDeclaredCostsOneNote(t *testing.T) {
	w := newWorld(t)
	w.crm.Lag = time.Hour
	w.crm.Next(fakes.AppliedReset)
	if _, err := redeliver(w, w.OrderPaid, order(1)); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(order(1), counts{1, 1, 2, 1})
}

// TestAnIntentIsUnknownOnceTheProviderHasForgottenTheKey: after the provider's
// memory a repeat would be a second payment.
func TestAnIntentIsUnknownOnceTheProviderHasForgottenTheKey(t *testing.T) {
	for _, test := range []struct {
		later time.Duration
		want  error
	}{{23 * time.Hour, nil}, {25 * time.Hour, idem.ErrOutcomeUnknown}} {
		t.Run(test.later.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.payments.RemembersFor = 24 * time.Hour
			w.payments.Next(fakes.AppliedReset)
			if _, err := w.OrderPaid.Do(t.Context(), order(1)); !errors.Is(err, idem.ErrRetryLater) {
				t.Fatal(err)
			}
			w.clock.advance(test.later)
			if _, err := w.OrderPaid.Do(t.Context(), order(1)); !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if n := w.payments.Applied(order(1).OrderID); n != 1 {
				t.Errorf("%d payment intents, want 1", n)
			}
		})
	}
}

// TestAProviderThatReplaysItsErrorEndsInDeadWork: some providers store a 500 and
// answer with it ever after. That it was applied cannot be seen, and a new key
// would pay twice: the attempts are used up, and a person has to look.
func TestAProviderThatReplaysItsErrorEndsInDeadWork(t *testing.T) {
	w := newWorld(t)
	w.payments.StoresErrors = true
	w.payments.Next(fakes.AppliedError)
	_, err := redeliver(w, w.OrderPaid, order(1))
	if !errors.Is(err, idem.ErrDead) || !idem.ShouldAck(err) {
		t.Errorf("error is %v, want %v", err, idem.ErrDead)
	}
	w.wantCounts(order(1), counts{drafts: 1, intents: 1})
}

// TestAnAmountThatNobodyCanPayIsNotTriedAgain: the contract lists ErrAmount as
// permanent.
func TestAnAmountThatNobodyCanPayIsNotTriedAgain(t *testing.T) {
	w := newWorld(t)
	in := order(1)
	in.Amount.Minor = 0
	_, err := w.OrderPaid.Do(t.Context(), in)
	e, ok := errors.AsType[*idem.Error](err)
	if !ok || e.Reason != idem.ErrDead || e.Attempt != 1 || !errors.Is(err, invoicing.ErrAmount) {
		t.Errorf("error is %v, want %v at the first attempt", err, idem.ErrDead)
	}
	w.wantCounts(in, counts{})
}

// TestARunThatIsStartedAgainByHandReusesTheDraft: the payment call timed out, and
// an operator presses Run until it works. One draft, one intent.
func TestARunThatIsStartedAgainByHandReusesTheDraft(t *testing.T) {
	w := newWorld(t)
	w.payments.Next(fakes.AppliedHang)
	w.paymentsClient.Timeout = impatience
	run := invoicing.BillingRun{PatientID: "p1", Period: "2026-11", Type: "treatment", Amount: euros}
	const reference = "p1 2026-11 treatment"
	if _, err := w.PeriodInvoice.Do(t.Context(), run); !errors.Is(err, idem.ErrRetryLater) {
		t.Fatalf("the first run says %v, want %v", err, idem.ErrRetryLater)
	}
	if drafts, intents := w.drafts(reference), w.payments.Applied(reference); drafts != 1 || intents != 1 {
		t.Fatalf("after the first run: %d drafts, %d intents", drafts, intents)
	}
	result, err := redeliver(w, w.PeriodInvoice, run)
	if err != nil || result.Value.Draft != 1 {
		t.Errorf("the second run says %+v, %v", result, err)
	}
	if again, err := w.PeriodInvoice.Do(t.Context(), run); err != nil || !again.Replayed || again.Value != result.Value {
		t.Errorf("the third run says %+v, %v", again, err)
	}
	if drafts, intents := w.drafts(reference), w.payments.Applied(reference); drafts != 1 || intents != 1 {
		t.Errorf("at last: %d drafts, %d intents, want 1 of each", drafts, intents)
	}
}
