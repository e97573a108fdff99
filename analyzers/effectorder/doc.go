// Package effectorder finds effects and the records of them in an order that loses
// or repeats work.
package effectorder

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "effectorder",
	Title: "find effects whose record comes too early, too late or not at all",
	What: `
A function acts on the world outside and the error of what marks that as done (a
Mark… call, or an update to sent, paid, processed and the like) is dropped or only
logged, or the mark is saved only after a loop of effects. Or it marks work as done
before the effect, before its result is saved or before it gives the work to who
does it, and nothing takes the mark back on failure; a claim that is kept for an
hour or longer is such a mark. Or it acknowledges a message though the effect has
failed, or before it.

Where there are contracts, the ledger's own rules hold as well: the error of an effect
that a handler asks for is neither dropped nor only logged; no effect is asked for
in a goroutine that the handler does not wait for; a handler does not go on after
an error such as ErrLeaseLost; an effect neither commits nor rolls back the ledger's
transaction; a function under the guard idempotency_key uses its call, which holds
the key; and a message is not acknowledged after an error of Do that nobody has
looked at with ShouldAck.`,
	Why: `
An effect without its mark is repeated by the next run; a mark or an
acknowledgement without its effect is work that is lost, and nobody notices.`,
	Silent: `
Marks of something else than an effect whose failure is only logged, such as a
receipt; marks of work that has begun, waits or has failed; functions that hold a
transaction or take marks back; messages that are sent elsewhere, or acknowledged because
they can never succeed; relays of an outbox, which publish again what they could
not mark; metrics, sessions and what was fetched when.`,
	Fails: `
import "log"

type Store interface{ MarkSent(id string) error }

type Mailer interface{ Send(to string) error }

func remind(s Store, m Mailer, id string) error {
	if err := m.Send(id); err != nil {
		return err
	}
	if err := s.MarkSent(id); err != nil {
		log.Print(err)
	}
	return nil
}`,
	Passes: `
type Store interface{ MarkSent(id string) error }

type Mailer interface{ Send(to string) error }

func remind(s Store, m Mailer, id string) error {
	if err := m.Send(id); err != nil {
		return err
	}
	return s.MarkSent(id)
}`,
	Fix: `
Claim the work before the effect, act, and record the result; return the error of
the record, so that somebody tries again with the same key. Acknowledge a message
only when its effect is recorded or the message is kept elsewhere. Under a contract
the ledger keeps this order.`,
}
