package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/coalesce"
)

// Writes of concurrent callers share commits: what comes while a transaction is
// under way goes together in the next one, and each caller goes on when that is
// durable. There is one writer, so that their order is the one in which they came:
// of two that want the same, the second is answered as if it had come alone.

const (
	// maxBatch bounds how long a transaction of others waits for a batch.
	maxBatch = 128
	// maxWaiting bounds what is held for callers: further ones wait for a place.
	maxWaiting = 1024
)

// operation is one write of a batch.
type operation struct {
	do func(w *writer) error
	// spills: it may refuse after it has written something, which has to be undone.
	spills bool
	// lags: it need not be durable before the next one that does not lag.
	lags bool
}

type request = coalesce.Request[operation]

func (s *Store) newQueue() *coalesce.Queue[operation] {
	return coalesce.New(coalesce.Config[operation]{
		Turn:     s.turns.hurry,
		Run:      s.runBatch,
		MaxBatch: maxBatch, MaxWaiting: maxWaiting,
	})
}

// write runs one operation in a transaction that it may share with others. Once it
// has begun it does not end with its caller.
func write[T any](ctx context.Context, s *Store, what string, op func(ctx context.Context, w *writer) (T, error)) (T, error) {
	return share(ctx, s, what, operation{spills: true}, op)
}

// writeTidy is write for an operation that refuses before it has written anything.
func writeTidy[T any](ctx context.Context, s *Store, what string, op func(ctx context.Context, w *writer) (T, error)) (T, error) {
	return share(ctx, s, what, operation{}, op)
}

// share is write for an operation of which like says what it is like.
func share[T any](ctx context.Context, s *Store, what string, like operation, op func(ctx context.Context, w *writer) (T, error)) (T, error) {
	var none T
	if err := s.usable(ctx); err != nil {
		return none, fmt.Errorf("sqlite: %s: %w", what, err)
	}
	// A caller who leaves early does not look at it.
	var result T
	steady := context.WithoutCancel(ctx)
	like.do = func(w *writer) (err error) {
		result, err = op(steady, w)
		return err
	}
	err := s.queue.Do(ctx, like, what == renewing)
	if errors.Is(err, coalesce.ErrClosed) {
		err = idem.ErrClosed
	}
	if err != nil {
		return none, s.wrap(ctx, what, err)
	}
	return result, nil
}

// usable says why a write cannot be made.
func (s *Store) usable(ctx context.Context) error {
	switch {
	case s.closed.Load():
		return idem.ErrClosed
	case ctx.Value(inTx{s}) != nil:
		// It would wait for the connection that its own transaction holds.
		return fmt.Errorf("called on the store inside its own transaction, where the Session is to be used: %w", idem.ErrInTransaction)
	}
	return nil
}

// runBatch makes the writes in one transaction or, if that fails, each in one of
// its own: what spoils one write is no matter of the others. It has the turn.
func (s *Store) runBatch(ctx context.Context, requests []*request) {
	begun, err := s.commitAll(ctx, requests)
	if err == nil {
		return
	}
	for _, r := range requests {
		r.Err = err
		if begun && len(requests) > 1 {
			_, r.Err = s.commitAll(ctx, []*request{r})
		}
	}
}

// commitAll makes the writes in one transaction. What a write refuses is its own
// error; what fails is the transaction's, which then has not been committed. begun
// tells whether it got as far as the writes.
func (s *Store) commitAll(ctx context.Context, requests []*request) (begun bool, err error) {
	if err := s.stillThere(); err != nil {
		return false, err
	}
	// Only the wait for another process ends with the callers.
	begin, cancel := context.WithCancel(context.Background())
	defer cancel()
	waiting := context.AfterFunc(ctx, cancel)
	lags := !slices.ContainsFunc(requests, func(r *request) bool { return !r.Op.lags })
	err = s.direct(begin, lags, func(w *writer) error {
		if !waiting() {
			return context.Canceled
		}
		begun = true
		written := false
		for _, r := range requests {
			if r.Err = s.attempt(w, r.Op); r.Err != nil && !refused(r.Err) {
				return r.Err
			}
			written = written || r.Err == nil
		}
		if !written {
			return errNothing
		}
		return nil
	})
	if errors.Is(err, errNothing) {
		err = nil // each request has its error
	}
	return begun, err
}

var errNothing = errors.New("nothing was written")

// refused tells whether err is an answer of the ledger, and no failure of the
// database.
func refused(err error) bool {
	return errors.Is(err, idem.ErrLeaseLost) || errors.Is(err, idem.ErrSuperseded) || errors.Is(err, errInvalid)
}

// attempt makes one write among others.
func (s *Store) attempt(w *writer, op operation) error {
	if !op.spills {
		return op.do(w)
	}
	session := &session{w: w}
	err := session.Savepoint(context.Background(), func(context.Context) error { return op.do(w) })
	if session.broken != nil {
		return session.broken
	}
	return err
}
