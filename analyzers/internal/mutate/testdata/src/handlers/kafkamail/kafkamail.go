// Package kafkamail sends a mail for each record of a topic.
package kafkamail

import (
	"context"
	"encoding/json"
	"log"
	"net/smtp"

	"github.com/segmentio/kafka-go"
)

type Mail struct {
	ID   string
	To   string
	Body string
}

type Outbox interface {
	Claim(ctx context.Context, id string) (bool, error)
	Sent(ctx context.Context, id string) (bool, error)
	MarkSent(ctx context.Context, id string) error
	Release(ctx context.Context, id string) error
}

type Consumer struct {
	reader *kafka.Reader
	outbox Outbox
	relay  string
}

func (c *Consumer) Run(ctx context.Context) error {
	for {
		m, err := c.reader.FetchMessage(ctx)
		if err != nil {
			return err
		}
		if err := c.handle(ctx, m); err != nil {
			return err
		}
	}
}

func (c *Consumer) handle(ctx context.Context, m kafka.Message) error {
	var mail Mail
	if err := json.Unmarshal(m.Value, &mail); err != nil {
		log.Printf("offset %d is no mail: %v", m.Offset, err)
		return c.reader.CommitMessages(ctx, m)
	}
	/*claim:sent, err := c.outbox.Sent(ctx, mail.ID); if err != nil || sent { return err }[*/mine, err := c.outbox.Claim(ctx, mail.ID)
	if err != nil {
		return err
	}
	if !mine {
		/*skip[*/return nil/*]*/
	}/*]*/
	/*effect:if err := c.outbox.MarkSent(ctx, mail.ID); err != nil { return err }[*/if err := smtp.SendMail(c.relay, nil, "shop@example.com", []string{mail.To}, []byte(/*id:mail.ID[*/mail.Body/*]*/)); err != nil {
		/*release[*/if err := c.outbox.Release(ctx, mail.ID); err != nil {
			log.Print(err)
		}/*]*/
		/*fail[*/return err/*]*/
	}/*]*/
	/*mark[*/if err := /*call[*/c.outbox.MarkSent(ctx, mail.ID)/*]*/; err != nil {
		return err
	}/*]*/
	/*ack[*/return c.reader.CommitMessages(ctx, m)/*]*/
}
