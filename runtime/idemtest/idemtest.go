package idemtest

import (
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// Program is the program under test, as one world has it. Store, Start and Input
// may not be left out.
type Program[In, Out, Tx any] struct {
	// Store keeps the ledger of this world, new and empty, with [World.Now] for its
	// clock. All processes of the world use it, and none closes it: that is for
	// t.Cleanup.
	Store idem.Store[Tx]
	// Start starts a process: it makes a ledger over the store that it is given,
	// which is not [Program.Store] itself, and the contract over that. What a
	// process has in memory is made here, so that a new process has lost it; the
	// outside world is made by the world's function, and stays.
	Start func(store idem.Store[Tx]) idem.Contract[In, Out]
	// Input is one delivery of the work. It is asked for each delivery, so that what
	// differs between deliveries can.
	Input func() In
	// Pass is told that time passes, by so much at once, for clocks that do not ask
	// [World.Now]: that of a database server, say. May be nil.
	Pass func(d time.Duration)
	// Patience is how long one delivery may take, in real time, before it counts as
	// hung. Zero is ten seconds.
	Patience time.Duration
}

// Effect is an effect of the contract, with what its guard promises of it. Those of
// a contract whose work is a child have the child's kind before the name:
// shipment.buy_label, which fakes may count as buy_label.
type Effect struct {
	Name string
	// Was is the effect's first name, which the ledger has, if the contract says that
	// it has one.
	Was   string
	Guard idem.Guard
	// IfUnknown is that of the guard once.
	IfUnknown idem.IfUnknown
	// RemembersFor is that of the guard idempotency_key.
	RemembersFor time.Duration
}

// CrashEverywhere runs the program's work once undisturbed, and then in a new world
// for each point that was passed:
//
//   - crash@7: the process dies at point 7, and the next one does the rest.
//   - crash@7,4: so does the next one, at its point 4. Not with -short.
//   - takeover@7: the process stops at point 7 for longer than its lease, the next
//     one does the rest, and then the first goes on. Not inside transactions.
//
// Each ends with the work done, or unknown where that is what the effect's guard
// promises; the counts of what was applied are then compared with those of the
// undisturbed run. A delivery that comes after the end must change nothing.
//
// The effects are those of the contract, all of them. world builds a world. It is
// called for each schedule, with the schedule's own t.
func CrashEverywhere[In, Out, Tx any](t *testing.T, world func(t *testing.T, w *World) Program[In, Out, Tx], effects ...Effect) {
	t.Helper()
	h := newHarness(world, effects)
	calm := h.play(t, schedule{})
	for _, problem := range calm.unfit(h.effects) {
		t.Errorf("%s, although nothing stops it", problem)
	}
	if t.Failed() {
		t.Fatalf("what happened:\n%s", calm.history)
	}
	for _, name := range calm.unasked(effects) {
		t.Logf("the input does not lead to the effect %s: nothing is shown of it", name)
	}
	failed, schedules := 0, schedulesOf(calm.points, testing.Short())
	for i, s := range schedules {
		t.Run(s.String(), func(t *testing.T) {
			played := h.play(t, s)
			if problems := played.against(calm, h.effects); len(problems) > 0 {
				played.report(t, problems)
			}
			if t.Failed() {
				failed++
			}
			if played.hung {
				failed = enough // each further one would take as long
			}
		})
		if failed >= enough && i+1 < len(schedules) {
			t.Errorf("%d schedules are left out, for enough have failed", len(schedules)-i-1)
			return
		}
	}
}

// enough is how many schedules may fail before the rest is left out: they say the
// same.
const enough = 3
