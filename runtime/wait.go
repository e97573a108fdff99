package idem

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// waits are the works for which duplicates in this process wait while another process
// runs them. They are asked for together, at jittered and growing intervals: however
// many wait, the ledger is asked a few times a second. The goroutine that asks lives
// only while there are any.
type waits struct {
	store interface {
		LookupAll(ctx context.Context, ids []WorkID) ([]Work, error)
	}

	mu      sync.Mutex
	awaited map[WorkID]*awaited
	wake    chan struct{} // an earlier due time
	alive   bool          // the goroutine runs
}

// awaited is one work that somebody waits for.
type awaited struct {
	pause   time.Duration
	due     time.Time
	waiters []chan seen
}

// seen is where a work stands that nobody runs any more, or why that is not known.
type seen struct {
	work Work
	err  error
}

const (
	firstPause, longestPause = 5 * time.Millisecond, 250 * time.Millisecond
	// askedAtOnce bounds one question to the ledger.
	askedAtOnce = 500
)

func newWaits(store coreStore) *waits {
	return &waits{store: store, awaited: make(map[WorkID]*awaited), wake: make(chan struct{}, 1)}
}

// await waits until the work does not run any more, or its owner's lease is over, and
// returns it as it is then. The zero Work means that there is none any more.
func (w *waits) await(ctx context.Context, id WorkID) (Work, error) {
	answer := w.add(id)
	select {
	case s := <-answer:
		return s.work, s.err
	case <-ctx.Done():
		w.remove(id, answer)
		return Work{}, ctx.Err()
	}
}

func (w *waits) add(id WorkID) chan seen {
	answer := make(chan seen, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.awaited[id]
	if a == nil {
		a = &awaited{pause: firstPause, due: time.Now().Add(jitter(firstPause))}
		w.awaited[id] = a
	}
	a.waiters = append(a.waiters, answer)
	if !w.alive {
		w.alive = true
		go w.run()
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return answer
}

func (w *waits) remove(id WorkID, answer chan seen) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.awaited[id]
	if a == nil {
		return
	}
	a.waiters = slices.DeleteFunc(a.waiters, func(c chan seen) bool { return c == answer })
	if len(a.waiters) == 0 {
		delete(w.awaited, id)
	}
}

// jitter keeps many processes from asking in step.
func jitter(pause time.Duration) time.Duration { return pause/2 + rand.N(pause) }

func (w *waits) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, any := w.next()
		if !any {
			return
		}
		timer.Reset(time.Until(next))
		select {
		case <-w.wake:
		case <-timer.C:
			for ids := range slices.Chunk(w.due(), askedAtOnce) {
				w.ask(ids)
			}
		}
	}
}

// next says when the ledger is to be asked. Without anybody who waits the goroutine is
// declared gone under the same lock, so that who comes later starts a new one.
func (w *waits) next() (next time.Time, any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.awaited {
		if !any || a.due.Before(next) {
			next, any = a.due, true
		}
	}
	w.alive = any
	return next, any
}

// due are the works that are to be asked for, and those that will be soon: a question
// about many costs little more than one about a few.
func (w *waits) due() (ids []WorkID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for id, a := range w.awaited {
		if a.due.Before(now.Add(a.pause / 4)) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (w *waits) ask(ids []WorkID) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	works, err := w.store.LookupAll(ctx, ids)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, id := range ids {
		a := w.awaited[id]
		if a == nil {
			continue // nobody waits any more
		}
		s := seen{err: err}
		if err == nil {
			s.work = works[i]
		}
		if err == nil && s.work.State == StateRunning && s.work.LockedUntil.After(s.work.Now) {
			a.pause = min(2*a.pause, longestPause)
			a.due = time.Now().Add(jitter(a.pause))
			continue
		}
		for _, answer := range a.waiters {
			answer <- s
		}
		delete(w.awaited, id)
	}
}
