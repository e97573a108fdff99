package idem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Run is one attempt at one piece of work: the effects that it has made and what
// may not be done any more. Generated code hands it from a handler's wrapper to
// its effects; nobody else has use for it.
type Run struct {
	core    *core
	writer  Writer // the store, or the session of the one transaction
	session any    // Session[Tx] in a contract of one transaction, else nil
	fence   Fence
	mark    Mark
	kind    string
	attempt int
	lease   time.Duration
	read    reading
	removed []string // effects that the contract no longer has
	// noInputs: nothing of the work's input is to be stored.
	noInputs bool

	// The store's time when the work was claimed, and the local one just after.
	claimedAt    time.Time
	claimedLocal time.Time

	ctx    context.Context // the handler's
	cancel context.CancelCauseFunc

	oneAtATime chan struct{} // holds the token of effects inside one transaction

	mu        sync.Mutex
	entries   map[EffectID]*entry
	order     []*entry // as first asked for or, of earlier attempts, as recorded
	sticky    *Error
	notBefore time.Time // the store's time before which another attempt can decide nothing
	lastRef   string
	over      bool
	calls     sync.WaitGroup
}

// entry is what a run knows of one effect.
type entry struct {
	id    EffectID
	row   EffectRow // the zero State: there is no row
	asked int       // how often by this attempt
	waits *Error    // why a child has not ended, as this attempt was told last
	busy  chan struct{}
}

func newRun(c *core, fence Fence, kind string, lease time.Duration, read reading, claimed *Claimed) *Run {
	r := &Run{
		core: c, writer: c.store, kind: kind, lease: lease, read: read,
		fence:        fence,
		attempt:      claimed.Work.Attempt,
		claimedAt:    claimed.Work.Now,
		claimedLocal: time.Now(),
		entries:      make(map[EffectID]*entry, len(claimed.Effects)),
		oneAtATime:   make(chan struct{}, 1),
	}
	for _, row := range claimed.Effects {
		e := &entry{id: row.EffectID, row: row}
		r.entries[row.EffectID] = e
		r.order = append(r.order, e)
		if row.State == EffectDone && row.ExternalRef != "" {
			r.lastRef = row.ExternalRef
		}
	}
	return r
}

// now is the store's time, as far as this process can tell without asking.
func (r *Run) now() time.Time { return r.claimedAt.Add(time.Since(r.claimedLocal)) }

// fail makes an error about one of the run's effects.
func (r *Run) fail(reason error, effect string, class Class, cause error) *Error {
	return &Error{Reason: reason, Kind: r.kind, ID: r.fence.ID, Effect: effect, State: StateRunning, Attempt: r.attempt, Class: class, Cause: cause}
}

// stick remembers an error that the handler may swallow and completion may not.
// The first one counts, except that a lost lease is final, and that work which is
// superseded is over only if nothing else is wrong with it.
func (r *Run) stick(err *Error) *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sticky == nil || err.Reason == ErrLeaseLost || r.sticky.Reason == ErrSuperseded {
		r.sticky = err
	}
	return err
}

func (r *Run) stuck() *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sticky
}

// txMark marks the context of a transaction effect with its run.
type txMark struct{}

// begin takes the entry of an effect for one call: a second call of the same
// effect waits for the first. end must be called if err is nil.
func (r *Run) begin(ctx context.Context, id EffectID) (e *entry, err error) {
	if ctx.Value(txMark{}) == r {
		return nil, r.fail(ErrInTransaction, id.Name, ClassPermanent,
			errors.New("a transaction effect must not ask for other effects: ask for them before or after it"))
	}
	for {
		e, busy, err := r.take(id)
		if err != nil || busy == nil {
			return e, err
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, r.fail(ErrEffectFailed, id.Name, ClassNotApplied, context.Cause(ctx))
		case <-r.ctx.Done():
			return nil, r.fail(ErrEffectFailed, id.Name, ClassNotApplied, context.Cause(r.ctx))
		}
	}
}

// alone waits until no other effect of the one transaction is under way. The wait
// ends with the handler's context: an effect that asks for another one, with a
// context that does not say so, waits for itself.
func (r *Run) alone(ctx context.Context, id EffectID) (leave func(), err error) {
	if r.session == nil {
		return func() {}, nil
	}
	select {
	case r.oneAtATime <- struct{}{}:
		return func() { <-r.oneAtATime }, nil
	case <-ctx.Done():
		return nil, r.fail(ErrEffectFailed, id.Name, ClassNotApplied, context.Cause(ctx))
	case <-r.ctx.Done():
		return nil, r.fail(ErrEffectFailed, id.Name, ClassNotApplied, context.Cause(r.ctx))
	}
}

func (r *Run) take(id EffectID) (e *entry, busy <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		return nil, nil, r.fail(ErrRunOver, id.Name, ClassNotApplied, nil)
	case r.sticky != nil:
		return nil, nil, r.sticky
	}
	e, ok := r.entries[id]
	if !ok {
		e = &entry{id: id}
		r.entries[id] = e
		r.order = append(r.order, e)
	}
	if e.busy != nil {
		return nil, e.busy, nil
	}
	e.busy = make(chan struct{})
	e.asked++
	r.calls.Add(1)
	return e, nil, nil
}

func (r *Run) end(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(e.busy)
	e.busy = nil
	r.calls.Done()
}

// close refuses further effects and waits for those under way, whose context has
// been cancelled: nothing of an attempt goes on after its end is recorded.
func (r *Run) close() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.calls.Wait()
}

// callContext bounds an effect's call by the handler's lease and timeout, even
// if the handler passes a context of its own making.
func (r *Run) callContext(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// write moves an effect to another state, in the ledger first. It returns the
// message of an effect that was to start if another effect has it.
func (r *Run) write(ctx context.Context, e *entry, w EffectWrite) (*SentMessage, error) {
	w.Fence, w.EffectID, w.Mark = r.fence, e.id, r.mark
	w.MayLag = w.State == EffectDone && w.Message == nil && w.Guard.recovers()
	var written EffectWritten
	err := r.durably(ctx, func(ctx context.Context) (err error) {
		written, err = r.writer.WriteEffect(ctx, w)
		return err
	})
	if err != nil {
		return nil, r.ledgerError(e.id.Name, err)
	}
	if written.Taken == nil {
		r.adopt(e, w, written.StartedAt)
	}
	return written.Taken, nil
}

// adopt takes over what the ledger now says about an effect.
func (r *Run) adopt(e *entry, w EffectWrite, startedAt time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.Input.Codec == CodecNone {
		w.Input = e.row.Input
	}
	if startedAt.IsZero() {
		startedAt = e.row.StartedAt
	}
	e.row = EffectRow{
		EffectID: e.id, Guard: w.Guard, State: w.State, Key: w.Key, Epoch: w.Epoch, PayloadHash: w.PayloadHash, PayloadShape: w.PayloadShape,
		Calls: w.Calls, Input: w.Input, Result: w.Result, ExternalRef: w.ExternalRef, LastError: w.Error, StartedAt: startedAt,
	}
	if w.State == EffectDone && w.ExternalRef != "" {
		r.lastRef = w.ExternalRef
	}
}

// durably is core.durably, except inside the one transaction, where a statement
// that failed has taken the transaction with it.
func (r *Run) durably(ctx context.Context, write func(ctx context.Context) error) error {
	if r.session != nil {
		return write(ctx)
	}
	return r.core.durably(ctx, write)
}

// ledgerError is an error of the store. After it the run knows less than the
// ledger does, so the attempt cannot complete; the next one reads what is there.
func (r *Run) ledgerError(effect string, err error) *Error {
	if errors.Is(err, ErrLeaseLost) {
		return r.stick(r.fail(ErrLeaseLost, effect, ClassTransient, nil))
	}
	if newer, ok := errors.AsType[NewerWork](err); ok {
		return r.stick(r.fail(ErrSuperseded, effect, ClassPermanent, newer))
	}
	return r.stick(r.fail(ErrLedger, effect, ClassTransient, err))
}

// unsettled says why a handler that returned no error has not completed the work
// all the same: an effect of an earlier attempt that this one did not ask for, or
// one that may or may not have happened.
func (r *Run) unsettled() *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var waits *Error
	for _, e := range r.order {
		if e.waits != nil {
			waits = e.waits
			continue
		}
		switch e.row.State {
		case EffectDone, EffectStarted, EffectUnknown:
			if removed := slices.Contains(r.removed, e.id.Name); removed && e.row.State == EffectDone {
				continue
			} else if removed && e.row.Guard != GuardRead {
				return r.fail(ErrOutcomeUnknown, e.id.Name, ClassUnknown,
					errors.New("an earlier attempt may have made it, and the contract has removed it since"))
			}
			if e.asked == 0 && e.row.Guard != GuardRead {
				return r.fail(ErrEffectDiverged, e.id.Name, ClassUnknown,
					fmt.Errorf("an earlier attempt left it %s, and this attempt completed without asking for it", e.row.State))
			}
		}
		if e.row.State == EffectStarted || e.row.State == EffectUnknown {
			return r.fail(ErrEffectFailed, e.id.Name, ClassUnknown,
				errors.New("the handler completed although it is not known whether the effect happened"))
		}
	}
	return waits
}

// doubt is about an effect of work that newer work has overtaken: it may have
// happened, and the guard that would find out is not to repeat it any more.
func (r *Run) doubt(newer NewerWork) *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.order {
		if doubtful(e.row) {
			return r.fail(ErrOutcomeUnknown, e.id.Name, ClassUnknown, fmt.Errorf("it may have happened, and %v", newer))
		}
	}
	return nil
}

// newerThan is the work because of which an attempt has no use any more.
func newerThan(sticky *Error) (newer NewerWork, superseded bool) {
	if sticky == nil || sticky.Reason != ErrSuperseded {
		return NewerWork{}, false
	}
	return errors.AsType[NewerWork](sticky.Cause)
}
