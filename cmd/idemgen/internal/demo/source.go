package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	copies = 2 // deliveries of each webhook, at the same time
	atOnce = 8 // orders that are being delivered
	// patience is for how long the source redelivers a webhook. Stripe's takes
	// three days; a lease of the demo is over after two seconds.
	patience = time.Minute
)

type order struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Cents int64  `json:"cents"`
}

// makeOrders gives n orders, the same in every trial.
func makeOrders(n int) []order {
	orders := make([]order, n)
	for i := range orders {
		orders[i] = order{
			ID:    fmt.Sprintf("order-%04d", i+1),
			Email: fmt.Sprintf("customer%d@example.com", i+1),
			Cents: 1900 + int64(i*i*37%8000),
		}
	}
	return orders
}

// answer is how the delivery of a webhook ended.
type answer struct {
	Status int    `json:"-"`
	MailID string `json:"mail_id"`
	WorkID string `json:"work_id"`
	Error  string `json:"error"`
}

// source delivers webhooks as sources do: at least once, twice here, and again
// until they are acknowledged.
type source struct {
	service *service
	client  *http.Client

	redelivered atomic.Int64

	mu      sync.Mutex
	answers map[string][]answer // by order, one per copy
}

func newSource(s *service) *source {
	return &source{
		service: s,
		client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce * copies}},
		answers: map[string][]answer{},
	}
}

// deliver delivers all orders and returns when none is left to redeliver.
func (s *source) deliver(ctx context.Context, orders []order) error {
	defer s.client.CloseIdleConnections()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan order)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for o := range queue {
				if err := s.deliverCopies(ctx, o); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, o := range orders {
		queue <- o
	}
	close(queue)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// deliverCopies delivers one order's webhook by concurrent goroutines.
func (s *source) deliverCopies(ctx context.Context, o order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode %s: %w", o.ID, err)
	}
	errs := make(chan error, copies)
	for range copies {
		go func() { errs <- s.deliverOne(ctx, o.ID, body) }()
	}
	for range copies {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return err
}

// deliverOne delivers a webhook until it is acknowledged, parked for a person,
// or the source loses patience.
func (s *source) deliverOne(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the webhook of %s was not acknowledged in %s", id, patience))
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		got, err := s.post(ctx, body)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && (got.Status == http.StatusOK || got.Status == http.StatusConflict):
			s.mu.Lock()
			defer s.mu.Unlock()
			s.answers[id] = append(s.answers[id], got)
			return nil
		}
		s.redelivered.Add(1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *source) post(ctx context.Context, body []byte) (got answer, err error) {
	addr, err := s.service.address(ctx)
	if err != nil {
		return got, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/orders", bytes.NewReader(body))
	if err != nil {
		return got, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close() // it is read to its end below
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return got, err
	}
	got.Status = resp.StatusCode
	if got.Status == http.StatusOK || got.Status == http.StatusConflict {
		err = json.Unmarshal(text, &got)
	}
	return got, err
}
