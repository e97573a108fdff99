package invoicing

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// NewHandler serves the shop's webhook and the operators' dashboard. Both sign
// their requests with secret.
func NewHandler(contracts *Contracts, secret []byte) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/order-paid", deliver(contracts.OrderPaid, secret))
	mux.Handle("POST /invoices", deliver(contracts.PeriodInvoice, secret))
	return mux
}

// deliver hands a signed request to a contract.
func deliver[In, Out any](contract idem.Contract[In, Out], secret []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		if !hmac.Equal([]byte(r.Header.Get(SignatureHeader)), []byte(Sign(secret, body))) {
			http.Error(w, "the signature does not fit", http.StatusUnauthorized)
			return
		}
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			http.Error(w, "the body is not what this address takes: "+err.Error(), http.StatusBadRequest)
			return
		}
		// A source that hangs up wants its answer later, it does not want half of
		// the work: the contract's timeout bounds this, not the connection.
		result, err := contract.Do(context.WithoutCancel(r.Context()), in)
		answer(w, result, err)
	})
}

// Reply is the body of every answer to work.
type Reply[T any] struct {
	WorkID string `json:"work_id,omitempty"`
	State  string `json:"state,omitempty"`
	Result *T     `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// answer acknowledges the message, with a 2xx, only if nobody has to deliver it
// again: see [idem.ShouldAck].
func answer[T any](w http.ResponseWriter, result idem.Result[T], err error) {
	if err == nil {
		w.Header().Set("Idempotent-Replayed", strconv.FormatBool(result.Replayed))
		reply(w, http.StatusOK, Reply[T]{WorkID: result.ID.String(), State: string(result.State), Result: &result.Value})
		return
	}
	slog.Warn("the work gave no result", "error", err)
	body := Reply[T]{Error: err.Error()}
	if e, ok := errors.AsType[*idem.Error](err); ok {
		body = Reply[T]{WorkID: e.ID.String(), State: string(e.State), Error: e.Reason.Error()}
		if !e.RetryAt.IsZero() {
			// Rounded up: a second too early is refused again.
			seconds := max(0, math.Ceil(time.Until(e.RetryAt).Seconds()))
			w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		}
	}
	reply(w, status(err), body)
}

func status(err error) int {
	switch {
	case idem.ShouldAck(err):
		return http.StatusOK // given up for good: the ledger has it, another delivery would change nothing
	case errors.Is(err, idem.ErrIdentity):
		return http.StatusUnprocessableEntity
	case errors.Is(err, idem.ErrRunning), errors.Is(err, idem.ErrPayloadMismatch):
		return http.StatusConflict
	case errors.Is(err, idem.ErrOutcomeUnknown), errors.Is(err, idem.ErrEffectDiverged):
		return http.StatusInternalServerError // a person has to look
	default:
		return http.StatusServiceUnavailable
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		slog.Warn("the source left before its answer", "error", err)
	}
}

// SignatureHeader carries the signature of a request's body.
const SignatureHeader = "X-Signature"

// Sign is the HMAC-SHA-256 of body under secret, in hexadecimal digits.
func Sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
