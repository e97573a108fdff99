package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// follow answers a duplicate of work that another call in this process is
// claiming or running. settled is false if that call turned out not to run it:
// then the duplicate asks for itself.
func (c *contract[Tx, In, Out]) follow(ctx context.Context, fl *flight, d *delivery[In]) (result Result[Out], settled bool, err error) {
	select {
	case <-fl.decided:
	case <-ctx.Done():
		return result, true, c.fail(d, ErrRunning, Work{State: StateRunning}, context.Cause(ctx))
	}
	if !fl.won {
		// Wait for it to be gone, or join would only find it again.
		select {
		case <-fl.done:
		case <-ctx.Done():
		}
		return result, false, nil
	}
	if !d.mayBe(fl.work.ID) {
		return c.lead(ctx, newFlight(d.id, d.hash), d)
	}
	running := fl.running()
	if fl.payload != d.hash && c.spec.Response.OtherPayload == OtherPayloadError {
		return result, true, c.fail(d, ErrPayloadMismatch, running, nil)
	}
	if result, settled, err = c.whileRunning(d, running); settled {
		return result, true, err
	}
	timer := time.NewTimer(time.Until(d.waitUntil))
	defer timer.Stop()
	select {
	case <-fl.done:
	case <-timer.C:
		return result, true, c.fail(d, ErrRunning, fl.running(), c.waited())
	case <-ctx.Done():
		return result, true, c.fail(d, ErrRunning, fl.running(), context.Cause(ctx))
	}
	work, err := c.ledger.core.store.Lookup(ctx, fl.work.ID)
	switch {
	case err != nil:
		return result, true, c.fail(d, ErrLedger, Work{}, err)
	case work.State == StateRunning || work.State == "":
		// The winner could not record its end: its lease decides.
		return result, true, c.fail(d, ErrRunning, work, nil)
	}
	result, err = c.settled(d, work)
	return result, true, err
}

func (c *contract[Tx, In, Out]) waited() error {
	return fmt.Errorf("it was still running after %s", c.spec.Response.Wait)
}

// answer is what a duplicate gets, for every state of its work. settled is false
// if it waited for running work whose owner turned out to be gone.
func (c *contract[Tx, In, Out]) answer(ctx context.Context, d *delivery[In], work Work) (result Result[Out], settled bool, err error) {
	if work.State == StateRunning && !c.otherPayload(d, work) {
		if result, settled, err = c.whileRunning(d, work); settled {
			return result, true, err
		}
		if work, settled, err = c.waitForOther(ctx, d, work); !settled || err != nil {
			return result, settled, err
		}
	}
	result, err = c.settled(d, work)
	return result, true, err
}

// settled is what a duplicate gets of work that is not running.
func (c *contract[Tx, In, Out]) settled(d *delivery[In], work Work) (Result[Out], error) {
	switch {
	case c.otherPayload(d, work):
		return Result[Out]{}, c.fail(d, ErrPayloadMismatch, work, nil)
	case !work.SupersededBy.IsZero():
		return Result[Out]{}, c.fail(d, ErrSuperseded, work, NewerWork{work.SupersededBy})
	case work.State == StateDone:
		return c.whenDone(d, work)
	}
	var cause error
	if work.LastError != "" {
		cause = &storedError{message: work.LastError}
	}
	return Result[Out]{}, c.fail(d, reasonFor(work.State, nil), work, cause)
}

// otherPayload reports that the work is known with another payload, of the same
// shape: hashes of different shapes say nothing.
func (c *contract[Tx, In, Out]) otherPayload(d *delivery[In], work Work) bool {
	return c.spec.Response.OtherPayload == OtherPayloadError &&
		work.PayloadShape == d.shape && work.PayloadHash != d.hash
}

func (c *contract[Tx, In, Out]) whenDone(d *delivery[In], work Work) (Result[Out], error) {
	result := Result[Out]{ID: work.ID, Replayed: true, State: StateDone, Attempt: work.Attempt, ExternalRef: work.ExternalRef}
	switch c.spec.Response.WhenDone {
	case DoneError:
		return Result[Out]{}, c.fail(d, ErrDone, work, nil)
	case DoneNoOp:
		return result, nil
	}
	value, err := decode[Out](&c.ledger.codecs, work.Result, Slot{Work: work.ID, Part: PartResult})
	switch {
	case errors.Is(err, ErrResultDropped):
		if work.LastError != "" {
			err = &storedError{message: work.LastError}
		}
		return Result[Out]{}, c.fail(d, ErrResultDropped, work, err)
	case err != nil:
		return Result[Out]{}, c.fail(d, ErrUnreadable, work, err)
	}
	result.Value = value
	return result, nil
}

// whileRunning answers at once, unless the contract says to wait.
func (c *contract[Tx, In, Out]) whileRunning(d *delivery[In], work Work) (result Result[Out], settled bool, err error) {
	switch c.spec.Response.WhileRunning {
	case RunningError:
		return result, true, c.fail(d, ErrRunning, work, nil)
	case RunningNoOp:
		return Result[Out]{ID: work.ID, Replayed: true, State: StateRunning, Attempt: work.Attempt}, true, nil
	}
	return result, false, nil
}

// waitForOther waits for work that another process runs, until it runs no more.
// settled is false if the owner's lease is over: nobody runs the work, and this
// delivery may as well.
func (c *contract[Tx, In, Out]) waitForOther(ctx context.Context, d *delivery[In], work Work) (latest Work, settled bool, err error) {
	if !work.LockedUntil.After(work.Now) {
		return work, false, nil
	}
	waitCtx, cancel := context.WithDeadline(ctx, d.waitUntil)
	defer cancel()
	latest, err = c.ledger.waits.await(waitCtx, work.ID)
	switch {
	case err == nil:
		// A row that is gone was released or forgotten: the work is new again.
		return latest, latest.State != StateRunning && latest.State != "", nil
	case waitCtx.Err() == nil || !errors.Is(err, waitCtx.Err()):
		return work, true, c.fail(d, ErrLedger, work, err)
	case ctx.Err() != nil:
		return work, true, c.fail(d, ErrRunning, work, context.Cause(ctx))
	}
	return work, true, c.fail(d, ErrRunning, work, c.waited())
}
