package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// asked counts the questions about work that is waited for.
type asked struct {
	idem.Store[*sql.Tx]
	questions, works atomic.Int64
	fail             atomic.Pointer[error]
}

func (s *asked) LookupAll(ctx context.Context, ids []idem.WorkID) ([]idem.Work, error) {
	s.questions.Add(1)
	s.works.Add(int64(len(ids)))
	if err := s.fail.Load(); err != nil {
		return nil, *err
	}
	return s.Store.LookupAll(ctx, ids)
}

// elsewhere runs works in one process until release is called, and is a contract of
// another one.
func elsewhere(t *testing.T, works int) (contract idem.Contract[order, receipt], store *asked, release func()) {
	t.Helper()
	w := newWorld(t)
	leave := make(chan struct{})
	var inside, all sync.WaitGroup
	inside.Add(works)
	runs := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		inside.Done()
		<-leave
		return receipt{Ref: "theirs"}, nil
	}))
	for i := range works {
		all.Go(func() {
			if _, err := runs.Do(context.Background(), order{ID: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	inside.Wait()
	other, err := sqlite.Open(t.Context(), w.path, sqlite.WithClock(w.clock.now))
	if err != nil {
		t.Fatal(err)
	}
	store = &asked{Store: other}
	ledger := idem.NewLedger[*sql.Tx](store)
	release = sync.OnceFunc(func() {
		close(leave)
		all.Wait()
	})
	t.Cleanup(func() {
		release()
		if err := ledger.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	contract = idem.Define(ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) {
		return receipt{}, errors.New("it runs elsewhere")
	}))
	return contract, store, release
}

func TestWaitersForAnotherProcessAskTogether(t *testing.T) {
	const works, each = 40, 5
	contract, store, release := elsewhere(t, works)
	var all sync.WaitGroup
	for i := range works * each {
		all.Go(func() {
			got, err := contract.Do(t.Context(), order{ID: fmt.Sprint(i % works)})
			if err != nil || !got.Replayed || got.Value.Ref != "theirs" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	time.Sleep(time.Second)
	questions, asked := store.questions.Load(), store.works.Load()
	release()
	all.Wait()
	// Each of 200 alone would have asked ten times by then.
	if questions == 0 || questions > 150 {
		t.Errorf("%d questions for %d waiters within a second", questions, works*each)
	}
	if asked > 15*works {
		t.Errorf("%d works asked for, of %d", asked, works)
	}
	time.Sleep(2 * 250 * time.Millisecond)
	if before := store.questions.Load(); before > questions+50 {
		t.Errorf("%d more questions after the end", before-questions)
	}
}

func TestAWaiterLeavesAndTheOthersGoOnWaiting(t *testing.T) {
	contract, store, release := elsewhere(t, 1)
	ctx, leave := context.WithCancelCause(t.Context())
	gone := make(chan error, 1)
	stays := make(chan error, 1)
	go func() {
		_, err := contract.Do(ctx, order{ID: "0"})
		gone <- err
	}()
	go func() {
		_, err := contract.Do(t.Context(), order{ID: "0"})
		stays <- err
	}()
	for store.questions.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	why := errors.New("the caller has left")
	leave(why)
	if e := wantIs(t, <-gone, idem.ErrRunning); !errors.Is(e, why) {
		t.Errorf("got %v, want the cause", e)
	}
	release()
	if err := <-stays; err != nil {
		t.Errorf("who stayed: %v", err)
	}
}

func TestALedgerThatCannotBeAskedTellsAllWaiters(t *testing.T) {
	contract, store, _ := elsewhere(t, 1)
	failure := errors.New("no route to the database")
	store.fail.Store(&failure)
	for range 3 {
		_, err := contract.Do(t.Context(), order{ID: "0"})
		if e := wantIs(t, err, idem.ErrLedger); !errors.Is(e, failure) {
			t.Errorf("got %v, want the cause", e)
		}
	}
}

// still is a store in which one work runs for ever.
type still struct {
	asked []time.Duration
	since time.Time
	until time.Duration
}

func (s *still) LookupAll(_ context.Context, ids []idem.WorkID) ([]idem.Work, error) {
	passed := time.Since(s.since)
	s.asked = append(s.asked, passed)
	works := make([]idem.Work, len(ids))
	for i, id := range ids {
		works[i] = idem.Work{ID: id, State: idem.StateRunning, Now: s.since.Add(passed), LockedUntil: s.since.Add(s.until)}
	}
	return works, nil
}

func TestTheIntervalsOfAWaitGrowAndItEndsWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &still{since: time.Now(), until: 10 * time.Second}
		work, err := idem.Await(t.Context(), store, idem.HashWorkID([]byte("a")))
		if err != nil || work.State != idem.StateRunning {
			t.Fatalf("work is %q, %v", work.State, err)
		}
		passed := time.Since(store.since)
		if passed < 10*time.Second || passed > 10*time.Second+400*time.Millisecond {
			t.Errorf("the wait took %v, want until the lease of 10 s was over", passed)
		}
		if first := store.asked[0]; first > 8*time.Millisecond {
			t.Errorf("asked first after %v", first)
		}
		if n := len(store.asked); n < 30 || n > 60 {
			t.Errorf("asked %d times in 10 s, want about 40", n)
		}
	})
}
