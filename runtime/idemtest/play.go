package idemtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/crash"
)

const (
	// patience is the default of Program.Patience.
	patience = 10 * time.Second
	// mostDeliveries is after how many of them work counts as lost that has not ended.
	mostDeliveries = 50
)

// harness plays schedules, each in a world of its own.
type harness[In, Out, Tx any] struct {
	world   func(t *testing.T, w *World) Program[In, Out, Tx]
	effects map[string]Effect
	counted map[string]string // names of children's effects without the kind, to those with it
}

func newHarness[In, Out, Tx any](world func(t *testing.T, w *World) Program[In, Out, Tx], effects []Effect) *harness[In, Out, Tx] {
	h := &harness[In, Out, Tx]{world: world, effects: map[string]Effect{}, counted: map[string]string{}}
	for _, e := range effects {
		h.effects[e.Name] = e
	}
	for _, e := range effects {
		if _, bare, ok := strings.Cut(e.Name, "."); ok {
			if _, taken := h.counted[bare]; taken {
				bare = e.Name // of two kinds: neither is meant
			}
			h.counted[bare] = e.Name
		}
	}
	return h
}

// game is one schedule that is being played.
type game[In, Out, Tx any] struct {
	*harness[In, Out, Tx]
	w        *World
	program  Program[In, Out, Tx]
	schedule schedule
	played   *played
	started  []*member
}

// member is a process of the program, with the goroutine that delivers to it.
type member struct {
	number  int
	process *crash.Process
	cancel  context.CancelFunc
	since   atomic.Int64 // when the delivery began that is under way
	done    chan struct{}
	end     ending // once done is closed
}

// ending is how a process's deliveries ended.
type ending struct {
	state   idem.State
	err     error
	problem string // in place of the two above
	hung    bool
}

func (h *harness[In, Out, Tx]) play(t *testing.T, s schedule) *played {
	t.Helper()
	w := newWorld()
	for _, e := range h.effects {
		if e.Was != "" {
			w.renamed[e.Was] = e.Name
		}
	}
	g := &game[In, Out, Tx]{harness: h, w: w, program: h.world(t, w), schedule: s, played: &played{schedule: s}}
	w.passed = g.program.Pass
	if g.program.Patience == 0 {
		g.program.Patience = patience
	}
	switch {
	case g.program.Store == nil:
		t.Fatal("the Program of this world has no Store")
	case g.program.Start == nil:
		t.Fatal("the Program of this world has no Start")
	case g.program.Input == nil:
		t.Fatal("the Program of this world has no Input")
	}
	defer g.bury()
	end := g.run()
	if end.problem == "" && end.state == idem.StateDone {
		end = g.again(end)
	}
	p := g.played
	// Of several versions of the contract each has an ID of its own for the same work.
	if problem := p.twoWorks(); problem != "" && !w.severalVersions() {
		end = ending{problem: problem}
	}
	p.ending, p.points = end, g.started[0].process.Points()
	p.counts, p.rows, p.budget, p.now, p.history = h.count(w), w.snapshot(), w.budget, w.Now(), w.text()
	return p
}

// count counts what has happened, by the names of effects.
func (h *harness[In, Out, Tx]) count(w *World) map[string]int {
	counts := map[string]int{}
	for name, n := range w.counts() {
		if full, ok := h.counted[name]; ok {
			if _, own := h.effects[name]; !own {
				name = full
			}
		}
		counts[name] += n
	}
	return counts
}

// run lets one process after the other do the work, as the schedule says.
func (g *game[In, Out, Tx]) run() ending {
	for _, at := range g.schedule.at {
		m := g.start(at, g.schedule.how, mostDeliveries)
		if end, stopped := g.await(m, m.process.Stopped()); !stopped {
			return end
		}
		how := "dies"
		if g.schedule.how == crash.Pause {
			how = "stops for longer than its lease"
		}
		g.w.notef("      ^ here process %d %s", m.number, how)
		// What another of its goroutines is at reaches the world before time passes.
		m.process.Settle(g.program.Patience / 10)
		g.played.stopped(g.w.snapshot())
		g.w.passLease()
		if g.schedule.how == crash.Pause {
			return g.takeOver(m)
		}
	}
	return g.finish(mostDeliveries)
}

// finish does the work in a process that is not disturbed.
func (g *game[In, Out, Tx]) finish(deliveries int) ending {
	end, _ := g.await(g.start(0, crash.Die, deliveries), nil)
	return end
}

// takeOver does the work while its owner is paused, and then lets that go on.
func (g *game[In, Out, Tx]) takeOver(stale *member) ending {
	end := g.finish(mostDeliveries)
	if end.problem != "" {
		return end
	}
	g.w.notef("process %d goes on", stale.number)
	stale.since.Store(time.Now().UnixNano())
	stale.process.Resume()
	if late, _ := g.await(stale, nil); late.problem != "" {
		return late
	}
	return end
}

// again delivers once more what is done.
func (g *game[In, Out, Tx]) again(end ending) ending {
	won := g.w.won()
	g.w.notef("the work is done, and delivered once more")
	late := g.finish(1)
	switch {
	case late.problem != "":
		return late
	case g.w.won() > won:
		end.problem = "a delivery that came when the work was done has run it again"
	case late.state != idem.StateDone:
		end.problem = fmt.Sprintf("a delivery that came when the work was done was answered: %v", late.err)
	}
	return end
}

// await waits for a process to end, or for stopped. A process that hangs is stopped.
func (g *game[In, Out, Tx]) await(m *member, stopped <-chan struct{}) (end ending, isStopped bool) {
	grace := g.program.Patience/10 + 500*time.Millisecond // for a handler that heeds its context
	timer := time.NewTimer(g.program.Patience + grace)
	defer timer.Stop()
	for {
		select {
		case <-m.done:
			return m.end, false
		case <-stopped:
			return ending{}, true
		case <-timer.C:
			left := g.program.Patience + grace - time.Since(time.Unix(0, m.since.Load()))
			if left > 0 {
				timer.Reset(left)
				continue
			}
			stacks := stacksOfDeliveries()
			m.process.Stop()
			return ending{hung: true, problem: fmt.Sprintf("a delivery to process %d has not come back after %s. It is at\n%s", m.number, g.program.Patience, stacks)}, false
		}
	}
}

// start starts a process and delivers to it until the work has ended.
func (g *game[In, Out, Tx]) start(at int, how crash.How, deliveries int) *member {
	m := &member{number: len(g.started) + 1, process: crash.New(at, how, g.w.watch()), done: make(chan struct{})}
	m.since.Store(time.Now().UnixNano())
	g.started = append(g.started, m)
	g.w.notef("process %d starts", m.number)
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	go func() {
		end := ending{problem: "a delivery has ended its goroutine, as runtime.Goexit does, and t.FailNow in a fake"}
		defer func() {
			if v := recover(); v != nil {
				end = ending{problem: fmt.Sprintf("process %d panicked: %v\n%s", m.number, v, trimStack(string(stack(false))))}
			}
			m.end = end
			close(m.done)
		}()
		end = g.deliver(ctx, m, deliveries)
	}()
	return m
}

// deliver delivers the work as its source would: again and again, each time when it
// is due.
func (g *game[In, Out, Tx]) deliver(ctx context.Context, m *member, deliveries int) ending {
	contract := g.program.Start(crash.Wrap(g.program.Store, m.process))
	if contract == nil {
		return ending{problem: "Start gave no contract"}
	}
	var end ending
	for n := range deliveries {
		in := g.program.Input()
		id, err := contract.ID(in)
		if err != nil {
			return ending{problem: fmt.Sprintf("the input names no work: %v", err)}
		}
		g.played.ids = append(g.played.ids, id)
		g.w.notef("delivery %d to process %d", n+1, m.number)
		m.since.Store(time.Now().UnixNano())
		limited, cancel := context.WithTimeout(ctx, g.program.Patience)
		result, err := contract.Do(limited, in)
		late := limited.Err() != nil
		cancel()
		end = g.read(result.State, err)
		g.w.notef("process %d is answered: %s", m.number, end)
		switch {
		case late && end.state != idem.StateDone:
			return ending{hung: true, problem: fmt.Sprintf("a delivery to process %d was not done after %s, and then its context ended: %v", m.number, g.program.Patience, err)}
		case end.state != idem.StateFailed && end.state != idem.StateRunning || end.problem != "":
			return end
		case wasStopped(m.process):
			return end // the work is another's now
		}
		g.wait(err)
	}
	if deliveries > 1 {
		end.problem = fmt.Sprintf("the work is lost: after %d deliveries it has not ended: %v", deliveries, end.err)
	}
	return end
}

func wasStopped(p *crash.Process) bool {
	select {
	case <-p.Stopped():
		return true
	default:
		return false
	}
}

// wait lets time pass until the work is due.
func (g *game[In, Out, Tx]) wait(err error) {
	if e, ok := errors.AsType[*idem.Error](err); ok && !e.RetryAt.IsZero() {
		g.w.passUntil(e.RetryAt)
		return
	}
	g.w.passLease()
}

// read says how far the work is, from what a delivery was answered.
func (g *game[In, Out, Tx]) read(state idem.State, err error) ending {
	if err == nil {
		return ending{state: state}
	}
	e, ok := errors.AsType[*idem.Error](err)
	if !ok {
		return ending{problem: fmt.Sprintf("Do gave an error that is no *idem.Error: %v", err)}
	}
	end := ending{err: err, state: idem.StateFailed}
	switch e.Reason {
	case idem.ErrDone, idem.ErrSuperseded, idem.ErrResultDropped:
		end.state = idem.StateDone
	case idem.ErrDead:
		end.state = idem.StateDead
	case idem.ErrOutcomeUnknown, idem.ErrEffectDiverged:
		end.state = idem.StateUnknown
	case idem.ErrAwaitingApproval:
		end.state = idem.StateWaiting
	case idem.ErrRetryLater, idem.ErrRunning:
		// A child that waits for a person has its parent look again and again.
		if errors.Is(err, idem.ErrOutcomeUnknown) || errors.Is(err, idem.ErrEffectDiverged) {
			end.state = idem.StateUnknown
		}
	case idem.ErrLeaseLost, idem.ErrLedger:
	default:
		end.problem = fmt.Sprintf("a delivery was answered: %v", err)
		if e.Reason == idem.ErrPayloadMismatch {
			end.problem += ". What differs between deliveries of the same work is no part of its payload, or decides nothing: see other_payload"
		}
	}
	return end
}

func (e ending) String() string {
	switch {
	case e.err != nil:
		return e.err.Error()
	case e.problem != "":
		return e.problem
	}
	return string(e.state)
}

// bury ends what stopped processes have left behind.
func (g *game[In, Out, Tx]) bury() {
	const longest = time.Second
	deadline := time.After(longest)
	for _, m := range g.started {
		m.process.Stop()
		m.process.Bury()
		m.cancel()
	}
	for _, m := range g.started {
		select {
		case <-m.done:
		case <-deadline:
			return // it hangs, which has been told
		}
	}
}

// stacksOfDeliveries are those of the goroutines that deliver.
func stacksOfDeliveries() string {
	var list []string
	for _, one := range strings.Split(string(stack(true)), "\n\n") {
		if strings.Contains(one, "idemtest.(*game[...]).deliver(") {
			list = append(list, trimStack(one))
		}
	}
	return strings.Join(list, "\n")
}

func stack(all bool) []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, all)]
}

// trimStack leaves out what is below the delivery.
func trimStack(text string) string {
	above, _, _ := strings.Cut(text, "github.com/idemgen/idem/runtime/idemtest.(*game[...]).deliver(")
	return strings.TrimRight(above, "\n")
}
