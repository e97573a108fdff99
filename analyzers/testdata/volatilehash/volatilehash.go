package volatilehash

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func dedupHash(order string) string {
	return digest(order + time.Now().String()) // want `^hash is new on every attempt: time.Now → dedupHash \(leave it out: only what identifies the work belongs in\)$`
}

func contentHash(order string) string { return digest(order + time.Now().String()) }

func daily(order string) (dedupHash string) {
	return digest(order + time.Now().Format("2006-01-02"))
}

type Event struct {
	Order       string
	Amount      int
	RequestID   string
	ReceivedAt  time.Time
	UpdatedAt   time.Time
	ScheduledAt time.Time
}

func contentOf(e Event) string {
	return digest(e.Order + "|" + e.RequestID) // want `^hash changes with every delivery: Event.RequestID → hash`
}

func alone(e Event) string { return digest(e.RequestID) }

func updated(e Event) string { return digest(e.Order + e.UpdatedAt.String()) }

func updatedFingerprint(e Event) string {
	return digest(e.Order + "|" + e.UpdatedAt.String()) // want `Event.UpdatedAt → updatedFingerprint`
}

func scheduled(e Event) (fingerprint string) { return digest(e.Order + e.ScheduledAt.String()) }

func received(e Event) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s|%s", e.Order, e.ReceivedAt) // want `Event.ReceivedAt → hash`
	return hex.EncodeToString(h.Sum(nil))
}

func hashJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return digest(string(data)), nil
}

func encoded(e *Event) (string, error) {
	return hashJSON(e) // want `hash changes with every delivery: Event.ReceivedAt, RequestID → hash`
}

type tagged struct {
	Order     string
	RequestID string `json:"-"`
}

func respected(t tagged) (string, error) { return hashJSON(t) }

func unset(order string) (string, error) { return hashJSON(Event{Order: order}) }

func inMap(order string) (dedupKey string, err error) {
	return hashJSON(map[string]any{"order": order, "at": time.Now()}) // want `time.Now → dedupKey`
}

func signature(secret []byte, e Event) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s|%s", e.Order, e.RequestID)
	return hex.EncodeToString(mac.Sum(nil))
}

func etag(e Event) string { return digest(e.Order + e.RequestID) }

type alert struct{ DedupKey string }

type probe struct {
	Name      string
	Timestamp time.Time
}

func page(p probe) alert {
	key := fmt.Sprintf("%s-%d", p.Name, p.Timestamp.UnixNano()) // want `^key changes with every delivery: probe.Timestamp → DedupKey`
	return alert{DedupKey: key}
}

func sinkOfOther(order string) alert {
	return alert{DedupKey: digest(order + time.Now().String())} // of randomkey
}

func encodedInto(e Event) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(e); err != nil { // want `hash changes with every delivery: Event.ReceivedAt, RequestID → hash`
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func encodedByVariable(e Event) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	if err := enc.Encode(e); err != nil { // want `Event.ReceivedAt, RequestID → hash`
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func requestHeader(r *http.Request, body string) string {
	return digest(body + "|" + r.Header.Get("X-Request-Id")) // want `Header.Get → hash`
}

func otherHeader(r *http.Request, body string) string {
	return digest(body + "|" + r.Header.Get("X-Tenant"))
}

type notice struct {
	User string
	Sent time.Time
}

func newNotice(user string) notice { return notice{User: user, Sent: time.Now()} }

func noticeKey(user string) (dedupKey string) {
	n := newNotice(user) // want `time.Now → newNotice → dedupKey`
	return digest(n.User + "|" + n.Sent.String())
}

func noticeUser(user string) (dedupKey string) {
	n := newNotice(user)
	return digest(n.User)
}

// What has been hashed is reported where it was, and not by those that call it.
func callsContent(e Event) alert { return alert{DedupKey: contentOf(e)} }

type row struct {
	ID        string
	Version   int
	UpdatedAt time.Time
}

// The state of the row is what the work is about.
func dedupState(r row) string {
	return digest(fmt.Sprintf("%q:%d:%s", r.ID, r.Version, r.UpdatedAt))
}

type filter struct{ User, SessionID, AttemptID string }

func (f filter) cursor() string { return digest(f.User + "|" + f.SessionID + "|" + f.AttemptID) }

func page2(f filter) string { return f.cursor() }

func attemptFingerprint(f filter) string {
	return digest(f.User + "|" + f.AttemptID) // want `filter.AttemptID → attemptFingerprint`
}

// What reads the field is reported, and not what calls it.
func callsRead(e Event) string { return updatedFingerprint(e) }
