package contracts

import (
	"time"

	"gopkg.in/yaml.v3"
)

// Message says which two messages are the same, for an effect that sends one.
type Message struct {
	Pos      Pos // of the key "message", or of the effect if it has none
	Set      bool
	Channel  Value[string]   // of the form of a kind's name
	To       Value[string]   // field path of the effect's input: the recipient
	Body     []Value[string] // field paths of the effect's input
	BodyList bool            // written as a list; a list of one is still a list
	TTL      Value[time.Duration]
}

func (p *parser) message(e *Effect, it item) {
	m := &e.Message
	m.Pos, m.Set = it.key, true
	m.Channel.Pos, m.To.Pos, m.TTL.Pos = it.key, it.key, it.key
	present, ok := p.mapping(it, "a mapping such as {channel: telegram, to: ChatID, body: Text, ttl: 72h}", []field{
		{"channel", func(it item) { p.channel(it, &m.Channel) }},
		{"to", func(it item) { p.fieldPath(it, &m.To) }},
		{"body", func(it item) { p.messageBody(it, m) }},
		{"ttl", func(it item) { p.duration(it, &m.TTL, anyDuration("72h", "h")) }},
	})
	if !ok {
		return
	}
	p.unanswered(it.key, it.path, present, []question{
		{"channel", "by which way is it sent? Answer with a name that all effects share which send that way, such as telegram"},
		{"to", "who receives it? Answer with a field path of the effect's input"},
		{"body", "what does it say? Answer with a field path of the effect's input, or a list of them"},
		{"ttl", "for how long is the same message not sent again? Answer with a duration such as 72h"},
	})
}

func (p *parser) channel(it item, dst *Value[string]) {
	s, ok := p.text(it, "the name of a channel such as telegram")
	if ok && p.name("a channel", s, it.pos, it.path) {
		*dst = Value[string]{V: s, Pos: it.pos, Set: true}
	}
}

func (p *parser) messageBody(it item, m *Message) {
	switch it.node.Kind {
	case yaml.SequenceNode:
		m.BodyList = true
		m.Body = p.fieldPaths(it)
	case yaml.MappingNode:
		p.wrongType(it, "a field path or a list of field paths")
	default:
		var v Value[string]
		if p.fieldPath(it, &v); v.Set {
			m.Body = []Value[string]{v}
		}
	}
}

// checkMessages compares how long a message is remembered with how long an attempt
// may take to send it: in between, nobody would know of it. And it compares what the
// ledger must not store with what it stores of a message.
func (p *parser) checkMessages(c *Contract) {
	for _, e := range c.Effects {
		m := &e.Message
		path := join("effects."+clip(e.Name.V), "message")
		if m.TTL.Set && m.TTL.V <= c.Timeout.V {
			p.errorf(m.TTL.Pos, join(path, "ttl"), "%s is not longer than the timeout of %s: an attempt could still be sending when the message is forgotten, and other work would send it too",
				FormatDuration(m.TTL.V), FormatDuration(c.Timeout.V))
		}
		for _, v := range e.Redact {
			if m.To.Set && overlaps(v.V, m.To.V) {
				p.errorf(v.Pos, join("effects."+clip(e.Name.V), "redact"), "%s is the recipient of the message, which the ledger stores as it is, in sent_messages: say who receives it by what is no secret, such as an account's number", clip(m.To.V))
			}
		}
		if m.Set && c.Payload.V == NoPayload {
			p.warnf(m.Pos, path, "the recipient is kept in the ledger for as long as the message is remembered, although payload: none keeps the input out of it")
		}
	}
}
