package matrix

import "sync"

// A Stop is the point at which a process is stopped: the n-th of a name. Counted by
// names a point stays what it is, whatever a tool does beside the work meanwhile.
type Stop struct {
	Name string
	Nth  int // from 1; 0 is never
}

// A Watch counts the points that a process passes, and stops it at one of them.
type Watch struct {
	stop Stop
	kill func()

	mu      sync.Mutex
	on      bool
	stopped bool
	passed  []string
}

// NewWatch kills a process at a point.
func NewWatch(stop Stop, kill func()) *Watch { return &Watch{stop: stop, kill: kill} }

// Begin starts to count: what a program does until it is ready is not part of the
// work.
func (w *Watch) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = true
}

// End stops counting: the work is over, as far as its source can tell.
func (w *Watch) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = false
}

// Point says whether the process lives to see what comes next.
func (w *Watch) Point(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || !w.on {
		return !w.stopped
	}
	w.passed = append(w.passed, name)
	if name == w.stop.Name {
		if w.stop.Nth--; w.stop.Nth == 0 {
			w.stopped = true
			w.kill()
		}
	}
	return !w.stopped
}

// Passed are the points so far, the one at which the process was stopped the last.
func (w *Watch) Passed() (points []string, stopped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.passed...), w.stopped
}
