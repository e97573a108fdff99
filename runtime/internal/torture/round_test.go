package torture

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// trouble is what goes wrong in a round, beside that processes are killed.
type trouble string

const (
	noTrouble      trouble = "kills alone"
	processStopped trouble = "processes stopped across their leases"
	memoryShort    trouble = "a provider that forgets keys"
	clocksApart    trouble = "clocks minutes apart"
	diskFull       trouble = "a disk that is full"
	serverCrash    trouble = "a server stopped at once and started again"
	backendKilled  trouble = "processes of the server killed"
	connectionCut  trouble = "connections cut, and acknowledgements of commits"
	simpleProtocol trouble = "the simple protocol"
)

// host has the ledger of a round.
type host interface {
	// target is what a victim is told.
	target(r *round) target
	// quiet leads to the ledger past all trouble.
	quiet(r *round) target
	// disturb makes the round's trouble until ctx ends, and has made it good then.
	disturb(ctx context.Context, r *round) error
	// database is for looking; prefix goes before the names of the ledger's tables.
	database(ctx context.Context) (db *sql.DB, prefix string, err error)
	// check is what the database says about itself.
	check(ctx context.Context, db *sql.DB) error
	// keep puts what the ledger holds into the round's folder.
	keep(ctx context.Context, r *round) error
}

// round is one ledger and what is done to it.
type round struct {
	t       *testing.T
	trouble trouble
	kills   int
	dir     string
	log     *logbook

	host     host
	source   *source
	provider *provider

	victims int // at once
	workers int // of each
	// encrypted: each process writes with one of two keys.
	encrypted bool
	stderr    *os.File

	lives    atomic.Int64
	troubles atomic.Int64 // how often the trouble came

	mu   sync.Mutex
	dice *rand.Rand
}

// killed is how many victims there were.
func (r *round) killed() int { return int(r.lives.Load()) - r.victims }

// draw gives a number below n.
func (r *round) draw(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dice.IntN(n)
}

// remembersFor is how long the provider is declared to remember keys.
func (r *round) remembersFor() time.Duration {
	if r.trouble == memoryShort {
		return 2 * time.Second
	}
	return 24 * time.Hour
}

// newRound lays a round out. Its folder has a short name, for a socket is in it.
func newRound(t *testing.T, trouble trouble, kills int, seed uint64, number int, newHost func(t *testing.T, r *round) host) *round {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, uint64(number)))
	dir, err := os.MkdirTemp("", "idem-torture-")
	if err != nil {
		t.Fatal(err)
	}
	r := &round{t: t, trouble: trouble, kills: kills, dir: dir, dice: dice, victims: 2 + dice.IntN(3), workers: 1 + dice.IntN(8), encrypted: dice.IntN(2) == 0}
	if r.log, err = newLogbook(dir); err != nil {
		t.Fatal(err)
	}
	if r.stderr, err = os.OpenFile(filepath.Join(dir, "victims.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		t.Fatal(err)
	}
	others := func() *rand.Rand { return rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64())) }
	// The provider keeps keys for longer than it says, as the time that a call
	// needs to reach it counts.
	r.provider = newProvider(r.log, others(), 2*r.remembersFor(), dice.IntN(2) == 0)
	r.source = newSource(r.log, others(), 100+dice.IntN(200))
	r.log.printf("round %d of seed %d: %d kills, %s, %d victims of %d workers, encrypted: %t", number, seed, kills, trouble, r.victims, r.workers, r.encrypted)
	t.Cleanup(r.clean)
	r.host = newHost(t, r)
	t.Cleanup(r.keep) // before what the host has is gone
	return r
}

// keep puts the ledger of a round in which something was found beside its log.
func (r *round) keep() {
	if !r.t.Failed() {
		return
	}
	if err := r.host.keep(context.WithoutCancel(r.t.Context()), r); err != nil {
		r.t.Errorf("the ledger could not be kept: %v", err)
	}
}

// clean removes the round's files, unless something was found.
func (r *round) clean() {
	if err := errors.Join(r.log.close(), r.stderr.Close()); err != nil {
		r.t.Errorf("the log: %v", err)
	}
	if r.t.Failed() {
		r.t.Logf("the files of this round are in %s", r.dir)
		return
	}
	if err := os.RemoveAll(r.dir); err != nil {
		r.t.Error(err)
	}
}

// run kills, brings all work to its end, and looks at what came of it.
func (r *round) run() sums {
	desk, err := openDesk(filepath.Join(r.dir, "s"), r.source, r.provider)
	if err != nil {
		r.t.Fatal(err)
	}
	r.killAll()
	r.source.close()
	s := r.finish()
	if err := desk.close(); err != nil {
		r.t.Error(err)
	}
	return s
}

// killAll starts victims and kills them, until there were enough.
func (r *round) killAll() {
	ctx, cancel := context.WithCancel(r.t.Context())
	var trouble, slots sync.WaitGroup
	trouble.Go(func() {
		if err := r.host.disturb(ctx, r); err != nil {
			r.t.Errorf("%s: %v", r.trouble, err)
		}
	})
	for range r.victims {
		slots.Go(func() {
			for {
				life := int(r.lives.Add(1))
				if life > r.kills && r.troubled() || r.t.Failed() {
					return
				}
				r.live(life)
			}
		})
	}
	slots.Wait()
	cancel()
	trouble.Wait()
}

// troubled: the trouble of the round has come at least once, or is there all the
// time.
func (r *round) troubled() bool {
	switch r.trouble {
	case diskFull, serverCrash, backendKilled, connectionCut, processStopped:
		return r.troubles.Load() > 0
	}
	return true
}

// live is one life of a victim. The first ones make the ledger, and most of them
// are killed over it.
func (r *round) live(life int) {
	began := r.source.begins(life)
	migrates := life <= 2*r.victims
	job, err := json.Marshal(job{
		Victim: life, Socket: filepath.Join(r.dir, "s"), Target: r.host.target(r).of(r), Workers: r.workers, Migrate: migrates,
	})
	if err != nil {
		r.t.Error(err)
		return
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(job), "GORACE=halt_on_error=1")
	cmd.Stdout, cmd.Stderr = r.stderr, r.stderr
	r.log.printf("victim %d starts", life)
	if err := cmd.Start(); err != nil {
		r.t.Error(err)
		return
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	if migrates && life <= r.victims {
		time.Sleep(time.Duration(r.draw(60_000)) * time.Microsecond)
	} else {
		r.await(life, began, exited)
		time.Sleep(time.Duration(r.draw(50_000)) * time.Microsecond)
	}
	if r.trouble == processStopped && (r.draw(20) == 0 || life == r.kills) {
		r.stop(cmd.Process, life)
	}
	r.log.printf("victim %d is killed", life)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.t.Error(err)
	}
	var exit *exec.ExitError
	if err := <-exited; !errors.As(err, &exit) || exit.Exited() {
		r.t.Errorf("victim %d ended before it was killed: %v; see victims.log", life, err)
	}
}

// await waits until a victim has its first work, or has made its first call. A
// moment is counted from there, so that a busy machine is no different.
func (r *round) await(life int, began beginning, exited chan error) {
	r.awaitOne(began.delivered, exited, 2*time.Minute, func() { r.t.Errorf("victim %d has done nothing for minutes", life) })
	if r.draw(3) > 0 {
		// It may have nothing to call for.
		r.awaitOne(began.called, exited, lease/2, func() {})
	}
}

func (r *round) awaitOne(began <-chan struct{}, exited chan error, most time.Duration, late func()) {
	select {
	case <-began:
	case err := <-exited:
		exited <- err
	case <-time.After(most):
		late()
	}
}

// stop holds a process up for longer than its leases: it goes on as a stale owner.
func (r *round) stop(p *os.Process, life int) {
	r.log.printf("victim %d is stopped", life)
	r.troubles.Add(1)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return // it is dead, which the caller reports
	}
	time.Sleep(lease + time.Duration(r.draw(600))*time.Millisecond)
	r.log.printf("victim %d goes on", life)
	_ = p.Signal(syscall.SIGCONT)
	time.Sleep(time.Duration(r.draw(100)) * time.Millisecond)
}

// of completes a target with what is the round's.
func (t target) of(r *round) target {
	t.RemembersFor = r.remembersFor()
	if r.encrypted {
		t.Key = keys[r.draw(len(keys))]
	}
	return t
}
