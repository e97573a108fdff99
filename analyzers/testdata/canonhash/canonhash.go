package canonhash

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

func dedupKey(account, order string) string {
	sum := sha256.Sum256([]byte(account + order)) // want `^parts of a key run together, so that different work can have the same: account, order → dedupKey \(put a separator that neither can hold between them, or quote them\)$`
	return hex.EncodeToString(sum[:])
}

func etag(account, order string) string { return account + order }

func separated(account, order string) (dedupKey string) {
	return account + "|" + order
}

func dedupJoined(account, order string) string {
	return strings.Join([]string{account, order}, "") // want `account, order → dedupJoined`
}

func dedupList(parts []string) string {
	return strings.Join(parts, "") // want `Join\(parts, ""\) → dedupList`
}

func dedupSlashed(account, order string) string {
	return strings.Join([]string{account, order}, "/")
}

func dedupFixed(id uuid.UUID, day time.Time, order string) string {
	return strings.Join([]string{id.String(), order, day.Format(time.RFC3339)}, "")
}

func dedupPrefixed(prefix, order string) string { return prefix + order }

func dedupKeysOf(a, b string, n, m int) []string {
	return []string{
		fmt.Sprintf("%s%s", a, b), // want `a, b → dedupKeysOf`
		fmt.Sprintf("%s:%s", a, b),
		fmt.Sprintf("%q%q", a, b),
		fmt.Sprintf("%d%d", n, m), // want `n, m → dedupKeysOf`
		fmt.Sprintf("%08d%08d", n, m),
		fmt.Sprintf("100%%%s", a),
		fmt.Sprint(a, b), // want `a, b → dedupKeysOf`
		fmt.Sprint(n, m),
		fmt.Sprintln(a, b),
	}
}

func HashRequest(path, method string, body []byte) string {
	h := sha256.New()
	h.Write([]byte(path)) // want `path, method → HashRequest`
	h.Write([]byte(method))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// fingerprintOf is named as one.
func fingerprintOf(path, method string, body []byte) string {
	h := sha256.New()
	h.Write([]byte(path)) // want `path, method → fingerprintOf`
	h.Write([]byte(method))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

func fingerprintFramed(path, method string) string {
	h := sha256.New()
	h.Write([]byte(path))
	h.Write([]byte{0})
	h.Write([]byte(method))
	io.WriteString(h, "|")
	fmt.Fprintf(h, "%s|", path)
	io.WriteString(h, method)
	return hex.EncodeToString(h.Sum(nil))
}

func fingerprintLoop(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p)) // want `p of each round of the loop → fingerprintLoop`
	}
	return hex.EncodeToString(h.Sum(nil))
}

func fingerprintLines(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte("\n"))
	}
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	for i, p := range parts {
		io.WriteString(h, fmt.Sprintf(":%d=%v", i, p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func fingerprintMap(m map[string]string) string {
	var b strings.Builder
	for k, v := range m {
		fmt.Fprintf(&b, "%s=%s;", k, v) // want `key depends on the order in which a map is iterated, which is new each time: m → `
	}
	s := ""
	for k := range m {
		s += k + ";" // want `key depends on the order`
	}
	return b.String() + "|" + s
}

func fingerprintSorted(m map[string]string) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%q=%q;", k, m[k])
	}
	return b.String()
}

type amount float64

func (a amount) String() string { return "" }

type item struct {
	Name string
	Next *int
}

type plain struct{ A, B int }

func dedupKeysOfValues(p *int, i item, q plain, m map[string]int, x any, f float64, a amount, u uuid.UUID) []string {
	return []string{
		fmt.Sprintf("%v", p), // want `key holds the address of a value, new in every process: p → dedupKeysOfValues`
		fmt.Sprintf("%v", i), // want `key holds the address of a value, new in every process, in field Next: i`
		fmt.Sprintf("%v", q),
		fmt.Sprintf("%v", m), // want `key holds a map as fmt prints it`
		fmt.Sprintf("%v", x),
		fmt.Sprintf("%v", f), // want `key holds a floating point number as text`
		fmt.Sprintf("%.2f", f),
		fmt.Sprintf("%v", a),
		fmt.Sprintf("%v", u),
		strconv.FormatFloat(f, 'f', -1, 64), // want `key holds a floating point number as text`
		strconv.FormatFloat(f, 'f', 2, 64),
	}
}

func urlHash(rawURL string) string {
	h := sha256.Sum256([]byte(strings.ToLower(rawURL))) // want `key is made of a URL that was never parsed: the same page has many: rawURL → dedup`
	return hex.EncodeToString(h[:8])                    // enough for dedup
}

func urlParsed(rawURL string) string { // for dedup
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	h := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(h[:8])
}

type request struct{ IdempotencyKey, Text string }

func field(a, b string) request {
	key := a + b // want `a, b → IdempotencyKey`
	return request{IdempotencyKey: key, Text: b + a}
}

type hasher struct{}

type BalanceDedupHash struct{ a, b string }

func (d BalanceDedupHash) V2() string {
	source := strings.Join([]string{d.a, d.b}, "") // want `d.a, d.b → BalanceDedupHash`
	return "v2_" + source
}

func normalise(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host) + "/" + strings.TrimRight(u.Path, "/") // want `key leaves the query of a URL out, by which most pages differ: normalise →`
}

type job struct{ URL string }

func (j job) Fingerprint() string {
	if n := normalise(j.URL); n != "" {
		return "url:" + n
	}
	return ""
}

func pageTitle(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host + "/" + u.Path
}

func withQuery(raw string) (dedupKey string) {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host + "/" + u.Path + "?" + u.Query().Encode()
}

type prefixed struct{ ns string }

func (p prefixed) prefix() string { return p.ns + ":" }

func (p prefixed) dedupKey(k string) string { return p.prefix() + k }

func dedupHourly(user string, at time.Time) string { return user + at.Truncate(time.Hour).String() }

func namedResult(sku string, price float64) (dedupKey string) {
	return fmt.Sprintf("%s:%v", sku, price) // want `key holds a floating point number as text, .*: price → dedupKey`
}

func buffered(a, b string) (fingerprint string) {
	var buf bytes.Buffer
	buf.WriteString(a) // want `a, b → fingerprint`
	buf.WriteString(b)
	return buf.String()
}

func bytesJoined(a, b string) (dedupKey string) {
	sum := sha256.Sum256(bytes.Join([][]byte{[]byte(a), []byte(b)}, nil)) // want `a, b → dedupKey`
	return hex.EncodeToString(sum[:])
}

func bytesAppended(a, b string) (dedupKey string) {
	buf := append([]byte(a), b...) // want `a, b → dedupKey`
	return string(append(append([]byte(a), ':'), b...)) + ":" + hex.EncodeToString(buf)
}

func added(parts []string) (dedupKey string) {
	for _, p := range parts {
		dedupKey += p // want `p of each round of the loop → dedupKey`
	}
	return dedupKey
}

func addedFramed(parts []string) (dedupKey string) {
	for _, p := range parts {
		dedupKey += p + ";"
	}
	return dedupKey
}

func listed(m map[string]string) (fingerprint string) {
	var keys []string
	for k := range m {
		keys = append(keys, k+"="+m[k]) // want `key depends on the order in which a map is iterated`
	}
	return strings.Join(keys, "&")
}

func listedSorted(m map[string]string) (fingerprint string) {
	var keys []string
	for k := range m {
		keys = append(keys, k+"="+m[k])
	}
	sort.Strings(keys)
	return strings.Join(keys, "&")
}

func ownURL(raw string) (dedupKey string) {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host + u.Path // want `key leaves the query of a URL out, by which most pages differ: u.Path → dedupKey`
}

// A list that is rid of duplicates is no key.
func DeDuplication(list []string) []string {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	var all []string
	for s := range seen {
		all = append(all, s)
	}
	return all
}

// sync is idempotent.
func sync(m map[string]int) string {
	text := ""
	for k := range m {
		text += k
	}
	return text
}

func letter(b bool) string {
	if b {
		return "c"
	}
	return "n"
}

func letters(a, b bool) (fingerprint string) { return letter(a) + letter(b) }

// store keeps what a view for dedup needs.
func store(a, b string) (*request, error) {
	return &request{Text: a}, save(a + b)
}

func save(text string) error { return nil }

func digits(n int) string { return fmt.Sprintf("%02d", min(n, 99)) }

func withDigits(a string, n int) (fingerprint string) { return digits(n) + a }

// A query about duplicates is no key.
func dedupQuery(partition, order string) string { return "SELECT 1 PARTITION BY " + partition + order }
