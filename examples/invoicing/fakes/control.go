package fakes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
)

// Fault is one way in which a call goes wrong.
type Fault string

// The faults. All that begin with "applied" have worked: the caller is only not
// told so.
const (
	None            Fault = ""
	AppliedHang     Fault = "applied-hang"  // no answer, until the caller leaves
	AppliedError    Fault = "applied-500"   // as from a gateway that lost the answer
	AppliedReset    Fault = "applied-reset" // the connection is reset instead of an answer
	Error           Fault = "500"
	Reset           Fault = "reset"
	TooManyRequests Fault = "429"
)

// Control tells a service how its next calls go wrong, and counts what they
// apply. The zero Control is ready. It is safe for concurrent use.
type Control struct {
	mu      sync.Mutex
	faults  []Fault
	delay   time.Duration
	applied map[string]int
	total   int
}

// Next lets the next calls go wrong, one after the other. None is a call that
// goes well.
func (c *Control) Next(faults ...Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, faults...)
}

// SetDelay lets every call take a while before it is applied.
func (c *Control) SetDelay(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delay = d
}

// Applied is how often calls were applied for one business object, such as an
// order.
func (c *Control) Applied(object string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.applied[object]
}

// Counts is Applied for every object there is.
func (c *Control) Counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.applied)
}

// Total is the sum of Applied over all objects.
func (c *Control) Total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

func (c *Control) count(object string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.applied == nil {
		c.applied = make(map[string]int)
	}
	c.applied[object]++
	c.total++
}

// begin takes the fault of a call. It is false if the call ends here, without
// having been applied.
func (c *Control) begin(w http.ResponseWriter) (fault Fault, goOn bool) {
	c.mu.Lock()
	delay := c.delay
	if len(c.faults) > 0 {
		fault, c.faults = c.faults[0], c.faults[1:]
	}
	c.mu.Unlock()
	switch fault {
	case Error:
		http.Error(w, "something went wrong", http.StatusInternalServerError)
		return fault, false
	case TooManyRequests:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return fault, false
	case Reset:
		reset(w)
		return fault, false
	}
	time.Sleep(delay)
	return fault, true
}

// end answers a call that was applied, as its fault says.
func (c *Control) end(w http.ResponseWriter, r *http.Request, fault Fault, a answer) {
	switch fault {
	case AppliedHang:
		<-r.Context().Done()
	case AppliedError:
		http.Error(w, "the answer got lost", http.StatusInternalServerError)
	case AppliedReset:
		reset(w)
	default:
		a.write(w)
	}
}

// ServeControl lets a person do what tests do with Next and Counts: POST
// ?fault=applied-500, and GET.
func (c *Control) ServeControl(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		fault := Fault(r.FormValue("fault"))
		switch fault {
		case None, AppliedHang, AppliedError, AppliedReset, Error, Reset, TooManyRequests:
			c.Next(fault)
		default:
			http.Error(w, fmt.Sprintf("no such fault: %q", fault), http.StatusBadRequest)
			return
		}
	}
	counts := c.Counts()
	if counts == nil {
		counts = map[string]int{} // {} and not null
	}
	ok(counts).write(w)
}

// reset ends the connection with a RST: lingering for zero seconds drops what
// was not sent.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// answer is what a call is answered with.
type answer struct {
	status int
	body   []byte
}

func ok(v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		return answer{http.StatusInternalServerError, []byte(err.Error())}
	}
	return answer{http.StatusOK, body}
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
