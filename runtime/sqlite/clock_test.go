package sqlite

import (
	"sync"
	"testing"
	"time"
)

func TestClockNeverGoesBackAndDoesNotStandStill(t *testing.T) {
	host := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newClock(func() time.Time { return host })
	start := c.now()

	host = host.Add(-time.Hour)
	if got := c.now(); got != start {
		t.Errorf("the host was set back, and the clock moved by %d µs", got-start)
	}
	host = host.Add(time.Second)
	if got := c.now(); got != start+1e6 {
		t.Errorf("a second passed since, and the clock moved by %d µs", got-start)
	}
	host = host.Add(3 * time.Hour)
	if got := c.now(); got != start+2*3600e6+3600e6+1e6 {
		// What passed is added to the clock's own time: the hour that the host
		// had lost is not lost twice.
		t.Errorf("three hours passed, and the clock moved by %d µs", got-start)
	}
}

func TestClockFollowsAMarkAheadOfTheHost(t *testing.T) {
	host := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newClock(func() time.Time { return host })
	mark := host.Add(time.Hour).UnixMicro()
	c.raise(mark)
	if got := c.now(); got != mark {
		t.Errorf("the clock is %d µs behind the mark", mark-got)
	}
	c.raise(mark - 1)
	host = host.Add(time.Millisecond)
	if got := c.now(); got != mark+1000 {
		t.Errorf("a millisecond after the mark, the clock is %d µs after it", got-mark)
	}
}

func TestClockIsOneForAllGoroutines(t *testing.T) {
	c := newClock(time.Now)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := int64(0)
			for range 2000 {
				now := c.now()
				if now < last {
					t.Errorf("the clock went back by %d µs", last-now)
					return
				}
				last = now
			}
		})
	}
	wg.Wait()
	if ahead := c.now() - time.Now().UnixMicro(); ahead > 1e6 {
		t.Errorf("readings that overlap made the clock run ahead by %d µs", ahead)
	}
}

func TestDurationsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		-1: 0, 0: 0, 1: 1, time.Microsecond: 1, time.Microsecond + 1: 2, time.Hour: 3600e6, 1<<63 - 1: 9223372036854776,
	} {
		if got := toMicros(d); got != want {
			t.Errorf("%d ns are %d µs, want %d", d, got, want)
		}
	}
}
