package ledger

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	idem "github.com/idemgen/idem/runtime"
)

type message interface {
	Ack() error
	Nack() error
	Order() Order
}

func (c *Contracts) dropped(ctx context.Context, m message) error {
	c.Pay.Do(ctx, m.Order()) // want `the message counts as received though its work may not be done: Pay.Do → error dropped → m.Ack \(acknowledge it only if idem.ShouldAck says so of the error\)`
	return m.Ack()
}

func (c *Contracts) logged(ctx context.Context, m message) error {
	_, err := c.Pay.Do(ctx, m.Order()) // want `Pay.Do → error only logged → m.Ack`
	if err != nil {
		slog.Error("pay", "error", err)
	}
	return m.Ack()
}

func (c *Contracts) acked(ctx context.Context, m message) {
	if _, err := c.Pay.Do(ctx, m.Order()); err != nil {
		slog.Error("pay", "error", err)
		_ = m.Ack() // want `the message is acknowledged though its work may not be done: Pay.Do → error → m.Ack \(ask idem.ShouldAck, and leave it to be delivered again otherwise\)`
		return
	}
	_ = m.Ack()
}

func (c *Contracts) http(w http.ResponseWriter, r *http.Request) {
	if _, err := c.Pay.Do(context.WithoutCancel(r.Context()), Order{}); err != nil { // want `Pay.Do → error only logged → status 200`
		slog.Error("pay", "error", err)
	}
}

func handler(c *Contracts) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = c.Pay.Do(context.WithoutCancel(r.Context()), Order{}) // want `Pay.Do → error dropped → status 200`
		w.WriteHeader(http.StatusAccepted)
	}
}

// From here on the ledger is asked, or the source told.

func (c *Contracts) asked(ctx context.Context, m message) error {
	_, err := c.Pay.Do(ctx, m.Order())
	if err != nil {
		slog.Error("pay", "error", err)
	}
	if idem.ShouldAck(err) {
		return m.Ack()
	}
	return m.Nack()
}

func (c *Contracts) fails(w http.ResponseWriter, r *http.Request) {
	if _, err := c.Pay.Do(context.WithoutCancel(r.Context()), Order{}); err != nil {
		slog.Error("pay", "error", err)
		http.Error(w, "later", http.StatusServiceUnavailable)
	}
}

func (c *Contracts) branches(ctx context.Context, m message) {
	_, err := c.Pay.Do(ctx, m.Order())
	if err != nil {
		if errors.Is(err, idem.ErrDead) {
			_ = m.Ack()
		}
		return
	}
	_ = m.Ack()
}

func (c *Contracts) returns(ctx context.Context, m message) error {
	if _, err := c.Pay.Do(ctx, m.Order()); err != nil {
		return err
	}
	return m.Ack()
}

// A program that does the work of the day once, and looks at its log.
func (c *Contracts) daily(ctx context.Context) {
	if _, err := c.Pay.Do(ctx, Order{}); err != nil {
		slog.Error("pay", "error", err)
	}
}
