package sqlite

import (
	"sync"
	"time"
)

// A clock never goes back and never stands still while the host's does not.
//
// Each reading adds what has passed since the one before, by the monotonic clock
// where readings carry one, and takes the wall clock instead if that is ahead:
// after a suspension, during which a monotonic clock may stop, or after the host
// was set right.
type clock struct {
	read func() time.Time

	mu   sync.Mutex
	prev time.Time // the last reading, with its monotonic part
	wall time.Time // the time that was given out last, without one
}

func newClock(read func() time.Time) *clock {
	t := read()
	return &clock{read: read, prev: t, wall: t.Round(0)}
}

// now returns the store's time in microseconds since 1970 UTC, which is what the
// tables hold.
func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Read under the lock, else an older reading could come second and count
	// the time between the two once more.
	t := c.read()
	// A reading without a monotonic part can lie before the last one.
	if passed := t.Sub(c.prev); passed > 0 {
		c.wall = c.wall.Add(passed)
	}
	c.prev = t
	if host := t.Round(0); host.After(c.wall) {
		c.wall = host
	}
	return c.wall.UnixMicro()
}

// raise makes the clock continue from micros if that is ahead of it.
func (c *clock) raise(micros int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := time.UnixMicro(micros); t.After(c.wall) {
		c.wall = t
	}
}

func fromMicros(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// toMicros rounds up: what is over zero must not become zero.
func toMicros(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Microsecond) + 1
}
