package crash

import (
	"context"
	"errors"
	"runtime"
	"sync"

	idem "github.com/idemgen/idem/runtime"
)

// Wrap gives the store as the process sees it. Closing it does not close the store
// underneath, which other processes may have.
func Wrap[Tx any](store idem.Store[Tx], p *Process) idem.Store[Tx] {
	return &wrapped[Tx]{Store: store, writes: writes{w: store, p: p}}
}

type wrapped[Tx any] struct {
	idem.Store[Tx]
	writes
}

func (s *wrapped[Tx]) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	return s.writes.Claim(ctx, c)
}

func (s *wrapped[Tx]) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return s.writes.WriteEffect(ctx, e)
}

func (s *wrapped[Tx]) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return s.writes.End(ctx, e)
}

// Renew has no points: when the heartbeat comes is a matter of the real time.
func (s *wrapped[Tx]) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	return unnumbered(s.p, func() ([]idem.Renewal, error) { return s.Store.Renew(ctx, leases) })
}

// Lookup writes nothing, so that a crash before it is one after what was before it.
func (s *wrapped[Tx]) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	return unnumbered(s.p, func() (idem.Work, error) { return s.Store.Lookup(ctx, id) })
}

func unnumbered[T any](p *Process, do func() (T, error)) (T, error) {
	p.mu.Lock()
	if err := p.enter(nil, func() { p.working++ }); err != nil {
		var none T
		return none, err
	}
	defer p.done()
	return do()
}

func (s *wrapped[Tx]) Register(ctx context.Context, list []idem.Registration) ([]idem.Registration, error) {
	if s.p.watch.Registers != nil {
		s.p.watch.Registers(list)
	}
	return around(s.p, "the contracts are registered", nil, func() ([]idem.Registration, error) {
		return s.Store.Register(ctx, list)
	}, nil)
}

func (s *wrapped[Tx]) KeyCheck(ctx context.Context, mine idem.Hash) (idem.Hash, error) {
	return around(s.p, "the ledger's key is checked", nil, func() (idem.Hash, error) { return s.Store.KeyCheck(ctx, mine) }, nil)
}

func (s *wrapped[Tx]) Close() error { return nil }

// errDied rolls a transaction back, as a database does whose client is gone.
var errDied = errors.New("the process died in the transaction")

func (s *wrapped[Tx]) InTx(ctx context.Context, fn func(ctx context.Context, session idem.Session[Tx]) error) error {
	tx := &transaction{gone: make(chan struct{})}
	if err := s.p.pass(Point{Name: "before a transaction"}, nil, func() { s.p.working++ }); err != nil {
		return err
	}
	// Whoever dies in the transaction is on the way out before the one who opened it:
	// the deferred calls of both look at the same things.
	defer tx.inside.Wait()
	err := s.Store.InTx(ctx, func(ctx context.Context, session idem.Session[Tx]) error {
		return tx.run(func() error {
			if err := fn(ctx, &wrappedSession[Tx]{session, writes{w: session, p: s.p, tx: tx}}); err != nil {
				return err
			}
			return s.p.pass(Point{"before the commit", true}, tx, func() {})
		})
	})
	s.p.done()
	name := "after the commit"
	if err != nil {
		name = "after the transaction is rolled back"
	} else {
		tx.committed()
	}
	if err := s.p.pass(Point{Name: name}, nil, func() {}); err != nil {
		return err
	}
	return err
}

// transaction is one that is open. A process that dies in it leaves its goroutine
// behind, and the transaction is rolled back without it.
type transaction struct {
	once   sync.Once
	gone   chan struct{}
	inside sync.WaitGroup // the goroutine that runs in it
	writes []func()       // told to the watch after the commit
}

func (t *transaction) abandon() { t.once.Do(func() { close(t.gone) }) }

func (t *transaction) committed() {
	for _, tell := range t.writes {
		tell()
	}
}

// run runs fn on a goroutine of its own, which may be left behind. A panic goes on
// here, and so does the end of the goroutine.
func (t *transaction) run(fn func() error) error {
	type outcome struct {
		err      error
		panicked any
		exited   bool
	}
	done := make(chan outcome, 1)
	t.inside.Go(func() {
		o := outcome{exited: true}
		defer func() {
			if o.panicked = recover(); o.panicked != nil {
				o.exited = false
			}
			done <- o
		}()
		o.err = fn()
		o.exited = false
	})
	select {
	case o := <-done:
		switch {
		case o.panicked != nil:
			panic(o.panicked)
		case o.exited:
			runtime.Goexit()
		}
		return o.err
	case <-t.gone:
		return errDied
	}
}

type wrappedSession[Tx any] struct {
	idem.Session[Tx]
	writes
}

func (s *wrappedSession[Tx]) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	return s.writes.Claim(ctx, c)
}

func (s *wrappedSession[Tx]) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return s.writes.WriteEffect(ctx, e)
}

func (s *wrappedSession[Tx]) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return s.writes.End(ctx, e)
}

func (s *wrappedSession[Tx]) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	return around(s.p, "the leases are renewed", s.tx, func() ([]idem.Renewal, error) { return s.Session.Renew(ctx, leases) }, nil)
}

// writes are those of a store, or of a session of it, with their points.
type writes struct {
	w  idem.Writer
	p  *Process
	tx *transaction // nil in a store
}

func (s *writes) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	return around(s.p, "the claim of "+c.Kind, s.tx, func() (idem.Claimed, error) {
		claimed, err := s.w.Claim(ctx, c)
		if err == nil && s.p.watch.Claimed != nil {
			s.tell(func() { s.p.watch.Claimed(c, claimed) })
		}
		return claimed, err
	}, nil)
}

func (s *writes) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	// Whoever writes of an effect is back from its call.
	this := call{e.ID, e.EffectID}
	s.p.back(this)
	calls := s.tx == nil && e.State == idem.EffectStarted && e.Guard != idem.GuardWork
	return around(s.p, e.Name+" is recorded as "+string(e.State), s.tx, func() (idem.EffectWritten, error) {
		written, err := s.w.WriteEffect(ctx, e)
		if err == nil && written.Taken == nil && s.p.watch.Wrote != nil {
			s.tell(func() { s.p.watch.Wrote(e, written) })
		}
		return written, err
	}, func(written idem.EffectWritten) {
		if calls && written.Taken == nil {
			s.p.calls[this] = true
		}
	})
}

func (s *writes) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return around(s.p, "the work ends as "+string(e.State), s.tx, func() (idem.Ended, error) {
		ended, err := s.w.End(ctx, e)
		if err == nil && s.p.watch.Ended != nil {
			s.tell(func() { s.p.watch.Ended(e, ended) })
		}
		return ended, err
	}, nil)
}

// tell tells of a write once it is durable.
func (s *writes) tell(what func()) {
	if s.tx != nil {
		s.tx.writes = append(s.tx.writes, what)
		return
	}
	what()
}

func (p *Process) back(c call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, c)
}
