package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// A Request is a call of a provider.
type Request struct {
	Order string
	Key   string // of a charge or a message
}

// An Answer is what a provider says.
type Answer struct {
	Ref   string
	Found bool
}

// A Provider counts what is done for whom. It knows the keys of charges and the IDs
// of messages, and of mails and labels nothing.
type Provider struct {
	mu    sync.Mutex
	keys  map[string]Answer // of charges and messages
	refs  map[string]Answer // labels by their reference, an order
	count map[string]int    // by effect
	late  sync.WaitGroup    // calls that are on their way, and their callers dead
}

// late is how long the call of a process that was stopped during it is on its way:
// longer than any of the programs takes work for lost.
const late = 3 * time.Second

// NewProvider has done nothing yet.
func NewProvider() *Provider {
	return &Provider{keys: map[string]Answer{}, refs: map[string]Answer{}, count: map[string]int{}}
}

// Serve answers one process at a socket, until it is told to stop.
func (p *Provider) Serve(socket string, watch *Watch) (stop func() error, err error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /begin", func(http.ResponseWriter, *http.Request) { watch.Begin() })
	mux.HandleFunc("POST /end", func(http.ResponseWriter, *http.Request) { watch.End() })
	mux.HandleFunc("POST /point", func(_ http.ResponseWriter, r *http.Request) { alive(watch, r.URL.Query().Get("what")) })
	for _, call := range []string{"charge", "mail", "label", "find", "publish"} {
		mux.HandleFunc("POST /"+call, func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, watch, call) })
	}
	server := &http.Server{Handler: mux}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	return func() error {
		err := server.Close()
		if end := <-ended; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
		return err
	}, nil
}

// alive ends an answer of which nobody is left to hear.
func alive(watch *Watch, what string) {
	if !watch.Point(what) {
		panic(http.ErrAbortHandler)
	}
}

// Count says how often an effect has happened, once nothing is on its way.
func (p *Provider) Count(effect string) int {
	p.late.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count[effect]
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request, watch *Watch, call string) {
	var in Request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	alive(watch, "before the call "+call)
	if !watch.Point("during the call " + call) {
		p.late.Go(func() {
			time.Sleep(late)
			p.do(call, in)
		})
		panic(http.ErrAbortHandler)
	}
	answer := p.do(call, in)
	alive(watch, "after the call "+call)
	_ = json.NewEncoder(w).Encode(answer) // a process that has gone needs no answer
}

func (p *Provider) do(call string, in Request) Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.keys
	key := call + ":" + in.Key
	if call == "label" || call == "find" {
		known, key = p.refs, in.Order
	}
	if call == "find" {
		return known[key]
	}
	if before, ok := known[key]; ok && (call == "charge" || call == "publish") {
		return before
	}
	p.count[call]++
	answer := Answer{Ref: fmt.Sprintf("%s-%d", call, p.count[call]), Found: true}
	known[key] = answer
	return answer
}

// A Client calls a provider from another process.
type Client struct{ http *http.Client }

// NewClient calls the provider of a task.
func NewClient(t Task) *Client {
	return &Client{&http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", t.Provider)
		},
	}}}
}

// Begin says that the process is ready, and delivers now.
func (c *Client) Begin(ctx context.Context) error { _, err := c.post(ctx, "begin", nil); return err }

// End says that the source of the work has its answer.
func (c *Client) End(ctx context.Context) error { _, err := c.post(ctx, "end", nil); return err }

// Point asks whether to go on.
func (c *Client) Point(ctx context.Context, what string) error {
	_, err := c.post(ctx, "point?what="+url.QueryEscape(what), nil)
	return err
}

// Charge is done once for each key.
func (c *Client) Charge(ctx context.Context, key, order string) (Answer, error) {
	return c.call(ctx, "charge", Request{Order: order, Key: key})
}

// Mail is sent each time.
func (c *Client) Mail(ctx context.Context, order string) (Answer, error) {
	return c.call(ctx, "mail", Request{Order: order})
}

// Label is made each time.
func (c *Client) Label(ctx context.Context, order string) (Answer, error) {
	return c.call(ctx, "label", Request{Order: order})
}

// FindLabel looks for a label by its reference.
func (c *Client) FindLabel(ctx context.Context, order string) (Answer, error) {
	return c.call(ctx, "find", Request{Order: order})
}

// Publish is done once for each ID of a message.
func (c *Client) Publish(ctx context.Context, id, order string) (Answer, error) {
	return c.call(ctx, "publish", Request{Order: order, Key: id})
}

func (c *Client) call(ctx context.Context, call string, in Request) (a Answer, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return a, err
	}
	reply, err := c.post(ctx, call, body)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(reply, &a)
}

func (c *Client) post(ctx context.Context, path string, body []byte) (reply []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return io.ReadAll(answer.Body)
}
