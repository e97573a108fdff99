// Package randomkey finds keys that are new on every attempt.
package randomkey

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "randomkey",
	Title: "find idempotency keys that are new on every attempt",
	What: `
A random, time-based or counted value (a UUID, ULID or other generated identifier,
a random number, the clock, a counter, a process ID), made in the function or in
one that it calls, becomes an idempotency or deduplication key: a header, an option,
a field or a parameter that the catalogue knows or that is named as one. A stable
identifier with such a value appended is reported as well, and so is a random
fallback for a key that was not given.`,
	Why: `
A key tells the other side that two requests are the same work. If each attempt
makes a new one, a retry after a timeout charges, sends or creates a second time:
the key is there, and protects from nothing.`,
	Silent: `
Identifiers derived from a name (UUID versions 3 and 5), parsed values, the
identifier of a thing that the same function creates, the fallback for a key that
the caller of an HTTP handler may send, operations of which a second one is
harmless, parameters of functions that only look something up, and the clock in
minutes or coarser.`,
	Fails: `
import (
	"net/http"

	"github.com/google/uuid"
)

func charge(r *http.Request) {
	r.Header.Set("Idempotency-Key", uuid.NewString())
}`,
	Passes: `
import "net/http"

func charge(r *http.Request, invoiceID string) {
	r.Header.Set("Idempotency-Key", "charge:"+invoiceID)
}`,
	Fix: `
Derive the key from what identifies the work: the ID of the order, the message or
the event, or in a handler under a contract the work's ID or an effect's key, which
stay the same over all attempts.`,
}
