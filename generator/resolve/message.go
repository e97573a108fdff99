package resolve

import (
	"go/types"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// sender is the first effect of a package that sends on a channel.
type sender struct {
	name string // kind and effect
	out  types.Type
	from *types.Func
}

// message resolves what makes the effect's message the same as another; nil if
// the contract does not say, or after a report.
func (c *contract) message(e *contracts.Effect, path string, in, out types.Type, method *types.Func) *model.Message {
	spec := &e.Message
	if !spec.Set {
		return nil
	}
	c.oneResult(e, path, out, method)
	m := &model.Message{To: c.value(spec.To, path+".to", in, nil, forPer), List: spec.BodyList}
	for _, v := range spec.Body {
		if value := c.value(v, path+".body", in, nil, forPer); value != nil {
			value.MayBeEmpty = true // not all of them, which is known when it runs
			m.Body = append(m.Body, value)
		}
	}
	return m
}

// oneResult reports a second type of results on a channel: whoever does not send a
// message answers with the result of the one who did, which is read as its own.
func (c *contract) oneResult(e *contracts.Effect, path string, out types.Type, method *types.Func) {
	channel := e.Message.Channel
	first, ok := c.senders[channel.V]
	if !ok {
		c.senders[channel.V] = sender{c.spec.Kind.V + "." + e.Name.V, out, method}
		return
	}
	if types.Identical(first.out, out) {
		return
	}
	d := c.fail(channel.Pos, path+".channel", method, "%s answers with %s, and %s, which sends by %s too, with %s: if one has sent the same message, the other answers with its result, so let both have the same type",
		e.Name.V, describe(c.types, out), first.name, channel.V, describe(c.types, first.out))
	c.at(d, first.from)
}
