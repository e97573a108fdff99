//go:build unix

package stopped

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
	"github.com/idemgen/idem/runtime/sqlite"
)

var server = pgtest.New()

func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		if err := runJob(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(server.Main(m))
}

// promise is what a guard makes of a process that was stopped at a point: how often
// the effect has happened when both are over, and where the work ended.
type promise struct {
	guard   string
	at      point
	applied int
	state   idem.State
	result  string // who did it, as the second process was told
}

// The numbers are those of the README's table: once where it says exactly once, once
// more than that per lost lease for find_first, never twice for once.
var promises = []promise{
	{"transaction", beforeCall, 1, idem.StateDone, second},
	{"transaction", inTx, 1, idem.StateDone, second},

	{"idempotency_key", beforeCall, 1, idem.StateDone, second},
	{"idempotency_key", onItsWay, 1, idem.StateDone, second},
	{"idempotency_key", answered, 1, idem.StateDone, first},

	{"upsert", beforeCall, 1, idem.StateDone, second},
	{"upsert", onItsWay, 1, idem.StateDone, second},
	{"upsert", answered, 1, idem.StateDone, first},

	{"find_first", beforeCall, 1, idem.StateDone, second},
	{"find_first", onItsWay, 2, idem.StateDone, second}, // the one extra of a lost lease
	{"find_first", answered, 1, idem.StateDone, first},

	{"once, ask", beforeCall, 0, idem.StateUnknown, ""},
	{"once, ask", onItsWay, 1, idem.StateUnknown, ""},
	{"once, ask", answered, 1, idem.StateUnknown, ""},

	{"once, give_up", beforeCall, 0, idem.StateDone, "given up"},
	{"once, give_up", onItsWay, 1, idem.StateDone, "given up"},
	{"once, give_up", answered, 1, idem.StateDone, "given up"},

	{"once, repeat", beforeCall, 1, idem.StateDone, second},
	{"once, repeat", onItsWay, 2, idem.StateDone, second},
	{"once, repeat", answered, 2, idem.StateDone, second},

	{"repeatable", beforeCall, 1, idem.StateDone, second},
	{"repeatable", onItsWay, 2, idem.StateDone, second},
	{"repeatable", answered, 2, idem.StateDone, second},

	// A read has no effect; what counts is that the answer of the second, which is on
	// record, is not replaced by the late one of the first.
	{"read", beforeCall, 1, idem.StateDone, second},
	{"read", onItsWay, 2, idem.StateDone, second},
	{"read", answered, 2, idem.StateDone, second},
}

func TestAStoppedProcessBreaksNoPromiseOnSQLite(t *testing.T) {
	holdAll(t, promises, func(t *testing.T) (job, *sql.DB) {
		path := filepath.Join(t.TempDir(), "ledger.db")
		if err := sqlite.Migrate(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		return job{SQLite: path}, db
	})
}

// What differs between stores are locks, and so are the guards that are tried here.
func TestAStoppedProcessBreaksNoPromiseOnPostgres(t *testing.T) {
	var some []promise
	for _, p := range promises {
		if p.guard == "transaction" || p.guard == "find_first" || p.guard == "once, ask" {
			some = append(some, p)
		}
	}
	holdAll(t, some, func(t *testing.T) (job, *sql.DB) {
		at := server.Database(t)
		pool, err := pgxpool.New(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if err := postgres.Migrate(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("pgx", at)
		if err != nil {
			t.Fatal(err)
		}
		return job{Postgres: at}, db
	})
}

// holdAll runs several at a time: most of it is waiting for leases to end.
func holdAll(t *testing.T, list []promise, prepare func(t *testing.T) (job, *sql.DB)) {
	const together = 6
	places := make(chan struct{}, together)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, p := range list {
		j, db := prepare(t)
		t.Cleanup(func() { _ = db.Close() })
		if _, err := db.ExecContext(t.Context(), `CREATE TABLE drafts (who TEXT)`); err != nil {
			t.Fatal(err)
		}
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			for _, wrong := range p.hold(t.Context(), j, db) {
				t.Errorf("%s, stopped %s: %s", p.guard, p.at, wrong)
			}
		})
	}
}

// hold plays one promise, and says what has come out otherwise.
func (p promise) hold(ctx context.Context, j job, db *sql.DB) (wrong []string) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	world := newProvider(p.at, p.guard == "idempotency_key" || p.guard == "upsert")
	defer world.Close()
	j.Guard = p.guard
	stopped, err := start(ctx, j, world, first)
	if err != nil {
		return []string{err.Error()}
	}
	defer stopped.kill()
	select {
	case <-world.reached:
	case <-stopped.over:
		return []string{fmt.Sprintf("it ended before: %+v", stopped.report())}
	case <-ctx.Done():
		return []string{"the first process does not get there"}
	}
	if err := stopped.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return []string{err.Error()}
	}
	other, err := start(ctx, j, world, second)
	if err != nil {
		return []string{err.Error()}
	}
	defer other.kill()
	if p.at == inTx {
		// Nobody gets past a transaction that is open, however long that takes.
		if other.isOver(2 * lease) {
			return []string{fmt.Sprintf("the second process was done with an open transaction before it: %+v", other.report())}
		}
	} else if !other.isOver(time.Minute) {
		return []string{"the second process does not end"}
	}
	if err := stopped.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return []string{err.Error()}
	}
	// What it was about to send is sent late, if its own clock does not keep it.
	time.Sleep(100 * time.Millisecond)
	close(world.goOn)
	if !stopped.isOver(time.Minute) || !other.isOver(time.Minute) {
		return []string{"a process does not end"}
	}
	world.Close() // not before what was sent has happened, whoever hears of it
	return p.compare(ctx, db, world, stopped.report(), other.report())
}

func (p promise) compare(ctx context.Context, db *sql.DB, world *provider, stopped, other report) (wrong []string) {
	applied := world.count()
	var state string
	view := map[bool]string{true: "work_view", false: "idem.work_view"}[strings.Contains(fmt.Sprintf("%T", db.Driver()), "sqlite")]
	err := db.QueryRowContext(ctx, `SELECT state FROM `+view).Scan(&state)
	if err == nil && p.guard == "transaction" {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM drafts`).Scan(&applied)
	}
	if err != nil {
		return []string{err.Error()}
	}
	if applied != p.applied {
		wrong = append(wrong, fmt.Sprintf("it has happened %d times (%v), want %d", applied, world.applied, p.applied))
	}
	if idem.State(state) != p.state {
		wrong = append(wrong, fmt.Sprintf("the work is %s, want %s", state, p.state))
	}
	if !strings.HasPrefix(other.Ref, p.result) || (p.result == "") != (other.Ref == "") {
		wrong = append(wrong, fmt.Sprintf("the second process got %+v, want the result of %q", other, p.result))
	}
	if !strings.Contains(stopped.Error, idem.ErrLeaseLost.Error()) && p.at != inTx {
		wrong = append(wrong, fmt.Sprintf("the stopped process got %+v, want that its lease is lost", stopped))
	}
	if stopped.Ref != "" {
		wrong = append(wrong, fmt.Sprintf("the stopped process takes itself for the one who did it: %+v", stopped))
	}
	return wrong
}

// process is one that does a job.
type process struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	over chan struct{}
}

func start(ctx context.Context, j job, world *provider, who string) (*process, error) {
	j.Client = client{At: world.URL, Who: who}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, os.Args[0]), over: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, os.Stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.over)
		_ = p.cmd.Wait() // its report says how it went
	}()
	return p, nil
}

func (p *process) isOver(within time.Duration) bool {
	select {
	case <-p.over:
		return true
	case <-time.After(within):
		return false
	}
}

func (p *process) report() (r report) {
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		r.Error = fmt.Sprintf("it says %q: %v", p.out.String(), err)
	}
	return r
}

// kill ends it even if it is stopped.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be over
	<-p.over
}
