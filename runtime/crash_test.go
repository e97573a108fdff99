package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

var errCrash = errors.New("the process is dead")

// crasher ends a process at one numbered point: nothing is written and no effect
// is called after it. Every write has a point before it and one after it, where
// the write is durable and nobody hears of it; so has every effect.
type crasher struct {
	mu   sync.Mutex
	left int // points until the crash
	dead bool
}

// alive passes one point.
func (c *crasher) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		c.dead = true
	}
	return !c.dead
}

func around[T any](c *crasher, do func() (T, error)) (T, error) {
	var none T
	if !c.alive() {
		return none, errCrash
	}
	v, err := do()
	if !c.alive() {
		return none, errCrash
	}
	return v, err
}

// crashWriter puts the points around the writes of a store or of a session.
type crashWriter struct {
	idem.Writer
	c *crasher
}

func (w crashWriter) Claim(ctx context.Context, r idem.Claim) (idem.Claimed, error) {
	return around(w.c, func() (idem.Claimed, error) { return w.Writer.Claim(ctx, r) })
}

func (w crashWriter) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return around(w.c, func() (idem.EffectWritten, error) { return w.Writer.WriteEffect(ctx, e) })
}

func (w crashWriter) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return around(w.c, func() (idem.Ended, error) { return w.Writer.End(ctx, e) })
}

func (w crashWriter) Renew(ctx context.Context, l []idem.Lease) ([]idem.Renewal, error) {
	return around(w.c, func() ([]idem.Renewal, error) { return w.Writer.Renew(ctx, l) })
}

type crashStore struct {
	crashWriter
	idem.Purger
	store *sqlite.Store
}

func (s crashStore) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	return around(s.c, func() (idem.Work, error) { return s.store.Lookup(ctx, id) })
}
func (s crashStore) KeyCheck(ctx context.Context, mine idem.Hash) (idem.Hash, error) {
	return around(s.c, func() (idem.Hash, error) { return s.store.KeyCheck(ctx, mine) })
}
func (s crashStore) Register(ctx context.Context, list []idem.Registration) ([]idem.Registration, error) {
	return around(s.c, func() ([]idem.Registration, error) { return s.store.Register(ctx, list) })
}
func (s crashStore) ExclusiveTx() bool { return s.store.ExclusiveTx() }
func (s crashStore) Close() error      { return s.store.Close() }

func (s crashStore) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[*sql.Tx]) error) error {
	_, err := around(s.c, func() (struct{}, error) {
		return struct{}{}, s.store.InTx(ctx, func(ctx context.Context, session idem.Session[*sql.Tx]) error {
			if err := fn(ctx, crashSession{crashWriter{session, s.c}, session}); err != nil {
				return err
			}
			if !s.c.alive() {
				return errCrash // before the commit
			}
			return nil
		})
	})
	return err
}

type crashSession struct {
	crashWriter
	session idem.Session[*sql.Tx]
}

func (s crashSession) Tx() *sql.Tx { return s.session.Tx() }
func (s crashSession) Savepoint(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.session.Savepoint(ctx, fn)
}

// provider is the outside world: it remembers what was applied, and optionally
// keys.
type provider struct {
	mu      sync.Mutex
	applied []string          // the key of each application
	keys    map[string]string // key → reference, nil for a provider without keys
	crash   *crasher
}

func (p *provider) apply(call idem.Call) (receipt, error) {
	return around(p.crash, func() (receipt, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if ref, ok := p.keys[call.Key()]; ok {
			return receipt{Ref: ref}, nil
		}
		p.applied = append(p.applied, call.Key())
		ref := fmt.Sprintf("ref-%d", len(p.applied))
		if p.keys != nil {
			p.keys[call.Key()] = ref
		}
		return receipt{Ref: ref}, nil
	})
}

func (p *provider) find(call idem.Call) (receipt, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, key := range p.applied {
		if key == call.Key() {
			return receipt{Ref: fmt.Sprintf("ref-%d", i+1)}, true, nil
		}
	}
	return receipt{}, false, nil
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.applied)
}

// TestEveryGuardKeepsItsPromiseWhereverTheProcessDies crashes a handler with one
// effect of each guard at every point in turn, and runs it again until it ends.
func TestEveryGuardKeepsItsPromiseWhereverTheProcessDies(t *testing.T) {
	const visibleAfter = 30 * time.Second
	tests := map[string]struct {
		keys  bool
		guard func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt]
		oneTx bool
		// ends are the states in which the work may end up.
		ends map[idem.State]bool
		// applied is how often the effect may have been applied, by end.
		least, most int
	}{
		"idempotency_key": {
			keys: true,
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.IdempotencyKey(e, 24*time.Hour)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 1, most: 1,
		},
		"upsert": { // the key is the unique value that the provider enforces
			keys: true,
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.Upsert(e)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 1, most: 1,
		},
		"repeatable": {
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.Repeatable(e)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 1, most: 2,
		},
		"find_first": {
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.FindFirst(e, func(ctx context.Context, call idem.Call, in order) (receipt, bool, error) {
					return p.find(call)
				}, visibleAfter)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 1, most: 1,
		},
		"once, ask": {
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.Once(e, idem.Ask)
			},
			ends: map[idem.State]bool{idem.StateDone: true, idem.StateUnknown: true}, least: 0, most: 1,
		},
		"once, give_up": {
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.Once(e, idem.GiveUp)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 0, most: 1,
		},
		"once, repeat": {
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.Once(e, idem.Repeat)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 1, most: 2,
		},
		"read": {
			guard: func(p *provider, e idem.Effect[order, receipt], l *idem.Ledger[*sql.Tx]) *idem.Guarded[order, receipt] {
				return idem.Read(e)
			},
			ends: map[idem.State]bool{idem.StateDone: true}, least: 1, most: 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := crashAtEveryPoint(t, func(w *world, crash *crasher, p *provider) idem.Contract[order, receipt] {
				if test.keys && p.keys == nil {
					p.keys = make(map[string]string)
				}
				p.crash = crash
				e := w.effect("charge")
				e.Call = func(ctx context.Context, call idem.Call, in order) (receipt, error) { return p.apply(call) }
				g := test.guard(p, e, nil)
				return idem.Define(w.crashing(crash), spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
					out, err := g.Do(ctx, run, in)
					if errors.Is(err, idem.ErrGivenUp) {
						return receipt{Ref: "given up"}, nil
					}
					return out, err
				}))
			}, func(t *testing.T, w *world, p *provider, end idem.State, result receipt) {
				if !test.ends[end] {
					t.Errorf("the work ended up %s", end)
				}
				if n := p.count(); n < test.least || n > test.most {
					t.Errorf("the effect was applied %d times, want %d to %d", n, test.least, test.most)
				}
				if end == idem.StateDone && result.Ref == "" {
					t.Error("done without a result")
				}
			})
			if points < 6 {
				t.Errorf("only %d crash points: the harness does not see the writes", points)
			}
		})
	}
}

// TestTransactionEffectHappensExactlyOnceWhereverTheProcessDies does the same
// for effects on the application's own table, alone and in one transaction.
func TestTransactionEffectHappensExactlyOnceWhereverTheProcessDies(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crashAtEveryPoint(t, func(w *world, crash *crasher, p *provider) idem.Contract[order, receipt] {
				ledger := w.crashing(crash)
				g := idem.Transaction(ledger, w.effect("draft"), func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
					_, err := call.Tx().ExecContext(ctx, `create table if not exists drafts (id text); insert into drafts values (?)`, in.ID)
					return receipt{Ref: "draft"}, err
				})
				s := spec(one(g))
				s.OneTransaction = oneTx
				return idem.Define(ledger, s)
			}, func(t *testing.T, w *world, p *provider, end idem.State, result receipt) {
				if end != idem.StateDone {
					t.Errorf("the work ended up %s", end)
				}
				if n := w.rows(`select count(*) from drafts`); n != 1 {
					t.Errorf("%d rows, want 1", n)
				}
			})
		})
	}
}

// crashAtEveryPoint runs one piece of work in a new world for each point at which
// the process may die, until an attempt dies nowhere. It returns how many points
// there were.
func crashAtEveryPoint(t *testing.T, define func(w *world, crash *crasher, p *provider) idem.Contract[order, receipt],
	check func(t *testing.T, w *world, p *provider, end idem.State, result receipt)) int {
	for point := 0; ; point++ {
		crashed := true
		t.Run(fmt.Sprintf("point %d", point), func(t *testing.T) {
			w, p := newWorld(t), new(provider)
			first := &crasher{left: point}
			_, _ = define(w, first, p).Do(t.Context(), order{ID: "1", Amount: 5})
			crashed = first.dead
			for range 4 {
				w.clock.advance(2 * time.Minute) // over the lease, and any backoff
				result, err := define(w, &crasher{left: 1 << 30}, p).Do(t.Context(), order{ID: "1", Amount: 5})
				if err == nil {
					check(t, w, p, result.State, result.Value)
					return
				}
				if errors.Is(err, idem.ErrOutcomeUnknown) {
					check(t, w, p, idem.StateUnknown, receipt{})
					return
				}
			}
			t.Error("the work is lost: it never ends")
		})
		if !crashed {
			return point
		}
	}
}

// crashing opens the ledger in a process that dies where crash says.
func (w *world) crashing(crash *crasher) *idem.Ledger[*sql.Tx] {
	return idem.NewLedger[*sql.Tx](w.crashStore(crash), idem.WithLogger(slog.New(slog.DiscardHandler)))
}

func (w *world) crashStore(crash *crasher) crashStore {
	store, err := sqlite.Open(context.Background(), w.path, sqlite.WithClock(w.clock.now))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = store.Close() })
	return crashStore{crashWriter{store, crash}, store, store}
}

// rows counts in the application's own tables.
func (w *world) rows(query string, args ...any) (n int) {
	w.t.Helper()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}
