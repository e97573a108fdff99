package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	idem "github.com/idemgen/idem/runtime"
)

// An Opener opens a store on an empty ledger. The store takes clock for its
// host's clock, and is closed with t.Cleanup.
type Opener[Tx any] func(t *testing.T, clock func() time.Time) idem.Store[Tx]

// Run runs the suite as subtests of t.
func Run[Tx any](t *testing.T, open Opener[Tx]) {
	for _, part := range []struct {
		name  string
		tests []namedTest[Tx]
	}{
		{"Claims", claimTests[Tx]()},
		{"Ends", endTests[Tx]()},
		{"Leases", leaseTests[Tx]()},
		{"Succession", successionTests[Tx]()},
		{"Effects", effectTests[Tx]()},
		{"Children", childTests[Tx]()},
		{"Latest", latestTests[Tx]()},
		{"Successes", successTests[Tx]()},
		{"Messages", messageTests[Tx]()},
		{"Amendments", amendTests[Tx]()},
		{"Purges", purgeTests[Tx]()},
		{"Values", valueTests[Tx]()},
		{"Keys", keyTests[Tx]()},
		{"Transactions", transactionTests[Tx]()},
		{"Races", raceTests[Tx]()},
		{"Batches", batchTests[Tx]()},
		{"Registrations", registrationTests[Tx]()},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, test := range part.tests {
				t.Run(test.name, func(t *testing.T) { test.run(newHarness(t, open)) })
			}
		})
	}
	t.Run("RandomHistoriesFollowTheModel", func(t *testing.T) { testModel(newHarness(t, open)) })
}

type namedTest[Tx any] struct {
	name string
	run  func(h *harness[Tx])
}

// A harness is one test's store and clock.
type harness[Tx any] struct {
	*testing.T
	ctx   context.Context
	store idem.Store[Tx]
	clock *clock
}

func newHarness[Tx any](t *testing.T, open Opener[Tx]) *harness[Tx] {
	// A time with microseconds, and no monotonic part.
	c := &clock{now: time.Date(2031, 5, 4, 3, 2, 1, 123456000, time.UTC)}
	return &harness[Tx]{T: t, ctx: t.Context(), store: open(t, c.Now), clock: c}
}

// clock is a host's clock that only a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const (
	lease  = time.Minute
	window = 24 * time.Hour
)

func workID(name string) idem.WorkID { return idem.HashWorkID([]byte("storetest:v1:" + name)) }

func hash(name string) (h idem.Hash) {
	copy(h[:], fmt.Sprintf("%032s", name))
	return h
}

func jsonBody(data string) idem.Body { return idem.Body{Codec: idem.CodecJSON, Data: []byte(data)} }

// claimOf is a claim of the work called name, by an owner of its own.
func claimOf(name string) idem.Claim {
	c := idem.Claim{
		Fence: idem.Fence{ID: workID(name)}, Kind: "order_paid", Version: 1, Scope: "shop",
		Lease: lease, Budget: 3, Window: idem.For(window), Payload: jsonBody(`{"order":1}`), PayloadHash: hash("one"), PayloadShape: "shape",
		Release: "v1.2.3", CorrelationID: "trace",
		MayLag: len(name)%2 == 0, // which nobody is to notice
	}
	_, _ = rand.Read(c.Token[:]) // never fails
	return c
}

func (h *harness[Tx]) claim(c idem.Claim) idem.Claimed {
	h.Helper()
	claimed, err := h.store.Claim(h.ctx, c)
	if err != nil {
		h.Fatalf("claim: %v", err)
	}
	return claimed
}

func (h *harness[Tx]) mustWin(c idem.Claim) idem.Claimed {
	h.Helper()
	claimed := h.claim(c)
	if !claimed.Won {
		h.Fatalf("claim was not won, the work is %s", claimed.Work.State)
	}
	return claimed
}

func (h *harness[Tx]) mustNotWin(c idem.Claim, want idem.State) idem.Work {
	h.Helper()
	claimed := h.claim(c)
	if claimed.Won {
		h.Fatalf("claim was won, want the work to be %s", want)
	}
	if claimed.Work.State != want {
		h.Fatalf("work is %q, want %q", claimed.Work.State, want)
	}
	return claimed.Work
}

func (h *harness[Tx]) end(e idem.End) idem.Work {
	h.Helper()
	ended, err := h.store.End(h.ctx, e)
	if err != nil {
		h.Fatalf("end: %v", err)
	}
	work := h.lookup(e.ID)
	h.wantSame("what the end says", ended, idem.Ended{NextAttemptAt: work.NextAttemptAt})
	return work
}

func (h *harness[Tx]) lookup(id idem.WorkID) idem.Work {
	h.Helper()
	work, err := h.store.Lookup(h.ctx, id)
	if err != nil {
		h.Fatalf("lookup: %v", err)
	}
	return work
}

func (h *harness[Tx]) effect(e idem.EffectWrite) time.Time {
	h.Helper()
	written, err := h.store.WriteEffect(h.ctx, e)
	if err != nil || written.Taken != nil {
		h.Fatalf("effect: %+v, %v", written.Taken, err)
	}
	return written.StartedAt
}

func (h *harness[Tx]) renew(leases ...idem.Lease) []idem.Renewal {
	h.Helper()
	renewals, err := h.store.Renew(h.ctx, leases)
	if err != nil {
		h.Fatalf("renew: %v", err)
	}
	return renewals
}

func (h *harness[Tx]) wantLost(what string, err error) {
	h.Helper()
	if !errors.Is(err, idem.ErrLeaseLost) {
		h.Errorf("%s: got %v, want ErrLeaseLost", what, err)
	}
}

func (h *harness[Tx]) wantTime(what string, got, want time.Time) {
	h.Helper()
	if !got.Equal(want) {
		h.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (h *harness[Tx]) wantSame(what string, got, want any) {
	h.Helper()
	if diff := compare(got, want); diff != "" {
		h.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func compare(got, want any) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b idem.WorkID) bool { return a == b }))
}

func done(f idem.Fence) idem.End {
	return idem.End{Fence: f, State: idem.StateDone, Result: jsonBody(`"ok"`), Window: idem.For(window)}
}

func started(f idem.Fence, name string) idem.EffectWrite {
	return idem.EffectWrite{
		Fence: f, EffectID: idem.EffectID{Name: name}, Guard: idem.GuardOnce, State: idem.EffectStarted,
		Key: "key of " + name, PayloadHash: hash(name), PayloadShape: "shape of " + name, Input: jsonBody(`{"to":"` + name + `"}`), Live: true,
	}
}
