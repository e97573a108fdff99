package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestCollectorWaitsForGarbageAndNotForWhatIsKept(t *testing.T) {
	const size = 64 << 20
	t.Cleanup(func() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	debug.FreeOSMemory() // what other tests have left counts too
	collectFrom(size)
	for range 2 { // also after a collection that somebody asked for
		if got := collections(func() { garbage(size / 2) }); got != 0 {
			t.Errorf("%d collections of half as much garbage, want none", got)
		}
		runtime.GC()
		if unlimited(t, 100*time.Millisecond) {
			t.Fatal("the collector has no limit any more, although nothing is kept")
		}
	}
	kept := make([]byte, size)
	runtime.GC()
	if !unlimited(t, 5*time.Second) {
		t.Error("the collector has a limit still, although more is kept than that: it would not stop running")
	}
	runtime.KeepAlive(kept)
}

// unlimited waits for the collector to have no limit.
func unlimited(t *testing.T, patience time.Duration) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if debug.SetMemoryLimit(-1) == math.MaxInt64 {
			if got := debug.SetGCPercent(garbagePercent); got != garbagePercent {
				t.Errorf("without a limit, the percentage is %d", got)
			}
			return true
		}
	}
	return false
}

func collections(f func()) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

var sink []byte // or the compiler would leave the garbage out

func garbage(size int) {
	for range size / 1000 {
		sink = make([]byte, 1000)
	}
}
