package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// provider is the other side: an HTTP server that charges and one that mails, in
// this process, so that they and their books outlive the program that is killed.
//
// A request takes a few milliseconds to arrive, is applied, and is answered a few
// milliseconds later. If its client dies in the first stretch nothing was
// applied; in the second it was, and nobody was told.
type provider struct {
	honoursKeys bool
	// killAt is how many orders are charged when half is called, once.
	killAt int
	half   func()

	server *http.Server
	url    string
	served chan error

	mu    sync.Mutex
	books books
	byKey map[string]string // idempotency key → charge ID
}

// books is what was counted at the provider, by order.
type books struct {
	charges  map[string]int // how often
	charged  map[string]int64
	receipts map[string]int
	next     int
}

func (b *books) clone() books {
	copied := newBooks()
	for order, n := range b.charges {
		copied.charges[order], copied.charged[order] = n, b.charged[order]
	}
	for order, n := range b.receipts {
		copied.receipts[order] = n
	}
	return copied
}

func newBooks() books {
	return books{charges: map[string]int{}, charged: map[string]int64{}, receipts: map[string]int{}}
}

// startProvider serves until stop.
func startProvider(ctx context.Context, honoursKeys bool, killAt int, half func()) (*provider, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the provider: %w", err)
	}
	p := &provider{
		honoursKeys: honoursKeys, killAt: killAt, half: half,
		url: "http://" + listener.Addr().String(), served: make(chan error, 1),
		books: newBooks(), byKey: map[string]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", p.serveCharge)
	mux.HandleFunc("POST /mails", p.serveMail)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { p.served <- p.server.Serve(listener) }()
	return p, nil
}

func (p *provider) stop() error {
	err := p.server.Close()
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// count is the books as they are now.
func (p *provider) count() books {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.books.clone()
}

func (p *provider) serveCharge(w http.ResponseWriter, r *http.Request) {
	var in struct {
		OrderID string `json:"order_id"`
		Cents   int64  `json:"cents"`
	}
	if !receive(w, r, &in) {
		return
	}
	id, half := p.charge(r.Header.Get("Idempotency-Key"), in.OrderID, in.Cents)
	if half {
		// Now: the money is taken, and whoever asked for it does not know yet.
		p.half()
	}
	respond(w, r, id)
}

// charge takes the money, unless it did so under the same key. half is true for
// the charge that brings the charged orders to killAt.
func (p *provider) charge(key, order string, cents int64) (id string, half bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, ok := p.byKey[key]; ok && p.honoursKeys {
		return id, false
	}
	p.books.next++
	id = fmt.Sprintf("ch_%d", p.books.next)
	if key != "" {
		p.byKey[key] = id
	}
	p.books.charges[order]++
	p.books.charged[order] += cents
	return id, p.books.charges[order] == 1 && len(p.books.charges) == p.killAt
}

func (p *provider) serveMail(w http.ResponseWriter, r *http.Request) {
	var in struct {
		OrderID string `json:"order_id"`
	}
	if !receive(w, r, &in) {
		return
	}
	p.mu.Lock()
	p.books.next++
	id := fmt.Sprintf("mail_%d", p.books.next)
	p.books.receipts[in.OrderID]++
	p.mu.Unlock()
	respond(w, r, id)
}

// receive reads a request and lets it be on its way for a moment. It is false if
// the client was gone before anything could be applied.
func receive(w http.ResponseWriter, r *http.Request, in any) bool {
	// To its end: only then does the server watch for the client's death.
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return travel(r.Context())
}

// respond answers, after a moment.
func respond(w http.ResponseWriter, r *http.Request, id string) {
	if !travel(r.Context()) {
		return // nobody is there to be told
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone cannot be told that it is.
	_ = json.NewEncoder(w).Encode(struct {
		ID string `json:"id"`
	}{id})
}

// travel takes 2 to 12 milliseconds, or until ctx ends.
func travel(ctx context.Context) bool {
	timer := time.NewTimer(2*time.Millisecond + rand.N(10*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
