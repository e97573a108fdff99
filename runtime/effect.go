package idem

import (
	"context"
	"fmt"
	"time"
)

// Call is what an effect function is handed: which work it is for, and the key
// to send to the provider. It is sealed: only this package makes one, so that no
// effect can be called with a made-up key.
type Call interface {
	// Key is the effect's key, the same in every attempt: 64 hexadecimal digits,
	// unless the contract has another key_format.
	// Send it as the provider's idempotency key, or store it where the provider
	// lets you search for it.
	Key() string
	// WorkID names the work.
	WorkID() WorkID
	// Kind is the contract's kind.
	Kind() string
	// Effect is the effect's name in the contract.
	Effect() string
	// Attempt is the work's attempt, from 1.
	Attempt() int
	sealed()
}

// TxCall is the Call of an effect with the guard transaction.
type TxCall[Tx any] interface {
	Call
	// Tx is the transaction in which the effect and its row commit together. The
	// ledger commits it or rolls it back; the effect must not.
	Tx() Tx
}

// Effect is what generated code says about one effect of a contract.
type Effect[In, Out any] struct {
	// Name is the effect's name in the contract.
	Name string
	// Payload is the canonical form of the effect's input.
	Payload Payload[In]
	// Per appends the canonical array of the values that once_per names. Nil
	// without once_per.
	Per func(dst []byte, in In) ([]byte, error)
	// MaxCalls is after how many calls one that is known to have done nothing is
	// taken for a refusal, so that the handler can go on without the effect. Zero
	// leaves it to the attempts of the work. Of no use to the guards transaction and
	// read, which count no calls.
	MaxCalls int
	// KeyFormat is how the provider wants the key: the zero value is 64 hexadecimal
	// digits.
	KeyFormat KeyFormat
	// Message makes the effect remember what it sends, and answer from that where
	// another effect has sent the same. Nil for what is no message. For the guards
	// idempotency_key, upsert, find_first and once.
	Message *Message[In]
	// ReplaysFailures says that the provider answers a key that it knows with the
	// failure that it has stored. A call that its function says has done nothing
	// ([NotApplied]) is then made again under another key. For the guard
	// idempotency_key.
	ReplaysFailures bool
	// VisibleAfter is how long after its start a call that was cut off may take to
	// show at the target: before that nobody who looks can say that it did nothing.
	// Zero if nobody knows. [FindFirst] has an argument for it.
	VisibleAfter time.Duration
	// ExternalRef is what the other system calls the result. Nil if the contract
	// does not say.
	ExternalRef func(out Out) string
	// Redact returns the input without what the ledger must not store, and leaves in
	// as it is. The payload's hash is made of the whole input. Nil if all of it may be
	// stored.
	Redact func(in In) In
	// Call is the user's function. Nil for the guard transaction alone.
	//
	// Its error decides about a repeat. A connection that was refused counts as
	// proof that nothing was sent, so it must not hide an earlier request that
	// was: let an HTTP client follow no redirects here (http.ErrUseLastResponse),
	// and mark the error with [Unknown] if the function makes several requests.
	Call func(ctx context.Context, call Call, in In) (Out, error)
}

// IfUnknown is what happens to an effect with the guard once whose outcome is
// unknown. The zero value is invalid.
type IfUnknown int

// The answers to an unknown outcome.
const (
	Ask    IfUnknown = iota + 1 // the work waits for a person
	GiveUp                      // the effect is recorded as given up, never as done
	Repeat                      // call again
)

// Guarded is an effect together with what makes a repeat of it safe.
//
// One that lacks something, such as the effect's Call, answers every request with
// [ErrContract] and has done nothing.
type Guarded[In, Out any] struct {
	effect Effect[In, Out]
	guard  guard[In, Out]
	work   childContract[In, Out] // of a child, else nil
	broken error
}

// guarded checks what every effect needs, and then what its guard does.
func guarded[In, Out any](e Effect[In, Out], g guard[In, Out], needs ...need) *Guarded[In, Out] {
	needs = append([]need{{"Name", e.Name != ""}, {"Payload", e.Payload.Append != nil && e.Payload.Shape != ""},
		{"KeyFormat", e.KeyFormat.valid()}, {"MaxCalls", e.MaxCalls >= 0 && (e.MaxCalls == 0 || countsCalls(g.name()))},
		{"Message", e.Message == nil || e.Message.valid() && remembersMessages(g.name())},
		{"ReplaysFailures", !e.ReplaysFailures || g.name() == GuardIdempotencyKey}, {"VisibleAfter", e.VisibleAfter >= 0}}, needs...)
	for _, n := range needs {
		if !n.met {
			return &Guarded[In, Out]{effect: e, guard: g, broken: fmt.Errorf("its %s is missing or out of range", n.what)}
		}
	}
	return &Guarded[In, Out]{effect: e, guard: g}
}

// countsCalls tells whether a call of an effect has a row before it is made. What
// fails of a transaction or a read leaves nothing behind, and so no count; a child
// counts its own attempts.
func countsCalls(g Guard) bool {
	return g != GuardTransaction && g != GuardRead && g != GuardWork
}

// remembersMessages: what is harmless to repeat needs no memory, and a transaction
// and a read send nothing.
func remembersMessages(g Guard) bool { return countsCalls(g) && g != GuardRepeatable }

type need struct {
	what string
	met  bool
}

// IdempotencyKey guards an effect whose provider dedupes on [Call.Key] for
// remembersFor after it first saw the key.
func IdempotencyKey[In, Out any](e Effect[In, Out], remembersFor time.Duration) *Guarded[In, Out] {
	return guarded(e, keyGuard[In, Out]{remembersFor},
		need{"Call", e.Call != nil}, need{"time for which the provider remembers keys", remembersFor > 0})
}

// Upsert guards an effect that creates something under a unique value which the
// provider enforces and we control, such as [Call.Key]: a repeat, however late,
// finds what is there and answers with it. e.Call must not take an existing
// thing for an error.
func Upsert[In, Out any](e Effect[In, Out]) *Guarded[In, Out] {
	return guarded(e, resendGuard[In, Out]{GuardUpsert}, need{"Call", e.Call != nil})
}

// Repeatable guards an effect that is harmless to repeat. It is never lost, and
// may happen more than once.
func Repeatable[In, Out any](e Effect[In, Out]) *Guarded[In, Out] {
	return guarded(e, resendGuard[In, Out]{GuardRepeatable}, need{"Call", e.Call != nil})
}

// FindFirst guards an effect that can be looked for at the provider. An effect
// is visible to find at the latest visibleAfter its call was started. find
// returns false only if the effect is certainly absent.
func FindFirst[In, Out any](e Effect[In, Out], find func(ctx context.Context, call Call, in In) (Out, bool, error), visibleAfter time.Duration) *Guarded[In, Out] {
	e.VisibleAfter = visibleAfter
	return guarded(e, findGuard[In, Out]{find, visibleAfter}, need{"Call", e.Call != nil}, need{"find function", find != nil})
}

// Once guards an effect that is never repeated once it has started.
func Once[In, Out any](e Effect[In, Out], ifUnknown IfUnknown) *Guarded[In, Out] {
	return guarded(e, onceGuard[In, Out]{ifUnknown},
		need{"Call", e.Call != nil}, need{"answer to an unknown outcome", ifUnknown >= Ask && ifUnknown <= Repeat})
}

// Read records the first answer of a read, so that every attempt decides alike.
func Read[In, Out any](e Effect[In, Out]) *Guarded[In, Out] {
	return guarded(e, readGuard[In, Out]{}, need{"Call", e.Call != nil})
}

// Transaction guards an effect on the application's own tables: it commits in
// one transaction with its row in the ledger. e.Call is not used.
func Transaction[Tx, In, Out any](l *Ledger[Tx], e Effect[In, Out], call func(ctx context.Context, call TxCall[Tx], in In) (Out, error)) *Guarded[In, Out] {
	return guarded(e, txGuard[Tx, In, Out]{l, call},
		need{"ledger", l != nil}, need{"function", call != nil})
}
