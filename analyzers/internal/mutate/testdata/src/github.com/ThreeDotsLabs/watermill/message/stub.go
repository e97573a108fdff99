// Package message stands for the library.
package message

import "context"

type Message struct {
	UUID    string
	Payload []byte
}

func NewMessage(uuid string, payload []byte) *Message { return nil }
func (m *Message) Ack() bool                          { return true }
func (m *Message) Nack() bool                         { return true }
func (m *Message) Context() context.Context           { return nil }

type Publisher interface {
	Publish(topic string, messages ...*Message) error
	Close() error
}
