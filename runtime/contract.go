package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Contract is one kind of work, ready to be called. Generated code makes it;
// call sites take it as it is, or a fake in their tests.
//
// It is safe for concurrent use.
type Contract[In, Out any] interface {
	// Do runs the handler for in, unless the same work is done, running, waiting
	// for its next attempt, or stuck: then the answer comes from the ledger, as
	// the contract's response says. Every error is an [*Error]; [ShouldAck] says
	// what to do with the message.
	//
	// The handler's context ends with ctx, with the contract's timeout, and
	// before the lease does. What has happened is recorded even if ctx has ended.
	// In a webhook pass context.WithoutCancel(r.Context()): a source that hangs up
	// would otherwise cut the handler off in the middle of an effect.
	// A panic of the handler is recorded and goes on.
	Do(ctx context.Context, in In) (Result[Out], error)

	// ID derives which work in is, without asking the ledger. Work that goes back to
	// an earlier version has another ID there, which is the one in results and errors.
	ID(in In) (WorkID, error)
}

// Result is what [Contract.Do] gives.
type Result[T any] struct {
	// ID names the work as the ledger does: with the ID of an earlier version if
	// it was begun under that.
	ID WorkID
	// Value is what the handler returned, in this call or in the one that did the
	// work.
	Value T
	// Replayed is false if this call ran the handler to its end, and true if the
	// answer came from the ledger.
	Replayed bool
	// State is StateDone, or StateRunning where the contract answers a duplicate of
	// running work with no_op.
	State State
	// Attempt is the attempt that did the work, from 1. Zero if that is not known.
	Attempt int
	// ExternalRef is what the other system calls the result: the external_ref of
	// the last effect that declares one, or empty.
	ExternalRef string
}

// NoValue is the Out of a contract that answers duplicates with nothing (no_op):
// a caller that could read a value would read none where it counts.
type NoValue struct{}

// Response is a contract's answer to duplicates.
type Response struct {
	WhenDone     WhenDone
	WhileRunning WhileRunning
	// Wait is how long a duplicate waits for running work. Over zero with
	// WhileRunningWait, else zero.
	Wait         time.Duration
	OtherPayload OtherPayload
}

// WhenDone is the answer to a duplicate of done work. The zero value is invalid.
type WhenDone int

// The answers to a duplicate of done work.
const (
	DoneReturnOriginal WhenDone = iota + 1 // the recorded result
	DoneError                              // ErrDone
	DoneNoOp                               // neither result nor error
)

// WhileRunning is the answer to a duplicate of running work. The zero value is
// invalid.
type WhileRunning int

// The answers to a duplicate of running work.
const (
	RunningWait  WhileRunning = iota + 1 // wait for it, then answer as it ended
	RunningError                         // ErrRunning
	// RunningNoOp gives neither result nor error, so that a consumer acknowledges
	// the message although the work may yet fail. It fits sources whose duplicate
	// is a message of its own; where it may be the running message come again, the
	// last copy would be gone.
	RunningNoOp
)

// OtherPayload is the answer to the same work with another payload. The zero
// value is invalid.
type OtherPayload int

// The answers to the same work with another payload.
const (
	OtherPayloadError          OtherPayload = iota + 1 // ErrPayloadMismatch
	OtherPayloadReturnOriginal                         // as if it were the same payload
)

// Retry says how often and when failed work is tried again.
type Retry struct {
	// MaxAttempts is how many attempts there are in all. At least 1.
	MaxAttempts int
	// Initial is the longest delay before the second attempt; every further one
	// is Multiplier times as long, up to Max. The delay is drawn evenly between
	// zero and that (full jitter: Marc Brooker, "Exponential Backoff And Jitter",
	// AWS Architecture Blog, 2015).
	Initial, Max time.Duration
	Multiplier   float64
	// Permanent and Transient are the contract's own readings of errors.
	Permanent, Transient []ErrorMatch
}

// ErrorMatch recognises an error that a contract names.
type ErrorMatch struct {
	// Name is how the contract names it.
	Name string
	is   func(error) bool
	// value is the sentinel itself, if it is one, so that a refusal that is
	// answered from the ledger matches it again.
	value error
}

// MatchValue recognises an error value, as errors.Is does.
func MatchValue(name string, value error) ErrorMatch {
	return ErrorMatch{Name: name, value: value, is: func(err error) bool { return errors.Is(err, value) }}
}

// MatchType recognises errors of type E, as errors.As does.
func MatchType[E error](name string) ErrorMatch {
	return ErrorMatch{Name: name, is: func(err error) bool {
		_, ok := errors.AsType[E](err)
		return ok
	}}
}

// Payload is the canonical form of a value: what is hashed to tell whether two
// payloads are the same.
type Payload[T any] struct {
	// Shape is a digest of names and types. Hashes of different shapes are not
	// compared, so that adding a field is no mismatch.
	Shape string
	// Append appends the canonical text of v to dst.
	Append func(dst []byte, v T) ([]byte, error)
}

// Spec is a contract as generated code hands it to [Define]. No field may be
// left out unless it says so.
type Spec[In, Out any] struct {
	Kind    string
	Version int
	// Module is the path of the Go module that the contract stands in, and Digest
	// that of the identity's shape, as idem.lock has it. Together they say which
	// contract has the kind and version in a ledger.
	Module, Digest string
	// ID derives the identity.
	ID func(in In) (WorkID, error)
	// Keyed says that ID, or that of an honoured version, derives under the ledger's
	// key: see [KeyedID].
	Keyed bool
	// Honors are the versions whose work goes on under its old IDs, newest first.
	// Mostly none.
	Honors []Honored[In]
	// Scope is whose work it is, as text for operators. May be nil.
	Scope   func(in In) string
	Payload Payload[In]
	// Latest derives the place of the work among works about one thing: work that
	// is older than what is done is superseded. May be nil.
	Latest   func(in In) (Mark, error)
	Window   Window
	Response Response
	Retry    Retry
	// Lease is how long a claim lasts unless renewed; it is renewed at a third.
	Lease time.Duration
	// Timeout bounds one attempt.
	Timeout time.Duration
	// Release is the release of the program that made an attempt, if the contract
	// has its own; else that of [WithRelease] is recorded. It is never part of a
	// key.
	Release string
	// NoPayload keeps the input out of the ledger, and those of the effects, which are
	// made of it: only hashes are stored. For work that is run again by nobody but its
	// source.
	NoPayload bool
	// Redact returns the input without what the ledger must not store, and leaves in
	// as it is. Hashes are made of the whole input. Nil if all of it may be stored. As
	// with NoPayload, nobody but the source can run such work again.
	Redact func(in In) In
	// OneTransaction commits claim, effects and completion together. Only for
	// contracts all of whose effects have the guard transaction.
	OneTransaction bool
	// Effects are those that the handler has, so that what a person says of their
	// results can be checked: see [Ledger.Resolve]. May be nil.
	Effects []Declared
	// Removed are the ledger's names of effects that the handler no longer has: an
	// attempt completes without asking for those that an earlier one has done. May
	// be nil.
	Removed []string
	// Handle runs the handler with its effects.
	Handle func(ctx context.Context, run *Run, in In) (Out, error)
}

func (s *Spec[In, Out]) validate() error {
	var missing string
	switch {
	case s.Kind == "":
		missing = "Kind"
	case s.Version < 1:
		missing = "Version"
	case s.Module == "":
		missing = "Module"
	case s.Digest == "":
		missing = "Digest"
	case s.ID == nil:
		missing = "ID"
	case !s.validHonors():
		missing = "Honors"
	case s.Payload.Append == nil || s.Payload.Shape == "":
		missing = "Payload"
	case !s.Window.valid():
		missing = "Window"
	case s.Response.WhenDone == 0:
		missing = "Response.WhenDone"
	case s.Response.WhileRunning == 0:
		missing = "Response.WhileRunning"
	case s.Response.OtherPayload == 0:
		missing = "Response.OtherPayload"
	case s.Response.WhileRunning == RunningWait && s.Response.Wait <= 0:
		missing = "Response.Wait"
	case s.Retry.MaxAttempts < 1:
		missing = "Retry.MaxAttempts"
	case s.Retry.Initial <= 0 || s.Retry.Max < s.Retry.Initial || s.Retry.Multiplier < 1:
		missing = "Retry"
	case s.Lease <= 0:
		missing = "Lease"
	case s.Timeout <= 0:
		missing = "Timeout"
	case s.Handle == nil:
		missing = "Handle"
	default:
		return nil
	}
	return &Error{Reason: ErrContract, Kind: s.Kind, Cause: fmt.Errorf("the field %s of its Spec is missing or out of range", missing)}
}
