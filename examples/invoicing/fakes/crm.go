package fakes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// CRM keeps notes: POST /notes, and GET /notes?contains=TEXT, which finds a note
// only once it is older than Lag. It knows no keys.
//
// Fields are set before it serves. Applied counts by customer.
type CRM struct {
	Control
	// Search lets searches go wrong.
	Search Control
	// Lag is how far the search's index is behind.
	Lag time.Duration
	// Now is the CRM's clock. Nil is time.Now.
	Now func() time.Time

	mu    sync.Mutex
	notes []note
}

type note struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

func (c *CRM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/notes":
		http.NotFound(w, r)
	case r.Method == http.MethodPost:
		c.add(w, r)
	case r.Method == http.MethodGet:
		fault, goOn := c.Search.begin(w)
		if !goOn {
			return
		}
		c.Search.end(w, r, fault, ok(c.find(r.FormValue("contains"))))
	default:
		http.Error(w, "want GET or POST", http.StatusMethodNotAllowed)
	}
}

func (c *CRM) add(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Customer string `json:"customer"`
		Text     string `json:"text"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Customer == "" {
		http.Error(w, "want a customer and a text", http.StatusBadRequest)
		return
	}
	fault, goOn := c.begin(w)
	if !goOn {
		return
	}
	c.count(in.Customer)
	c.end(w, r, fault, ok(c.keep(in.Text)))
}

func (c *CRM) keep(text string) note {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := note{ID: fmt.Sprintf("note_%d", len(c.notes)+1), Text: text, Created: c.now()}
	c.notes = append(c.notes, n)
	return n
}

func (c *CRM) find(text string) []note {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := []note{}
	for _, n := range c.notes {
		if strings.Contains(n.Text, text) && c.now().Sub(n.Created) >= c.Lag {
			found = append(found, n)
		}
	}
	return found
}

func (c *CRM) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}
