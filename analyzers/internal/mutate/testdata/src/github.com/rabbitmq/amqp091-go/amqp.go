// Package amqp091 stands for the library.
package amqp091

import "context"

type Delivery struct {
	MessageId string
	Body      []byte
}

func (d Delivery) Ack(multiple bool) error           { return nil }
func (d Delivery) Nack(multiple, requeue bool) error { return nil }

type Publishing struct {
	MessageId string
	Body      []byte
}

type Channel struct{}

func (c *Channel) PublishWithContext(ctx context.Context, exchange, key string, mandatory, immediate bool, msg Publishing) error {
	return nil
}
