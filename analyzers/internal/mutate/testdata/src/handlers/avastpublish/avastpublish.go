// Package avastpublish sends an event and repeats it a few times.
package avastpublish

import (
	"context"

	"github.com/avast/retry-go/v4"
	"github.com/nats-io/nats.go"
)

type Event struct {
	ID   string
	Body []byte
}

func Publish(ctx context.Context, js nats.JetStream, e Event) error {
	/*keydef[*/key := /*key[*/"event-" + e.ID/*]*//*]*/
	return retry.Do(func() error {
		/*loop[*//*]*/_, err := js.Publish("events", e.Body/*setkey: [*/, nats.MsgId(key)/*]*/)
		return err
	}, retry.Attempts(3), retry.Context(ctx))
}
