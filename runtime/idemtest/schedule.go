package idemtest

import (
	"fmt"
	"strings"

	"github.com/idemgen/idem/runtime/internal/crash"
)

// schedule says where processes stop. The zero schedule disturbs nothing.
type schedule struct {
	how crash.How
	at  []int // the points of the first process, of the second, and so on
}

// String is the name of the schedule's subtest.
func (s schedule) String() string {
	name := "crash@"
	if s.how == crash.Pause {
		name = "takeover@"
	}
	var at []string
	for _, n := range s.at {
		at = append(at, fmt.Sprint(n))
	}
	return name + strings.Join(at, ",")
}

// schedulesOf are the schedules for an undisturbed run that has passed the given
// points.
func schedulesOf(points []crash.Point, short bool) []schedule {
	var list []schedule
	for i := range points {
		list = append(list, schedule{crash.Die, []int{i + 1}})
	}
	for i, p := range points {
		if !p.InTx {
			list = append(list, schedule{crash.Pause, []int{i + 1}})
		}
	}
	if short {
		return list
	}
	for i := range points {
		list = append(list, schedule{crash.Die, []int{i + 1, second(i)}})
	}
	return list
}

// second is where the second process dies, if the first one did at the given
// point: by turns before its claim, after it, and on both sides of what it does
// first, which is what the first process was at.
func second(i int) int {
	const claim, turns = 3, 6 // a process registers first, which has two points
	return claim + i%turns
}
