package idemtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/crash"
)

// World is what one schedule takes place in: its time, and what has happened in
// it. It is safe for concurrent use.
type World struct {
	mu       sync.Mutex
	offset   time.Duration
	happened map[string]int
	counters map[string]func() int
	history  []string
	passed   func(d time.Duration) // may be nil

	// What the ledger has been told, and has kept.
	work     idem.WorkID // the one under test
	kinds    map[idem.WorkID]string
	rows     map[rowID]row
	renamed  map[string]string // the ledger's names of effects, to the contract's
	lease    time.Duration     // the longest
	visible  time.Duration     // after which every call can be seen
	budget   int               // the smallest, of the work under test and its children
	claims   int               // that were won
	versions map[string]int    // of kinds
	mixed    bool              // several of one
}

// rowID is the row of an effect in the ledger.
type rowID struct {
	work   idem.WorkID
	effect idem.EffectID
}

type row struct {
	name      string // as an Effect has it
	guard     idem.Guard
	state     idem.EffectState
	startedAt time.Time
}

func newWorld() *World {
	return &World{happened: map[string]int{}, counters: map[string]func() int{}, kinds: map[idem.WorkID]string{}, rows: map[rowID]row{}, renamed: map[string]string{}, versions: map[string]int{}}
}

// Now is the time in the world, for the store's clock and the fakes'. It runs as
// the real one does, and jumps where a schedule has to wait.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now()
}

func (w *World) now() time.Time { return time.Now().Add(w.offset) }

// Happened counts that an effect was applied. A fake calls it where the outside
// world would change: not for a call that it answers from what it remembers of the
// call's key. The name is that of an effect, or any other one for what should
// happen as often as in an undisturbed run.
func (w *World) Happened(effect string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happened[effect]++
	w.note("%s happens", effect)
}

// Count makes count say how often an effect was applied, in place of [World.Happened]:
// for rows in the application's own tables, say. It is called when the schedule is over.
func (w *World) Count(effect string, count func() int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counters[effect] = count
}

// note adds a line to the history. The caller holds w.mu.
func (w *World) note(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf(format, args...))
}

func (w *World) notef(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(format, args...)
}

// pass lets time pass.
func (w *World) pass(d time.Duration) {
	w.mu.Lock()
	w.offset += d
	w.note("%s pass", d.Round(time.Millisecond))
	w.mu.Unlock()
	if w.passed != nil {
		w.passed(d)
	}
}

// passUntil lets time pass until t: some in any case, since that may be told by a
// clock which is not quite this one.
func (w *World) passUntil(t time.Time) {
	w.pass(max(t.Sub(w.Now())+time.Millisecond, time.Second))
}

// passLease lets so much time pass that no lease is left, and that whatever has been
// called can be seen.
func (w *World) passLease() {
	w.mu.Lock()
	d := max(w.lease, w.visible, time.Second) + time.Millisecond
	w.mu.Unlock()
	w.pass(d)
}

// counts are how often everything has happened.
func (w *World) counts() map[string]int {
	w.mu.Lock()
	counts, counters := maps.Clone(w.happened), maps.Clone(w.counters)
	w.mu.Unlock()
	for name, count := range counters {
		counts[name] += count()
	}
	return counts
}

// snapshot copies what the ledger has of effects.
func (w *World) snapshot() map[rowID]row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.rows)
}

func (w *World) won() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.claims
}

// severalVersions tells whether processes of the world had different versions of a
// contract.
func (w *World) severalVersions() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mixed
}

func (w *World) registers(list []idem.Registration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range list {
		if had, ok := w.versions[r.Kind]; ok && had != r.Version {
			w.mixed = true
		}
		w.versions[r.Kind] = r.Version
	}
}

// watch writes down what a process does.
func (w *World) watch() crash.Watch {
	return crash.Watch{
		Point: func(n int, p crash.Point) {
			in := ""
			if p.InTx {
				in = "  (in a transaction)"
			}
			w.notef("%4d  %s%s", n, p.Name, in)
		},
		Registers: w.registers,
		Claimed:   w.claimed,
		Wrote:     w.wrote,
	}
}

func (w *World) claimed(c idem.Claim, got idem.Claimed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if got.Won {
		w.claims++
	}
	if id := got.Work.ID; !id.IsZero() {
		w.kinds[id] = c.Kind
		if w.work.IsZero() {
			w.work, w.budget = id, c.Budget
		}
		w.budget = min(w.budget, c.Budget) // of a child, which is dead with it
	}
	w.lease = max(w.lease, c.Lease)
}

func (w *World) wrote(e idem.EffectWrite, written idem.EffectWritten) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := e.Name
	if e.ID != w.work {
		name = w.kinds[e.ID] + "." + name
	}
	if now, ok := w.renamed[name]; ok {
		name = now
	}
	w.visible = max(w.visible, e.VisibleAfter)
	w.rows[rowID{e.ID, e.EffectID}] = row{name, e.Guard, e.State, written.StartedAt}
}

// longestHistory is how many lines of a history are shown: a handler that goes round
// and round has no end of them.
const longestHistory = 300

// text is the history, a line for each thing that has happened.
func (w *World) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.history
	if left := len(lines) - longestHistory; left > 0 {
		const end = longestHistory / 2
		gap := fmt.Sprintf("… %d lines are left out …", left)
		lines = slices.Concat(lines[:longestHistory-end], []string{gap}, lines[len(lines)-end:])
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// names are the keys of a map, sorted.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
