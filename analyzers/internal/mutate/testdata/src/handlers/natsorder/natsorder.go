// Package natsorder places an order with a supplier for each message.
package natsorder

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/nats-io/nats.go"
)

type Order struct {
	ID  string
	SKU string
}

type Supplier interface {
	PlaceOrder(ctx context.Context, id, sku string) error
}

func Handler(s Supplier, log *slog.Logger) func(*nats.Msg) {
	return func(m *nats.Msg) {
		var o Order
		if err := json.Unmarshal(m.Data, &o); err != nil {
			log.Error("no order", "err", err)
			return
		}
		/*effect[*/if err := s.PlaceOrder(context.Background(), o.ID, o.SKU); err != nil {
			log.Error("order", "id", o.ID, "err", err)
			/*nack:m.Ack()[*/m.Nak()/*]*/
			return
		}/*]*/
		/*ack[*/m.Ack()/*]*/
	}
}
