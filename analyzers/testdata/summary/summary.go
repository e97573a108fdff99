package summary // want package:"facts"

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"time"

	"example.com/shop/acme"
	"github.com/google/uuid"
)

func Fresh() string { return uuid.NewString() } // want Fresh:"^new result0 random uuid.NewString$"

func Wrapped() (string, error) { // want Wrapped:"^new result0 random uuid.NewV7→inner$"
	id, err := inner()
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

func inner() (uuid.UUID, error) { return uuid.NewV7() }

func Fallback(id string) string { // want Fallback:"^new result0 random uuid.NewString partial; flow 0→result0$"
	if id == "" {
		id = uuid.NewString()
	}
	return id
}

func Inbound(r *http.Request) string { // want Inbound:"^new result0 inbound Header.Get; new result0 random uuid.NewString partial$"
	if id := r.Header.Get("X-Id"); id != "" {
		return id
	}
	return uuid.NewString()
}

func Stable(name string) string { // silent: a name-based UUID
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}

func Day() string { return time.Now().UTC().Format("2006-01-02") } // silent: coarse

func Second() string { return time.Now().UTC().Format(time.RFC3339) } // want Second:"^new result0 clock time.Now$"

type Order struct {
	ID, TraceID string
}

func KeyOf(o Order) string { return "order-" + o.ID } // want KeyOf:"^flow 0.ID→result0$"

func Digest(parts map[string]any) string { // want Digest:"^flow 0→result0 hashed; hash 0$"
	var keys []string
	for k := range parts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(fmt.Sprintf(":%s=%v", k, parts[k]))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

func Written(id string) []byte { // want Written:"^flow 0→result0 hashed; hash 0$"
	h := sha256.New()
	h.Write([]byte(id))
	return h.Sum(nil)
}

func Buffered(id string) string { // want Buffered:"^flow 0→result0$"
	var b bytes.Buffer
	fmt.Fprintf(&b, "id=%s", id)
	return b.String()
}

func Send(r *http.Request, id string) { // want Send:"^key 1 Idempotency-Key$"
	r.Header.Set("Idempotency-Key", id)
}

type options struct{ DedupKey string }

func SendOrder(r *http.Request, o Order) { // want SendOrder:"^key 1.ID Send→Idempotency-Key$"
	Send(r, o.ID)
}

func Options(key string) options { // want Options:"flow 0→result0.DedupKey; key 0 DedupKey"
	return options{DedupKey: key}
}

func Post(url string) error { // want Post:"^effect third party http.Post$"
	_, err := http.Post(url, "text/plain", nil)
	return err
}

func Get(url string) error { // silent: a GET
	_, err := http.NewRequest("GET", url, nil)
	return err
}

func Ping(n int, url string) error { // want Ping:"^effect third party Post→http.Post$"
	if n == 0 {
		return Post(url)
	}
	return Pong(n-1, url)
}

func Pong(n int, url string) error { // want Pong:"^effect third party Ping→Post→http.Post$"
	return Ping(n, url)
}

func Literal() string { // want Literal:"^new result0 random uuid.NewString$"
	make := func() string { return uuid.NewString() }
	return make()
}

func Pays(c acme.Client) error { return acme.Pay(c) } // want Pays:"^effect money acme.Pay→Client.Charge$"

func Logs(c acme.Client) { acme.Log(c) } // silent: said to be pure

func Reads(e acme.Event) string { return e.Name + e.Slot } // want Reads:"^new result0 received Event.Slot; flow 0.Name→result0; flow 0.Slot→result0$"

type Event struct {
	Order     string
	RequestID string
	Internal  string `json:"-"`
	private   string
}

func Encoded(e Event) string { // want Encoded:"^new result0 request Event.RequestID hashed; flow 0→result0 encoded hashed; hash 0$"
	data, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

func EncodedAny(v any) string { // want EncodedAny:"^flow 0→result0 encoded hashed; hash 0$"
	data, _ := json.Marshal(v)
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

func EncodedPart(id string) string { // want EncodedPart:"^flow 0→result0 hashed; hash 0$"
	return EncodedAny(Event{Order: id})
}

type Item struct {
	Order, Key string
	Made       time.Time
}

func NewItem(order string) *Item { // want NewItem:"^new result0.Key random uuid.NewString; new result0.Made clock time.Now; flow 0→result0.Order$"
	return &Item{Order: order, Key: uuid.NewString(), Made: time.Now()}
}

func Renamed(i *Item, order string) *Item { // want Renamed:"^flow 1→0.Order; flow 0→result0; flow 1→result0.Order$"
	i.Order = order
	return i
}

func KeyOfItem(order string) string { // want KeyOfItem:"^new result0 random uuid.NewString→NewItem$"
	return NewItem(order).Key
}

func OrderOfItem(order string) string { // want OrderOfItem:"^flow 0→result0$"
	return Renamed(NewItem("x"), order).Order
}

func (i *Item) Defaults() { // want Defaults:"^new recv.Key random uuid.NewString partial$"
	if i.Key == "" {
		i.Key = uuid.NewString()
	}
}

func Unset(order string) string { // want Unset:"^new result0 random uuid.NewString→Item.Defaults partial$"
	i := Item{Order: order}
	i.Defaults()
	return i.Key
}

func Set(order string) string { // want Set:"^flow 0→result0$"
	i := Item{Key: order}
	i.Defaults()
	return i.Key
}
