package torture

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// jobVariable holds the job of a process that is to be killed.
const jobVariable = "IDEM_TORTURE_JOB"

// job is what a victim does until it is killed.
type job struct {
	Victim  int
	Socket  string
	Target  target
	Workers int
	// Migrate makes the ledger first.
	Migrate bool
}

// target leads to a ledger, and says how to open it.
type target struct {
	SQLite   string // the file, or
	Postgres string // the URL
	// Ahead is what the process's clock is ahead of the host's.
	Ahead time.Duration
	// RemembersFor is how long the provider is said to remember keys.
	RemembersFor time.Duration
	// Key is which of the keys encrypts what is written; none: it is not encrypted.
	Key string
}

// keys are those that values may be encrypted with: all programs know both.
var keys = []string{"k1", "k2"}

// codecs are the steps of values by way of the target's ledger.
func (t target) codecs() ([]idem.Option, error) {
	if t.Key == "" {
		return nil, nil
	}
	var current idem.EncryptionKey
	var former []idem.EncryptionKey
	for _, id := range keys {
		secret := sha256.Sum256([]byte(id))
		key, err := idem.NewKey(secret[:])
		if err != nil {
			return nil, err
		}
		if named := (idem.EncryptionKey{ID: id, Key: key}); id == t.Key {
			current = named
		} else {
			former = append(former, named)
		}
	}
	encryption, err := idem.NewEncryption(current, former...)
	return []idem.Option{idem.WithCodecs(encryption)}, err
}

// opened is a ledger that this process has open.
type opened struct {
	works map[string]work
	// standing reads where work stands, without touching it.
	standing func(ctx context.Context, id idem.WorkID) (idem.Work, error)
	// What a person does.
	inspect func(ctx context.Context, id idem.WorkID) (idem.Inspection, error)
	resolve func(ctx context.Context, d idem.Decision, outcomes ...idem.Outcome) (idem.Resolved, error)
	replay  func(ctx context.Context, d idem.Decision, again idem.Again) error
	body    func(b idem.Body, at idem.Slot) ([]byte, error)
	close   func() error
}

// decode reads a value of a row of work_log.
func (o *opened) decode(b idem.Body, id idem.WorkID, part idem.Part, into any) error {
	data, err := o.body(b, idem.Slot{Work: id, Part: part})
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// openLedger is what an opened ledger can do, whatever the type of its transactions.
func openLedger[Tx any](ledger *idem.Ledger[Tx], store idem.Store[Tx], works map[string]work, close func()) *opened {
	return &opened{
		works: works, standing: store.Lookup, inspect: ledger.Inspect, resolve: ledger.Resolve, replay: ledger.Replay, body: ledger.OpenBody,
		close: func() error {
			defer close()
			return ledger.Close(context.Background())
		},
	}
}

func (t target) migrate(ctx context.Context) error {
	if t.SQLite != "" {
		return migrateSQLite(ctx, t.SQLite)
	}
	return migratePostgres(ctx, t.Postgres)
}

func (t target) open(ctx context.Context, c client) (*opened, error) {
	if t.SQLite != "" {
		return openSQLite(ctx, t, c)
	}
	return openPostgres(ctx, t, c)
}

// beVictim works until it is killed. It ends by itself only if it cannot go on,
// which is a failure, or if the process that started it is gone.
func beVictim(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return complain(err)
	}
	ctx := context.Background()
	c := client{j.Socket, j.Victim}
	orphaned, err := c.connect(ctx)
	if err != nil {
		return complain(err)
	}
	go func() {
		_, _ = orphaned.Read(make([]byte, 1)) // never answered
		os.Exit(0)
	}()
	if j.Migrate {
		persist(j.Victim, "migrate", func() error { return j.Target.migrate(ctx) })
	}
	var ledger *opened
	persist(j.Victim, "open", func() (err error) {
		ledger, err = j.Target.open(ctx, c)
		return err
	})
	failed := make(chan error)
	for range j.Workers {
		go func() { failed <- serve(ctx, c, ledger) }()
	}
	return complain(<-failed)
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "the victim cannot go on:", err)
	return 1
}

// persist tries until it works: a server may be down, and a disk full.
func persist(victim int, what string, do func() error) {
	for {
		err := do()
		if err == nil {
			return
		}
		fmt.Fprintf(os.Stderr, "victim %d: %s: %v\n", victim, what, err)
		time.Sleep(time.Duration(5+rand.IntN(20)) * time.Millisecond)
	}
}

// serve takes one delivery after the other.
func serve(ctx context.Context, c client, ledger *opened) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	for {
		d, err := conn.ask(request{Op: opNext, Victim: c.victim})
		switch {
		case err != nil:
			return err
		case d.Kind == "":
			time.Sleep(time.Duration(1+rand.IntN(4)) * time.Millisecond)
			continue
		}
		result, err := ledger.works[d.Kind].do(ctx, d.Subject)
		r := settlementOf(result, err)
		r.Op, r.Victim = opSettle, c.victim
		if _, err := conn.ask(r); err != nil {
			return err
		}
	}
}

// settlementOf says what a call of Do has come to.
func settlementOf(result receipt, err error) request {
	if err == nil {
		return request{Outcome: outcomeDone, Result: &result}
	}
	r := request{Outcome: outcomeAgain, Error: err.Error()}
	var e *idem.Error
	switch {
	case !errors.As(err, &e):
	case e.Reason == idem.ErrOutcomeUnknown && e.State == idem.StateUnknown, e.Reason == idem.ErrEffectDiverged:
		r.Outcome = outcomeUnknown
	case e.Kind == "parent" && strings.Contains(e.Error(), idem.ErrOutcomeUnknown.Error()):
		// A parent is not unknown itself: it asks again and again, until a person has
		// decided about its child.
		r.Outcome = outcomeUnknown
	case e.Reason == idem.ErrSuperseded:
		r.Outcome = outcomeOld
	case e.Reason == idem.ErrDead:
		r.Outcome = outcomeDead
	case e.Reason == idem.ErrRunning:
		r.Outcome = outcomeRunning
	}
	return r
}
