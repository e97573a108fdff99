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
		if restored(t, 100*time.Millisecond) {
			t.Fatal("the collector is as usual, although nothing is kept")
		}
	}
	kept := make([]byte, size)
	runtime.GC()
	if !restored(t, 5*time.Second) {
		t.Error("the collector is not as usual, although more is kept than it may wait for: it would not stop running")
	}
	runtime.KeepAlive(kept)
}

// restored waits for the collector to be as usual.
func restored(t *testing.T, patience time.Duration) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if debug.SetMemoryLimit(-1) == math.MaxInt64 {
			if percent := debug.SetGCPercent(100); percent != 100 {
				t.Errorf("without a limit, the percentage is %d", percent)
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
