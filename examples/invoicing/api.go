package invoicing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// API is a service that speaks JSON over HTTP.
type API struct {
	URL string
	// Client makes the calls, and follows no redirects. Nil is one without a
	// timeout. Give it one: a timeout that is over says "unknown", one that is
	// missing holds up the work.
	Client *http.Client
}

// StatusError is an answer other than 2xx. By its StatusCode the ledger tells
// what was refused from what may have happened all the same.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// StatusCode is the answer's HTTP status.
func (e *StatusError) StatusCode() int { return e.Status }

// post sends in and reads the answer into out. headers are names and values.
func (a API) post(ctx context.Context, path string, in, out any, headers ...string) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return a.do(r, out)
}

func (a API) get(ctx context.Context, path string, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
	if err != nil {
		return err
	}
	return a.do(r, out)
}

func (a API) do(r *http.Request, out any) error {
	var client http.Client
	if a.Client != nil {
		client = *a.Client
	}
	// Behind a redirect, "connection refused" would look as if nothing was sent.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	if answer.StatusCode/100 != 2 {
		return &StatusError{Status: answer.StatusCode, Text: strings.TrimSpace(string(body))}
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	return nil
}
