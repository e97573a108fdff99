// Billing takes an order's webhook, charges the order and mails the receipt.
//
// It prints the address that it listens on, and ends when its standard input
// does.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"example.com/billing/billing"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

func main() {
	handler := flag.String("handler", "generated", "naive, generated or without_keys")
	ledger := flag.String("ledger", "ledger.db", "the ledger's `FILE`")
	payments := flag.String("payments", "", "`URL` of the payment provider")
	mail := flag.String("mail", "", "`URL` of the mail provider")
	flag.Parse()
	shop := &billing.Shop{
		Payments: &billing.Client{URL: *payments, HTTP: http.DefaultClient},
		Mail:     &billing.Client{URL: *mail, HTTP: http.DefaultClient},
	}
	if err := run(context.Background(), *handler, *ledger, shop); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, handler, path string, shop *billing.Shop) (err error) {
	if handler == "naive" {
		return serve(ctx, naive{shop.Payments, shop.Mail}.bill)
	}
	ledger, err := openLedger(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close(ctx)) }()
	contracts := billing.New(ledger, shop)
	switch handler {
	case "generated":
		return serve(ctx, once(contracts.BillOrder))
	case "without_keys":
		return serve(ctx, once(contracts.BillOrderWithoutKeys))
	}
	return fmt.Errorf("there is no handler %q", handler)
}

func openLedger(ctx context.Context, path string) (*idem.Ledger[*sql.Tx], error) {
	if err := sqlite.Migrate(ctx, path); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return idem.NewLedger(store), nil
}

type biller func(ctx context.Context, order billing.Order) (billing.Bill, error)

// once goes through the contract: that line is all that a program has to add.
func once(contract idem.Contract[billing.Order, billing.Bill]) biller {
	return func(ctx context.Context, order billing.Order) (billing.Bill, error) {
		result, err := contract.Do(ctx, order)
		return result.Value, err
	}
}

func serve(ctx context.Context, bill biller) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: webhook(bill), ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		stopped <- errors.Join(err, server.Shutdown(ctx))
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// webhook answers 200 if the source may forget the webhook, 503 if it has to
// send it again, and 409 if a person has to look before that makes sense.
func webhook(bill biller) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var order billing.Order
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		done, err := bill(r.Context(), order)
		var e *idem.Error
		switch {
		case errors.As(err, &e) && errors.Is(err, idem.ErrOutcomeUnknown):
			answer(w, http.StatusConflict, map[string]any{"work_id": e.ID, "error": err.Error()})
		case !idem.ShouldAck(err):
			log.Printf("order %s: %v", order.ID, err)
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case err != nil:
			// Recorded for good, so that nobody has to send it again.
			log.Printf("order %s: %v", order.ID, err)
			answer(w, http.StatusOK, map[string]any{"error": err.Error()})
		default:
			answer(w, http.StatusOK, done)
		}
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Printf("answer: %v", err)
	}
}
