package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

func TestOfTwoStoresOnOneFileOneWins(t *testing.T) {
	path := newLedger(t)
	stores := []*sqlite.Store{openStore(t, path), openStore(t, path)}
	const n = 50
	var winners [n]atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		for j := range 4 {
			wg.Go(func() {
				claimed, err := stores[j%2].Claim(t.Context(), claimOf(fmt.Sprint(i), byte(j+1)))
				if err != nil {
					t.Error(err)
				}
				if claimed.Won {
					winners[i].Add(1)
				}
			})
		}
	}
	wg.Wait()
	for i := range winners {
		if got := winners[i].Load(); got != 1 {
			t.Errorf("work %d has %d owners", i, got)
		}
	}
}

// A transaction that begins to read and then wants to write fails at once if
// somebody else has written meanwhile, whatever the busy timeout. None of these do.
func TestWritesOfTwoStoresWaitForEachOther(t *testing.T) {
	path := newLedger(t)
	stores := []*sqlite.Store{openStore(t, path), openStore(t, path)}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			s := stores[i%2]
			for j := range 25 {
				c := claimOf(fmt.Sprint(i, j), 1)
				claimed, err := s.Claim(t.Context(), c) // reads and writes
				if err != nil || !claimed.Won {
					t.Errorf("claim: won %t, %v", claimed.Won, err)
					return
				}
				err = s.InTx(t.Context(), func(ctx context.Context, session idem.Session[*sql.Tx]) error {
					var n int
					if err := session.Tx().QueryRowContext(ctx, `SELECT count(*) FROM work_log`).Scan(&n); err != nil {
						return err
					}
					_, err := session.End(ctx, doneOf(c.Fence))
					return err
				})
				if err != nil {
					t.Errorf("a read, then a write: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A lease is judged by the ledger's clock, not by that of the machine that looks.
func TestAProcessWhoseClockIsBehindFollowsTheMark(t *testing.T) {
	path := newLedger(t)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	behind := openStore(t, path, sqlite.WithClock(func() time.Time { return now }))
	ahead := openStore(t, path, sqlite.WithClock(func() time.Time { return now.Add(time.Hour) }))
	mustWin(t, behind, claimOf("x", 1))
	c := claimOf("a", 1)
	byAhead := mustWin(t, ahead, c).Work

	now = now.Add(time.Second) // from here on the one behind has to look at the mark
	got := mustWin(t, behind, claimOf("b", 1)).Work
	if got.CreatedAt.Before(byAhead.CreatedAt) {
		t.Errorf("work claimed second is from %v, before %v of the first", got.CreatedAt, byAhead.CreatedAt)
	}
	now = now.Add(time.Minute)
	if claimed, err := behind.Claim(t.Context(), claimOf("a", 2)); err != nil || !claimed.Won {
		t.Errorf("a lease that is over: won %t, %v", claimed.Won, err)
	}
}

func TestTimeDoesNotGoBackWithTheHostsClockAcrossARestart(t *testing.T) {
	path := newLedger(t)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	first := openStore(t, path, sqlite.WithClock(clock))
	c := claimOf("a", 1)
	mustWin(t, first, c)
	now = now.Add(500 * time.Millisecond) // sooner than the next mark is due
	end := doneOf(c.Fence)
	end.Window = idem.For(time.Minute)
	if _, err := first.End(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	done, err := first.Lookup(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(-24 * time.Hour)
	second := openStore(t, path, sqlite.WithClock(clock))
	work, err := second.Lookup(t.Context(), c.ID)
	if err != nil || work.Now.Before(done.DoneAt) {
		t.Errorf("after the restart it is %v (%v), before the end at %v", work.Now, err, done.DoneAt)
	}
	now = now.Add(time.Minute) // of the host's own time, which is enough for the window
	if work, err = second.Lookup(t.Context(), c.ID); err != nil || work.State != "" {
		t.Errorf("a minute after the restart the work is %q (%v), want it forgotten", work.State, err)
	}
}

const workerFile = "IDEM_TEST_LEDGER"

// TestWorkerProcess is the other process of the test below: it runs work for
// ever and says on its output what was acknowledged.
func TestWorkerProcess(t *testing.T) {
	path := os.Getenv(workerFile)
	if path == "" {
		t.Skip("it is run by TestKilledProcessLosesNothingThatWasAcknowledged")
	}
	s := openStore(t, path)
	ctx := context.Background()
	for i := 0; ; i++ {
		c := claimOf(fmt.Sprintf("%s/%d", os.Getenv("IDEM_TEST_RUN"), i), 1)
		for _, step := range []struct {
			name string
			run  func() error
		}{
			{"claimed", func() error { _, err := s.Claim(ctx, c); return err }},
			{"started", func() error { _, err := s.WriteEffect(ctx, effectOf(c.Fence, idem.EffectStarted)); return err }},
			{"applied", func() error { _, err := s.WriteEffect(ctx, effectOf(c.Fence, idem.EffectDone)); return err }},
			{"done", func() error { _, err := s.End(ctx, doneOf(c.Fence)); return err }},
		} {
			if err := step.run(); err != nil {
				fmt.Println("failed", i, err)
				os.Exit(1)
			}
			// One write, so that a kill leaves whole lines.
			if _, err := os.Stdout.WriteString(fmt.Sprintf("%s %d\n", step.name, i)); err != nil {
				os.Exit(1)
			}
		}
	}
}

func TestKilledProcessLosesNothingThatWasAcknowledged(t *testing.T) {
	path := newLedger(t)
	var offset atomic.Int64
	s := openStore(t, path, sqlite.WithClock(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }))
	rank := map[string]int{"claimed": 1, "started": 2, "applied": 3, "done": 4}
	for run := range 12 {
		acknowledged := killedWorker(t, path, fmt.Sprint(run))
		if len(acknowledged) == 0 {
			t.Fatal("the worker was killed before it did anything: the test shows nothing")
		}
		// Its lease keeps its work from others until it is over.
		last := fmt.Sprintf("%d/%d", run, len(acknowledged)-1)
		if rank[acknowledged[len(acknowledged)-1]] < 4 {
			if claimed, err := s.Claim(t.Context(), claimOf(last, 2)); err != nil || claimed.Won {
				t.Errorf("work of a process that died a moment ago: won %t, %v", claimed.Won, err)
			}
		}
		offset.Add(int64(2 * time.Minute))
		for i, step := range acknowledged {
			name := fmt.Sprintf("%d/%d", run, i)
			checkAcknowledged(t, s, name, rank[step])
		}
	}
	if got := scalar[string](t, openApp(t, uri(path)), `PRAGMA integrity_check`); got != "ok" {
		t.Errorf("integrity check: %s", got)
	}
}

// checkAcknowledged takes over work of a process that was killed and compares
// what is there with what it had been told.
func checkAcknowledged(t *testing.T, s *sqlite.Store, name string, rank int) {
	t.Helper()
	claimed, err := s.Claim(t.Context(), claimOf(name, 2))
	if err != nil {
		t.Fatal(err)
	}
	reached := 1 // by what the ledger has
	switch {
	case !claimed.Won && claimed.Work.State == idem.StateDone:
		reached = 4
	case !claimed.Won || claimed.Work.Attempt != 2:
		t.Errorf("%s: won %t, %s, attempt %d", name, claimed.Won, claimed.Work.State, claimed.Work.Attempt)
	case len(claimed.Effects) == 1 && claimed.Effects[0].State == idem.EffectStarted:
		reached = 2
	case len(claimed.Effects) == 1 && claimed.Effects[0].State == idem.EffectDone:
		reached = 3
	}
	// One more is a commit whose acknowledgement did not get out.
	if reached != rank && reached != rank+1 {
		t.Errorf("%s: step %d was acknowledged, and the ledger has step %d", name, rank, reached)
	}
	if claimed.Won {
		if _, err := s.End(t.Context(), doneOf(claimOf(name, 2).Fence)); err != nil {
			t.Error(err)
		}
	}
}

// killedWorker runs a worker, kills it at a random moment, and returns the last
// acknowledged step of each work.
func killedWorker(t *testing.T, path, run string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWorkerProcess$")
	cmd.Env = append(os.Environ(), workerFile+"="+path, "IDEM_TEST_RUN="+run)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	lines := bufio.NewScanner(out)
	killAfter := 5 + rand.IntN(60)
	for n := 0; lines.Scan(); n++ {
		if n == killAfter {
			// A little later, so that it dies anywhere between two acknowledgements.
			time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
		var step string
		var i int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d", &step, &i); err != nil || strings.HasPrefix(step, "failed") {
			t.Errorf("the worker says %q", lines.Text())
			continue
		}
		if i == len(acknowledged) {
			acknowledged = append(acknowledged, "")
		}
		acknowledged[i] = step
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Errorf("the worker ended by itself: %v", err)
	}
	return acknowledged
}
