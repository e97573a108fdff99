package idem

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idem/runtime/canon"
)

// Message makes an effect remember what it sends: the same content to the same
// recipient on the same channel is not sent again before TTL is over, by whatever
// work.
//
// It is kept for as long as nobody says that nothing was sent, so TTL has to be
// longer than one attempt may take.
type Message[In any] struct {
	// Channel names the way by which it is sent, such as telegram.
	Channel string
	// TTL is how long a sent message is remembered, from when it was sent.
	TTL time.Duration
	// To appends the recipient, as text.
	To func(dst []byte, in In) ([]byte, error)
	// Body appends the canonical form of the content.
	Body func(dst []byte, in In) ([]byte, error)
}

func (m *Message[In]) valid() bool {
	return m.Channel != "" && m.TTL > 0 && m.To != nil && m.Body != nil
}

// of derives which message an input is.
func (m *Message[In]) of(in In) (*MessageWrite, error) {
	to, err := m.To(nil, in)
	empty, isElement := errors.AsType[*canon.ElementError](err)
	switch {
	case isElement && errors.Is(empty.Err, canon.ErrEmpty):
		return nil, fmt.Errorf("the recipient of the message, %s, is empty", empty.Path)
	case err != nil:
		return nil, fmt.Errorf("the recipient of the message: %w", err)
	case len(to) == 0:
		return nil, errors.New("the recipient of the message is empty")
	}
	body, err := m.Body(nil, in)
	if err != nil {
		return nil, fmt.Errorf("the body of the message: %w", err)
	}
	if saysNothing(body) {
		return nil, errors.New("the body of the message is empty, and two messages without text are not the same message")
	}
	return &MessageWrite{MessageID: MessageID{Channel: m.Channel, To: string(to), Content: sha256.Sum256(body)}, TTL: m.TTL}, nil
}

// saysNothing tells whether a canonical value is empty, or a list whose parts are.
func saysNothing(body []byte) bool {
	var parts []json.RawMessage
	if json.Unmarshal(body, &parts) != nil {
		return canon.Empty(body)
	}
	for _, part := range parts {
		if !canon.Empty(part) {
			return false
		}
	}
	return true
}

// MessageID says when two messages are the same.
type MessageID struct {
	Channel string
	To      string // the recipient
	Content Hash
}

// MessageWrite is what an [EffectWrite] says of the effect's message.
//
// An effect that starts claims the message for TTL, unless another effect's key
// has it and its time is not over. From then on the message goes with the state of
// the effect whose key has it: done makes it sent, remembers its result and counts
// TTL anew; not applied and refused let go of what is being sent; given up is
// remembered, unknown changes nothing. Of a message that another effect has,
// nothing is changed.
type MessageWrite struct {
	MessageID
	TTL time.Duration
}

// MessageState is where a message stands.
type MessageState string

// The states of a message.
const (
	MessageSending MessageState = "sending"  // its effect was started, and has no end so far
	MessageSent    MessageState = "sent"     // its effect is done
	MessageGivenUp MessageState = "given_up" // may have been sent, and its effect was given up
)

// SentMessage is a row of sent_messages: who has a message, and what came of it.
type SentMessage struct {
	State MessageState
	// ID, Effect, Per and Key are the work, the name and the key of the effect.
	ID     WorkID
	Effect string
	Per    string
	Key    string
	// Result, ExternalRef and Error are the effect's.
	Result      Body
	ExternalRef string
	Error       string
	SentAt      time.Time // zero unless it was sent
	ExpiresAt   time.Time
	// Until is before when asking again is of no use while it is being sent: the end
	// of the lease of the effect's work if that is running, its next attempt if it
	// failed, and ExpiresAt otherwise or if that is earlier.
	Until time.Time
}

// owner names the effect that has a message.
func (m *SentMessage) owner() string {
	return fmt.Sprintf("%s of the work %s", m.Effect, m.ID)
}

// sentBefore answers for a message that another effect has: what it had for an
// answer if it was sent, and otherwise that nothing is sent now, since two would be
// sent if the other was.
func (a *attempt[In, Out]) sentBefore(ctx context.Context, m *SentMessage) (out Out, err error) {
	a.message = nil // whatever comes now is not about our own
	switch m.State {
	case MessageSent:
		result, err := a.run.core.codecs.move(m.Result, Slot{m.ID, EffectID{m.Effect, m.Per}, PartResult}, a.place(PartResult))
		if err != nil && passing(err) {
			return out, a.waitToRead(m, err)
		}
		if err != nil {
			result = Body{Codec: CodecDropped}
		}
		note := fmt.Sprintf("not sent: %s sent the same message at %s", m.owner(), m.SentAt.Format(time.RFC3339))
		err = a.write(ctx, EffectDone, EffectWrite{Input: a.input, Result: result, ExternalRef: m.ExternalRef, Error: note})
		if err != nil {
			return out, err
		}
		return a.recorded()
	case MessageGivenUp:
		cause := fmt.Errorf("not sent: %s may have sent the same message, and gave it up: %s", m.owner(), m.Error)
		if err := a.write(ctx, EffectGivenUp, EffectWrite{Input: a.input, Error: cause.Error()}); err != nil {
			return out, err
		}
		return out, a.run.fail(ErrGivenUp, a.id.Name, ClassPermanent, cause)
	}
	class := ClassNotApplied
	if a.uncertain {
		class = ClassUnknown
	}
	cause := fmt.Errorf("not sent: %s is sending the same message, or may have sent it", m.owner())
	return out, a.run.fail(ErrEffectFailed, a.id.Name, class, &otherWork{m.Until, cause})
}

// waitToRead answers for a message that was sent, by an effect whose result this
// program cannot read.
func (a *attempt[In, Out]) waitToRead(m *SentMessage, cause error) error {
	class := ClassNotApplied
	if a.uncertain {
		class = ClassUnknown
	}
	cause = fmt.Errorf("not sent: %s sent the same message, and its result cannot be read: %w", m.owner(), cause)
	waits := a.run.fail(ErrUnreadable, a.id.Name, class, &otherWork{cause: cause})
	a.run.await(a.entry, waits)
	return waits
}
