package crash

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// How a process stops.
type How int

// The ways to stop.
const (
	// Die: every goroutine of the process that comes to the ledger stays there, and
	// its transactions are rolled back, until Bury ends them. Nothing is written
	// after the point, and nobody hears of it.
	Die How = iota
	// Pause: as after SIGSTOP, the process stays at the point until Resume, and then
	// goes on as if nothing had been. A transaction is not left open meanwhile:
	// nobody could take over from its owner.
	Pause
	// CutOff: the process goes on, and its ledger answers everything with ErrCutOff.
	CutOff
)

// ErrCutOff is what a process hears of its ledger that is cut off or over.
var ErrCutOff = fmt.Errorf("the process is cut off from its ledger: %w", idem.ErrClosed)

// Point is where a process can be stopped.
type Point struct {
	Name string
	// InTx: a transaction is open.
	InTx bool
}

// Watch is told what happens at the ledger. Each of its functions may be nil. What
// a transaction writes is told when it has committed.
type Watch struct {
	Point     func(n int, point Point)  // from 1
	Registers func([]idem.Registration) // before it is done
	Claimed   func(idem.Claim, idem.Claimed)
	Wrote     func(idem.EffectWrite, idem.EffectWritten)
	Ended     func(idem.End, idem.Ended)
}

// Process is one run of a program, which stops at most once.
type Process struct {
	how   How
	at    int
	watch Watch

	stopped chan struct{}
	resumed chan struct{}
	over    chan struct{}

	mu      sync.Mutex
	points  []Point
	state   state
	working int           // operations of the store that are under way
	calls   map[call]bool // effects that are being called
}

type state int

const (
	running state = iota
	stopped
	goesOn // after a pause
	over
)

// call is an effect of which the ledger says that it has started.
type call struct {
	work   idem.WorkID
	effect idem.EffectID
}

// New makes a process that stops when it has come to the given point, counted from
// 1; at zero it never does.
func New(at int, how How, watch Watch) *Process {
	return &Process{
		how: how, at: at, watch: watch, calls: make(map[call]bool),
		stopped: make(chan struct{}), resumed: make(chan struct{}), over: make(chan struct{}),
	}
}

// Stopped is closed when the process has come to its point.
func (p *Process) Stopped() <-chan struct{} { return p.stopped }

// Points are those that the process has passed, the one included at which it
// stopped.
func (p *Process) Points() []Point {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Point(nil), p.points...)
}

// Resume lets a paused process go on.
func (p *Process) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == stopped {
		p.state = goesOn
		close(p.resumed)
	}
}

// Bury ends the goroutines that are held, and answers those with ErrCutOff that come
// later.
func (p *Process) Bury() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != over {
		p.state = over
		close(p.over)
	}
}

// Stop stops the process where it is, at no point of its own.
func (p *Process) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == running {
		p.state = stopped
		close(p.stopped)
	}
}

// Settle waits until nothing of a stopped process is on its way any more: neither a
// write nor the call of another effect, which the outside world may have seen. It
// tells whether that was so in time.
func (p *Process) Settle(patience time.Duration) bool {
	deadline := time.Now().Add(patience)
	for {
		p.mu.Lock()
		quiet := p.working == 0 && len(p.calls) == 0
		p.mu.Unlock()
		if quiet || time.Now().After(deadline) {
			return quiet
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// pass passes a point. If it returns nil the caller goes on; before an operation
// it has then begun, and done has to be called after it.
func (p *Process) pass(point Point, tx *transaction, then func()) error {
	p.mu.Lock()
	if p.state == running {
		p.points = append(p.points, point)
		n := len(p.points)
		if p.watch.Point != nil {
			p.watch.Point(n, point)
		}
		if n == p.at && !(p.how == Pause && point.InTx) {
			p.state = stopped
			close(p.stopped)
		}
	}
	return p.enter(tx, then)
}

// enter goes on in a running process, and is held in one that is stopped. It is
// called with p.mu held, and releases it.
func (p *Process) enter(tx *transaction, then func()) error {
	for {
		switch {
		case p.state == over, p.state == stopped && p.how == CutOff:
			p.mu.Unlock()
			return ErrCutOff
		case p.state == stopped && !(p.how == Pause && tx != nil):
			p.mu.Unlock()
			p.hold(tx)
			p.mu.Lock()
		default:
			then()
			p.mu.Unlock()
			return nil
		}
	}
}

// hold keeps the calling goroutine until the process goes on. If it never does the
// goroutine ends here.
func (p *Process) hold(tx *transaction) {
	if tx != nil {
		tx.abandon()
	}
	select {
	case <-p.resumed:
	case <-p.over:
		runtime.Goexit()
	}
}

func (p *Process) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working--
}

// Pass passes a point of the caller's own, such as one inside a fake.
func (p *Process) Pass(name string) error {
	return p.pass(Point{Name: name}, nil, func() {})
}

// around passes a point before an operation and one after it.
func around[T any](p *Process, what string, tx *transaction, do func() (T, error), after func(T)) (T, error) {
	var none T
	if err := p.pass(Point{"before " + what, tx != nil}, tx, func() { p.working++ }); err != nil {
		return none, err
	}
	v, err := do()
	p.done()
	then := func() {}
	name := "after " + what
	switch {
	case err != nil:
		name = "after " + what + ", which fails: " + err.Error()
	case after != nil:
		then = func() { after(v) }
	}
	if err := p.pass(Point{name, tx != nil}, tx, then); err != nil {
		return none, err
	}
	return v, err
}
