// Package ledger breaks the ledger's own rules, and keeps them.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

type Order struct{ ID string }

type Paid struct{ Ref string }

type Effects interface {
	Book(ctx context.Context, in Order) (Paid, error)
	Charge(ctx context.Context, in Order) (Paid, error)
	Refund(ctx context.Context, in Order) (Paid, error)
	Mail(ctx context.Context, in Order) (Paid, error)
}

type Desk struct{ client *http.Client }

func (d *Desk) Pay(ctx context.Context, effects Effects, in Order) (Paid, error) {
	effects.Book(ctx, in)                            // want `the work counts as done though this effect may have failed: effects.Book → error dropped \(return the error; go on without the effect after ErrEffectRefused and ErrGivenUp only\)`
	_, _ = effects.Refund(ctx, in)                   // want `effects.Refund → error dropped`
	if _, err := effects.Mail(ctx, in); err != nil { // want `effects.Mail → error only logged`
		slog.Warn("mail", "error", err)
	}
	paid, err := effects.Charge(ctx, in) // want `effects.Charge → error only logged`
	if err != nil {
		slog.Error("charge", "error", err)
		return Paid{}, nil
	}
	return paid, nil
}

func (d *Desk) lines(ctx context.Context, effects Effects, all []Order) error {
	for _, in := range all {
		_, err := effects.Mail(ctx, in) // want `effects.Mail → error only logged`
		if err != nil {
			slog.Warn("mail", "error", err)
			continue
		}
	}
	return nil
}

// Errors that are looked at, kept or returned.
func (d *Desk) careful(ctx context.Context, effects Effects, all []Order) (refused int, err error) {
	var failed []error
	for _, in := range all {
		_, err := effects.Mail(ctx, in)
		switch {
		case errors.Is(err, idem.ErrEffectRefused):
			slog.Warn("refused")
			refused++
		case err != nil:
			failed = append(failed, err)
		}
	}
	if _, err := effects.Charge(ctx, all[0]); err != nil && !errors.Is(err, idem.ErrGivenUp) {
		slog.Warn("charge", "error", err)
		return refused, err
	}
	if _, err = effects.Refund(ctx, all[0]); err != nil {
		slog.Warn("refund", "error", err)
		return
	}
	if _, err := effects.Book(ctx, all[0]); err != nil {
		slog.Warn("book", "error", err)
		return refused, errors.Join(append(failed, err)...)
	}
	return refused, errors.Join(failed...)
}

func (d *Desk) passes(ctx context.Context, effects Effects, in Order) error {
	_, err := effects.Charge(ctx, in)
	if errors.Is(err, idem.ErrLeaseLost) { // want `the handler goes on after an error with which its attempt is over: effects.Charge → idem.ErrLeaseLost → no error returned \(return the error\)`
		slog.Warn("lost")
		return nil
	}
	_, err = effects.Mail(ctx, in)
	switch {
	case errors.Is(err, idem.ErrEffectFailed): // want `effects.Mail → idem.ErrEffectFailed → no error returned`
		slog.Warn("mail")
	case errors.Is(err, idem.ErrEffectRefused), errors.Is(err, idem.ErrGivenUp):
		slog.Warn("no mail")
	case err != nil:
		return err
	}
	_, err = effects.Refund(ctx, in)
	if errors.Is(err, idem.ErrOutcomeUnknown) {
		slog.Warn("ask a person")
		return err
	}
	err = d.other()
	if errors.Is(err, idem.ErrLedger) { // of no effect
		return nil
	}
	return err
}

func (d *Desk) other() error { return nil }

func (d *Desk) goroutines(ctx context.Context, effects Effects, in Order) error {
	go effects.Mail(ctx, in) // want `this effect is asked for after the handler may have returned, and is refused then with ErrRunOver: go → effects.Mail \(wait for it in the handler\)`
	go func() {
		if _, err := effects.Charge(ctx, in); err != nil { // want `go → effects.Charge`
			slog.Warn("charge", "error", err)
		}
	}()
	time.AfterFunc(time.Minute, func() {
		if _, err := effects.Refund(ctx, in); err != nil { // want `time.AfterFunc → effects.Refund`
			panic(err)
		}
	})
	return nil
}

func (d *Desk) waits(ctx context.Context, effects Effects, in Order) error {
	var wg sync.WaitGroup
	var first, second error
	wg.Go(func() { _, first = effects.Mail(ctx, in) })
	wg.Add(1)
	go func() {
		defer wg.Done()
		_, second = effects.Charge(ctx, in)
	}()
	wg.Wait()
	return errors.Join(first, second)
}

func (d *Desk) receives(ctx context.Context, effects Effects, in Order) error {
	done := make(chan error)
	go func() {
		_, err := effects.Mail(ctx, in)
		done <- err
	}()
	return <-done
}

func begin(ctx context.Context, wg *sync.WaitGroup, effects Effects, in Order, failed func(error)) {
	go func() {
		defer wg.Done()
		_, err := effects.Mail(ctx, in)
		failed(err)
	}()
}

func (d *Desk) book(ctx context.Context, call idem.TxCall[*sql.Tx], in Order) (Paid, error) {
	if _, err := call.Tx().ExecContext(ctx, "insert into books values (?)", in.ID); err != nil {
		return Paid{}, err
	}
	return Paid{}, call.Tx().Commit() // want `this ends the transaction that the ledger commits together with its record of the effect: call.Tx → Commit \(write in it only, and return an error to have it rolled back\)`
}

func (d *Desk) alias(ctx context.Context, call idem.TxCall[*sql.Tx], db *sql.DB) error {
	tx := call.Tx()
	defer tx.Rollback() // want `call.Tx → Rollback`
	own, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer own.Rollback()
	return own.Commit()
}

func (d *Desk) charge(ctx context.Context, call idem.Call, in Order) (Paid, error) { // want `the effect charge of pay counts on the key that the provider knows a repeat by, and does not send it \(send call.Key\(\), or choose another guard\)`
	_, err := http.Post("https://pay.example/charges", "text/plain", nil)
	return Paid{}, err
}

func (d *Desk) refund(ctx context.Context, call idem.Call, in Order) (Paid, error) {
	return Paid{}, d.post(ctx, call, in)
}

func (d *Desk) post(ctx context.Context, call idem.Call, in Order) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://pay.example/refunds", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", call.Key())
	_, err = d.client.Do(req)
	return err
}

// mail is under the guard once, which sends no key.
func (d *Desk) mail(ctx context.Context, _ idem.Call, in Order) (Paid, error) {
	_, err := http.Post("https://mail.example/send", "text/plain", nil)
	return Paid{}, err
}
