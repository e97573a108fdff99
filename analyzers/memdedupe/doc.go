// Package memdedupe finds effects that only the memory of the process keeps from
// happening twice.
package memdedupe

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "memdedupe",
	Title: "find duplicates that only the memory of the process recognises",
	What: `
A map or a list in a field or a global variable, or in a variable outside of a loop
that waits for work or of a handler, or a cache of a known library, whose values
only mark that something has been done, is asked before an effect on the world
outside and marked beside it: in the function itself, or by methods that it calls.
Methods that check and mark such memory, and say by their name or type that they
recognise duplicates, are reported themselves; so are stores of idempotency keys
that are in memory alone, whatever they keep under a key.`,
	Why: `
A restart, a deployment or a second instance knows nothing of the marks, and caches
forget the oldest: the next delivery of the same work acts again.`,
	Silent: `
Sets that are local to a call, caches of values, marks that are taken back when the
effect is over or has failed, rate limits, memory that is kept in a file or a
database as well, and memory that only saves asking a store that is asked too.`,
	Fails: `
type Mailer interface{ Send(to string) error }

type Notifier struct {
	sent map[string]bool
	mail Mailer
}

func (n *Notifier) Notify(event, to string) error {
	if n.sent[event] {
		return nil
	}
	n.sent[event] = true
	return n.mail.Send(to)
}`,
	Passes: `
type Mailer interface{ Send(to string) error }

type Store interface{ Claim(event string) (bool, error) }

type Notifier struct {
	sent Store
	mail Mailer
}

func (n *Notifier) Notify(event, to string) error {
	if mine, err := n.sent.Claim(event); err != nil || !mine {
		return err
	}
	return n.mail.Send(to)
}`,
	Fix: `
Keep the marks where a restart finds them and other instances see them: in the
database, by a row with a unique key that is inserted before the effect. Under a
contract the ledger does this.`,
}
