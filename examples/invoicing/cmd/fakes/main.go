// Command fakes serves the three services that the invoicing program calls, each
// on a port of its own. At /control of each, GET counts what was applied, and
// POST with fault=applied-500, say, lets the next call go wrong.
package main

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/idemgen/idem/examples/invoicing/fakes"
)

func main() {
	payments, crm, chat := &fakes.Payments{RemembersFor: 24 * time.Hour}, &fakes.CRM{Lag: time.Second}, &fakes.Chat{}
	failed := make(chan error)
	for _, s := range []struct {
		name, address string
		service       http.Handler
		control       *fakes.Control
	}{
		{"payments", "127.0.0.1:9001", payments, &payments.Control},
		{"CRM", "127.0.0.1:9002", crm, &crm.Control},
		{"chat", "127.0.0.1:9003", chat, &chat.Control},
	} {
		mux := http.NewServeMux()
		mux.Handle("/", s.service)
		mux.HandleFunc("/control", s.control.ServeControl)
		server := &http.Server{Addr: s.address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
		go func() { failed <- server.ListenAndServe() }()
		slog.Info("serving "+s.name, "address", s.address)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		slog.Error("fakes", "error", err)
		os.Exit(1)
	}
}
