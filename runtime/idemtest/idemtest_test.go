package idemtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/crash"
	"github.com/idemgen/idem/runtime/sqlite"
)

// job is the input of the tests' one kind of work, and of its effects.
type job struct{ ID, Note string }

type program = Program[job, string, *sql.Tx]

func appendJob(dst []byte, j job) ([]byte, error) {
	text, err := json.Marshal(j)
	return append(dst, text...), err
}

var form = idem.Payload[job]{Shape: "job/1", Append: appendJob}

// shop is the world of a test: a database, a provider that knows keys, and one that
// does not.
type shop struct {
	*World
	mu    sync.Mutex
	known map[string]bool
	path  string
}

// charge is applied once per key.
func (s *shop) charge(_ context.Context, call idem.Call, _ job) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known[call.Key()] {
		s.known[call.Key()] = true
		s.Happened("charge")
	}
	return "charged", nil
}

func (s *shop) mail(context.Context, idem.Call, job) (string, error) {
	s.Happened("mail")
	return "sent", nil
}

// effects are what a handler of the tests may ask for.
type effects struct {
	charge, mail *idem.Guarded[job, string]
}

type handler func(ctx context.Context, e effects, run *idem.Run, in job) (string, error)

// chargeAndMail is a handler that is as it should be.
func chargeAndMail(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
	if _, err := e.charge.Do(ctx, run, in); err != nil {
		return "", err
	}
	return e.mail.Do(ctx, run, in)
}

var promises = []Effect{
	{Name: "charge", Guard: idem.GuardIdempotencyKey, RemembersFor: time.Hour},
	{Name: "mail", Guard: idem.GuardOnce, IfUnknown: idem.Ask},
}

// running builds worlds of a program with the handler that start gives each process.
func running(start func(s *shop) handler) func(t *testing.T, w *World) program {
	return func(t *testing.T, w *World) program {
		s := &shop{World: w, known: map[string]bool{}, path: filepath.Join(t.TempDir(), "ledger.db")}
		return program{
			Store: openStore(t, w, s.path),
			Start: func(store idem.Store[*sql.Tx]) idem.Contract[job, string] {
				handle := start(s)
				e := effects{
					charge: idem.IdempotencyKey(idem.Effect[job, string]{Name: "charge", Payload: form, Call: s.charge}, time.Hour),
					mail:   idem.Once(idem.Effect[job, string]{Name: "mail", Payload: form, Call: s.mail}, idem.Ask),
				}
				return idem.Define(quiet(store), specOf(func(ctx context.Context, run *idem.Run, in job) (string, error) {
					return handle(ctx, e, run, in)
				}))
			},
			Input: func() job { return job{ID: "1"} },
		}
	}
}

func quiet(store idem.Store[*sql.Tx]) *idem.Ledger[*sql.Tx] {
	return idem.NewLedger(store, idem.WithLogger(slog.New(slog.DiscardHandler)))
}

func openStore(t *testing.T, w *World, path string) *sqlite.Store {
	t.Helper()
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
	return store
}

func specOf(handle func(ctx context.Context, run *idem.Run, in job) (string, error)) idem.Spec[job, string] {
	return idem.Spec[job, string]{
		Kind: "job_done", Version: 1, Module: "example.com/shop", Digest: "d1", Payload: form, Window: idem.Forever(),
		ID:       func(in job) (idem.WorkID, error) { return idem.HashWorkID([]byte("job_done:v1:" + in.ID)), nil },
		Response: idem.Response{WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningError, OtherPayload: idem.OtherPayloadReturnOriginal},
		Retry:    idem.Retry{MaxAttempts: 5, Initial: time.Second, Max: time.Minute, Multiplier: 2},
		Lease:    time.Minute, Timeout: time.Minute, Handle: handle,
	}
}

func TestAHandlerThatIsAsItShouldBePasses(t *testing.T) {
	CrashEverywhere(t, running(func(*shop) handler { return chargeAndMail }), promises...)
}

// TestNothingOfADeadProcessRuns: not what it has deferred, nor what its handler
// would do about an error.
func TestNothingOfADeadProcessRuns(t *testing.T) {
	h := newHarness(running(func(s *shop) handler {
		return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
			defer s.Happened("deferred")
			_, err := e.charge.Do(ctx, run, in)
			if err != nil {
				s.Happened("an error")
			}
			return "", err
		}
	}), promises[:1])
	for at := 4; at <= 8; at++ { // from the claim until the effect is recorded
		p := h.play(t, schedule{crash.Die, []int{at}})
		if p.stops != 1 || p.counts["deferred"] != 1 || p.counts["an error"] != 0 {
			t.Errorf("%d: %d stops, counts %v\n%s", at, p.stops, p.counts, p.history)
		}
	}
}

func TestEffectsMayBeMadeAtTheSameTime(t *testing.T) {
	CrashEverywhere(t, running(func(*shop) handler {
		return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
			var wg sync.WaitGroup
			var errs [2]error
			for i, g := range []*idem.Guarded[job, string]{e.charge, e.mail} {
				wg.Go(func() { _, errs[i] = g.Do(ctx, run, in) })
			}
			wg.Wait()
			return "", errors.Join(errs[:]...)
		}
	}), promises...)
}

// firstFailure plays schedules until one fails.
func firstFailure(t *testing.T, world func(t *testing.T, w *World) program, effects []Effect) (s schedule, problems []string, p *played) {
	t.Helper()
	h := newHarness(world, effects)
	calm := h.play(t, schedule{})
	if problems := calm.unfit(h.effects); len(problems) > 0 {
		return schedule{}, problems, calm
	}
	for _, s := range schedulesOf(calm.points, false) {
		p := h.play(t, s)
		if problems := p.against(calm, h.effects); len(problems) > 0 {
			return s, problems, p
		}
	}
	return schedule{}, nil, calm
}

// TestAProgramThatBreaksTheRulesIsFoundOut, and is told what it did, where.
func TestAProgramThatBreaksTheRulesIsFoundOut(t *testing.T) {
	var numbers atomic.Int64
	with := func(h handler) func(*shop) handler { return func(*shop) handler { return h } }
	for name, test := range map[string]struct {
		start   func(s *shop) handler
		effects []Effect // nil: the usual ones
		change  func(p *program)
		at      string
		want    string
		history string
	}{
		"an effect outside the ledger": {
			start: func(s *shop) handler {
				return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
					s.Happened("sms")
					return chargeAndMail(ctx, e, run, in)
				}
			},
			at:      "crash@5",
			want:    "sms happened 2 times, and once if nothing stops it: it is no effect of the contract, so each attempt does it again",
			history: "       5  before charge is recorded as started\n          ^ here process 1 dies\n",
		},
		"an effect beside its guard": {
			start: func(s *shop) handler {
				return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
					if _, err := s.mail(ctx, nil, in); err != nil {
						return "", err
					}
					return chargeAndMail(ctx, e, run, in)
				}
			},
			at:   "crash@5",
			want: "mail happened 3 times, and 2 times if nothing stops it: with the guard once the ledger does not ask for it again. The handler does it without asking the effects interface",
		},
		"an input that differs between attempts": {
			start: with(func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
				in.Note = fmt.Sprint("attempt ", numbers.Add(1))
				return chargeAndMail(ctx, e, run, in)
			}),
			at:   "crash@6",
			want: "An attempt after a crash has to ask for the same effects with the same inputs as the one before",
		},
		"another effect in another attempt": {
			start: func(s *shop) handler {
				first := !s.known["started"]
				s.known["started"] = true
				return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
					if first {
						return e.charge.Do(ctx, run, in)
					}
					return e.mail.Do(ctx, run, in)
				}
			},
			at:   "crash@1",
			want: "mail happened once, and never if nothing stops it: an undisturbed attempt does not ask for it",
		},
		"a provider that forgets its keys": {
			start: func(s *shop) handler {
				s.mu.Lock()
				defer s.mu.Unlock()
				clear(s.known)
				return chargeAndMail
			},
			at:   "crash@7",
			want: "charge happened 2 times, and once if nothing stops it: with the guard idempotency_key its function has to send call.Key()",
		},
		"work that no process can do but the first": {
			start: func(s *shop) handler {
				first := !s.known["started"]
				s.known["started"] = true
				return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
					if !first {
						return "", errors.New("no session")
					}
					return chargeAndMail(ctx, e, run, in)
				}
			},
			want: "the work ends up dead, which no guard of its effects allows here: job_done",
		},
		"a handler that hangs after a crash": {
			start: func(s *shop) handler {
				first := !s.known["started"]
				s.known["started"] = true
				return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
					if !first {
						select {} // deaf to its context
					}
					return chargeAndMail(ctx, e, run, in)
				}
			},
			change: func(p *program) { p.Patience = 200 * time.Millisecond },
			want:   "a delivery to process 2 has not come back after 200ms. It is at\ngoroutine",
		},
		"a handler that hangs until its context ends": {
			start: with(func(ctx context.Context, _ effects, _ *idem.Run, _ job) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}),
			change: func(p *program) { p.Patience = 50 * time.Millisecond },
			want:   "a delivery to process 1 was not done after 50ms, and then its context ended",
		},
		"a handler that goes round and round": {
			start: with(func(ctx context.Context, _ effects, run *idem.Run, in job) (string, error) {
				for n := 0; ; n++ {
					in.Note = fmt.Sprint(n)
					per := idem.Once(idem.Effect[job, string]{Name: "mail", Payload: form,
						Per:  func(dst []byte, in job) ([]byte, error) { return append(dst, `["`+in.Note+`"]`...), nil },
						Call: func(context.Context, idem.Call, job) (string, error) { return "", nil }}, idem.Ask)
					if _, err := per.Do(context.WithoutCancel(ctx), run, in); err != nil {
						return "", err
					}
				}
			}),
			change: func(p *program) { p.Patience = 300 * time.Millisecond },
			want:   "a delivery to process 1",
		},
		"a program without a contract": {
			start:  with(chargeAndMail),
			change: func(p *program) { p.Start = func(idem.Store[*sql.Tx]) idem.Contract[job, string] { return nil } },
			want:   "Start gave no contract",
		},
		"a handler that panics": {
			start: with(func(context.Context, effects, *idem.Run, job) (string, error) { panic("no shop") }),
			want:  "process 1 panicked: no shop\ngoroutine",
		},
		"work that fails for good": {
			start: with(func(context.Context, effects, *idem.Run, job) (string, error) {
				return "", idem.Permanent(errors.New("no such job"))
			}),
			want: "the work ends up dead: job_done",
		},
		"an identity that differs between deliveries": {
			start:  with(chargeAndMail),
			change: func(p *program) { p.Input = func() job { return job{ID: fmt.Sprint(numbers.Add(1))} } },
			want:   "two deliveries of the same work have different IDs",
		},
		"an effect that nothing counts": {
			start: func(s *shop) handler {
				s.known[""] = true
				return func(ctx context.Context, e effects, run *idem.Run, in job) (string, error) {
					uncounted := idem.Upsert(idem.Effect[job, string]{Name: "note", Payload: form,
						Call: func(context.Context, idem.Call, job) (string, error) { return "", nil }})
					return uncounted.Do(ctx, run, in)
				}
			},
			effects: []Effect{{Name: "note", Guard: idem.GuardUpsert}},
			want:    `note is done, and nothing counts it: let its fake call Happened("note")`,
		},
		"an effect that nobody was told about": {
			start:   with(chargeAndMail),
			effects: promises[:1],
			want:    "the effect mail, with the guard that it has, is not among those that CrashEverywhere was given",
		},
	} {
		t.Run(name, func(t *testing.T) {
			world := running(test.start)
			if test.effects == nil {
				test.effects = promises
			}
			s, problems, played := firstFailure(t, func(t *testing.T, w *World) program {
				p := world(t, w)
				if test.change != nil {
					test.change(&p)
				}
				return p
			}, test.effects)
			text := strings.Join(problems, "\n")
			if !strings.Contains(text, test.want) {
				t.Errorf("the problems are %q, want %q", text, test.want)
			}
			if test.at != "" && s.String() != test.at {
				t.Errorf("it fails first at %s, want %s", s, test.at)
			}
			if !strings.Contains(played.history, test.history) {
				t.Errorf("history:\n%swant in it:\n%s", played.history, test.history)
			}
		})
	}
}

// TestATransactionEffectBesideItsTransactionIsFoundOut: what is not written through
// call.Tx is not rolled back.
func TestATransactionEffectBesideItsTransactionIsFoundOut(t *testing.T) {
	world := func(t *testing.T, w *World) program {
		return program{
			Store: openStore(t, w, filepath.Join(t.TempDir(), "ledger.db")),
			Start: func(store idem.Store[*sql.Tx]) idem.Contract[job, string] {
				ledger := quiet(store)
				book := idem.Transaction(ledger, idem.Effect[job, string]{Name: "book", Payload: form}, func(context.Context, idem.TxCall[*sql.Tx], job) (string, error) {
					w.Happened("book")
					return "", nil
				})
				return idem.Define(ledger, specOf(func(ctx context.Context, run *idem.Run, in job) (string, error) { return book.Do(ctx, run, in) }))
			},
			Input: func() job { return job{ID: "1"} },
		}
	}
	s, problems, played := firstFailure(t, world, []Effect{{Name: "book", Guard: idem.GuardTransaction}})
	if s.how != crash.Die || len(problems) != 1 || !strings.Contains(problems[0], "it has to be written through call.Tx() alone") {
		t.Errorf("%s: %q\n%s", s, problems, played.history)
	}
}

// TestAnEffectIsCountedByTheNameThatItHasNow, although the ledger has its first one.
func TestAnEffectIsCountedByTheNameThatItHasNow(t *testing.T) {
	world := running(func(s *shop) handler {
		bill := idem.IdempotencyKey(idem.Effect[job, string]{Name: "bill", Payload: form, Call: s.charge}, time.Hour)
		return func(ctx context.Context, _ effects, run *idem.Run, in job) (string, error) {
			return bill.Do(ctx, run, in)
		}
	})
	renamed := Effect{Name: "charge", Was: "bill", Guard: idem.GuardIdempotencyKey, RemembersFor: time.Hour}
	if s, problems, _ := firstFailure(t, world, []Effect{renamed}); len(problems) > 0 {
		t.Errorf("%s: %q", s, problems)
	}
	renamed.Was = ""
	if _, problems, _ := firstFailure(t, world, []Effect{renamed}); len(problems) == 0 {
		t.Error("an effect of another name is taken for the same")
	}
}

func TestAScheduleIsRunAgainByItsName(t *testing.T) {
	if got, want := runPattern("TestX/of a thing/crash@7,4"), "^TestX$/^of a thing$/^crash@7,4$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	points := []crash.Point{{Name: "a"}, {Name: "b", InTx: true}, {Name: "c"}}
	var got []string
	for _, s := range schedulesOf(points, false) {
		got = append(got, s.String())
	}
	if want := "crash@1 crash@2 crash@3 takeover@1 takeover@3 crash@1,3 crash@2,4 crash@3,5"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(schedulesOf(points, true)); n != 5 {
		t.Errorf("%d schedules with -short, want 5", n)
	}
}
