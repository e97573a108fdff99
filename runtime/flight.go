package idem

import (
	"sync"
	"time"
)

// flights are the works that this process is claiming or running, so that a
// duplicate in the same process is answered, and woken, without the database.
type flights struct {
	mu  sync.Mutex
	all map[WorkID]*flight
}

// flight is one work under way. row may be read once decided is closed.
type flight struct {
	id      WorkID
	payload Hash
	decided chan struct{} // the claim was answered
	won     bool
	work    Work          // as it was claimed
	at      time.Time     // when that was, by the local clock
	done    chan struct{} // it is over, and what it did is in the ledger
}

// join returns the flight of id, and whether the caller leads it: the leader
// must call decide and then leave.
func (f *flights) join(id WorkID, payload Hash) (fl *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl, ok := f.all[id]; ok {
		return fl, false
	}
	if f.all == nil {
		f.all = make(map[WorkID]*flight)
	}
	fl = newFlight(id, payload)
	f.all[id] = fl
	return fl, true
}

// newFlight is a flight that nobody can join yet.
func newFlight(id WorkID, payload Hash) *flight {
	return &flight{id: id, payload: payload, decided: make(chan struct{}), done: make(chan struct{})}
}

// decide lets the followers know whether this process runs the work. Only the
// first call counts.
func (fl *flight) decide(won bool, work Work) {
	select {
	case <-fl.decided:
	default:
		fl.won, fl.work, fl.at = won, work, time.Now()
		close(fl.decided)
	}
}

// running is the work as a follower may tell of it. A lease that must have been
// renewed since ends nobody here knows when.
func (fl *flight) running() Work {
	work := Work{ID: fl.work.ID, State: StateRunning, Attempt: fl.work.Attempt, LockedUntil: fl.work.LockedUntil}
	if now := fl.work.Now.Add(time.Since(fl.at)); !work.LockedUntil.After(now) {
		work.LockedUntil = time.Time{}
	}
	return work
}

// leave ends a flight. Only the first call counts.
func (f *flights) leave(fl *flight) {
	fl.decide(false, Work{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[fl.id] == fl {
		delete(f.all, fl.id)
		close(fl.done)
	}
}
