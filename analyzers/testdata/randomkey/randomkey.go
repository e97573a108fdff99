package randomkey

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"example.com/shop/acme"
	"example.com/shop/ids"
	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v76"
	svix "github.com/svix/svix-webhooks/go"
)

func header(r *http.Request) {
	r.Header.Set("Idempotency-Key", uuid.NewString()) // want `^key is new on every attempt: uuid.NewString → Idempotency-Key \(derive it from the work ID\)$`
}

func otherHeader(r *http.Request) {
	r.Header.Set("X-Trace", uuid.NewString())
}

func newKey() string { return uuid.NewString() }

func helper(r *http.Request) {
	key := newKey() // want `uuid.NewString → newKey → Idempotency-Key`
	r.Header.Set("Idempotency-Key", key)
}

func imported(r *http.Request) {
	r.Header.Set("Idempotency-Key", ids.WithPrefix("charge")) // want `uuid.New → Next → ids.WithPrefix → Idempotency-Key`
}

func appended(r *http.Request, order string) {
	r.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d", order, time.Now().UnixNano())) // want `time.Now → Idempotency-Key`
}

func minutes(r *http.Request, order string) {
	r.Header.Set("Idempotency-Key", order+time.Now().Format("2006-01-02T15:04"))
	r.Header.Set("Idempotency-Key", order+time.Now().Truncate(time.Hour).String())
	r.Header.Set("Idempotency-Key", fmt.Sprint(order, time.Now().Unix()/300))
}

func seconds(r *http.Request, order string) {
	r.Header.Set("Idempotency-Key", order+time.Now().Truncate(time.Second).String()) // want `time.Now → Idempotency-Key`
}

func bytesOf(r *http.Request) error {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil { // want `rand.Read → Idempotency-Key`
		return err
	}
	r.Header.Set("Idempotency-Key", hex.EncodeToString(b))
	return nil
}

func named(r *http.Request, order string) {
	r.Header.Set("Idempotency-Key", uuid.NewSHA1(uuid.NameSpaceURL, []byte(order)).String())
	r.Header.Set("Idempotency-Key", uuid.MustParse(order).String())
	r.Header.Set("Idempotency-Key", ids.ForName(order))
}

func field() *stripe.ChargeParams {
	return &stripe.ChargeParams{
		Params: stripe.Params{IdempotencyKey: stripe.String(stripe.NewIdempotencyKey())}, // want `stripe.NewIdempotencyKey → Params.IdempotencyKey`
	}
}

func assigned(p *stripe.ChargeParams) {
	key := uuid.NewString() // want `uuid.NewString → Params.IdempotencyKey`
	p.IdempotencyKey = &key
}

func setter(p *stripe.ChargeParams) {
	p.SetIdempotencyKey(uuid.NewString()) // want `uuid.NewString → Params.SetIdempotencyKey`
}

type request struct {
	ID             string
	IdempotencyKey string
	DedupWindow    string
}

func own() request {
	return request{IdempotencyKey: ids.Next(), DedupWindow: ids.Next()} // want `uuid.New → ids.Next → IdempotencyKey`
}

func send(ctx context.Context, idempotencyKey string) error { return nil }

func parameter(ctx context.Context) error {
	return send(ctx, uuid.NewString()) // want `uuid.NewString → send → idempotencyKey`
}

func findByKey(ctx context.Context, idempotencyKey string) error { return nil }

func lookup(ctx context.Context) error { return findByKey(ctx, uuid.NewString()) }

func carry(r *http.Request, id string) { r.Header.Set("Idempotency-Key", id) }

func carried(r *http.Request) {
	carry(r, uuid.NewString()) // want `uuid.NewString → carry → Idempotency-Key`
}

func fallback(r *http.Request, given string) {
	key := given
	if key == "" {
		key = uuid.NewString() // want `key is new on every attempt where none is given: uuid.NewString → Idempotency-Key`
	}
	r.Header.Set("Idempotency-Key", key)
}

func given(r *http.Request, id string) { r.Header.Set("Idempotency-Key", ids.Ensure(id)) }

func inbound(in, out *http.Request) {
	key := in.Header.Get("Idempotency-Key")
	if key == "" {
		key = uuid.NewString()
	}
	out.Header.Set("Idempotency-Key", key)
}

type order struct {
	ID  string
	Sum int
}

func save(o order) {}

func entity(r *http.Request) {
	o := order{ID: uuid.NewString()}
	save(o)
	r.Header.Set("Idempotency-Key", "charge-"+o.ID)
}

func sameAsEntity(r *http.Request) {
	id := uuid.NewString()
	save(order{ID: id})
	r.Header.Set("Idempotency-Key", id)
}

func otherField(r *http.Request) {
	type both struct{ stable, fresh string }
	b := both{stable: "a", fresh: uuid.NewString()}
	r.Header.Set("Idempotency-Key", b.stable)
	save(order{ID: b.fresh})
}

func safe(ctx context.Context, c *svix.Svix) error {
	key := uuid.NewString()
	return c.Application.GetOrCreate(ctx, svix.ApplicationIn{}, &svix.ApplicationCreateOptions{IdempotencyKey: &key})
}

func safeVariable(ctx context.Context, c *svix.Svix) error {
	key := uuid.NewString()
	options := &svix.ApplicationCreateOptions{IdempotencyKey: &key}
	return c.Application.GetOrCreate(ctx, svix.ApplicationIn{}, options)
}

func unsafe(ctx context.Context, c *svix.Svix) error {
	key, err := uuid.NewV7() // want `uuid.NewV7 → MessageCreateOptions.IdempotencyKey`
	if err != nil {
		return err
	}
	text := key.String()
	return c.Message.Create(ctx, "app", &svix.MessageCreateOptions{IdempotencyKey: &text})
}

func inMap(order string) map[string]string {
	m := map[string]string{"order": order, "idempotency_key": uuid.NewString()} // want `uuid.NewString → idempotency_key`
	m["idempotency_key"] = ids.Next()                                           // want `uuid.New → ids.Next → idempotency_key`
	m["other"] = uuid.NewString()
	return m
}

func inClosure(r *http.Request) func() {
	key := uuid.NewString() // want `uuid.NewString → Idempotency-Key`
	return func() { r.Header.Set("Idempotency-Key", key) }
}

func silenced(r *http.Request) {
	//idemlint:ignore randomkey the server drops the header
	r.Header.Set("Idempotency-Key", uuid.NewString())
	r.Header.Set("Idempotency-Key", uuid.NewString()) //nolint:randomkey // dropped
	r.Header.Set("Idempotency-Key", uuid.NewString()) //nolint:idemlint
	/* want "an ignore needs a reason" */             //idemlint:ignore randomkey
	r.Header.Set("Idempotency-Key", uuid.NewString()) // want "key is new"
	/* want "this ignores nothing" */ //idemlint:ignore randomkey there is nothing here
	r.Header.Set("Idempotency-Key", "a")
}

func twice(r, s *http.Request) {
	key := uuid.NewString() // want `uuid.NewString → Idempotency-Key`
	r.Header.Set("Idempotency-Key", key)
	s.Header.Set("Idempotency-Key", key)
}

func directive(c acme.Client) error {
	key, err := acme.Mint() // want `acme.Mint → Event.Reference`
	if err != nil {
		return err
	}
	acme.Consume(acme.Event{Name: key, Reference: key})
	acme.Send(c.Token(), "text") // said to be harmless twice
	acme.Post(c.Token(), "text") // want `Client.Token → acme.Post → ref`
	acme.Post("stable", key)
	return nil
}

type base struct{ Created time.Time }

func newBase() base { return base{Created: time.Now()} }

type payment struct {
	base
	Reference string
}

func toPayment(order string) payment { return payment{base: newBase(), Reference: order} }

func beside(r *http.Request, order string) {
	p := toPayment(order)
	r.Header.Set("Idempotency-Key", p.Reference)
}
