// Package nats stands for the library.
package nats

type Msg struct {
	Subject string
	Data    []byte
	Header  map[string][]string
}

func (m *Msg) Ack() error { return nil }
func (m *Msg) Nak() error { return nil }

type PubOpt any

type PubAck struct{}

func MsgId(id string) PubOpt { return id }

type JetStream interface {
	Publish(subj string, data []byte, opts ...PubOpt) (*PubAck, error)
}
