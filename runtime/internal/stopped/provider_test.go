//go:build unix

package stopped

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

// point is where a process is stopped.
type point string

const (
	beforeCall point = "before the call"   // its start is recorded, and nothing was sent
	onItsWay   point = "call on its way"   // sent, and nothing has happened so far
	answered   point = "answer on its way" // it has happened
	inTx       point = "in the transaction"
)

// provider is the outside world. The first process is held at one point until it is
// let go; nobody else is.
type provider struct {
	*httptest.Server
	dedupes bool // by the key

	at      point
	reached chan struct{} // the first process is there
	goOn    chan struct{}

	mu      sync.Mutex
	applied []string // who had what applied, by name
	refs    map[string]string
}

func newProvider(at point, dedupes bool) *provider {
	p := &provider{at: at, dedupes: dedupes, reached: make(chan struct{}), goOn: make(chan struct{}), refs: map[string]string{}}
	p.Server = httptest.NewServer(p)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	who, key := q.Get("who"), q.Get("key")
	switch r.URL.Path {
	case "/point":
		p.hold(who, point(q.Get("point")))
	case "/find":
		p.mu.Lock()
		ref := p.refs[key]
		p.mu.Unlock()
		fmt.Fprint(w, ref)
	case "/call":
		p.hold(who, onItsWay)
		ref := p.apply(who, key)
		p.hold(who, answered)
		fmt.Fprint(w, ref)
	default:
		http.NotFound(w, r)
	}
}

// hold keeps the first process at its point.
func (p *provider) hold(who string, at point) {
	if who == first && at == p.at {
		close(p.reached)
		<-p.goOn
	}
}

func (p *provider) apply(who, key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ref := p.refs[key]; ref != "" && p.dedupes {
		return ref
	}
	p.applied = append(p.applied, who)
	p.refs[key] = fmt.Sprintf("%s %d", who, len(p.applied))
	return p.refs[key]
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.applied)
}

// client is the provider as a process sees it.
type client struct{ At, Who string }

func (c client) ask(ctx context.Context, path string, values url.Values) (string, error) {
	values.Set("who", c.Who)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.At+path+"?"+values.Encode(), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// reach says where the process is. If it is held there, nothing of its own ends
// that: it is stopped.
func (c client) reach(at point) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, err := c.ask(ctx, "/point", url.Values{"point": {string(at)}}); err != nil {
		panic(err)
	}
}
