package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Child is an effect that is other work: that of another contract over the same
// ledger, under an ID of its own that is the effect's key. It has its own row,
// lease, attempts and effects, goes on where it stopped, and is remembered as long
// as the work that it is a child of. What its contract says of duplicates and of
// its window is for work that is delivered by itself.
//
// While it waits (for its next attempt, for another process, for a person) the
// attempt of its parent ends and is given back: it is due when the child is.
func Child[In, Out any](name string, work Contract[In, Out]) *Guarded[In, Out] {
	c, ok := work.(childContract[In, Out])
	if !ok {
		return &Guarded[In, Out]{effect: Effect[In, Out]{Name: name}, broken: errors.New("its contract is none that Define has made")}
	}
	g := guarded(Effect[In, Out]{Name: name, Payload: c.form()}, workGuard[In, Out]{c})
	g.work = c
	return g
}

// childContract is what a contract does as the child of other work.
type childContract[In, Out any] interface {
	form() Payload[In]
	// takesAny tells whether the same work may come with another payload.
	takesAny() bool
	over(*core) bool
	// ready says why none of the contract's work can be named or begun: it is the
	// program that has to change, not the work.
	ready(ctx context.Context) error
	// identities are the ID that the input's work has by itself, and before it those
	// that former versions gave it.
	identities(in In) (own WorkID, former []Predecessor, err error)
	doChild(ctx context.Context, id WorkID, former []Predecessor, in In) (Result[Out], error)
}

func (c *contract[Tx, In, Out]) form() Payload[In] { return c.spec.Payload }
func (c *contract[Tx, In, Out]) takesAny() bool {
	return c.spec.Response.OtherPayload == OtherPayloadReturnOriginal
}
func (c *contract[Tx, In, Out]) over(other *core) bool { return c.ledger.core == other }

func (c *contract[Tx, In, Out]) ready(ctx context.Context) error {
	if c.broken != nil {
		return c.broken
	}
	if c.spec.Keyed {
		if reason, cause := c.ledger.checkKey(ctx); reason != nil {
			return &Error{Reason: reason, Kind: c.spec.Kind, Cause: cause}
		}
	}
	if reason, cause := c.ledger.own(ctx, c.registered); reason != nil {
		return &Error{Reason: reason, Kind: c.spec.Kind, Cause: cause}
	}
	return nil
}

func (c *contract[Tx, In, Out]) identities(in In) (own WorkID, former []Predecessor, err error) {
	if own, err = c.ID(in); err != nil {
		return WorkID{}, nil, err
	}
	return own, c.spec.predecessors(in), nil
}

// doChild does the work under an ID that its parent gives it. The parent needs
// the result or the reason why there is none, whatever duplicates get; it does
// not wait for another owner, and the child is not forgotten before it.
func (c *contract[Tx, In, Out]) doChild(ctx context.Context, id WorkID, former []Predecessor, in In) (Result[Out], error) {
	child := *c
	child.spec.Window = Forever()
	child.spec.Response.WhenDone, child.spec.Response.WhileRunning = DoneReturnOriginal, RunningError
	d, err := child.deliver(in)
	if err != nil {
		return Result[Out]{}, err
	}
	d.id, d.before = id, former
	return child.perform(ctx, d)
}

// childID is the ID of the child that an effect stands for: the effect's key, with
// the child's own ID for what it is once per.
func childID(parent WorkID, effect string, own WorkID) WorkID {
	return WorkID{effectKey(parent, effect, perWork(own), 0)}
}

// perWork is the canonical array of a work ID.
func perWork(id WorkID) []byte { return []byte(`["` + id.String() + `"]`) }

// prepareChild names the child that an input asks for. One that an earlier attempt
// has begun keeps the name by which it was begun, although its contract may have
// another version by now.
func (g *Guarded[In, Out]) prepareChild(ctx context.Context, run *Run, in In) (*attempt[In, Out], error) {
	name := g.effect.Name
	if err := g.work.ready(ctx); err != nil {
		if errors.Is(err, ErrKey) || errors.Is(err, ErrKindTaken) {
			// A row with a name of another key would be found and never asked for
			// again, and a few deliveries to a program that was started wrongly are no
			// reason to bury work.
			err = &otherWork{cause: err}
		}
		return nil, run.fail(ErrEffectFailed, name, ClassNotApplied, err)
	}
	own, former, err := g.work.identities(in)
	if err != nil {
		class := ClassNotApplied
		if errors.Is(err, ErrIdentity) {
			class = ClassPermanent
		}
		return nil, run.fail(ErrEffectFailed, name, class, err)
	}
	canonical, err := g.effect.Payload.Append(nil, in)
	if err != nil {
		return nil, run.fail(ErrEffectFailed, name, ClassPermanent, fmt.Errorf("its input has no canonical form: %w", err))
	}
	a := &attempt[In, Out]{run: run, effect: &g.effect, guard: GuardWork, anyPayload: g.work.takesAny()}
	for i, p := range former {
		if run.knows(EffectID{name, hexSum(perWork(own))}) {
			break
		}
		if run.knows(EffectID{name, hexSum(perWork(p.ID))}) {
			own, former = p.ID, former[i+1:]
			break
		}
	}
	for _, p := range former {
		a.former = append(a.former, Predecessor{ID: childID(run.fence.ID, name, p.ID), Version: p.Version})
	}
	// The child's own row holds its input.
	a.ask = ask[In]{in: in, id: EffectID{name, hexSum(perWork(own))}, key: childID(run.fence.ID, name, own).String()}
	a.hash, a.shape = run.core.codecs.hash(canonical, g.effect.Payload.Shape)
	return a, nil
}

// knows tells whether an earlier attempt, or this one, has asked for the effect.
func (r *Run) knows(id EffectID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	return e != nil && e.row.State != ""
}

// workGuard: the child's own row says how far it is, and is asked each time. The
// parent's row says that it was begun, and holds the result once there is one.
type workGuard[In, Out any] struct{ work childContract[In, Out] }

func (workGuard[In, Out]) name() Guard { return GuardWork }

func (g workGuard[In, Out]) start(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	if !g.work.over(a.run.core) {
		return out, a.run.fail(ErrContract, a.id.Name, ClassNotApplied, errors.New("its contract is over another ledger"))
	}
	if _, err := a.begin(ctx, true); err != nil { // a child sends no message
		return out, err
	}
	return g.again(ctx, a)
}

func (g workGuard[In, Out]) again(ctx context.Context, a *attempt[In, Out]) (out Out, err error) {
	id, err := ParseWorkID(a.key)
	if err != nil {
		return out, a.run.stick(a.run.fail(ErrLedger, a.id.Name, ClassUnknown, fmt.Errorf("the row's key names no work: %w", err)))
	}
	a.run.await(a.entry, nil)
	callCtx, stop := a.run.callContext(ctx)
	defer stop()
	result, err := g.work.doChild(callCtx, id, a.former, a.in)
	if err != nil {
		return out, a.childFailed(ctx, callCtx, err)
	}
	a.key = result.ID.String() // as the ledger calls it
	w := a.result(result.Value)
	w.ExternalRef = result.ExternalRef
	return result.Value, a.write(ctx, EffectDone, w)
}

// childFailed says what a child that gave no result means for its parent.
func (a *attempt[In, Out]) childFailed(ctx, callCtx context.Context, cause error) error {
	e, ok := errors.AsType[*Error](cause)
	if !ok {
		return a.run.fail(ErrEffectFailed, a.id.Name, ClassTransient, cause)
	}
	switch e.Reason {
	case ErrDead, ErrSuperseded:
		// Not for good: a person may have a dead child tried again, and then its
		// parent. The child is asked again each time.
		if err := a.write(ctx, EffectRefused, EffectWrite{Error: cause.Error()}); err != nil {
			return err
		}
		return a.run.fail(ErrEffectRefused, a.id.Name, ClassPermanent, cause)
	case ErrPayloadMismatch:
		return a.run.stick(a.run.fail(ErrEffectDiverged, a.id.Name, ClassUnknown, cause))
	case ErrUnreadable:
		return a.unreadable(e)
	case ErrResultDropped:
		return a.run.stick(a.run.fail(ErrOutcomeUnknown, a.id.Name, ClassUnknown, cause))
	case ErrRunning, ErrRetryLater, ErrLeaseLost, ErrOutcomeUnknown, ErrEffectDiverged, ErrAwaitingApproval:
		if callCtx.Err() != nil {
			break // the parent ran out of time, or its caller has left
		}
		waits := a.run.fail(ErrEffectFailed, a.id.Name, ClassTransient, &otherWork{e.RetryAt, cause})
		a.run.await(a.entry, waits)
		return waits
	}
	return a.run.fail(ErrEffectFailed, a.id.Name, ClassTransient, cause)
}

// await notes that a child waits, so that its parent does not complete without it,
// or that it waits no more.
func (r *Run) await(e *entry, why *Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.waits = why
}

// settleNamesakes is for children that an earlier attempt has begun and this one, which
// is over, has not asked for: by that name. While a deployment takes, another version
// of the program may have called the same child by another one, and what it began
// and the ledger does not know was never done.
func (r *Run) settleNamesakes() *Error {
	rows := make(map[WorkID]*entry) // the children that were asked for
	var begun []*entry
	for _, e := range r.order {
		switch {
		case e.row.Guard != GuardWork:
		case e.asked == 0 && (e.row.State == EffectStarted || e.row.State == EffectDone):
			begun = append(begun, e)
		}
	}
	if len(begun) == 0 {
		return nil
	}
	for _, e := range r.order {
		if e.asked > 0 && e.row.Guard == GuardWork {
			child, err := r.child(e)
			if err != nil {
				return err
			}
			rows[child] = e
		}
	}
	for _, e := range begun {
		child, err := r.child(e)
		if err != nil {
			return err
		}
		if same := rows[child]; child.IsZero() || same != nil {
			if err := r.settleNamesake(e, same); err != nil {
				return err
			}
		}
	}
	return nil
}

// child is the ID of the child's row, or zero if there is none.
func (r *Run) child(e *entry) (WorkID, *Error) {
	id, err := ParseWorkID(e.row.Key)
	if err != nil {
		return WorkID{}, r.stick(r.fail(ErrLedger, e.id.Name, ClassUnknown, fmt.Errorf("the row's key names no work: %w", err)))
	}
	var work Work
	err = r.core.durably(r.ctx, func(ctx context.Context) (err error) {
		work, err = r.core.store.Lookup(ctx, id)
		return err
	})
	if err != nil {
		return WorkID{}, r.ledgerError(e.id.Name, err)
	}
	return work.ID, nil
}

// settleNamesake makes e say what is known of the same child by another name; nil
// stands for one that has not begun.
func (r *Run) settleNamesake(e, same *entry) *Error {
	w := EffectWrite{Guard: GuardWork, State: EffectNotApplied, Key: e.row.Key, PayloadHash: e.row.PayloadHash, PayloadShape: e.row.PayloadShape, Calls: e.row.Calls}
	if same != nil {
		e.asked, e.waits = same.asked, same.waits
		if same.waits != nil || same.row.State == EffectStarted {
			return nil
		}
		w.State, w.Key, w.PayloadHash, w.PayloadShape = same.row.State, same.row.Key, same.row.PayloadHash, same.row.PayloadShape
		w.ExternalRef, w.Error = same.row.ExternalRef, same.row.LastError
		var err error
		w.Result, err = r.core.codecs.move(same.row.Result, Slot{r.fence.ID, same.id, PartResult}, Slot{r.fence.ID, e.id, PartResult})
		if err != nil {
			return r.unreadable(e, err)
		}
	}
	if _, err := r.write(r.ctx, e, w); err != nil {
		own, ok := errors.AsType[*Error](err)
		if !ok {
			own = r.ledgerError(e.id.Name, err)
		}
		return own
	}
	return nil
}

// otherWork is why an attempt ends early: a child has not ended or cannot begin, or
// who sends the same message has not ended, and may at the time that it says. The
// zero time means that nobody knows, as where a person decides.
type otherWork struct {
	until time.Time
	cause error
}

func (w *otherWork) Error() string { return w.cause.Error() }
func (w *otherWork) Unwrap() error { return w.cause }

// waitsForOther tells whether err is of other work that is waited for and of nothing else,
// and when the first of them may go on. Of several errors in one, each has to be:
// an attempt in which something else has failed counts.
func waitsForOther(err error) (until time.Time, ok bool) {
	for err != nil {
		switch e := err.(type) {
		case *otherWork:
			return e.until, true
		case *Error:
			err = e.Cause
			continue
		}
		if parts := joined(err); len(parts) > 0 {
			return allWait(parts)
		}
		if multi, several := err.(interface{ Unwrap() []error }); several { // fmt.Errorf("%w: %w", …)
			for _, part := range multi.Unwrap() {
				if until, ok := waitsForOther(part); ok {
					return until, true
				}
			}
			return time.Time{}, false
		}
		err = errors.Unwrap(err)
	}
	return time.Time{}, false
}

func allWait(parts []error) (first time.Time, ok bool) {
	for _, part := range parts {
		until, ok := waitsForOther(part)
		if !ok {
			return time.Time{}, false
		}
		if first.IsZero() || !until.IsZero() && until.Before(first) {
			first = until
		}
	}
	return first, true
}

// or is the handler's error, or else the one that keeps its work from completing.
func or(failure error, sticky *Error) error {
	if failure == nil {
		return sticky
	}
	return failure
}

// waits tells whether an attempt ends because of other work that is waited for, and when the
// first of them may go on.
func (r *Run) waits(failure error, sticky *Error) (until time.Time, ok bool) {
	if r.stuck() != nil || failure == nil && sticky == nil {
		return time.Time{}, false
	}
	return waitsForOther(or(failure, sticky))
}

// awaitOther ends an attempt that can go on when other work has: due then, and given
// back, since the other counts its own attempts. Where a person decides about the
// child, the work is looked at again after the longest backoff.
func (c *contract[Tx, In, Out]) awaitOther(run *Run, end End, until time.Time, cause error) (End, error) {
	end.State, end.Class, end.Refund, end.Error = StateFailed, ClassTransient, true, cause.Error()
	end.RetryIn = c.spec.Retry.Max
	if !until.IsZero() {
		end.RetryIn = max(0, until.Sub(run.now()), run.notBefore.Sub(run.now()))
	}
	return end, cause
}
