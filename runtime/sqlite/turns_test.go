package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// crowd holds the writer until the returned function is called, with n claims
// waiting for it. claimed counts those that were served.
func crowd(t *testing.T, s idem.Store[*sql.Tx], n int) (release func(), claimed *atomic.Int64) {
	t.Helper()
	var all sync.WaitGroup
	inside, leave := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		err := s.InTx(context.Background(), func(context.Context, idem.Session[*sql.Tx]) error {
			close(inside)
			<-leave
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	claimed = new(atomic.Int64)
	var started sync.WaitGroup
	for i := range n {
		started.Add(1)
		all.Go(func() {
			started.Done()
			if _, err := s.Claim(context.Background(), claimOf(fmt.Sprint("crowd ", i), 9)); err != nil {
				t.Error(err)
			}
			claimed.Add(1)
		})
	}
	started.Wait()
	time.Sleep(50 * time.Millisecond) // until they stand in line
	t.Cleanup(all.Wait)
	return sync.OnceFunc(func() { close(leave) }), claimed
}

func TestLeasesAreRenewedBeforeACrowdOfClaims(t *testing.T) {
	_, s := newApp(t)
	c := claimOf("held", 1)
	mustWin(t, s, c)
	const batch = 128
	release, claimed := crowd(t, s, 8*batch)
	defer release()
	renewed := make(chan int64)
	go func() {
		renewals, err := s.Renew(context.Background(), []idem.Lease{{Fence: c.Fence, For: time.Minute}})
		if err != nil || renewals[0] != idem.Renewed {
			t.Errorf("got %v, %v", renewals, err)
		}
		renewed <- claimed.Load()
	}()
	time.Sleep(50 * time.Millisecond)
	release()
	// One batch may be under way, and one take the renewal with it.
	if before := <-renewed; before > 3*batch {
		t.Errorf("%d claims went before the renewal of a lease", before)
	}
}

func TestWritesAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	db, s := newApp(t)
	c := claimOf("early", 1)
	mustWin(t, s, c)
	release, _ := crowd(t, s, 0)
	defer release()
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := s.End(context.Background(), doneOf(c.Fence)); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(50 * time.Millisecond)
	for i := range 200 {
		all.Go(func() {
			if _, err := s.Claim(context.Background(), claimOf(fmt.Sprint("late ", i), 9)); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	release()
	all.Wait()
	const overtook = `SELECT count(*) FROM work_log AS late, work_log AS early WHERE early.state = 'done' AND late.state = 'running' AND late.created_at < early.done_at`
	if n := scalar[int](t, db, overtook); n > 0 {
		t.Errorf("%d claims went before a completion that had come first", n)
	}
}

// A transaction that waits for a later one would wait for ever, had it not a
// deadline, and with it the whole ledger.
func TestTheEndOfATransactionsContextLetsTheNextOneGo(t *testing.T) {
	_, s := newApp(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- s.InTx(ctx, func(context.Context, idem.Session[*sql.Tx]) error {
			_, err := s.Claim(context.Background(), claimOf("other", 1)) // with a context that does not say where it is
			return err
		})
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a transaction past its deadline was committed")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}
