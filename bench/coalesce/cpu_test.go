package coalesce

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// busy is the processor time that this process uses for do and those that it started, a
// server among them: unlike the time that passes it does not depend on the neighbours.
// Asking for that of others takes milliseconds, which are not counted.
func busy(do func()) time.Duration {
	others, own := ofOthers(), ofThis()
	do()
	own = ofThis() - own
	return own + ofOthers() - others
}

func ofThis() time.Duration {
	var self syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &self)
	return time.Duration(self.Utime.Nano() + self.Stime.Nano())
}

func ofOthers() (total time.Duration) {
	parent := map[int]int{}
	used := map[int]time.Duration{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		if len(f) < 16 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent[pid], _ = strconv.Atoi(f[1])
		for _, i := range []int{11, 12, 13, 14} { // user and system, own and of those that have ended
			ticks, _ := strconv.ParseInt(f[i], 10, 64)
			used[pid] += time.Duration(ticks) * time.Second / 100
		}
	}
	me := os.Getpid()
	for pid := range parent {
		for p := parent[pid]; p > 1; p = parent[p] {
			if p == me {
				total += used[pid]
				break
			}
		}
	}
	return total
}
