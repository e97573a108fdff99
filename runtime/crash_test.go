package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
	"github.com/idemgen/idem/runtime/internal/crash"
	"github.com/idemgen/idem/runtime/sqlite"
)

var errCrash = errors.New("the process is dead")

// cutOff is a process that is cut off from its ledger when it has passed so many
// points: nothing is written after that, and no effect of a provider is called.
func cutOff(after int) *crash.Process { return crash.New(after+1, crash.CutOff, crash.Watch{}) }

// unharmed is a process that is not.
func unharmed() *crash.Process { return crash.New(0, crash.CutOff, crash.Watch{}) }

func isDead(p *crash.Process) bool {
	select {
	case <-p.Stopped():
		return true
	default:
		return false
	}
}

// provider is the outside world: it remembers what was applied, and optionally
// keys.
type provider struct {
	mu      sync.Mutex
	applied []string          // the key of each application
	keys    map[string]string // key → reference, nil for a provider without keys
	crash   *crash.Process    // of who calls it; nil if that does not matter
	happens func()            // called for each application; may be nil
}

func (p *provider) apply(call idem.Call) (receipt, error) {
	if p.crash == nil {
		return p.applyNow(call), nil
	}
	if p.crash.Pass("before the call of "+call.Effect()) != nil {
		return receipt{}, errCrash
	}
	out := p.applyNow(call)
	if p.crash.Pass("after the call of "+call.Effect()) != nil {
		return receipt{}, errCrash
	}
	return out, nil
}

func (p *provider) applyNow(call idem.Call) receipt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ref, ok := p.keys[call.Key()]; ok {
		return receipt{Ref: ref}
	}
	p.applied = append(p.applied, call.Key())
	if p.happens != nil {
		p.happens()
	}
	ref := fmt.Sprintf("ref-%d", len(p.applied))
	if p.keys != nil {
		p.keys[call.Key()] = ref
	}
	return receipt{Ref: ref}
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
// effect of each guard at every point in turn, and runs it again until it ends; and
// so on: see package idemtest.
func TestEveryGuardKeepsItsPromiseWhereverTheProcessDies(t *testing.T) {
	const visibleAfter = 30 * time.Second
	type effect = idem.Effect[order, receipt]
	type guarded = *idem.Guarded[order, receipt]
	tests := map[string]struct {
		keys    bool
		guard   func(p *provider, e effect) guarded
		promise idemtest.Effect
	}{
		"idempotency_key": {
			keys:    true,
			guard:   func(_ *provider, e effect) guarded { return idem.IdempotencyKey(e, 24*time.Hour) },
			promise: idemtest.Effect{Guard: idem.GuardIdempotencyKey, RemembersFor: 24 * time.Hour},
		},
		"upsert": { // the key is the unique value that the provider enforces
			keys:    true,
			guard:   func(_ *provider, e effect) guarded { return idem.Upsert(e) },
			promise: idemtest.Effect{Guard: idem.GuardUpsert},
		},
		"repeatable": {
			guard:   func(_ *provider, e effect) guarded { return idem.Repeatable(e) },
			promise: idemtest.Effect{Guard: idem.GuardRepeatable},
		},
		"find_first": {
			guard: func(p *provider, e effect) guarded {
				return idem.FindFirst(e, func(_ context.Context, call idem.Call, _ order) (receipt, bool, error) { return p.find(call) }, visibleAfter)
			},
			promise: idemtest.Effect{Guard: idem.GuardFindFirst},
		},
		"once, ask": {
			guard:   func(_ *provider, e effect) guarded { return idem.Once(e, idem.Ask) },
			promise: idemtest.Effect{Guard: idem.GuardOnce, IfUnknown: idem.Ask},
		},
		"once, give_up": {
			guard:   func(_ *provider, e effect) guarded { return idem.Once(e, idem.GiveUp) },
			promise: idemtest.Effect{Guard: idem.GuardOnce, IfUnknown: idem.GiveUp},
		},
		"once, repeat": {
			guard:   func(_ *provider, e effect) guarded { return idem.Once(e, idem.Repeat) },
			promise: idemtest.Effect{Guard: idem.GuardOnce, IfUnknown: idem.Repeat},
		},
		"read": {
			guard:   func(_ *provider, e effect) guarded { return idem.Read(e) },
			promise: idemtest.Effect{Guard: idem.GuardRead},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.promise.Name = "charge"
			idemtest.CrashEverywhere(t, func(t *testing.T, w *idemtest.World) idemtest.Program[order, receipt, *sql.Tx] {
				p := &provider{happens: func() { w.Happened("charge") }}
				if test.keys {
					p.keys = make(map[string]string)
				}
				return programOf(t, w, func(l *idem.Ledger[*sql.Tx]) idem.Spec[order, receipt] {
					g := test.guard(p, effect{
						Name: "charge", Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder},
						Call: func(_ context.Context, call idem.Call, _ order) (receipt, error) { return p.apply(call) },
					})
					return spec(func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
						out, err := g.Do(ctx, run, in)
						if errors.Is(err, idem.ErrGivenUp) {
							return receipt{Ref: "given up"}, nil
						}
						return out, err
					})
				})
			}, test.promise)
		})
	}
}

// TestTransactionEffectHappensExactlyOnceWhereverTheProcessDies does the same
// for effects on the application's own table, alone and in one transaction.
func TestTransactionEffectHappensExactlyOnceWhereverTheProcessDies(t *testing.T) {
	for name, oneTx := range map[string]bool{"claim first": false, "one transaction": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			idemtest.CrashEverywhere(t, func(t *testing.T, w *idemtest.World) idemtest.Program[order, receipt, *sql.Tx] {
				program := programOf(t, w, func(l *idem.Ledger[*sql.Tx]) idem.Spec[order, receipt] {
					g := idem.Transaction(l, idem.Effect[order, receipt]{
						Name: "draft", Payload: idem.Payload[order]{Shape: "order/1", Append: appendOrder},
					}, inserting("drafts"))
					s := spec(one(g))
					s.OneTransaction = oneTx
					return s
				})
				w.Count("draft", rowsOf(t, program.Store, `select count(*) from drafts`))
				return program
			}, idemtest.Effect{Name: "draft", Guard: idem.GuardTransaction})
		})
	}
}

// inserting is a transaction effect that inserts a row.
func inserting(table string) func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
	return func(ctx context.Context, call idem.TxCall[*sql.Tx], in order) (receipt, error) {
		_, err := call.Tx().ExecContext(ctx, `insert into `+table+` values (?)`, in.ID)
		return receipt{Ref: table}, err
	}
}

// rowsOf counts in the application's tables, and in the ledger's.
func rowsOf(t *testing.T, store idem.Store[*sql.Tx], query string) func() int {
	return func() (n int) {
		err := store.InTx(context.Background(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
			return s.Tx().QueryRowContext(ctx, query).Scan(&n)
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
}

// programOf is a program with one contract, over a new ledger.
func programOf(t *testing.T, w *idemtest.World, spec func(l *idem.Ledger[*sql.Tx]) idem.Spec[order, receipt]) idemtest.Program[order, receipt, *sql.Tx] {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path, sqlite.WithClock(w.Now), sqlite.WithSynchronous(sqlite.Normal))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	err = store.InTx(t.Context(), func(ctx context.Context, s idem.Session[*sql.Tx]) error {
		_, err := s.Tx().ExecContext(ctx, `create table drafts (id text); create table booked (id text)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return idemtest.Program[order, receipt, *sql.Tx]{
		Store: store,
		Start: func(store idem.Store[*sql.Tx]) idem.Contract[order, receipt] {
			ledger := idem.NewLedger(store, idem.WithLogger(slog.New(slog.DiscardHandler)))
			return idem.Define(ledger, spec(ledger))
		},
		Input: func() order { return order{ID: "1", Amount: 5} },
	}
}

// crashing opens the ledger in a process that is cut off where p says.
func (w *world) crashing(p *crash.Process) *idem.Ledger[*sql.Tx] {
	store, err := sqlite.Open(context.Background(), w.path, sqlite.WithClock(w.clock.now))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = store.Close() })
	return idem.NewLedger(crash.Wrap[*sql.Tx](store, p), idem.WithLogger(slog.New(slog.DiscardHandler)))
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
