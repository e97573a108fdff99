// Package unrouted has contracts, and goes around them.
package unrouted

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	idem "github.com/idemgen/idem/runtime"

	"example.com/shop/unrouted/mail"
)

type Orders struct {
	db      *sql.DB
	hook    func(string) error
	either  func(string) error
	client  *http.Client
	pay     payer
	queue   queue
	outbox  *outbox
	ledgers *Contracts
}

type Order struct {
	ID, To string
	Total  int
}

type Paid struct{ Ref string }

type Message struct{ To, Text string }

type Sent struct{ ID string }

type PaidEffects interface {
	Notify(ctx context.Context, in Message) (Sent, error)
	CRMID(ctx context.Context, in Message) (Sent, error)
	Receipt(ctx context.Context, in mail.Mail) (mail.Sent, error)
}

// A narrow view of the effects.
type notifier interface {
	Notify(ctx context.Context, in Message) (Sent, error)
}

// Nobody here implements it.
type payer interface {
	Charge(ctx context.Context, order string, total int) error
	Balance(ctx context.Context) (int, error)
	//idem:pure
	SendMetric(name string) error
}

// Implemented in memory below.
type queue interface{ Publish(text string) error }

type memory struct {
	mu    sync.Mutex
	texts []string
}

func (m *memory) Publish(text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts = append(m.texts, text)
	return nil
}

type outbox struct{ posts poster }

type poster interface{ Post(text string) error }

type webhook struct{ url string }

func (w *webhook) Post(text string) error {
	_, err := http.Post(w.url, "text/plain", strings.NewReader(text)) // want `this effect goes around the ledger, in work of the kind order_paid: Orders.MarkPaid → webhook.Post → http.Post \(make it an effect of PaidEffects, or say //idem:pure above what may happen twice\)`
	return err
}

func NewOrders(db *sql.DB) *Orders {
	o := &Orders{db: db, client: http.DefaultClient, either: noHook}
	o.hook = func(text string) error {
		_, err := http.Post("https://hooks.example", "text/plain", strings.NewReader(text)) // want `Orders.MarkPaid → hook → http.Post`
		return err
	}
	if db == nil {
		o.either = postHook
	}
	return o
}

func noHook(string) error { return nil }

func postHook(text string) error { // one of two that the field may hold
	_, err := http.Post("https://hooks.example", "text/plain", strings.NewReader(text))
	return err
}

func (o *Orders) MarkPaid(ctx context.Context, effects PaidEffects, in Order) (Paid, error) {
	if _, err := http.Post("https://chat.example/"+in.To, "text/plain", nil); err != nil { // read-like by its host
		return Paid{}, err
	}
	if _, err := http.Post("https://shop.example/receipts/"+in.To, "text/plain", nil); err != nil { // want `around the ledger, in work of the kind order_paid: Orders.MarkPaid → http.Post`
		return Paid{}, err
	}
	if _, err := http.Get("https://shop.example/receipts/" + in.To); err != nil {
		return Paid{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://shop.example/labels", nil) // want `Orders.MarkPaid → http.NewRequestWithContext`
	if err != nil {
		return Paid{}, err
	}
	if _, err := o.client.Do(req); err != nil {
		return Paid{}, err
	}
	if err := mail.Announce(in.To); err != nil { // want `Orders.MarkPaid → mail.Announce → post → http.PostForm`
		return Paid{}, err
	}
	if _, err := mail.Lookup(in.To); err != nil {
		return Paid{}, err
	}
	if err := mail.Beat(); err != nil {
		return Paid{}, err
	}
	if err := o.pay.Charge(ctx, in.ID, in.Total); err != nil { // want `Orders.MarkPaid → payer.Charge`
		return Paid{}, err
	}
	if _, err := o.pay.Balance(ctx); err != nil {
		return Paid{}, err
	}
	if err := o.pay.SendMetric("paid"); err != nil {
		return Paid{}, err
	}
	if err := o.queue.Publish(in.ID); err != nil {
		return Paid{}, err
	}
	if err := o.hook(in.ID); err != nil {
		return Paid{}, err
	}
	if err := o.either(in.ID); err != nil {
		return Paid{}, err
	}
	if err := o.outbox.posts.Post(in.ID); err != nil {
		return Paid{}, err
	}
	if err := o.count(ctx, in); err != nil {
		return Paid{}, err
	}
	var text bytes.Buffer
	text.WriteString(in.ID)
	slog.InfoContext(ctx, "paid", "order", in.ID)
	if err := tell(ctx, effects, in); err != nil {
		return Paid{}, err
	}
	if _, err := o.Refund(ctx, effects, in); err != nil { // with the effects of this work
		return Paid{}, err
	}
	if _, err := o.ledgers.Sync.Do(ctx, in); err != nil { // work of its own
		return Paid{}, err
	}
	if _, err := Sync(ctx, in); err != nil { // want `the handler of sync is called around its contract, so that duplicates and other attempts are not noticed \(call Do of the contract that New gives\)`
		return Paid{}, err
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = mail.Announce(in.To) }) // want `Orders.MarkPaid → mail.Announce → post → http.PostForm`
	wg.Wait()
	return Paid{}, both(func() error { return later(in) })
}

func both(f func() error) error { return f() }

func later(in Order) error {
	return mail.Announce(in.To) // want `Orders.MarkPaid → later → mail.Announce → post → http.PostForm`
}

func tell(ctx context.Context, n notifier, in Order) error {
	_, err := n.Notify(ctx, Message{To: in.To})
	return err
}

func (o *Orders) count(ctx context.Context, in Order) error {
	var n int
	if err := o.db.QueryRowContext(ctx, `select count(*) from orders where id = ?`, in.ID).Scan(&n); err != nil {
		return err
	}
	_, err := o.db.ExecContext(ctx, `update totals set paid = paid + ?`, in.Total) // want `Orders.MarkPaid → Orders.count → DB.ExecContext`
	return err
}

// Refund is the handler of another contract.
func (o *Orders) Refund(ctx context.Context, effects PaidEffects, in Order) (Paid, error) {
	return Paid{}, o.withdraw(ctx, effects, in)
}

func (o *Orders) withdraw(ctx context.Context, effects PaidEffects, in Order) error {
	var call idem.Call
	if _, err := o.notify(ctx, call, Message{To: in.To}); err != nil { // want `the effect notify of order_paid is called around the ledger, which then neither knows of it nor keeps a repeat from happening \(ask for it through PaidEffects\)`
		return err
	}
	_, err := mail.Receipt(ctx, call, mail.Mail{To: in.To}) // want `the effect receipt of order_paid is called around the ledger`
	return err
}

// Sync has no effects.
func Sync(ctx context.Context, in Order) (Paid, error) {
	return Paid{}, mail.Announce(in.To) // want `in work of the kind sync: Sync → mail.Announce → post → http.PostForm \(give the contract an effect for it, or say //idem:pure above what may happen twice\)`
}

func (o *Orders) notify(ctx context.Context, call idem.Call, in Message) (Sent, error) {
	_, err := http.Post("https://shop.example/notes?key="+call.Key(), "text/plain", nil)
	return Sent{}, err
}

func (o *Orders) crmID(ctx context.Context, call idem.Call, in Message) (Sent, error) {
	if sent, found, err := o.findCRMID(ctx, call, in); found || err != nil { // a look does no harm
		return sent, err
	}
	return Sent{}, o.pay.Charge(ctx, call.Key(), 1)
}

func (o *Orders) findCRMID(ctx context.Context, call idem.Call, in Message) (Sent, bool, error) {
	return Sent{}, false, nil
}

// An HTTP handler beside the contracts: it is none of their work.
func (o *Orders) Serve(w http.ResponseWriter, r *http.Request) {
	if err := mail.Announce(r.FormValue("to")); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	in := Order{ID: r.FormValue("id")}
	if _, err := o.ledgers.OrderPaid.Do(r.Context(), in); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	if _, err := o.MarkPaid(r.Context(), dryRun{}, in); err != nil { // want `the handler of order_paid is called around its contract`
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	run(o.notify) // want `the effect notify of order_paid is called around the ledger`
}

func run(f func(context.Context, idem.Call, Message) (Sent, error)) {}

type dryRun struct{}

func (dryRun) CRMID(ctx context.Context, in Message) (Sent, error) { // want `dryRun implements PaidEffects, the effects of order_paid, which only generated code and tests do: what it does goes around the ledger \(let the contract's own functions do it, or give the methods other names\)`
	return Sent{}, nil
}

func (dryRun) Notify(ctx context.Context, in Message) (Sent, error) { return Sent{}, nil }

func (dryRun) Receipt(ctx context.Context, in mail.Mail) (mail.Sent, error) { return mail.Sent{}, nil }

// logged hands on.
type logged struct {
	PaidEffects
	log *slog.Logger
}

func (l logged) CRMID(ctx context.Context, in Message) (Sent, error) {
	l.log.Info("crm")
	return l.PaidEffects.CRMID(ctx, in)
}

type fakeEffects struct{}

func (fakeEffects) CRMID(ctx context.Context, in Message) (Sent, error)  { return Sent{}, nil }
func (fakeEffects) Notify(ctx context.Context, in Message) (Sent, error) { return Sent{}, nil }
func (fakeEffects) Receipt(ctx context.Context, in mail.Mail) (mail.Sent, error) {
	return mail.Sent{}, nil
}
