// Package twosteps buys a ticket and mails it, each with a key of its own.
package twosteps

import (
	"context"
	"fmt"
)

type Purchase struct{ ID, Event, Mail string }

type Tickets interface {
	Purchase(ctx context.Context, event, idempotencyKey string) (string, error)
}

type Mail interface {
	Send(ctx context.Context, to, text, dedupKey string) error
}

type Purchases interface {
	UpdateStatus(ctx context.Context, id, status string) error
}

type Shop struct {
	tickets   Tickets
	mail      Mail
	purchases Purchases
}

func (s *Shop) Buy(ctx context.Context, p Purchase) error {
	ticket, err := s.tickets.Purchase(ctx, p.Event, /*key[*/fmt.Sprintf("%s/ticket", p.ID)/*]*/)
	if err != nil {
		return err
	}
	/*effect[*/if err := s.mail.Send(ctx, p.Mail, ticket, /*key[*/p.ID+"/mail"/*]*/); err != nil {
		return err
	}/*]*/
	/*mark[*/if err := /*call[*/s.purchases.UpdateStatus(ctx, p.ID, "delivered")/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}
