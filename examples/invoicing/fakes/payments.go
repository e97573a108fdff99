package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Payments makes payment intents: POST /payment_intents. It treats the header
// Idempotency-Key as public providers do: a key that is known answers as it did
// the first time; with another body it is a 422, and while the first call runs a
// 409. A call without a key is always a new intent.
//
// Fields are set before it serves. Applied counts by the request's reference.
type Payments struct {
	Control
	// RemembersFor is how long a key is known. Zero is for ever.
	RemembersFor time.Duration
	// StoresErrors makes an AppliedError the answer that the key replays, as a
	// provider does that stores whatever it answered.
	StoresErrors bool
	// Now is the provider's clock. Nil is time.Now.
	Now func() time.Time

	mu   sync.Mutex
	keys map[string]*keyed
	made int
}

// keyed is what the provider remembers of a key.
type keyed struct {
	request  []byte
	seen     time.Time
	finished bool
	answer   answer
}

func (p *Payments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/payment_intents" {
		http.NotFound(w, r)
		return
	}
	request, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var in struct {
		Reference string `json:"reference"`
	}
	if err := json.Unmarshal(request, &in); err != nil || in.Reference == "" {
		http.Error(w, "want a reference", http.StatusBadRequest)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	known, first := p.know(key, request)
	if !first {
		p.replay(w, known, request)
		return
	}
	fault, goOn := p.begin(w)
	if !goOn {
		p.forget(key) // nothing was done, so nothing is remembered
		return
	}
	a := p.make(in.Reference)
	if fault == AppliedError && p.StoresErrors {
		a, fault = answer{http.StatusInternalServerError, []byte("something went wrong")}, None
	}
	p.finish(known, a)
	p.end(w, r, fault, a)
}

// know returns what is remembered of a key, and whether this call is the first
// with it.
func (p *Payments) know(key string, request []byte) (k *keyed, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if known := p.keys[key]; known != nil && (p.RemembersFor == 0 || now.Sub(known.seen) < p.RemembersFor) {
		return known, false
	}
	k = &keyed{request: request, seen: now}
	if key != "" {
		if p.keys == nil {
			p.keys = make(map[string]*keyed)
		}
		p.keys[key] = k
	}
	return k, true
}

func (p *Payments) replay(w http.ResponseWriter, known *keyed, request []byte) {
	p.mu.Lock()
	same, finished, a := bytes.Equal(known.request, request), known.finished, known.answer
	p.mu.Unlock()
	switch {
	case !same:
		http.Error(w, "this key came with another request before", http.StatusUnprocessableEntity)
	case !finished:
		http.Error(w, "the first request with this key is still running", http.StatusConflict)
	default:
		w.Header().Set("Idempotent-Replayed", "true")
		a.write(w)
	}
}

func (p *Payments) make(reference string) answer {
	p.count(reference)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return ok(map[string]string{"id": fmt.Sprintf("pi_%d", p.made)})
}

func (p *Payments) finish(k *keyed, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.finished, k.answer = true, a
}

func (p *Payments) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.keys, key)
}

func (p *Payments) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}
