package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ask is one request of a handler for one effect.
type ask[In any] struct {
	in    In
	per   []byte // nil without once_per
	id    EffectID
	key   string
	hash  Hash
	shape string
	input Body // as it is stored
	// message is what the effect sends, or nil.
	message *MessageWrite
}

// guard is what makes a repeat of an effect safe.
type guard[In, Out any] interface {
	name() Guard
	// start makes an effect that has no row, or one that is known to have done
	// nothing.
	start(ctx context.Context, a *attempt[In, Out]) (Out, error)
	// again answers for an effect that was started and whose end is not known.
	again(ctx context.Context, a *attempt[In, Out]) (Out, error)
}

// attempt is one effect being asked for: what every guard needs.
type attempt[In, Out any] struct {
	run    *Run
	effect *Effect[In, Out]
	guard  Guard
	entry  *entry
	// uncertain: an earlier call may have been applied, and nobody has looked.
	// Whatever this call did, that stays so.
	uncertain bool
	// calls is how many calls have been started, in all attempts.
	calls int
	// epoch is that of the key or, of a call that did nothing, that of the next one.
	epoch int
	// former are the IDs that a child may have from former versions of its contract.
	former []Predecessor
	// anyPayload: another input under the same key is the same.
	anyPayload bool
	ask[In]
}

// Do makes the effect, or answers from the ledger. Generated code calls it for
// each method of an effects interface. It is safe for concurrent use.
func (g *Guarded[In, Out]) Do(ctx context.Context, run *Run, in In) (out Out, err error) {
	if err := g.usable(run); err != nil {
		return out, run.fail(ErrContract, g.effect.Name, ClassNotApplied, err)
	}
	a, err := g.prepare(ctx, run, in)
	if err != nil {
		return out, err
	}
	a.entry, err = run.begin(ctx, a.id)
	if err != nil {
		return out, err
	}
	defer run.end(a.entry)
	leave, err := run.alone(ctx, a.id)
	if err != nil {
		return out, err
	}
	defer leave()
	a.calls = a.entry.row.Calls
	if err := a.diverged(); err != nil {
		return out, err
	}
	switch row := &a.entry.row; row.State {
	case "", EffectNotApplied:
		if row.Epoch > 0 {
			a.rekey(row.Epoch)
		}
		return g.guard.start(ctx, a)
	case EffectDone:
		if row.Guard == GuardRead && row.Result.Codec == CodecDropped {
			// Too large to be recorded, and harmless to ask again.
			return g.guard.again(ctx, a)
		}
		return a.recorded()
	case EffectRefused:
		if row.Guard == GuardWork && a.guard == GuardWork {
			// A person may have had the child tried again.
			a.key = row.Key
			return g.guard.again(ctx, a)
		}
		return out, a.refused()
	case EffectGivenUp:
		return out, run.fail(ErrGivenUp, a.id.Name, ClassPermanent, &storedError{message: row.LastError})
	case EffectStarted, EffectUnknown:
		if row.Key != "" {
			// As it was sent, whatever format the contract has by now: under another
			// key the provider would not know the call again.
			a.key = row.Key
		}
		a.epoch = row.Epoch
		if row.Guard != a.guard {
			cause := fmt.Errorf("it was started under the guard %s, and what makes a repeat safe under %s was not there then: %w", row.Guard, a.guard, a.earlier())
			a.guard = row.Guard // which stays on record
			return out, a.askPerson(ctx, cause)
		}
		return g.guard.again(ctx, a)
	default:
		return out, run.stick(run.fail(ErrLedger, a.id.Name, ClassUnknown, fmt.Errorf("the row has the unknown state %q", row.State)))
	}
}

// usable says what keeps an effect from being made at all: before anything is
// written or called, since a row that says started would need a person.
func (g *Guarded[In, Out]) usable(run *Run) error {
	switch {
	case g.broken != nil:
		return g.broken
	case g.guard == nil:
		return errors.New("the zero Guarded has no guard")
	case run.session != nil && g.guard.name() != GuardTransaction && g.guard.name() != GuardRead:
		return fmt.Errorf("the guard %s needs a row that is durable before the call, and in one transaction it is not", g.guard.name())
	}
	return nil
}

// prepare derives the effect's key and its payload's hash.
func (g *Guarded[In, Out]) prepare(ctx context.Context, run *Run, in In) (*attempt[In, Out], error) {
	if g.work != nil {
		return g.prepareChild(ctx, run, in)
	}
	name := g.effect.Name
	unusable := func(cause error) error { return run.fail(ErrEffectFailed, name, ClassPermanent, cause) }
	canonical, err := g.effect.Payload.Append(nil, in)
	if err != nil {
		return nil, unusable(fmt.Errorf("its input has no canonical form: %w", err))
	}
	var per []byte
	if g.effect.Per != nil {
		if per, err = g.effect.Per(nil, in); err != nil {
			return nil, unusable(fmt.Errorf("once_per has no canonical form: %w", err))
		}
	}
	a := &attempt[In, Out]{run: run, effect: &g.effect, guard: g.guard.name()}
	a.ask = ask[In]{in: in, per: per, id: EffectID{Name: name}}
	a.hash, a.shape = run.core.codecs.hash(canonical, g.effect.Payload.Shape)
	a.rekey(0)
	if per != nil {
		a.id.Per = hexSum(per)
	}
	if g.effect.Message != nil {
		if a.message, err = g.effect.Message.of(in); err != nil {
			return nil, unusable(err)
		}
	}
	return a, a.encodeInput()
}

// encodeInput makes the input what is stored of it.
func (a *attempt[In, Out]) encodeInput() error {
	if a.run.noInputs {
		return nil
	}
	plain, err := encodeInput(a.in, a.effect.Redact)
	if err != nil {
		return a.run.fail(ErrEffectFailed, a.id.Name, ClassPermanent, fmt.Errorf("its input cannot be encoded: %w", err))
	}
	if a.input, err = a.run.core.codecs.seal(plain, a.place(PartInput)); err != nil {
		return a.run.fail(ErrEffectFailed, a.id.Name, ClassNotApplied, &otherWork{cause: fmt.Errorf("its input cannot be stored: %w", err)})
	}
	return nil
}

// place is where one of the effect's values belongs.
func (a *attempt[In, Out]) place(part Part) Slot { return Slot{a.run.fence.ID, a.id, part} }

// rekey derives the key of an epoch.
func (a *attempt[In, Out]) rekey(epoch int) {
	a.epoch = epoch
	a.key = a.effect.KeyFormat.text(effectKey(a.run.fence.ID, a.effect.Name, a.per, epoch))
}

// diverged refuses another payload under the key of an effect that may have
// happened: the provider would see two intents under one key.
func (a *attempt[In, Out]) diverged() error {
	row := &a.entry.row
	switch row.State {
	case "", EffectNotApplied:
		return nil
	}
	switch {
	case row.PayloadHash == a.hash:
		return nil
	case row.PayloadShape != a.shape:
		// The input has other fields since a deploy: the hashes say nothing.
		return nil
	case row.Guard == GuardRead:
		// A read has no effect: its first answer stands.
		return nil
	case a.anyPayload:
		return nil
	}
	hint := ""
	if a.entry.asked > 1 {
		hint = "; this attempt has asked for it before: if both are meant, tell them apart with once_per"
		if a.id.Per != "" {
			hint = "; this attempt has asked for it before: if both are meant, give once_per more fields to tell them apart"
		}
	}
	return a.run.stick(a.run.fail(ErrEffectDiverged, a.id.Name, ClassUnknown,
		fmt.Errorf("it is %s with another input: %s, now %s%s", row.State, shown(row.Input), shown(a.input), hint)))
}

func (a *attempt[In, Out]) recorded() (out Out, err error) {
	row := &a.entry.row
	out, err = decode[Out](&a.run.core.codecs, row.Result, a.place(PartResult))
	if err != nil {
		return out, a.unreadable(err)
	}
	return out, nil
}

// unreadable answers for a result that is there and cannot be read.
func (a *attempt[In, Out]) unreadable(cause error) error { return a.run.unreadable(a.entry, cause) }

// unreadable ends the attempt. It has happened, so the effect must not be made
// again, and the handler cannot go on without its answer: until a program comes that
// can read it or, if none will, until a person has decided.
func (r *Run) unreadable(e *entry, cause error) *Error {
	cause = fmt.Errorf("it is %s, and its result cannot be read: %w", e.row.State, cause)
	if !passing(cause) {
		return r.stick(r.fail(ErrOutcomeUnknown, e.id.Name, ClassUnknown, cause))
	}
	waits := r.fail(ErrUnreadable, e.id.Name, ClassTransient, &otherWork{cause: cause})
	r.await(e, waits)
	return waits
}

func (a *attempt[In, Out]) call() Call {
	return effectCall{run: a.run, effect: a.id.Name, key: a.key}
}

// write moves the effect to another state.
func (a *attempt[In, Out]) write(ctx context.Context, state EffectState, more EffectWrite) error {
	_, err := a.run.write(ctx, a.entry, a.complete(state, more))
	return err
}

func (a *attempt[In, Out]) complete(state EffectState, w EffectWrite) EffectWrite {
	w.State, w.Guard, w.Key = state, a.guard, a.key
	w.PayloadHash, w.PayloadShape = a.hash, a.shape
	w.Calls, w.Message, w.VisibleAfter = a.calls, a.message, a.effect.VisibleAfter
	w.Epoch = a.epoch
	return w
}

// begin makes the row durable before the call is made. It returns the message that
// the effect was to send if another effect has it.
func (a *attempt[In, Out]) begin(ctx context.Context, restart bool) (taken *SentMessage, err error) {
	a.calls++
	taken, err = a.run.write(ctx, a.entry, a.complete(EffectStarted, EffectWrite{Input: a.input, Live: true, Restart: restart}))
	if err != nil || taken != nil {
		a.calls--
		return taken, err
	}
	if ctx.Err() == nil && a.run.ctx.Err() == nil {
		return nil, nil
	}
	// The caller left while the row was written: say that nothing was called.
	a.calls--
	cause := context.Cause(ctx)
	if cause == nil {
		cause = context.Cause(a.run.ctx)
	}
	return nil, a.notApplied(ctx, cause)
}

// failed answers for a call that has done nothing. If it was the last that the
// effect may have, that is its answer for good: the handler goes on without it,
// and the other effects of the work do not wait for this one.
func (a *attempt[In, Out]) failed(ctx, callCtx context.Context, cause error) error {
	switch {
	case callCtx.Err() != nil:
		// We cut it off, and it may well have succeeded otherwise.
		a.calls--
	case a.effect.MaxCalls > 0 && a.calls >= a.effect.MaxCalls && !a.uncertain:
		return a.refuse(ctx, &spentError{a.calls, cause})
	}
	if a.effect.ReplaysFailures && !a.uncertain && saidNotApplied(cause) {
		// Under this key the provider would answer with the failure for as long as it
		// remembers. Only the function's own word is good enough: a status or a refused
		// connection may be the last of several tries of its client, and the first may
		// have got through.
		a.epoch++
	}
	return a.notApplied(ctx, cause)
}

// spentError is why an effect was refused that has had all its calls.
type spentError struct {
	calls int
	cause error
}

func (e *spentError) Error() string {
	if e.calls == 1 {
		return "its one call did nothing: " + e.cause.Error()
	}
	return fmt.Sprintf("%d calls did nothing, the last one: %v", e.calls, e.cause)
}

func (e *spentError) Unwrap() error { return e.cause }

// notApplied records that this call has done nothing. An earlier call under the
// same key that may have been applied is not undone by that: to take its row for
// not applied would let another input go out under the key, complete the work
// without it, and count the provider's memory from the wrong start.
func (a *attempt[In, Out]) notApplied(ctx context.Context, cause error) error {
	if a.uncertain {
		return a.unsure(ctx, cause)
	}
	if err := a.write(ctx, EffectNotApplied, EffectWrite{Error: cause.Error()}); err != nil {
		return err
	}
	return a.run.fail(ErrEffectFailed, a.id.Name, ClassNotApplied, cause)
}

// make makes the call: first its row, durable, then the user's function. unknown is
// asked what to do if nobody knows what came of it.
func (a *attempt[In, Out]) make(ctx context.Context, restart bool, unknown func(ctx context.Context, cause error) error) (out Out, err error) {
	taken, err := a.begin(ctx, restart)
	switch {
	case err != nil:
		return out, err
	case taken != nil:
		return a.sentBefore(ctx, taken)
	}
	return a.invoke(ctx, unknown)
}

// invoke calls the user's function and records what came of it. unknown is asked
// what to do if nobody knows.
func (a *attempt[In, Out]) invoke(ctx context.Context, unknown func(ctx context.Context, cause error) error) (out Out, err error) {
	callCtx, stop := a.run.callContext(ctx)
	defer stop()
	panicked := true
	defer func() {
		if panicked {
			// Recorded, and left to go on: the panic's own value is the caller's.
			_ = unknown(ctx, errors.New("the effect panicked"))
		}
	}()
	out, err = a.effect.Call(callCtx, a.call(), a.in)
	panicked = false
	if err == nil {
		return out, a.done(ctx, out)
	}
	switch a.run.read.callClass(err) {
	case ClassNotApplied:
		return out, a.failed(ctx, callCtx, err)
	case ClassPermanent:
		return out, a.refuse(ctx, err)
	default:
		return out, unknown(ctx, err)
	}
}

// done records the effect's result.
func (a *attempt[In, Out]) done(ctx context.Context, out Out) error {
	w := a.result(out)
	return a.write(ctx, EffectDone, w)
}

func (a *attempt[In, Out]) result(out Out) EffectWrite {
	body, why := a.run.core.encodeResult(out, a.place(PartResult))
	w := EffectWrite{Result: body, Error: why}
	if a.effect.ExternalRef != nil {
		w.ExternalRef = a.effect.ExternalRef(out)
	}
	return w
}

func (a *attempt[In, Out]) refuse(ctx context.Context, cause error) error {
	body, _ := a.run.core.encodeResult(a.run.read.refusalOf(cause), a.place(PartResult)) // without it the error's text is there
	if a.uncertain && a.guard != GuardIdempotencyKey {
		// This call was refused. One before it may have sent the message all the same,
		// unless both were one to the provider: nobody knows, until its time is over.
		a.message = nil
	}
	if err := a.write(ctx, EffectRefused, EffectWrite{Result: body, Error: cause.Error()}); err != nil {
		return err
	}
	return a.run.fail(ErrEffectRefused, a.id.Name, ClassPermanent, cause)
}

// unsure records that the effect may have happened, for guards that know what to
// do about it in the next attempt.
func (a *attempt[In, Out]) unsure(ctx context.Context, cause error) error {
	if err := a.write(ctx, EffectUnknown, EffectWrite{Error: cause.Error()}); err != nil {
		return err
	}
	return a.run.fail(ErrEffectFailed, a.id.Name, ClassUnknown, cause)
}

// askPerson records that the effect may have happened and that nobody but a
// person can tell.
func (a *attempt[In, Out]) askPerson(ctx context.Context, cause error) error {
	if err := a.write(ctx, EffectUnknown, EffectWrite{Error: cause.Error()}); err != nil {
		return err
	}
	return a.run.stick(a.run.fail(ErrOutcomeUnknown, a.id.Name, ClassUnknown, cause))
}

var errCutShort = errors.New("an earlier attempt was cut short between the call and its record")

// earlier is why the outcome of an effect of an earlier attempt is not known.
func (a *attempt[In, Out]) earlier() error {
	if text := a.entry.row.LastError; text != "" {
		return &storedError{message: text}
	}
	return errCutShort
}

// keyGuard: the provider dedupes on the key, so a repeat under the same key is
// safe for as long as the provider remembers it.
type keyGuard[In, Out any] struct{ remembersFor time.Duration }

func (keyGuard[In, Out]) name() Guard { return GuardIdempotencyKey }

func (keyGuard[In, Out]) start(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	return a.make(ctx, true, a.unsure)
}

func (g keyGuard[In, Out]) again(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	age := a.run.now().Sub(a.entry.row.StartedAt)
	if age >= g.remembersFor {
		return out, a.askPerson(ctx, fmt.Errorf("it was started %s ago and the provider remembers keys for %s: %w",
			age.Round(time.Second), g.remembersFor, a.earlier()))
	}
	a.uncertain = true
	// Not restarted: the provider's memory counts from its first sight of the key.
	return a.make(ctx, false, a.unsure)
}

// resendGuard: the call may be made again with the same key however late, since
// its target takes a second one for the first, or does not mind.
type resendGuard[In, Out any] struct{ guard Guard }

func (g resendGuard[In, Out]) name() Guard { return g.guard }

func (resendGuard[In, Out]) start(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	return a.make(ctx, true, a.unsure)
}

func (resendGuard[In, Out]) again(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	a.uncertain = true
	return a.make(ctx, false, a.unsure)
}

// findGuard: look before repeating.
type findGuard[In, Out any] struct {
	find         func(ctx context.Context, call Call, in In) (Out, bool, error)
	visibleAfter time.Duration
}

func (findGuard[In, Out]) name() Guard { return GuardFindFirst }

func (g findGuard[In, Out]) start(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	return a.make(ctx, true, func(ctx context.Context, cause error) error {
		a.run.waitUntil(a.entry.row.StartedAt.Add(g.visibleAfter))
		return a.unsure(ctx, cause)
	})
}

func (g findGuard[In, Out]) again(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	visible := a.entry.row.StartedAt.Add(g.visibleAfter)
	callCtx, stop := a.run.callContext(ctx)
	defer stop()
	if wait := visible.Sub(a.run.now()); wait > 0 {
		sleep(callCtx, wait)
	}
	if callCtx.Err() != nil {
		a.run.waitUntil(visible)
		return out, a.run.fail(ErrEffectFailed, a.id.Name, ClassUnknown, context.Cause(callCtx))
	}
	out, found, err := g.find(callCtx, a.call(), a.in)
	switch {
	case err != nil:
		// An error is no proof of absence: the row stays as it is.
		return out, a.run.fail(ErrEffectFailed, a.id.Name, ClassUnknown, fmt.Errorf("looking for it: %w", err))
	case found:
		return out, a.done(ctx, out)
	}
	return g.start(ctx, a)
}

// waitUntil puts off the next attempt: before t it could decide nothing.
func (r *Run) waitUntil(t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.After(r.notBefore) {
		r.notBefore = t
	}
}

// onceGuard: never repeated once started.
type onceGuard[In, Out any] struct{ ifUnknown IfUnknown }

func (onceGuard[In, Out]) name() Guard { return GuardOnce }

func (g onceGuard[In, Out]) start(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	return a.make(ctx, true, func(ctx context.Context, cause error) error { return g.unknown(ctx, a, cause) })
}

func (g onceGuard[In, Out]) again(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	if g.ifUnknown == Repeat {
		a.uncertain = true
		return g.start(ctx, a)
	}
	return out, g.unknown(ctx, a, a.earlier())
}

func (g onceGuard[In, Out]) unknown(ctx context.Context, a *attempt[In, Out], cause error) error {
	switch g.ifUnknown {
	case Repeat:
		return a.unsure(ctx, cause)
	case GiveUp:
		if err := a.write(ctx, EffectGivenUp, EffectWrite{Error: cause.Error()}); err != nil {
			return err
		}
		return a.run.fail(ErrGivenUp, a.id.Name, ClassPermanent, cause)
	default:
		return a.askPerson(ctx, cause)
	}
}

// readGuard: a read has no effect, so it needs no row before it is made; its
// answer is recorded, since it steers what the handler does.
type readGuard[In, Out any] struct{}

func (readGuard[In, Out]) name() Guard { return GuardRead }

func (readGuard[In, Out]) start(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	callCtx, stop := a.run.callContext(ctx)
	defer stop()
	out, err = a.effect.Call(callCtx, a.call(), a.in)
	if err != nil {
		class := a.run.read.callClass(err)
		if class == ClassUnknown {
			class = ClassNotApplied
		}
		return out, a.run.fail(ErrEffectFailed, a.id.Name, class, err)
	}
	w := a.result(out)
	w.Input = a.input
	return out, a.write(ctx, EffectDone, w)
}

func (g readGuard[In, Out]) again(ctx context.Context, a *attempt[In, Out]) (Out, error) {
	return g.start(ctx, a)
}

// txGuard: the effect and its row commit together.
type txGuard[Tx, In, Out any] struct {
	ledger *Ledger[Tx]
	fn     func(ctx context.Context, call TxCall[Tx], in In) (Out, error)
}

func (txGuard[Tx, In, Out]) name() Guard { return GuardTransaction }

func (g txGuard[Tx, In, Out]) start(ctx context.Context, a *attempt[In, Out]) (Out, error) {
	if s, ok := a.run.session.(Session[Tx]); ok {
		return g.inside(ctx, a, s)
	}
	return g.alone(ctx, a)
}

// again is reached only after the ledger's tables were changed by hand: a row of
// this guard is done or it is not there.
func (g txGuard[Tx, In, Out]) again(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	return out, a.askPerson(ctx, errors.New("a transaction effect cannot be half done, and its row says that it is"))
}

// alone makes the effect in a transaction of its own: first its row, whose key
// decides between two owners, then the user's statements, then the fence.
func (g txGuard[Tx, In, Out]) alone(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	callCtx, stop := a.run.callContext(ctx)
	defer stop()
	callCtx, cancel := context.WithCancelCause(callCtx)
	defer cancel(nil)
	var fromEffect error
	renewed := func() {}
	var done EffectWrite
	err = g.ledger.store.InTx(callCtx, func(ctx context.Context, s Session[Tx]) (err error) {
		ctx, stop := a.run.core.txLimit(ctx, cancel, a.run.core.txTime(a.run.lease))
		defer stop()
		if _, err = s.WriteEffect(ctx, a.txWrite(EffectStarted, EffectWrite{Input: a.input, Live: true, Restart: true})); err != nil {
			return err
		}
		if out, fromEffect = g.call(ctx, a, s); fromEffect != nil {
			return fromEffect
		}
		done = a.result(out)
		if _, err = s.WriteEffect(ctx, a.txWrite(EffectDone, done)); err != nil {
			return err
		}
		if a.run.core.store.ExclusiveTx() {
			renewed, err = a.run.core.leases.renewAll(ctx, s)
		}
		return err
	})
	switch {
	case fromEffect != nil:
		return out, g.failed(ctx, a, fromEffect)
	case err != nil:
		// If the commit's acknowledgement was lost the row is there: the next
		// attempt reads it.
		return out, a.run.ledgerError(a.id.Name, err)
	}
	renewed()
	a.run.adopt(a.entry, a.txWrite(EffectDone, done), a.run.now())
	return out, nil
}

// txLimit bounds a transaction from when it has begun, not from when it queued
// for its turn. cancel ends the transaction itself, whether or not its statements
// heed the returned context.
func (c *core) txLimit(ctx context.Context, cancel context.CancelCauseFunc, limit time.Duration) (context.Context, func()) {
	ctx, stop := context.WithTimeoutCause(ctx, limit, errTxTime)
	unbind := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return ctx, func() {
		unbind()
		stop()
	}
}

var errTxTime = errors.New("a transaction may take a third of the lease: of the contract's and, where it keeps all other writers out, of the shortest of the ledger's contracts")

// inside makes the effect in the transaction that also holds the claim.
func (g txGuard[Tx, In, Out]) inside(ctx context.Context, a *attempt[In, Out], s Session[Tx]) (out Out, err error) {
	callCtx, stop := a.run.callContext(ctx)
	defer stop()
	var fromEffect error
	var done EffectWrite
	err = s.Savepoint(callCtx, func(ctx context.Context) error {
		if out, fromEffect = g.call(ctx, a, s); fromEffect != nil {
			return fromEffect
		}
		done = a.txWrite(EffectDone, a.result(out))
		done.Input = a.input
		_, err := s.WriteEffect(ctx, done)
		return err
	})
	switch {
	case fromEffect != nil:
		return out, g.failed(ctx, a, fromEffect)
	case err != nil:
		return out, a.run.ledgerError(a.id.Name, err)
	}
	a.run.adopt(a.entry, done, a.run.now())
	return out, nil
}

func (g txGuard[Tx, In, Out]) call(ctx context.Context, a *attempt[In, Out], s Session[Tx]) (Out, error) {
	ctx = context.WithValue(ctx, txMark{}, a.run)
	return g.fn(ctx, effectTxCall[Tx]{effectCall{run: a.run, effect: a.id.Name, key: a.key}, s.Tx()}, a.in)
}

// failed answers for an effect that was rolled back: whatever its error says, it
// has done nothing.
func (g txGuard[Tx, In, Out]) failed(ctx context.Context, a *attempt[In, Out], cause error) error {
	if a.run.read.callClass(cause) == ClassPermanent {
		return a.refuse(ctx, cause)
	}
	return a.run.fail(ErrEffectFailed, a.id.Name, ClassNotApplied, cause)
}

// txWrite completes a write for a session, which is not given a fence by the run.
func (a *attempt[In, Out]) txWrite(state EffectState, w EffectWrite) EffectWrite {
	w.Fence, w.EffectID, w.State, w.Mark = a.run.fence, a.id, state, a.run.mark
	w.Guard, w.Key, w.PayloadHash, w.PayloadShape = a.guard, a.key, a.hash, a.shape
	return w
}

// effectCall is the only Call there is.
type effectCall struct {
	run    *Run
	effect string
	key    string
}

func (c effectCall) Key() string    { return c.key }
func (c effectCall) WorkID() WorkID { return c.run.fence.ID }
func (c effectCall) Kind() string   { return c.run.kind }
func (c effectCall) Effect() string { return c.effect }
func (c effectCall) Attempt() int   { return c.run.attempt }
func (effectCall) sealed()          {}

type effectTxCall[Tx any] struct {
	effectCall
	tx Tx
}

func (c effectTxCall[Tx]) Tx() Tx { return c.tx }
