package invoicing

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing/fakes"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
	"github.com/idemgen/idem/runtime/sqlite"
)

// The worlds in which the generated tests stop the program: a database and the
// three services, which count what they do.

//idem:fakes kind=order_paid
func orderPaidWorld(t *testing.T, w *idemtest.World) idemtest.Program[OrderPaid, Invoice, *sql.Tx] {
	store, orders := crashWorld(t, w)
	return idemtest.Program[OrderPaid, Invoice, *sql.Tx]{
		Store: store,
		Start: func(store idem.Store[*sql.Tx]) idem.Contract[OrderPaid, Invoice] {
			return New(idem.NewLedger(store), orders()).OrderPaid
		},
		Input: func() OrderPaid {
			return OrderPaid{OrderID: "1", Customer: "ada", ChatID: 7, Amount: Money{1250, "EUR"}, ReceivedAt: w.Now()}
		},
	}
}

//idem:fakes kind=period_invoice
func periodInvoiceWorld(t *testing.T, w *idemtest.World) idemtest.Program[BillingRun, Invoice, *sql.Tx] {
	store, orders := crashWorld(t, w)
	return idemtest.Program[BillingRun, Invoice, *sql.Tx]{
		Store: store,
		Start: func(store idem.Store[*sql.Tx]) idem.Contract[BillingRun, Invoice] {
			return New(idem.NewLedger(store), orders()).PeriodInvoice
		},
		Input: func() BillingRun {
			return BillingRun{PatientID: "ada", Period: "2026-11", Type: "treatment", Amount: Money{1250, "EUR"}}
		},
	}
}

// crashWorld makes the outside world. orders is called by each process.
func crashWorld(t *testing.T, w *idemtest.World) (store idem.Store[*sql.Tx], orders func() *Orders) {
	payments, crm, chat := new(fakes.Payments), new(fakes.CRM), new(fakes.Chat)
	payments.Now, crm.Now, crm.Lag = w.Now, w.Now, time.Second
	w.Count("create_payment_intent", payments.Total)
	w.Count("add_note", crm.Total)
	w.Count("notify", chat.Total)
	serve := func(h http.Handler) API {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return API{URL: server.URL, Client: server.Client()}
	}
	outside := Orders{Payments: serve(payments), CRM: serve(crm), Chat: serve(chat)}

	db, store := crashStore(t, w)
	w.Count("create_draft", func() (n int) {
		if err := db.QueryRowContext(t.Context(), `select count(*) from invoice_drafts`).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	})
	return store, func() *Orders { return &outside }
}

// crashStore opens the program's database with the world's clock. What a disk
// forgets is not the matter here, so that commits do not wait for it.
func crashStore(t *testing.T, w *idemtest.World) (*sql.DB, idem.Store[*sql.Tx]) {
	db, store, err := open(t.Context(), filepath.Join(t.TempDir(), "invoicing.db"),
		sqlite.WithClock(w.Now), sqlite.WithSynchronous(sqlite.Normal))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, store
}
