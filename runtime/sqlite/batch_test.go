package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func TestConcurrentWritesShareCommits(t *testing.T) {
	db, s := newApp(t)
	release, _ := crowd(t, s, 100)
	release()
	for scalar[int](t, db, `SELECT count(*) FROM work_log`) == 0 {
		time.Sleep(time.Millisecond)
	}
	// Whoever sees one of them sees all of them.
	if n := scalar[int](t, db, `SELECT count(*) FROM work_log`); n != 100 {
		t.Errorf("%d of 100 claims that waited together were committed, want all or none", n)
	}
}

func TestWhatWasAnsweredBeforeCloseIsInTheFile(t *testing.T) {
	path := newLedger(t)
	s := openStore(t, path)
	const n = 200
	won := make([]bool, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			claimed, err := s.Claim(context.Background(), claimOf(fmt.Sprint(i), 1))
			if err != nil && !errors.Is(err, idem.ErrClosed) {
				t.Error(err)
			}
			won[i] = claimed.Won
		})
	}
	time.Sleep(2 * time.Millisecond) // some of them are under way
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	again := openStore(t, path)
	for i := range n {
		work, err := again.Lookup(t.Context(), claimOf(fmt.Sprint(i), 1).ID)
		if err != nil || won[i] != (work.State == idem.StateRunning) {
			t.Errorf("work %d is %q (%v), and its claim was answered with won %t", i, work.State, err, won[i])
		}
	}
}

func TestCloseWaitsForWritesBehindATransaction(t *testing.T) {
	_, s := newApp(t)
	release, claimed := crowd(t, s, 50)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	time.Sleep(20 * time.Millisecond)
	if _, err := s.Claim(t.Context(), claimOf("late", 1)); !errors.Is(err, idem.ErrClosed) {
		t.Errorf("a write after Close: %v, want ErrClosed", err)
	}
	select {
	case err := <-closed:
		t.Fatalf("closed with %v while writes waited", err)
	default:
	}
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(10 * time.Second); claimed.Load() < 50; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of 50 writes were answered", claimed.Load())
		}
	}
}

// A caller whose batch waits for another process is not held until that is over.
func TestACallerLeavesABatchThatWaitsForAnotherProcess(t *testing.T) {
	db, s := newApp(t)
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	stays := make(chan error, 1)
	go func() {
		_, err := s.Claim(t.Context(), claimOf("stays", 1))
		stays <- err
	}()
	start := time.Now()
	if _, err := s.Claim(short, claimOf("leaves", 1)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, idem.ErrLedger) {
		t.Errorf("got %v, want that the deadline was exceeded", err)
	}
	if waited := time.Since(start); waited > 2*time.Second {
		t.Errorf("a deadline of 50 ms ended after %v", waited)
	}
	if _, err := other.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if err := <-stays; err != nil {
		t.Errorf("who stayed: %v", err)
	}
}

func TestARenewalBehindATransactionIsNotForgotten(t *testing.T) {
	_, s := newApp(t)
	c := claimOf("held", 1)
	mustWin(t, s, c)
	var renewed sync.WaitGroup
	err := s.InTx(t.Context(), func(context.Context, idem.Session[*sql.Tx]) error {
		for range 3 {
			renewed.Go(func() {
				renewals, err := s.Renew(context.Background(), []idem.Lease{{Fence: c.Fence, For: time.Hour}})
				if err != nil || renewals[0] != idem.Renewed {
					t.Errorf("got %v, %v", renewals, err)
				}
			})
		}
		time.Sleep(20 * time.Millisecond)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	renewed.Wait()
}
