// Command invoicing serves the webhook of a shop: see the README of its parent.
package main

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/idemgen/idem/examples/invoicing"
)

func main() {
	var config invoicing.Config
	flag.StringVar(&config.Listen, "listen", "127.0.0.1:8080", "`address` to serve the webhook on")
	flag.StringVar(&config.Database, "db", "invoicing.db", "SQLite `file`, made if it is not there")
	flag.StringVar(&config.Payments, "payments", "http://127.0.0.1:9001", "`URL` of the payment provider")
	flag.StringVar(&config.CRM, "crm", "http://127.0.0.1:9002", "`URL` of the CRM")
	flag.StringVar(&config.Chat, "chat", "http://127.0.0.1:9003", "`URL` of the chat service")
	flag.Parse()
	config.Secret = []byte(os.Getenv("INVOICING_SECRET"))
	if len(config.Secret) == 0 {
		slog.Error("set INVOICING_SECRET to the secret that requests are signed with")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := invoicing.Serve(ctx, config, func(addr net.Addr) { slog.Info("serving", "address", addr.String()) })
	if err != nil {
		slog.Error("invoicing", "error", err)
		os.Exit(1)
	}
}
