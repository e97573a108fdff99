package idem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Registration says whose a kind and version are: a row of contract_log.
type Registration struct {
	Kind    string
	Version int
	// Digest is that of the identity's shape, as idem.lock has it.
	Digest string
	// Module is the path of the Go module that the contract stands in.
	Module string
	// FirstSeen is the store's time when the row was made.
	FirstSeen time.Time
}

// same tells whether two registrations are those of one contract.
func (r Registration) same(other Registration) bool {
	return r.Digest == other.Digest && r.Module == other.Module
}

// registry holds the contracts that were defined over a ledger, until the ledger
// has confirmed that nobody else has their kinds and versions.
type registry struct {
	asking chan struct{} // holds a token while the store is asked

	mu      sync.Mutex
	pending []*registered
}

type registered struct {
	Registration
	confirmed atomic.Bool
}

func newRegistry() *registry { return &registry{asking: make(chan struct{}, 1)} }

func (r *registry) add(reg Registration) *registered {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := &registered{Registration: reg}
	r.pending = append(r.pending, added)
	return added
}

func (r *registry) unconfirmed() []*registered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*registered(nil), r.pending...)
}

// confirm forgets those that the ledger has as they are.
func (r *registry) confirm(asked []*registered, got []Registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, reg := range asked {
		if reg.same(got[i]) {
			reg.confirmed.Store(true)
		}
	}
	var rest []*registered
	for _, reg := range r.pending {
		if !reg.confirmed.Load() {
			rest = append(rest, reg)
		}
	}
	r.pending = rest
}

// Register makes sure that the kinds and versions of all contracts defined over
// the ledger are theirs, and claims those that are nobody's yet. The first call of
// each contract does the same; a program that calls Register when it starts fails
// then, and not at its first work.
//
// [ErrKey] if a contract is keyed and the key is missing, or not the ledger's.
// [ErrKindTaken] if a kind and version belong to another contract: one of another
// module, or one with another identity. The same contract in several programs of
// one module is fine.
func (l *Ledger[Tx]) Register(ctx context.Context) error {
	if err := l.enter(); err != nil {
		return &Error{Reason: err}
	}
	defer l.running.Done()
	others, err := l.register(ctx)
	if err != nil {
		return &Error{Reason: ErrLedger, Cause: err}
	}
	var all []error
	if l.keys.used.Load() {
		if reason, cause := l.checkKey(ctx); reason != nil {
			all = append(all, &Error{Reason: reason, Cause: cause})
		}
	}
	for _, t := range others {
		all = append(all, &Error{Reason: ErrKindTaken, Kind: t.reg.Kind, Cause: t.cause()})
	}
	return errors.Join(all...)
}

// own makes sure that a contract's kind and version are its own, before anything
// is read or written under them. Once that is so it costs nothing.
func (c *core) own(ctx context.Context, reg *registered) (reason, err error) {
	if reg.confirmed.Load() {
		return nil, nil
	}
	others, err := c.register(ctx)
	if err != nil {
		return ErrLedger, err
	}
	for _, t := range others {
		if t.reg == reg {
			return ErrKindTaken, t.cause()
		}
	}
	return nil, nil
}

// taken is a contract whose kind and version are another one's.
type taken struct {
	reg *registered
	by  Registration
}

// register asks the ledger about all contracts that it has not confirmed. One
// caller asks at a time: the others find their contracts confirmed. What was
// refused is asked again, since a person may have settled it meanwhile.
func (c *core) register(ctx context.Context) ([]taken, error) {
	select {
	case c.registry.asking <- struct{}{}:
		defer func() { <-c.registry.asking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	asked := c.registry.unconfirmed()
	if len(asked) == 0 {
		return nil, nil
	}
	var list, got []Registration
	for _, reg := range asked {
		list = append(list, reg.Registration)
	}
	err := patiently(ctx, func(ctx context.Context) (err error) {
		got, err = c.store.Register(ctx, list)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("register the contracts: %w", err)
	}
	if len(got) != len(list) {
		return nil, fmt.Errorf("register the contracts: the store answered for %d of %d", len(got), len(list))
	}
	c.registry.confirm(asked, got)
	var others []taken
	for i, reg := range asked {
		if !reg.same(got[i]) {
			others = append(others, taken{reg, got[i]})
		}
	}
	return others, nil
}

// cause says who has the kind, and what can be done about it.
func (t taken) cause() error {
	way := "raise the version if the identity was meant to change, or run the release that has the old one"
	if t.by.Module != t.reg.Module {
		way = "give one of the two another kind or a ledger of its own (for a module that was renamed see docs/errors.md)"
	}
	return fmt.Errorf("version %d belongs to module %s with identity %s since %s, and this is module %s with identity %s: %s",
		t.reg.Version, t.by.Module, short(t.by.Digest), t.by.FirstSeen.UTC().Format(time.RFC3339),
		t.reg.Module, short(t.reg.Digest), way)
}

// short is enough of a digest to tell two apart.
func short(digest string) string { return digest[:min(len(digest), 12)] }
