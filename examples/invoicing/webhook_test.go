package invoicing_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing"
	"github.com/idemgen/idem/examples/invoicing/fakes"
	idem "github.com/idemgen/idem/runtime"
)

// contract is a fake of a generated one: what a call site is tested with.
type contract struct {
	result idem.Result[invoicing.Invoice]
	err    error
	got    []invoicing.OrderPaid
	ended  bool // the context
}

func (c *contract) Do(ctx context.Context, in invoicing.OrderPaid) (idem.Result[invoicing.Invoice], error) {
	c.got, c.ended = append(c.got, in), ctx.Err() != nil
	return c.result, c.err
}

func (c *contract) ID(invoicing.OrderPaid) (idem.WorkID, error) { return idem.WorkID{}, nil }

var secret = []byte("secret")

func post(ctx context.Context, contracts *invoicing.Contracts, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	r.Header.Set(invoicing.SignatureHeader, invoicing.Sign(secret, []byte(body)))
	w := httptest.NewRecorder()
	invoicing.NewHandler(contracts, secret).ServeHTTP(w, r)
	return w
}

func TestAnAnswerAcknowledgesOnlyWhatNeedsNoOtherDelivery(t *testing.T) {
	soon := time.Now().Add(90 * time.Second)
	for name, test := range map[string]struct {
		err        error
		status     int
		retryAfter bool
	}{
		"done":               {nil, 200, false},
		"dead":               {&idem.Error{Reason: idem.ErrDead, State: idem.StateDead}, 200, false},
		"failed":             {&idem.Error{Reason: idem.ErrRetryLater, State: idem.StateFailed, RetryAt: soon}, 503, true},
		"running":            {&idem.Error{Reason: idem.ErrRunning, State: idem.StateRunning}, 409, false},
		"other payload":      {&idem.Error{Reason: idem.ErrPayloadMismatch}, 409, false},
		"unknown":            {&idem.Error{Reason: idem.ErrOutcomeUnknown, State: idem.StateUnknown}, 500, false},
		"no identity":        {&idem.Error{Reason: idem.ErrIdentity}, 422, false},
		"no ledger":          {&idem.Error{Reason: idem.ErrLedger}, 503, false},
		"lease lost":         {&idem.Error{Reason: idem.ErrLeaseLost}, 503, false},
		"an error of others": {errors.New("broken"), 503, false},
	} {
		t.Run(name, func(t *testing.T) {
			answer := post(t.Context(), &invoicing.Contracts{OrderPaid: &contract{err: test.err}}, "/webhooks/order-paid", `{"order_id":"1001"}`)
			if answer.Code != test.status {
				t.Errorf("status %d, want %d", answer.Code, test.status)
			}
			if acknowledged := answer.Code/100 == 2; acknowledged != idem.ShouldAck(test.err) {
				t.Errorf("acknowledged is %t", acknowledged)
			}
			seconds, err := strconv.Atoi(answer.Header().Get("Retry-After"))
			if given := err == nil; given != test.retryAfter || given && (seconds < 85 || seconds > 90) {
				t.Errorf("Retry-After is %q", answer.Header().Get("Retry-After"))
			}
		})
	}
}

func TestARequestThatIsNotSignedOrNotReadableRunsNothing(t *testing.T) {
	c := new(contract)
	handler := invoicing.NewHandler(&invoicing.Contracts{OrderPaid: c}, secret)
	for name, test := range map[string]struct {
		body, signature string
		status          int
	}{
		"no signature":    {`{"order_id":"1001"}`, "", 401},
		"another's":       {`{"order_id":"1001"}`, invoicing.Sign([]byte("other"), []byte(`{"order_id":"1001"}`)), 401},
		"of another body": {`{"order_id":"1001"}`, invoicing.Sign(secret, []byte(`{"order_id":"1002"}`)), 401},
		"no JSON":         {`order`, invoicing.Sign(secret, []byte(`order`)), 400},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/order-paid", strings.NewReader(test.body))
		r.Header.Set(invoicing.SignatureHeader, test.signature)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s: status %d, want %d", name, w.Code, test.status)
		}
	}
	if len(c.got) != 0 {
		t.Errorf("it ran %v", c.got)
	}
}

// TestASourceThatHangsUpDoesNotCutTheWorkInHalf: its connection's context ends,
// the work's does not.
func TestASourceThatHangsUpDoesNotCutTheWorkInHalf(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	c := new(contract)
	post(ctx, &invoicing.Contracts{OrderPaid: c}, "/webhooks/order-paid", `{"order_id":"1001"}`)
	if len(c.got) != 1 || c.ended {
		t.Errorf("handled %d times, with a context that has ended: %t", len(c.got), c.ended)
	}
}

func TestAnOrderWithoutAnIDIsNotAcknowledged(t *testing.T) {
	w := newWorld(t)
	if answer := post(t.Context(), w.Contracts, "/webhooks/order-paid", `{"amount":{"minor":1,"currency":"EUR"}}`); answer.Code != 422 {
		t.Errorf("status %d: %s", answer.Code, answer.Body)
	}
}

// TestAnOperatorWhoPressesRunAgainGetsTheInvoice is the second story over HTTP:
// failure with a time to try again, then the invoice, then the same one.
func TestAnOperatorWhoPressesRunAgainGetsTheInvoice(t *testing.T) {
	w := newWorld(t)
	const body = `{"patient_id":"p1","period":"2026-11","type":"treatment","amount":{"minor":1250,"currency":"EUR"}}`
	w.payments.Next(fakes.AppliedError)
	press := func() (int, http.Header, invoicing.Reply[invoicing.Invoice]) {
		answer := post(t.Context(), w.Contracts, "/invoices", body)
		var reply invoicing.Reply[invoicing.Invoice]
		if err := json.Unmarshal(answer.Body.Bytes(), &reply); err != nil {
			t.Fatal(err)
		}
		return answer.Code, answer.Header(), reply
	}
	code, header, reply := press()
	if code != 503 || header.Get("Retry-After") == "" || reply.State != string(idem.StateFailed) || reply.WorkID == "" {
		t.Errorf("first: status %d, %v, %+v", code, header, reply)
	}
	w.clock.advance(time.Minute)
	for _, replayed := range []string{"false", "true"} {
		code, header, reply = press()
		want := invoicing.Invoice{Draft: 1, Intent: "pi_1"}
		if code != 200 || header.Get("Idempotent-Replayed") != replayed || reply.Result == nil || *reply.Result != want {
			t.Errorf("then: status %d, %v, %+v", code, header, reply)
		}
	}
	if drafts, intents := w.drafts("p1 2026-11 treatment"), w.payments.Applied("p1 2026-11 treatment"); drafts != 1 || intents != 1 {
		t.Errorf("%d drafts, %d intents, want 1 of each", drafts, intents)
	}
}
