package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// collectFrom keeps the garbage collector waiting until that many bytes are in
// use, whatever the heap has grown from: a run makes much garbage and keeps little,
// and a third of its time would go into collecting it. A run that keeps more than
// half of that has a collector that waits for twice of what is kept, for which it
// needs a third more memory than usual and a quarter less time.
func collectFrom(size int64) {
	debug.SetMemoryLimit(size)
	debug.SetGCPercent(-1)
	afterCollection(func() {
		if live() < size/2 {
			collectFrom(size)
			return
		}
		debug.SetGCPercent(garbagePercent)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}

// garbagePercent is how much garbage there may be in a large run, of what it keeps.
const garbagePercent = 200

// afterCollection calls f once, after the next collection.
func afterCollection(f func()) {
	runtime.AddCleanup(new(*int), func(f func()) { f() }, f)
}

// live is how much the last collection left.
func live() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
