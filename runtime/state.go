package idem

// State is where work stands in the ledger.
type State string

// The states of work. Only a claim makes work running; whatever an operator does
// makes it failed and due, since operators have no handlers.
const (
	StateRunning State = "running" // claimed, under a lease
	StateFailed  State = "failed"  // will be tried again at its next attempt's time
	StateUnknown State = "unknown" // an effect's outcome cannot be known; a person decides
	StateWaiting State = "waiting" // waits for an approval
	StateDead    State = "dead"    // given up: a permanent error, or no attempts left
	StateDone    State = "done"    // complete, remembered until its window is over
)

// EffectState is where one effect of work stands.
type EffectState string

// The states of an effect.
const (
	EffectStarted    EffectState = "started"     // the call was about to be made
	EffectNotApplied EffectState = "not_applied" // the call is known to have done nothing
	EffectDone       EffectState = "done"
	EffectRefused    EffectState = "refused"  // the target said no for good; answered from the row
	EffectGivenUp    EffectState = "given_up" // outcome unknown, and the contract says to leave it
	EffectUnknown    EffectState = "unknown"  // may have been applied
)

// Guard is what makes a repeat of an effect safe.
type Guard string

// The guards. A contract chooses one per effect.
const (
	GuardTransaction    Guard = "transaction"
	GuardIdempotencyKey Guard = "idempotency_key"
	GuardUpsert         Guard = "upsert"
	GuardFindFirst      Guard = "find_first"
	GuardOnce           Guard = "once"
	GuardRepeatable     Guard = "repeatable"
	GuardRead           Guard = "read"
	GuardWork           Guard = "work" // other work, as a child: its key is that work's ID
)

// recovers tells whether an effect with this guard that is done, and of which the
// ledger knows only that it was started, is found out again with the result that it
// had. A process may outlive its database's server and go on with a result that the
// server has lost: what it then does must be what another attempt would do. A second
// answer to a read, or a second result of what is harmless to repeat, may differ.
func (g Guard) recovers() bool {
	switch g {
	case GuardIdempotencyKey, GuardUpsert, GuardFindFirst:
		return true
	}
	return false
}

// Class is what an error means for a repeat.
type Class string

// The classes of errors. The zero Class is "not said": a handler's error is then
// tried again, an effect's counts as [ClassUnknown].
const (
	ClassTransient  Class = "transient"   // try again
	ClassNotApplied Class = "not_applied" // try again: nothing has happened
	ClassPermanent  Class = "permanent"   // trying again cannot help
	ClassUnknown    Class = "unknown"     // it may have happened
)
