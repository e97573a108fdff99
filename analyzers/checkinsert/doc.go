// Package checkinsert finds lookups that decide whether something is done, with
// nothing that keeps two from deciding the same at once.
package checkinsert

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "checkinsert",
	Title: "find work that is looked up, done and recorded without a claim",
	What: `
A function looks a key up in a store, acts on the world outside if it is not there,
and records the key afterwards, with no claim between; or it reads a row, acts if
the row does not say that the work is done, and sets it to done afterwards. Or it
inserts a row only if a SELECT on the same table by the same value has found none. Or the error of such a
lookup is only logged or dropped, so that what could not be looked up counts as
new.`,
	Why: `
Two deliveries of the same event that overlap both find nothing, and both act. A
retry after a crash between the effect and the record does the same.`,
	Silent: `
Functions that hold a transaction or a lock, claim the key first (SETNX, Claim,
Reserve, Acquire), use ON CONFLICT or the like, or take care of unique violations;
effects that are given a key of their own; limits, cooldowns and sessions; caches,
where the value that is stored is what has been computed; find-then-create
through a repository, since what the database's indexes say cannot be seen; lookups
by an ID, an address or a name, on which a table usually has a unique index.`,
	Fails: `
type Store interface {
	Processed(id string) (bool, error)
	MarkProcessed(id string) error
}

type Mailer interface{ Send(to string) error }

func handle(s Store, m Mailer, id string) error {
	if seen, err := s.Processed(id); err != nil || seen {
		return err
	}
	if err := m.Send("you@example.com"); err != nil {
		return err
	}
	return s.MarkProcessed(id)
}`,
	Passes: `
type Store interface {
	Claim(id string) (bool, error)
	Release(id string) error
	MarkProcessed(id string) error
}

type Mailer interface{ Send(to string) error }

func handle(s Store, m Mailer, id string) error {
	if mine, err := s.Claim(id); err != nil || !mine {
		return err
	}
	if err := m.Send("you@example.com"); err != nil {
		return s.Release(id)
	}
	return s.MarkProcessed(id)
}`,
	Fix: `
Claim the key before the effect by one statement that fails if it is taken: INSERT
with ON CONFLICT DO NOTHING, SETNX with an expiry; complete the claim afterwards and
release it if the effect has failed. Under a contract the ledger does this.`,
}
