package idem

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// keeper renews the leases of all work that this process runs, in one transaction
// for all that are due. Its goroutine lives only while there are leases.
type keeper struct {
	store Writer
	log   *slog.Logger

	mu     sync.Mutex
	leases map[Fence]*lease
	next   time.Time     // until when the goroutine sleeps; none is due before
	wake   chan struct{} // an earlier due time, or the last lease gone
	alive  bool          // the goroutine runs
}

// lease is one claim that this process holds. Its times are local and monotonic:
// sent is when the request of the last acknowledged extension was sent, so that
// the lease in the database is never over before sent plus length.
type lease struct {
	fence  Fence
	length time.Duration
	cancel context.CancelCauseFunc // of the handler's context

	// guarded by keeper.mu
	sent   time.Time
	due    time.Time
	end    *time.Timer
	hung   bool // over its timeout: not renewed any more
	timeup *time.Timer
}

// errTimeout is why the context of a handler ends that ran into its contract's
// timeout. It matches context.DeadlineExceeded.
var errTimeout = timeoutError{}

type timeoutError struct{}

func (timeoutError) Error() string        { return "the handler ran into the contract's timeout" }
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

func newKeeper(store Writer, log *slog.Logger) *keeper {
	return &keeper{store: store, log: log, leases: make(map[Fence]*lease), wake: make(chan struct{}, 1)}
}

// usable is how much of a lease a handler may use: the rest is for its last
// writes, and for clocks that run at slightly different speeds.
func usable(length time.Duration) time.Duration { return length - length/10 }

// keep renews a lease at a third of its length until it is dropped or timeout has
// passed, and cancels the handler before the lease ends.
func (k *keeper) keep(fence Fence, length, timeout time.Duration, sent time.Time, cancel context.CancelCauseFunc) *lease {
	l := &lease{fence: fence, length: length, cancel: cancel, sent: sent, due: sent.Add(length / 3)}
	k.mu.Lock()
	defer k.mu.Unlock()
	l.end = time.AfterFunc(time.Until(sent.Add(usable(length))), func() { cancel(ErrLeaseLost) })
	l.timeup = time.AfterFunc(timeout, func() {
		k.mu.Lock()
		l.hung = true
		k.mu.Unlock()
		cancel(errTimeout)
	})
	k.leases[fence] = l
	if !k.alive {
		k.alive = true
		go k.run()
	} else if l.due.Before(k.next) {
		k.nudge()
	}
	return l
}

func (k *keeper) drop(l *lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.end.Stop()
	l.timeup.Stop()
	delete(k.leases, l.fence)
	if len(k.leases) == 0 {
		k.nudge()
	}
}

func (k *keeper) nudge() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, any := k.nextDue()
		if !any {
			return
		}
		timer.Reset(time.Until(next))
		select {
		case <-k.wake:
		case <-timer.C:
			k.renewDue()
		}
	}
}

// nextDue says when a lease is next to be renewed. Without any lease the
// goroutine is declared gone under the same lock, so that a new lease starts a
// new one.
func (k *keeper) nextDue() (next time.Time, any bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.leases {
		if !any || l.due.Before(next) {
			next, any = l.due, true
		}
	}
	k.alive, k.next = any, next
	return next, any
}

// renewDue extends every lease that is due, and those that will be soon: a
// transaction for many costs little more than one for a few.
func (k *keeper) renewDue() {
	now := time.Now()
	due := k.collect(func(l *lease) bool { return !l.due.After(now.Add(l.length / 12)) })
	if len(due) == 0 {
		return
	}
	shortest := due[0].length
	for _, l := range due {
		shortest = min(shortest, l.length)
	}
	ctx, cancel := context.WithTimeout(context.Background(), shortest/3)
	defer cancel()
	applied, err := k.renew(ctx, k.store, due)
	if err != nil {
		k.log.Warn("idem: leases could not be renewed", "leases", len(due), "error", err)
		k.postpone(due)
		return
	}
	applied()
}

// renewAll extends every lease inside a transaction that keeps all other writers
// out. The returned function is to be called once the transaction has committed.
func (k *keeper) renewAll(ctx context.Context, w Writer) (applied func(), err error) {
	all := k.collect(func(*lease) bool { return true })
	if len(all) == 0 {
		return func() {}, nil
	}
	return k.renew(ctx, w, all)
}

func (k *keeper) collect(want func(*lease) bool) []*lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []*lease
	for _, l := range k.leases {
		if l.hung {
			// Looked at again only when it is dropped.
			l.due = time.Now().Add(l.length)
			continue
		}
		if want(l) {
			found = append(found, l)
		}
	}
	return found
}

func (k *keeper) renew(ctx context.Context, w Writer, leases []*lease) (applied func(), err error) {
	request := make([]Lease, len(leases))
	for i, l := range leases {
		request[i] = Lease{Fence: l.fence, For: l.length}
	}
	sent := time.Now()
	renewals, err := w.Renew(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(renewals) != len(leases) {
		return nil, errors.New("the store answered for another number of leases")
	}
	return func() { k.apply(sent, leases, renewals) }, nil
}

func (k *keeper) apply(sent time.Time, leases []*lease, renewals []Renewal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, l := range leases {
		if k.leases[l.fence] != l {
			continue
		}
		switch renewals[i] {
		case Renewed:
			if sent.After(l.sent) {
				l.sent, l.due = sent, sent.Add(l.length/3)
				l.end.Reset(time.Until(sent.Add(usable(l.length))))
			}
		case LeaseLost:
			l.hung = true
			l.cancel(ErrLeaseLost)
		default:
			l.due = time.Now().Add(l.length / 12)
		}
	}
}

func (k *keeper) postpone(leases []*lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range leases {
		l.due = time.Now().Add(l.length / 12)
	}
}
