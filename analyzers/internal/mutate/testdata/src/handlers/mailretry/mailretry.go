// Package mailretry sends a mail through a service, again if that is busy.
package mailretry

import (
	"context"
	"fmt"
	"time"
)

type Mail struct{ ID, To, Text string }

type SendOptions struct{ DedupKey string }

type Service interface {
	SendMail(ctx context.Context, to, text string, o SendOptions) error
}

type Sender struct{ service Service }

func (s *Sender) Send(ctx context.Context, m Mail) (err error) {
	options := SendOptions{DedupKey: /*key[*/fmt.Sprintf("mail:%s", m.ID)/*]*/}
	for /*bound[*/attempt := range 5/*]*/ {
		if err = s.service.SendMail(ctx, m.To, m.Text, options); err == nil {
			return nil
		}
		time.Sleep(/*wait:time.Second[*/time.Duration(attempt) * time.Second/*]*/)
	}
	return err
}
