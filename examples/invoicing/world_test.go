package invoicing_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing"
	"github.com/idemgen/idem/examples/invoicing/fakes"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// services are the three outside worlds, served over HTTP.
type services struct {
	payments fakes.Payments
	crm      fakes.CRM
	chat     fakes.Chat
	// Their addresses.
	paymentsURL, crmURL, chatURL string
}

// newServices makes the services with their clock and serves them. What tests
// change in them, they change before the first call.
func newServices(t *testing.T, now func() time.Time) *services {
	t.Helper()
	s := new(services)
	s.payments.Now, s.crm.Now = now, now
	for _, one := range []struct {
		handler http.Handler
		url     *string
	}{{&s.payments, &s.paymentsURL}, {&s.crm, &s.crmURL}, {&s.chat, &s.chatURL}} {
		server := httptest.NewServer(one.handler)
		t.Cleanup(server.Close)
		*one.url = server.URL
	}
	return s
}

// clock is one that tests move: the ledger's and the services'.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// world is one database, the services, and the time in all of them.
type world struct {
	*services
	t     *testing.T
	path  string
	clock clock
	db    *sql.DB

	paymentsClient, crmClient, chatClient http.Client

	*invoicing.Contracts
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "invoicing.db")}
	w.services = newServices(t, w.clock.now)
	w.Contracts, w.db = w.open()
	return w
}

// open starts the program once more, as another process would.
func (w *world) open() (*invoicing.Contracts, *sql.DB) {
	w.t.Helper()
	db, ledger, err := invoicing.Open(w.t.Context(), w.path, sqlite.WithClock(w.clock.now))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(ledger.Close(ctx), db.Close()); err != nil {
			w.t.Error(err)
		}
	})
	return invoicing.New(ledger, w.orders()), db
}

// orders calls each service with a client of its own, whose timeout a test may
// shorten.
func (w *world) orders() *invoicing.Orders {
	return &invoicing.Orders{
		Payments: invoicing.API{URL: w.paymentsURL, Client: &w.paymentsClient},
		CRM:      invoicing.API{URL: w.crmURL, Client: &w.crmClient},
		Chat:     invoicing.API{URL: w.chatURL, Client: &w.chatClient},
	}
}

// impatience is a client's timeout in tests of services that hang.
const impatience = 300 * time.Millisecond

// order is the n-th order, of a customer and a chat of its own: so the services
// count by order.
func order(n int) invoicing.OrderPaid {
	return invoicing.OrderPaid{
		OrderID: "order-" + strconv.Itoa(n), Customer: "customer-" + strconv.Itoa(n), ChatID: int64(n),
		Amount: invoicing.Money{Minor: int64(1000 + n), Currency: "EUR"}, ReceivedAt: time.Now(),
	}
}

// counts are how often each effect happened for one order.
type counts struct{ drafts, intents, notes, messages int }

func (w *world) counts(in invoicing.OrderPaid) counts {
	w.t.Helper()
	return counts{
		drafts:   w.drafts(in.OrderID),
		intents:  w.payments.Applied(in.OrderID),
		notes:    w.crm.Applied(in.Customer),
		messages: w.chat.Applied(strconv.FormatInt(in.ChatID, 10)),
	}
}

func (w *world) drafts(reference string) (n int) {
	w.t.Helper()
	if err := w.db.QueryRowContext(w.t.Context(), `select count(*) from invoice_drafts where reference = ?`, reference).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) wantCounts(in invoicing.OrderPaid, want counts) {
	w.t.Helper()
	if got := w.counts(in); got != want {
		w.t.Errorf("%s has %+v, want %+v", in.OrderID, got, want)
	}
}

// redeliver delivers in, as often as it takes, each time when the ledger says
// that it is due, and returns the last answer.
func redeliver[In any](w *world, contract idem.Contract[In, invoicing.Invoice], in In) (idem.Result[invoicing.Invoice], error) {
	w.t.Helper()
	const most = 30
	for range most {
		result, err := contract.Do(w.t.Context(), in)
		e, later := errors.AsType[*idem.Error](err)
		if !later || e.Reason != idem.ErrRetryLater {
			return result, err
		}
		w.due(e)
	}
	w.t.Fatalf("%d deliveries, and it is still to be tried again", most)
	panic("not reached")
}

// due moves the clock to where failed work is due.
func (w *world) due(err error) {
	w.t.Helper()
	e, ok := errors.AsType[*idem.Error](err)
	if !ok || e.RetryAt.IsZero() {
		w.t.Fatalf("the error does not say when to try again: %v", err)
	}
	if d := e.RetryAt.Sub(w.clock.now()); d > 0 {
		w.clock.advance(d + time.Millisecond)
	}
}
