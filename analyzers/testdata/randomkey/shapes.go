package randomkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/shop/ids"
	"github.com/google/uuid"
	svix "github.com/svix/svix-webhooks/go"
)

// What names say in other ways than by the field that a value is put into.

type gateway interface {
	Charge(ctx context.Context, amount int64, key string) error
}

func inVariable(ctx context.Context, g gateway) error {
	idempotencyKey := uuid.New().String() // want `^key is new on every attempt: uuid.New → idempotencyKey \(derive it from the work ID\)$`
	return g.Charge(ctx, 5, idempotencyKey)
}

func inVariableOf(g gateway) error {
	var dedupeID = strconv.FormatInt(time.Now().UnixMilli(), 10) // want `time.Now → dedupeID`
	return g.Charge(context.Background(), 5, dedupeID)
}

type option func(m map[string]string)

func WithDedupeID(v string) option { return func(m map[string]string) { m["d"] = v } }

func byOption() option { return WithDedupeID(ids.Next()) } // want `uuid.New → ids.Next → randomkey.WithDedupeID|uuid.New → ids.Next → WithDedupeID`

type messageHeader struct {
	Key   string
	Value []byte
}

func byName() []messageHeader {
	return []messageHeader{
		{Key: "idempotency-key", Value: []byte(uuid.NewString())}, // want `uuid.NewString → idempotency-key`
		{Key: "trace", Value: []byte(uuid.NewString())},
	}
}

type payload struct {
	Amount int64  `json:"amount"`
	Ref    string `json:"idempotency_key,omitempty"`
	Other  string `json:"other"`
}

func byTag() payload {
	return payload{Amount: 5, Ref: uuid.NewString(), Other: uuid.NewString()} // want `uuid.NewString → idempotency_key`
}

func inForm() url.Values {
	v := url.Values{}
	v.Set("idempotency_key", uuid.NewString()) // want `uuid.NewString → idempotency_key`
	v.Set("state", uuid.NewString())
	return v
}

func byPrefix(set func(string) error, order string) error {
	return errors.Join(
		set(fmt.Sprintf("idempotency:%s:%d", order, time.Now().Unix())), // want `time.Now → idempotency`
		set("dedup:"+uuid.NewString()),                                  // want `uuid.NewString → dedup`
		set(strings.Join([]string{"dedup", ids.Next()}, ":")),           // want `ids.Next → dedup`
		set("dedup:"+order),
		fmt.Errorf("dedup: %s at %v", order, time.Now()),
		errors.New(fmt.Sprintf("dedup: failed at %v", time.Now())),
	)
}

// Sources of which only the name is known.

type generator interface{ Now() time.Time }

type idGenerator interface{ Generate() string }

type service struct {
	clock generator
	ids   idGenerator
	now   func() time.Time
	newID func() string
	name  func() string
}

func (s *service) byInterface(r *http.Request) {
	r.Header.Set("Idempotency-Key", s.ids.Generate())          // want `idGenerator.Generate → Idempotency-Key`
	r.Header.Set("Idempotency-Key", s.clock.Now().String())    // want `generator.Now → Idempotency-Key`
	r.Header.Set("Idempotency-Key", s.now().String())          // want `s.now → Idempotency-Key`
	r.Header.Set("Idempotency-Key", s.newID())                 // want `s.newID → Idempotency-Key`
	r.Header.Set("Idempotency-Key", s.now().Format("2006-01")) // once a month
	r.Header.Set("Idempotency-Key", s.name())
}

// Structs that others fill.

type item struct {
	Order, Mark string
	Made        time.Time
}

func newItem(order string) *item {
	return &item{Order: order, Mark: uuid.NewString(), Made: time.Now()}
}

func (i *item) defaults() {
	if i.Mark == "" {
		i.Mark = ids.Next()
	}
}

func fieldOfOther(r *http.Request) {
	r.Header.Set("Idempotency-Key", newItem("a").Mark) // want `uuid.NewString → newItem → Idempotency-Key`
}

func stableFieldOfOther(r *http.Request) {
	r.Header.Set("Idempotency-Key", newItem("a").Order)
}

func byDefault(r *http.Request) {
	i := &item{Order: "a"}
	i.defaults() // want `where none is given: uuid.New → ids.Next → item.defaults → Idempotency-Key`
	r.Header.Set("Idempotency-Key", i.Mark)
}

func notByDefault(r *http.Request, order string) {
	i := &item{Mark: order}
	i.defaults()
	r.Header.Set("Idempotency-Key", i.Mark)
}

// A function that derives a key is reported itself, and not those that call it.

func refundIdempotencyKey(order string) string {
	return fmt.Sprintf("refund-%s-%d", order, time.Now().Unix()) // want `time.Now → refundIdempotencyKey`
}

func callsIt(r *http.Request) { r.Header.Set("Idempotency-Key", refundIdempotencyKey("a")) }

// From here on nothing is to be reported.

func serveWithFallback(w http.ResponseWriter, body struct{ Key string }) {
	idempotencyKey := body.Key
	if idempotencyKey == "" {
		idempotencyKey = uuid.NewString()
	}
	w.Header().Set("Idempotency-Key", idempotencyKey)
}

func inLiteral() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		idempotencyKey := r.Header.Get("Idempotency-Key")
		if idempotencyKey == "" {
			idempotencyKey = uuid.NewString()
		}
		w.Header().Set("Idempotency-Key", idempotencyKey)
	})
}

type window struct{ dedupStart, LastDedup time.Time }

func (w *window) reset() { w.dedupStart, w.LastDedup = time.Now(), time.Now() }

type record struct {
	Key       string
	ExpiresAt time.Time
	LockedBy  string
}

type keys interface {
	InsertIdempotencyKey(ctx context.Context, r record) error
	Save(ctx context.Context, idempotencyKey string, at time.Time) error
}

func claim(ctx context.Context, k keys, key string) error {
	if err := k.Save(ctx, key, time.Now()); err != nil {
		return err
	}
	return k.InsertIdempotencyKey(ctx, record{Key: key, ExpiresAt: time.Now(), LockedBy: uuid.NewString()})
}

func byDay(r *http.Request, user string) {
	now := time.Now()
	r.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d-%02d-%02d", user, now.Year(), now.Month(), now.Day()))
	idempotencyKey := fmt.Sprintf("digest:%s:%s", user, now.Format("2006-01-02"))
	r.Header.Set("Idempotency-Key", idempotencyKey)
}

func safeByVariable(ctx context.Context, c *svix.Svix) error {
	idempotencyKey := uuid.NewString()
	return c.Application.GetOrCreate(ctx, svix.ApplicationIn{}, &svix.ApplicationCreateOptions{IdempotencyKey: &idempotencyKey})
}

func sendFor(r *http.Request, o *order) { r.Header.Set("Idempotency-Key", o.ID) }

func (o *order) key() string { return "order:" + o.ID }

func newOrder() *order { return &order{ID: uuid.NewString()} }

func byOthers(r *http.Request) {
	o := newOrder()
	sendFor(r, o)
	r.Header.Set("Idempotency-Key", o.key())
	r.Header.Set("Idempotency-Key", newOrder().key())
}
