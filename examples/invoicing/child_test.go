package invoicing_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/idemgen/idem/examples/invoicing"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// Some tests kill the program for real. The program is then this test binary,
// started once more with a job in its environment.

const jobVariable = "INVOICING_TEST_JOB"

// job is what a child process does.
type job struct {
	Serve  bool // serve the webhook; else handle one order, and die at step Stop
	Stop   int64
	Config invoicing.Config
}

func TestMain(m *testing.M) {
	text := os.Getenv(jobVariable)
	if text == "" {
		// The webhook logs each delivery that gives no result: here most of them.
		slog.SetDefault(slog.New(slog.DiscardHandler))
		os.Exit(m.Run())
	}
	if err := runJob(text); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

func runJob(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	// The input ends when the parent says so, or when it is gone.
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if j.Serve {
		return invoicing.Serve(ctx, j.Config, func(addr net.Addr) { fmt.Println(addr) })
	}
	return handleOne(ctx, j)
}

// startChild starts a child process, with what it prints and what keeps it alive.
func startChild(t *testing.T, j job) (child *exec.Cmd, output io.Reader, alive io.Closer) {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	child = exec.Command(os.Args[0])
	child.Env = append(os.Environ(), jobVariable+"="+string(text))
	child.Stderr = os.Stderr
	if output, err = child.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if alive, err = child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	return child, output, alive
}

// handleOne handles the first order in a process that dies at one numbered step:
// before and after each write to the ledger, each commit and each call.
func handleOne(ctx context.Context, j job) error {
	store, err := sqlite.Open(ctx, j.Config.Database)
	if err != nil {
		return err
	}
	var s stopper
	s.left.Store(j.Stop)
	client := &http.Client{Transport: stoppingTransport{http.DefaultTransport, &s}}
	contracts := invoicing.New(idem.NewLedger[*sql.Tx](stoppingStore{store, &s}), &invoicing.Orders{
		Payments: invoicing.API{URL: j.Config.Payments, Client: client},
		CRM:      invoicing.API{URL: j.Config.CRM, Client: client},
		Chat:     invoicing.API{URL: j.Config.Chat, Client: client},
	})
	_, err = contracts.OrderPaid.Do(ctx, order(1))
	return err
}

// stopper kills its own process when its steps are used up.
type stopper struct{ left atomic.Int64 }

func (s *stopper) step() {
	if s.left.Add(-1) >= 0 {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

func around[T any](s *stopper, do func() (T, error)) (T, error) {
	s.step()
	defer s.step()
	return do()
}

type stoppingTransport struct {
	http.RoundTripper
	*stopper
}

func (t stoppingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return around(t.stopper, func() (*http.Response, error) { return t.RoundTripper.RoundTrip(r) })
}

type stoppingStore struct {
	*sqlite.Store
	s *stopper
}

func (s stoppingStore) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	return around(s.s, func() (idem.Claimed, error) { return s.Store.Claim(ctx, c) })
}

func (s stoppingStore) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return around(s.s, func() (idem.EffectWritten, error) { return s.Store.WriteEffect(ctx, e) })
}

func (s stoppingStore) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return around(s.s, func() (idem.Ended, error) { return s.Store.End(ctx, e) })
}

func (s stoppingStore) InTx(ctx context.Context, fn func(ctx context.Context, session idem.Session[*sql.Tx]) error) error {
	defer s.s.step()
	return s.Store.InTx(ctx, func(ctx context.Context, session idem.Session[*sql.Tx]) error {
		s.s.step()
		err := fn(ctx, session)
		s.s.step() // before the commit
		return err
	})
}
