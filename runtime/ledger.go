package idem

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Ledger remembers what was done. One Ledger serves a whole process; it is safe
// for concurrent use. Tx is the type of the store's transactions.
type Ledger[Tx any] struct {
	*core
	store Store[Tx]
}

// core is the part of a Ledger that does not depend on the type of its
// transactions.
type core struct {
	store     coreStore
	log       *slog.Logger
	release   string
	resultCap int
	codecs    codecs
	keys      ledgerKey
	leases    *keeper
	flights   flights
	waits     *waits
	registry  *registry
	known     knownContracts
	strangers strangers

	mu      sync.Mutex
	lease   time.Duration // the shortest of the contracts defined over the ledger
	closed  bool
	running sync.WaitGroup // calls of Do
}

// strangers tells whether the next delivery is most likely of work that the ledger does
// not know: whoever reads every time, only to find nothing, reads for nobody. A claim
// that finds work to be done already makes no row, so that what is lost by a wrong guess
// is that a duplicate waits its turn among the writers.
type strangers struct{ inARow atomic.Int32 }

// enoughStrangers in a row make it likely that the next is one as well.
const enoughStrangers = 16

func (s *strangers) expected() bool { return s.inARow.Load() >= enoughStrangers }

// met takes note of what a delivery turned out to be. While strangers are expected
// nobody counts them.
func (s *strangers) met(stranger bool) {
	switch {
	case stranger:
		s.inARow.Add(1)
	case s.inARow.Load() != 0:
		s.inARow.Store(0)
	}
}

type coreStore interface {
	Writer
	Amender
	Lookup(ctx context.Context, id WorkID) (Work, error)
	LookupAll(ctx context.Context, ids []WorkID) ([]Work, error)
	Register(ctx context.Context, contracts []Registration) ([]Registration, error)
	ExclusiveTx() bool
	ClaimTells() bool
	KeyCheck(ctx context.Context, mine Hash) (Hash, error)
}

// Option changes how a Ledger works.
type Option func(*core)

// WithLogger sets where the ledger reports what no caller is told, such as a
// renewal that failed. The default is slog.Default at the time of NewLedger.
func WithLogger(log *slog.Logger) Option { return func(c *core) { c.log = log } }

// WithRelease records which release of the program made an attempt. It is never
// part of a key.
func WithRelease(release string) Option { return func(c *core) { c.release = release } }

// WithResultCap sets the size in bytes over which a result is not kept: the work
// is done all the same, and a duplicate gets ErrResultDropped. The default is 1 MiB.
func WithResultCap(bytes int) Option { return func(c *core) { c.resultCap = bytes } }

// NewLedger makes a ledger over a store, such as one that package sqlite opens.
// The ledger closes the store when it is closed.
func NewLedger[Tx any](store Store[Tx], opts ...Option) *Ledger[Tx] {
	c := &core{store: store, log: slog.Default(), resultCap: defaultResultCap, registry: newRegistry()}
	for _, opt := range opts {
		opt(c)
	}
	c.codecs.ready()
	c.leases, c.waits = newKeeper(store, c.log), newWaits(store)
	return &Ledger[Tx]{core: c, store: store}
}

// Close refuses new work with ErrClosed, waits for what is running, and closes
// the store. If ctx ends first, Close leaves the store open, since the running
// handlers need it, and returns ctx's error: it may be called again.
func (l *Ledger[Tx]) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		l.running.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return l.store.Close()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *core) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.running.Add(1)
	return nil
}

// closing reports that Close was called.
func (c *core) closing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *core) knowLease(lease time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease == 0 || lease < c.lease {
		c.lease = lease
	}
}

// txTime is how long a transaction of a contract with that lease may take. One
// that keeps all other writers out must not outlast the heartbeat of any work.
func (c *core) txTime(lease time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store.ExclusiveTx() && c.lease > 0 {
		lease = min(lease, c.lease)
	}
	return lease / 3
}

// storeTimeout bounds one write of what has happened. It is written whether or
// not the caller is still there.
const storeTimeout = 15 * time.Second

// durably runs a write that must not be lost with the caller's context.
func (c *core) durably(ctx context.Context, write func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return patiently(ctx, write)
}

// patiently tries a write again that failed: a busy database is no reason to
// repeat an effect, or to turn a delivery away. A lost fence is final, and so is
// what the next try could not change.
func patiently(ctx context.Context, write func(ctx context.Context) error) error {
	const tries = 3
	pause := 10 * time.Millisecond
	for try := 1; ; try++ {
		err := write(ctx)
		if err == nil || final(err) || try == tries || ctx.Err() != nil {
			return err
		}
		sleep(ctx, pause)
		pause *= 5
	}
}

func final(err error) bool {
	return errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrClosed) || errors.Is(err, ErrInTransaction) || errors.Is(err, ErrSuperseded)
}

// sleep waits for d or for the end of ctx, whichever comes first.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
