package billing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Charge asks for money.
type Charge struct {
	OrderID string `json:"order_id"`
	Cents   int64  `json:"cents"`
}

// Charged is the provider's answer to a Charge.
type Charged struct {
	ID string `json:"id"`
}

// Receipt is a mail to the customer.
type Receipt struct {
	OrderID string `json:"order_id"`
	To      string `json:"to"`
	Cents   int64  `json:"cents"`
}

// Sent is the mail provider's answer to a Receipt.
type Sent struct {
	ID string `json:"id"`
}

// Client speaks to a provider over HTTP.
type Client struct {
	URL  string
	HTTP *http.Client
}

// Charge takes the money. A provider that honours keys takes it once per key;
// without a key, or at a provider that ignores it, it takes it every time.
func (c *Client) Charge(ctx context.Context, key string, in Charge) (Charged, error) {
	var out Charged
	return out, c.post(ctx, "/charges", key, in, &out)
}

// Send mails the receipt, every time.
func (c *Client) Send(ctx context.Context, in Receipt) (Sent, error) {
	var out Sent
	return out, c.post(ctx, "/mails", "", in, &out)
}

func (c *Client) post(ctx context.Context, path, key string, in, out any) (err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // the status says enough without it
		return &StatusError{Status: resp.StatusCode, Text: string(text)}
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// StatusError is an answer other than 200.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// StatusCode lets the ledger tell a refusal from an outcome that is not known.
func (e *StatusError) StatusCode() int { return e.Status }
