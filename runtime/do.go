package idem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"
)

// Define makes the contract that s describes, over l. Generated code calls it. A
// Spec that lacks something gives a contract whose every call says so.
func Define[Tx, In, Out any](l *Ledger[Tx], s Spec[In, Out]) Contract[In, Out] {
	broken := s.validate()
	if broken == nil && l.codecs.broken != nil {
		broken = &Error{Reason: ErrContract, Kind: s.Kind, Cause: l.codecs.broken}
	}
	if broken == nil && s.Keyed {
		l.keys.used.Store(true)
		if l.keys.key.IsZero() {
			broken = &Error{Reason: ErrKey, Kind: s.Kind, Cause: errNoKey}
		}
	}
	var reg *registered
	if broken == nil {
		l.knowLease(s.Lease)
		l.known.add(s.Kind, s.Version, s.Retry.MaxAttempts, s.Effects)
		reg = l.registry.add(Registration{Kind: s.Kind, Version: s.Version, Digest: s.Digest, Module: s.Module})
	}
	return &contract[Tx, In, Out]{
		ledger: l, spec: s, broken: broken, registered: reg,
		read: reading{permanent: s.Retry.Permanent, transient: s.Retry.Transient},
	}
}

type contract[Tx, In, Out any] struct {
	ledger *Ledger[Tx]
	spec   Spec[In, Out]
	broken error
	read   reading

	registered *registered
}

// delivery is one call of Do.
type delivery[In any] struct {
	in      In
	id      WorkID
	before  []Predecessor
	payload Body
	sealed  bool // payload is as it is stored
	hash    Hash
	shape   string
	scope   string
	mark    Mark
	// waitUntil ends the waiting of a duplicate, however many owners the work has
	// meanwhile.
	waitUntil time.Time
}

func (c *contract[Tx, In, Out]) ID(in In) (WorkID, error) {
	if c.broken != nil {
		return WorkID{}, c.broken
	}
	if c.spec.Keyed && c.ledger.keys.known.Load() == keyWrong {
		return WorkID{}, &Error{Reason: ErrKey, Kind: c.spec.Kind, Cause: errOtherKey}
	}
	return c.spec.ID(in)
}

func (c *contract[Tx, In, Out]) Do(ctx context.Context, in In) (Result[Out], error) {
	d, err := c.deliver(in)
	if err != nil {
		return Result[Out]{}, err
	}
	if err := c.ledger.enter(); err != nil {
		return Result[Out]{}, c.refuse(d, err, nil)
	}
	defer c.ledger.running.Done()
	return c.perform(ctx, d)
}

// perform does the work of a delivery, or answers from the ledger.
//
// It is on the stack for as long as the handler runs, as are lead and run. What needs
// room there, such as a Work, is left to functions that have returned by then: ten
// thousand handlers in flight have ten thousand stacks.
func (c *contract[Tx, In, Out]) perform(ctx context.Context, d *delivery[In]) (Result[Out], error) {
	if c.spec.Keyed {
		if reason, cause := c.ledger.checkKey(ctx); reason != nil {
			d.id = WorkID{} // under another key it names no work
			return Result[Out]{}, c.refuse(d, reason, cause)
		}
	}
	if reason, err := c.ledger.own(ctx, c.registered); err != nil {
		return Result[Out]{}, c.refuse(d, reason, err)
	}
	for tells := c.claimTells(d); ; tells = false {
		if err := ctx.Err(); err != nil {
			return Result[Out]{}, c.refuse(d, ErrLedger, context.Cause(ctx))
		}
		if !tells {
			if result, settled, err := c.recall(ctx, d); settled {
				return result, err
			}
		}
		fl, leads := c.ledger.flights.join(d.id, d.hash)
		step := c.follow
		if leads {
			step = c.lead
		}
		if result, settled, err := step(ctx, fl, d); settled {
			return result, err
		}
	}
}

// claimTells reports that nobody needs to look first: the claim itself is as good for a
// duplicate of done work, or there most likely is none, and new work is asked for but
// once.
func (c *contract[Tx, In, Out]) claimTells(d *delivery[In]) bool {
	// What has to be encoded for a claim need not be for an answer.
	if c.spec.OneTransaction || len(d.before) > 0 || !d.mark.IsZero() || len(c.ledger.codecs.write) > 0 {
		return false
	}
	return c.ledger.core.store.ClaimTells() || c.ledger.strangers.expected()
}

// recall answers a duplicate of done work, which ends here and writes nothing.
func (c *contract[Tx, In, Out]) recall(ctx context.Context, d *delivery[In]) (result Result[Out], settled bool, err error) {
	work, err := c.ledger.core.store.Lookup(ctx, d.id)
	if err != nil {
		return result, true, c.refuse(d, ErrLedger, err)
	}
	c.ledger.strangers.met(work.State == "")
	if work.State != StateDone || !d.mayBe(work.ID) {
		return result, false, nil
	}
	result, err = c.settled(d, work)
	return result, true, err
}

// deliver derives everything that a delivery is known by, before anything is
// asked of the ledger.
func (c *contract[Tx, In, Out]) deliver(in In) (*delivery[In], error) {
	if c.broken != nil {
		return nil, c.broken
	}
	id, err := c.spec.ID(in)
	if err != nil {
		return nil, err
	}
	d := &delivery[In]{in: in, id: id, before: c.spec.predecessors(in), waitUntil: time.Now().Add(c.spec.Response.Wait)}
	canonical, err := c.spec.Payload.Append(nil, in)
	if err != nil {
		return nil, c.fail(d, ErrIdentity, Work{}, fmt.Errorf("the payload has no canonical form: %w", err))
	}
	d.hash, d.shape = c.ledger.codecs.hash(canonical, c.spec.Payload.Shape)
	// What is not stored need not survive an encoder.
	if !c.spec.NoPayload {
		if d.payload, err = encodeInput(in, c.spec.Redact); err != nil {
			return nil, c.fail(d, ErrIdentity, Work{}, fmt.Errorf("the payload cannot be encoded: %w", err))
		}
	}
	if c.spec.Scope != nil {
		d.scope = c.spec.Scope(in)
	}
	if c.spec.Latest != nil {
		if d.mark, err = c.spec.Latest(in); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// lead claims the work and runs it, or answers for where it stands. settled is
// false if the work's owner was found to be gone: then it can be claimed.
func (c *contract[Tx, In, Out]) lead(ctx context.Context, fl *flight, d *delivery[In]) (result Result[Out], settled bool, err error) {
	defer c.ledger.flights.leave(fl)
	if err := c.seal(d); err != nil {
		return result, true, c.refuse(d, ErrLedger, err)
	}
	if c.spec.OneTransaction {
		return c.runInOne(ctx, fl, d)
	}
	a, result, settled, err := c.take(ctx, fl, d)
	if a == nil {
		return result, settled, err
	}
	result, err = c.run(ctx, d, a)
	return result, true, err
}

// holding is work that was claimed, and not ended yet.
type holding struct {
	Claimed
	fence Fence
	sent  time.Time
}

// take claims the work. nil if it was not won: then there is an answer, unless settled
// is false.
func (c *contract[Tx, In, Out]) take(ctx context.Context, fl *flight, d *delivery[In]) (a *holding, result Result[Out], settled bool, err error) {
	sent := time.Now()
	claimed, fence, err := c.claim(ctx, d)
	if err != nil {
		return nil, result, true, c.unclaimed(ctx, d, fence, err)
	}
	if !claimed.Won {
		c.ledger.strangers.met(false)
		// Left before the answer, which may take a while: other duplicates ask for
		// themselves and do not queue behind this one.
		c.ledger.flights.leave(fl)
		result, settled, err = c.answer(ctx, d, claimed.Work)
		return nil, result, settled, err
	}
	if ctx.Err() != nil {
		return nil, result, true, c.release(ctx, d, fence, claimed.Work)
	}
	fl.decide(true, claimed.Work)
	if time.Since(sent) > c.spec.Lease/3 {
		sent = c.renewed(ctx, fence, sent)
	}
	return &holding{claimed, fence, sent}, result, false, nil
}

// renewed is for a claim that was long under way, behind a transaction that had the
// work locked, say. Its lease may have begun when it was sent or just now: all that
// can be relied upon is over soon, if it is not already.
func (c *contract[Tx, In, Out]) renewed(ctx context.Context, fence Fence, sent time.Time) time.Time {
	asked := time.Now()
	renewals, err := c.ledger.core.store.Renew(ctx, []Lease{{Fence: fence, For: c.spec.Lease}})
	if err != nil || renewals[0] != Renewed {
		return sent // the handler's context ends when that is over
	}
	return asked
}

// seal makes the payload what is stored, once.
func (c *contract[Tx, In, Out]) seal(d *delivery[In]) (err error) {
	if d.sealed || d.payload.Codec == CodecNone {
		return nil
	}
	if d.payload, err = c.ledger.codecs.seal(d.payload, Slot{Work: d.id, Part: PartPayload}); err != nil {
		return fmt.Errorf("the payload cannot be stored: %w", err)
	}
	d.sealed = true
	return nil
}

// claim asks for the work until there is an answer: a row may go between the
// statement that did not get it and the one that reads it.
func (c *contract[Tx, In, Out]) claim(ctx context.Context, d *delivery[In]) (Claimed, Fence, error) {
	fence := Fence{ID: d.id, Token: newToken()}
	request := c.claimOf(d, fence)
	var claimed Claimed
	err := patiently(ctx, func(ctx context.Context) (err error) {
		claimed, err = c.claimOnce(ctx, c.ledger.core.store, request)
		return err
	})
	if claimed.Won {
		fence.ID = claimed.Work.ID
	}
	return claimed, fence, err
}

// mayBe tells whether the row with that ID is certainly the delivery's. With a
// coarser identity than before it may be that of another old work, while this one
// has a row of its own: then the claim has to look.
func (d *delivery[In]) mayBe(row WorkID) bool {
	return len(d.before) == 0 || row == d.id ||
		slices.ContainsFunc(d.before, func(p Predecessor) bool { return p.ID == row })
}

// unclaimed answers for a claim that failed. If it may have been made all the
// same (its acknowledgement was lost, or the caller left meanwhile), it is given
// back, or the work would lie there until the lease is over.
func (c *contract[Tx, In, Out]) unclaimed(ctx context.Context, d *delivery[In], fence Fence, cause error) error {
	err := c.ledger.durably(ctx, func(ctx context.Context) error {
		_, err := c.ledger.core.store.End(ctx, c.giveBack(fence, cause))
		if errors.Is(err, ErrLeaseLost) {
			err = c.giveBackElsewhere(ctx, d, fence, cause)
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		cause = errors.Join(cause, err)
	}
	return c.fail(d, ErrLedger, Work{}, cause)
}

// giveBackElsewhere gives back a claim that may have been made on a row which has
// another ID than the delivery: nobody was told.
func (c *contract[Tx, In, Out]) giveBackElsewhere(ctx context.Context, d *delivery[In], fence Fence, cause error) error {
	ids := []WorkID{d.id}
	for _, p := range d.before {
		ids = append(ids, p.ID)
	}
	for _, id := range ids {
		work, err := c.ledger.core.store.Lookup(ctx, id)
		if err != nil {
			return err
		}
		if work.Token != fence.Token || work.ID == fence.ID {
			continue
		}
		fence.ID = work.ID
		_, err = c.ledger.core.store.End(ctx, c.giveBack(fence, cause))
		return err
	}
	return nil
}

// giveBack ends an attempt in which nothing was done.
func (c *contract[Tx, In, Out]) giveBack(fence Fence, cause error) End {
	return End{Fence: fence, State: StateFailed, Class: ClassNotApplied, Error: cause.Error(), Window: c.spec.Window, Refund: true}
}

func (c *contract[Tx, In, Out]) claimOf(d *delivery[In], fence Fence) Claim {
	return Claim{
		Fence: fence, Kind: c.spec.Kind, Version: c.spec.Version, Scope: d.scope, Predecessors: d.before,
		Lease: c.spec.Lease, Budget: c.spec.Retry.MaxAttempts, Window: c.spec.Window,
		Payload: d.payload, PayloadHash: d.hash, PayloadShape: d.shape,
		AnyPayload: c.spec.Response.OtherPayload == OtherPayloadReturnOriginal,
		Mark:       d.mark,
		Release:    cmp.Or(c.spec.Release, c.ledger.release),
		// Where a duplicate of running work is acknowledged, it is the last that is
		// heard of it, and the row has to be there.
		MayLag: c.spec.Response.WhileRunning != RunningNoOp,
	}
}

func (c *contract[Tx, In, Out]) claimOnce(ctx context.Context, w Writer, request Claim) (Claimed, error) {
	const tries = 10
	for range tries {
		claimed, err := w.Claim(ctx, request)
		if err != nil || claimed.Won || claimed.Work.State != "" {
			return claimed, err
		}
	}
	return Claimed{}, errors.New("the work's row came and went while it was claimed")
}

// release gives back a claim whose caller has left before anything was done.
func (c *contract[Tx, In, Out]) release(ctx context.Context, d *delivery[In], fence Fence, claimed Work) error {
	cause := context.Cause(ctx)
	end := c.giveBack(fence, cause)
	work, err := c.end(ctx, end, claimed)
	if err != nil {
		return c.fail(d, ErrLedger, Work{}, errors.Join(cause, err))
	}
	return c.fail(d, ErrRetryLater, work, cause)
}

// run makes one attempt.
func (c *contract[Tx, In, Out]) run(ctx context.Context, d *delivery[In], a *holding) (result Result[Out], err error) {
	run := newRun(c.ledger.core, a.fence, c.spec.Kind, c.spec.Lease, c.read, &a.Claimed)
	run.removed, run.noInputs = c.spec.Removed, c.spec.NoPayload
	run.mark = d.mark
	run.ctx, run.cancel = context.WithCancelCause(ctx)
	defer run.cancel(nil)
	lease := c.ledger.leases.keep(a.fence, c.spec.Lease, c.spec.Timeout, a.sent, run.cancel)
	defer c.ledger.leases.drop(lease)
	c.handle(run, d.in, func(out Out, failure error) {
		result, err = c.finish(ctx, d, run, a.Work, out, failure)
	})
	return result, err
}

// finish records how an attempt ended, whether or not its caller is still there.
func (c *contract[Tx, In, Out]) finish(ctx context.Context, d *delivery[In], run *Run, claimed Work, out Out, failure error) (Result[Out], error) {
	end, cause := c.settle(run, claimed, out, failure)
	if c.drained(ctx, end) {
		end.State, end.RetryIn, end.Refund = StateFailed, 0, true
	}
	if end.State == "" {
		return Result[Out]{}, c.fail(d, ErrLeaseLost, claimed, cause)
	}
	work, err := c.end(ctx, end, claimed)
	switch {
	case errors.Is(err, ErrLeaseLost):
		return Result[Out]{}, c.fail(d, ErrLeaseLost, claimed, cause)
	case err != nil:
		return Result[Out]{}, c.fail(d, ErrLedger, claimed, errors.Join(cause, err))
	}
	return c.ended(d, out, work, cause)
}

// end records the end of an attempt, whether or not its caller is still there.
func (c *contract[Tx, In, Out]) end(ctx context.Context, end End, claimed Work) (work Work, err error) {
	err = c.ledger.durably(ctx, func(ctx context.Context) error {
		ended, err := c.ledger.core.store.End(ctx, end)
		work = workAfter(claimed, end, ended)
		return err
	})
	return work, err
}

// workAfter is what is known of work whose attempt has ended.
// Nobody else has changed its attempts meanwhile.
func workAfter(claimed Work, end End, ended Ended) Work {
	work := Work{
		ID: end.ID, State: end.State, Attempt: claimed.Attempt, BudgetLeft: claimed.BudgetLeft,
		NextAttemptAt: ended.NextAttemptAt, ExternalRef: end.ExternalRef,
	}
	if end.Refund {
		work.BudgetLeft++
	}
	return work
}

// drained reports that an attempt failed because its program is shutting down: the
// ledger is closing, and the caller took its context away. Were such attempts
// counted, a few deploys during one long handler would bury its work.
func (c *contract[Tx, In, Out]) drained(ctx context.Context, end End) bool {
	if end.State != StateFailed && end.State != StateDead || end.Class == ClassPermanent {
		return false
	}
	return errors.Is(ctx.Err(), context.Canceled) && c.ledger.closing()
}

// runInOne makes an attempt whose claim, effects and completion commit together.
// What fails is rolled back whole and then recorded in a transaction of its own.
func (c *contract[Tx, In, Out]) runInOne(ctx context.Context, fl *flight, d *delivery[In]) (result Result[Out], settled bool, err error) {
	one := &oneTransaction[Out]{renewed: func() {}}
	defer func() {
		// Also while a panic of the handler is on its way, which goes on after this.
		if one.failed {
			result, err = c.failedInOne(ctx, d, one)
		}
	}()
	// Once it has begun, the transaction does not end with its caller, only the
	// handler's context does: what the handler completes all the same is not lost.
	txCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	waiting := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	err = c.ledger.store.InTx(txCtx, func(txCtx context.Context, s Session[Tx]) error {
		if !waiting() && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		txCtx, stop := c.ledger.txLimit(txCtx, cancel, min(c.ledger.txTime(c.spec.Lease), c.spec.Timeout))
		defer stop()
		return c.attemptInOne(ctx, txCtx, s, fl, d, one)
	})
	switch {
	case one.failed:
		return result, true, nil // by the deferred function
	case err != nil && one.run != nil:
		// The handler ran to its end, and its transaction did not, for one that
		// took too long. Were it not counted, it would run for ever.
		one.failed, one.cause = true, err
		one.end = End{Window: c.spec.Window, Error: err.Error()}
		c.retryOrBury(one.run, one.claimed.Work, &one.end, ClassTransient)
		return result, true, nil
	case err != nil:
		return result, true, c.fail(d, ErrLedger, Work{}, err)
	case !one.claimed.Won:
		c.ledger.flights.leave(fl)
		return c.answer(ctx, d, one.claimed.Work)
	}
	one.renewed()
	result, err = c.ended(d, one.out, one.work, one.cause)
	return result, true, err
}

// attemptInOne is what happens inside the transaction: the work is claimed, run
// and completed. ctx is the caller's, txCtx the transaction's.
func (c *contract[Tx, In, Out]) attemptInOne(ctx, txCtx context.Context, s Session[Tx], fl *flight, d *delivery[In], one *oneTransaction[Out]) (err error) {
	fence := Fence{ID: d.id, Token: newToken()}
	one.claimed, err = c.claimOnce(txCtx, s, c.claimOf(d, fence))
	fl.decide(err == nil && one.claimed.Won, one.claimed.Work)
	if err != nil || !one.claimed.Won {
		return err
	}
	fence.ID = one.claimed.Work.ID
	run := newRun(c.ledger.core, fence, c.spec.Kind, c.spec.Lease, c.read, &one.claimed)
	run.removed, run.noInputs = c.spec.Removed, c.spec.NoPayload
	run.writer, run.session, run.mark = s, s, d.mark
	run.ctx, run.cancel = context.WithCancelCause(txCtx)
	defer run.cancel(nil)
	defer context.AfterFunc(ctx, func() { run.cancel(context.Cause(ctx)) })()
	one.run = run
	c.handle(run, d.in, func(out Out, failure error) {
		one.out = out
		one.end, one.cause = c.settle(run, one.claimed.Work, out, failure)
		one.failed = one.end.State != StateDone
	})
	if one.failed {
		return errRollBack
	}
	ended, err := s.End(txCtx, one.end)
	if err != nil {
		return err
	}
	one.work = workAfter(one.claimed.Work, one.end, ended)
	if c.ledger.core.store.ExclusiveTx() {
		one.renewed, err = c.ledger.leases.renewAll(txCtx, s)
	}
	return err
}

// failedInOne records a failure once its transaction is rolled back, and answers.
func (c *contract[Tx, In, Out]) failedInOne(ctx context.Context, d *delivery[In], one *oneTransaction[Out]) (Result[Out], error) {
	if c.drained(ctx, one.end) {
		one.end.State, one.end.RetryIn, one.end.Refund = StateFailed, 0, true
	}
	work, err := c.recordFailure(ctx, d, one.end)
	switch {
	case err != nil:
		return Result[Out]{}, c.fail(d, ErrLedger, Work{}, errors.Join(one.cause, err))
	case work.State == StateDone:
		// Another delivery was faster, or the commit's acknowledgement was lost.
		return c.settled(d, work)
	}
	return c.ended(d, one.out, work, one.cause)
}

// oneTransaction is what becomes of an attempt in one transaction.
type oneTransaction[Out any] struct {
	claimed Claimed
	run     *Run // nil until the handler is called
	out     Out
	failed  bool // rolled back, and to be recorded as end says
	end     End
	cause   error
	work    Work
	renewed func()
}

var errRollBack = errors.New("the attempt failed")

// recordFailure counts a rolled back attempt against the budget.
func (c *contract[Tx, In, Out]) recordFailure(ctx context.Context, d *delivery[In], end End) (work Work, err error) {
	if end.State == "" {
		end.State, end.Class = StateFailed, ClassTransient
	}
	err = c.ledger.durably(ctx, func(ctx context.Context) error {
		return c.ledger.store.InTx(ctx, func(ctx context.Context, s Session[Tx]) error {
			fence := Fence{ID: d.id, Token: newToken()}
			claimed, err := c.claimOnce(ctx, s, c.claimOf(d, fence))
			if err != nil {
				return err
			}
			if work = claimed.Work; !claimed.Won {
				return nil // another delivery was faster: what it did stands
			}
			fence.ID = claimed.Work.ID
			end.Fence = fence
			ended, err := s.End(ctx, end)
			work = workAfter(claimed.Work, end, ended)
			return err
		})
	})
	return work, err
}

var errGoexit = errors.New("the handler ended its goroutine")

// handle calls the handler, waits for the effects that it left behind, and hands
// the outcome to finish, also if the handler panics or calls runtime.Goexit:
// those go on afterwards.
func (c *contract[Tx, In, Out]) handle(run *Run, in In, finish func(out Out, failure error)) {
	var out Out
	failure := errGoexit
	defer func() {
		panicked := recover()
		if panicked != nil {
			failure = fmt.Errorf("the handler panicked: %v", panicked)
			c.ledger.log.Error("idem: a handler panicked", "kind", c.spec.Kind, "work_id", run.fence.ID.String(),
				"attempt", run.attempt, "panic", panicked, "stack", string(debug.Stack()))
		}
		if failure != nil {
			run.cancel(failure)
		}
		run.close()
		finish(out, failure)
		if panicked != nil {
			panic(panicked)
		}
	}()
	out, failure = c.spec.Handle(run.ctx, run, in)
}

// settle decides how an attempt ends. The zero End means that there is nothing
// to record: the lease is lost, and the work belongs to somebody else.
func (c *contract[Tx, In, Out]) settle(run *Run, work Work, out Out, failure error) (End, error) {
	sticky := run.stuck()
	if sticky == nil && failure == nil {
		if sticky = run.settleNamesakes(); sticky == nil {
			sticky = run.unsettled()
		}
	}
	end := End{Fence: run.fence, Window: c.spec.Window, ExternalRef: run.lastRef, Mark: run.mark}
	if newer, ok := newerThan(sticky); ok {
		if doubt := run.doubt(newer); doubt != nil {
			end.State, end.Class, end.Error = StateUnknown, ClassUnknown, doubt.Error()
			return end, doubt
		}
		end.State, end.SupersededBy = StateDone, newer.ID
		return end, newer
	}
	if until, waits := run.waits(failure, sticky); waits {
		return c.awaitOther(run, end, until, or(failure, sticky))
	}
	cause := failure
	if sticky != nil {
		if cause == nil || !errors.Is(cause, sticky.Reason) {
			cause = sticky
		}
		end.Error, end.Class = cause.Error(), ClassUnknown
		switch sticky.Reason {
		case ErrLeaseLost:
			return End{}, cause
		case ErrOutcomeUnknown, ErrEffectDiverged:
			end.State = StateUnknown
			return end, cause
		}
		c.retryOrBury(run, work, &end, ClassTransient)
		return end, cause
	}
	if failure == nil {
		end.State = StateDone
		end.Result, end.Error = c.ledger.encodeResult(out, Slot{Work: run.fence.ID, Part: PartResult})
		return end, nil
	}
	end.Error = failure.Error()
	c.retryOrBury(run, work, &end, c.read.handlerClass(failure))
	return end, failure
}

// retryOrBury is the one place that decides whether failed work is tried again.
func (c *contract[Tx, In, Out]) retryOrBury(run *Run, work Work, end *End, class Class) {
	end.Class = class
	if class == ClassPermanent || work.BudgetLeft <= 0 {
		end.State = StateDead
		return
	}
	end.State = StateFailed
	end.RetryIn = max(c.spec.Retry.delay(work.Attempt, rand.Float64()), run.notBefore.Sub(run.now()))
}

// delay is how long to wait after the given number of attempts; at is drawn
// evenly from [0, 1).
func (r Retry) delay(attempts int, at float64) time.Duration {
	longest := float64(r.Initial) * math.Pow(r.Multiplier, float64(attempts-1))
	// The power may be +Inf, which min clamps as it does any other length.
	return time.Duration(at * min(longest, float64(r.Max)))
}

// ended answers for the attempt that this call made.
func (c *contract[Tx, In, Out]) ended(d *delivery[In], out Out, work Work, cause error) (Result[Out], error) {
	if work.State == StateDone && cause == nil {
		return Result[Out]{ID: work.ID, Value: out, State: StateDone, Attempt: work.Attempt, ExternalRef: work.ExternalRef}, nil
	}
	return Result[Out]{}, c.fail(d, reasonFor(work.State, cause), work, cause)
}

// reasonFor names why work in a state gives no result. Work that another attempt
// holds by now is running.
func reasonFor(state State, cause error) error {
	switch state {
	case StateFailed:
		return ErrRetryLater
	case StateDead:
		return ErrDead
	case StateUnknown:
		if errors.Is(cause, ErrEffectDiverged) {
			return ErrEffectDiverged
		}
		return ErrOutcomeUnknown
	case StateWaiting:
		return ErrAwaitingApproval
	case StateRunning:
		return ErrRunning
	case StateDone:
		if errors.Is(cause, ErrSuperseded) {
			return ErrSuperseded
		}
		return ErrDone
	}
	return ErrLedger
}

// refuse is fail of a delivery whose work is not known.
func (c *contract[Tx, In, Out]) refuse(d *delivery[In], reason, cause error) *Error {
	return c.fail(d, reason, Work{}, cause)
}

func (c *contract[Tx, In, Out]) fail(d *delivery[In], reason error, work Work, cause error) *Error {
	id := d.id
	if !work.ID.IsZero() {
		id = work.ID // as the ledger calls it
	}
	e := &Error{Reason: reason, Kind: c.spec.Kind, ID: id, State: work.State, Attempt: work.Attempt, ExternalRef: work.ExternalRef, Class: "", Cause: cause}
	switch {
	case work.State == StateFailed:
		e.RetryAt = work.NextAttemptAt
	case work.State == StateRunning && reason != ErrLeaseLost:
		e.RetryAt = work.LockedUntil
	}
	return e
}
