package idem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The reasons for which [Contract.Do] gives no result, and an effect no answer.
// Branch on them with errors.Is; the details are in [Error].
var (
	// ErrRunning: another delivery of the same work is being handled right now.
	ErrRunning = errors.New("the same work is running")
	// ErrDone: the work is done, and the contract answers duplicates with an error.
	ErrDone = errors.New("the work is done already")
	// ErrRetryLater: the attempt failed, or an earlier one did and the next is
	// not due yet. Error.RetryAt says when it is.
	ErrRetryLater = errors.New("the work failed and is to be tried again later")
	// ErrDead: the work was given up, for a permanent error or after its last attempt.
	ErrDead = errors.New("the work is dead")
	// ErrOutcomeUnknown: nobody knows whether an effect happened, and the contract
	// says that a person decides.
	ErrOutcomeUnknown = errors.New("an effect's outcome is unknown")
	// ErrAwaitingApproval: the work waits for a person's approval.
	ErrAwaitingApproval = errors.New("the work awaits approval")
	// ErrSuperseded: newer work about the same thing is done, so this work, which
	// is done without a result, has no use any more. The cause is a [NewerWork].
	ErrSuperseded = errors.New("the work is superseded")
	// ErrPayloadMismatch: the same work was seen before with another payload.
	ErrPayloadMismatch = errors.New("the same work came with another payload")
	// ErrEffectDiverged: this attempt asks for other effects than an earlier one did.
	ErrEffectDiverged = errors.New("the effects differ from an earlier attempt's")
	// ErrEffectRefused: the target of the effect said no for good, now or in an
	// earlier attempt.
	ErrEffectRefused = errors.New("the effect was refused")
	// ErrEffectFailed: the effect gave an error and may be asked for again.
	ErrEffectFailed = errors.New("the effect failed")
	// ErrGivenUp: nobody knows whether the effect happened, and the contract says
	// to go on without knowing.
	ErrGivenUp = errors.New("the effect was given up")
	// ErrLeaseLost: another attempt may own the work by now.
	ErrLeaseLost = errors.New("the lease is lost")
	// ErrResultDropped: the work is done, and its result was too large or could
	// not be encoded, so there is none to return.
	ErrResultDropped = errors.New("the result was not kept")
	// ErrUnreadable: the work is done, and its result cannot be read here: the key is
	// missing that it was encrypted with, or it does not fit the Go type. Of an effect:
	// the attempt ends and is given back, and a later one asks again.
	ErrUnreadable = errors.New("the stored value cannot be read")
	// ErrTampered: a stored value is not what was stored. It is the cause of other
	// errors, never the reason.
	ErrTampered = errors.New("the stored value was changed")
	// ErrIdentity: the input has no identity, such as an empty key.
	ErrIdentity = errors.New("no identity can be derived")
	// ErrInTransaction: an effect was asked for inside a transaction effect.
	ErrInTransaction = errors.New("an effect inside a transaction effect")
	// ErrRunOver: an effect was asked for after its handler had returned.
	ErrRunOver = errors.New("the handler has returned")
	// ErrLedger: the ledger could not be reached, read or written.
	ErrLedger = errors.New("the ledger is not available")
	// ErrKey: the key of keyed identities is missing, unusable, or not the one that
	// the ledger's work was derived under.
	ErrKey = errors.New("the key of keyed identities does not fit")
	// ErrSchema: the ledger's tables are missing, or of another version.
	ErrSchema = errors.New("the ledger's schema does not fit")
	// ErrKindTaken: in this ledger the kind and version are those of a contract of
	// another module, or with another identity.
	ErrKindTaken = errors.New("the kind and version belong to another contract")
	// ErrClosed: the ledger was closed.
	ErrClosed = errors.New("the ledger is closed")
	// ErrNoWork: the ledger has no such work, or its window is over.
	ErrNoWork = errors.New("there is no such work")
	// ErrChanged: the work is not as it was when a person looked at it.
	ErrChanged = errors.New("the work has changed since it was looked at")
	// ErrTooEarly: before Error.RetryAt nobody can tell that an effect did not happen.
	ErrTooEarly = errors.New("it is too early to say that it did not happen")
	// ErrDecision: what a person has decided does not fit the work.
	ErrDecision = errors.New("the decision does not fit")
	// ErrContract: a Spec or an Effect lacks something that it cannot be without.
	ErrContract = errors.New("the contract is not valid")
)

// Error is the one type of error that [Contract.Do] and the effects return.
// It matches its Reason and its Cause with errors.Is and errors.As.
type Error struct {
	// Reason is one of this package's Err values, never nil.
	Reason error
	// Kind and ID name the work. ID is zero if none could be derived.
	Kind string
	ID   WorkID
	// Effect is the effect's name, or empty if the error is not about one.
	Effect string
	// State is the work's state as last known, or empty.
	State State
	// Attempt counts the work's attempts from 1; zero if there was none.
	Attempt int
	// RetryAt is when to ask again, by the ledger's clock: the next attempt of
	// failed work is due then, and the lease of running work ends unless it is
	// renewed. Zero in other states, and where it is not known.
	RetryAt time.Time
	// ExternalRef is what the other system calls the result, where it is known.
	ExternalRef string
	// Class is what the error means for a repeat, for errors of effects.
	Class Class
	// Cause is what led to the error: the handler's or the effect function's own
	// error, or the database's. It may be nil.
	Cause error
}

func (e *Error) Error() string {
	var b strings.Builder
	work := ""
	if e.Kind != "" {
		b.WriteString(e.Kind)
		if !e.ID.IsZero() {
			b.WriteByte(' ')
			b.WriteString(e.ID.String()[:12])
			work = b.String() + ": "
		}
		b.WriteString(": ")
	}
	if e.Effect != "" {
		b.WriteString(e.Effect)
		b.WriteString(": ")
	}
	if e.Cause != nil && e.RetryAt.IsZero() && strings.Contains(e.Cause.Error(), e.Reason.Error()) {
		// The effect's error gives the same reason, and says of which effect.
		return b.String() + strings.ReplaceAll(e.Cause.Error(), work, "")
	}
	b.WriteString(e.Reason.Error())
	switch {
	case e.RetryAt.IsZero():
	case e.Reason == ErrTooEarly:
		fmt.Fprintf(&b, ", before %s", e.RetryAt.Add(time.Second-1).UTC().Format(time.RFC3339))
	default:
		what := "next"
		if e.State == StateRunning {
			what = "its lease ends"
		}
		fmt.Fprintf(&b, " (attempt %d, %s at %s)", e.Attempt, what, e.RetryAt.UTC().Format(time.RFC3339))
	}
	if e.Cause != nil {
		b.WriteString(": ")
		cause := e.Cause.Error()
		if work != "" {
			// An effect's error says which work it is about, and so does this one.
			cause = strings.ReplaceAll(cause, work, "")
		}
		b.WriteString(cause)
	}
	return b.String()
}

// Unwrap makes errors.Is and errors.As see the reason and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// ShouldAck answers a consumer's one question: may this message be acknowledged?
//
// Yes if there was no error, or if the ledger has the work's outcome for good
// (done, superseded, dead). No if the work waits for a redelivery, or for a person after whom
// only a redelivery would run it; if the payload is not the one that is recorded;
// if no identity could be derived; and if the ledger could not be reached: to
// acknowledge then would lose the work. What can never succeed ends in the
// source's own dead letters, not in nobody's hands.
//
// Of joined errors, all must allow it.
func ShouldAck(err error) bool {
	if err == nil {
		return true
	}
	var e *Error
	switch x := err.(type) {
	case *Error:
		e = x
	case interface{ Unwrap() []error }:
		parts := x.Unwrap()
		for _, part := range parts {
			if !ShouldAck(part) {
				return false
			}
		}
		return len(parts) > 0
	case interface{ Unwrap() error }:
		inner := x.Unwrap()
		return inner != nil && ShouldAck(inner)
	default:
		return false
	}
	return e.Reason == ErrDone || e.Reason == ErrDead || e.Reason == ErrResultDropped || e.Reason == ErrUnreadable || e.Reason == ErrSuperseded
}

// NewerWork names the work that made another one superseded. It matches
// [ErrSuperseded].
type NewerWork struct{ ID WorkID }

func (e NewerWork) Error() string { return "newer work is done: " + e.ID.String()[:12] }

// Is makes a store's error match the reason.
func (NewerWork) Is(target error) bool { return target == ErrSuperseded }

// IdentityError is what a generated derivation returns: field is the path of the
// field that has no canonical form or is empty, cause says why.
func IdentityError(kind, field string, cause error) error {
	return &Error{Reason: ErrIdentity, Kind: kind, Cause: fmt.Errorf("%s: %w", field, cause)}
}
