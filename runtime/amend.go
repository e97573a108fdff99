package idem

import (
	"context"
	"time"
)

// Amender is what a [Store] does for people who decide about work.
type Amender interface {
	// Inspect reads all that the ledger has about one piece of work, as it is at one
	// moment, without locking anything. The zero Inspection means that there is
	// none, or that its window is over. An ID that an alias leads from gives the row
	// that it leads to.
	Inspect(ctx context.Context, id WorkID) (Inspection, error)

	// Amend changes work that nobody runs, in one atomic step: decide is told what
	// Inspect would say, and nobody else changes the work until what it answers is
	// written. An error of decide is returned as it is, and nothing is written. It
	// may be called more than once, and must not call the store.
	Amend(ctx context.Context, id WorkID, decide func(Inspection) (Amendment, error)) error
}

// Inspection is all that a ledger has about one piece of work, for people.
type Inspection struct {
	Work Work
	// Effects are in the order in which they were first asked for.
	Effects []EffectRow
	// Attempts are from the first to the last.
	Attempts []Attempt
	// Audits are what people have changed, from the first to the last. They outlive
	// the work: some may be of a life before its window was over.
	Audits []Audit
}

// Attempt is a row of attempt_log.
type Attempt struct {
	Number    int
	StartedAt time.Time
	EndedAt   time.Time // zero while it runs
	// Outcome is how it ended: a [State], or superseded, released (it has done nothing
	// and counts for nothing) or abandoned (its lease was over when the next began).
	Outcome       string
	Class         Class
	Error         string
	Release       string
	CorrelationID string
}

// Audit is a row of audit_log: one change by a person.
type Audit struct {
	At   time.Time // the store's; it is not told
	Who  string
	Verb string
	// Before and After are JSON: what was changed, and nothing else.
	Before, After string
	Reason        string
}

// Amendment is what a person's decision changes of work.
type Amendment struct {
	// Retry makes the work failed and due now, with Budget attempts that may still be
	// started. Of dead work nothing is left of its having been dead.
	Retry  bool
	Budget int
	// Acknowledge says of dead work that it may be forgotten.
	Acknowledge bool
	// Effects are rows that there are already.
	Effects []EffectAmendment
	// Audits are recorded with the work's ID and the store's time.
	Audits []Audit
}

// EffectAmendment moves an effect to what a person knows of it. The message that it
// was sending, if any, goes with it: sent, with the effect's result, if it is done,
// and free for others if it was not applied. Its time stays as it was.
type EffectAmendment struct {
	EffectID
	// Key is that of the row.
	Key         string
	State       EffectState
	Epoch       int
	Result      Body
	ExternalRef string
}
