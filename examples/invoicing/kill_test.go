package invoicing_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing"
	idem "github.com/idemgen/idem/runtime"
)

const (
	killsVariable = "IDEM_KILLS" // how often to kill; 25 without
	seedVariable  = "IDEM_SEED"  // of the moments; a new one without
)

// TestNothingIsLostOrDoubledHoweverOftenTheProgramIsKilled runs the program in a
// process that is killed again and again, at random moments, while a source
// delivers every order twice at once, and delivers again what was not
// acknowledged. The services live on and count.
func TestNothingIsLostOrDoubledHoweverOftenTheProgramIsKilled(t *testing.T) {
	kills := int(number(t, killsVariable, 25))
	seed := number(t, seedVariable, rand.Int64())
	t.Logf("%s=%d %s=%d", killsVariable, kills, seedVariable, seed)
	began := time.Now()

	s := newServices(t, time.Now)
	s.crm.Lag = 200 * time.Millisecond
	for _, control := range []interface{ SetDelay(time.Duration) }{&s.payments, &s.crm, &s.chat} {
		control.SetDelay(3 * time.Millisecond) // so that processes die in calls, too
	}
	program := &program{t: t, job: job{Serve: true, Config: invoicing.Config{
		Listen: "127.0.0.1:0", Database: filepath.Join(t.TempDir(), "invoicing.db"), Secret: []byte("secret"),
		Payments: s.paymentsURL, CRM: s.crmURL, Chat: s.chatURL,
	}}}
	source := newSource(t, program)
	// Most of them wait to be delivered again: so many, that there is work to be hit.
	source.start(64)
	moments := rand.New(rand.NewPCG(uint64(seed), 0))
	for n := range kills {
		program.start()
		s.awaitCalls(1+moments.IntN(20), 2*time.Second)
		time.Sleep(time.Duration(moments.IntN(30_000)) * time.Microsecond)
		program.kill()
		if (n+1)%100 == 0 {
			t.Logf("%d kills, %d orders, %s", n+1, source.orders.Load(), time.Since(began).Round(time.Second))
		}
	}
	program.start()
	source.finish(2 * time.Minute)
	program.stop()

	audit(t, program.job.Config.Database, s, source, kills, time.Since(began))
}

func number(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// program is the process that is killed and started again.
type program struct {
	t       *testing.T
	job     job
	child   *exec.Cmd
	alive   io.Closer
	address atomic.Pointer[string]
}

func (p *program) start() {
	p.t.Helper()
	child, output, alive := startChild(p.t, p.job)
	p.child, p.alive = child, alive
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		p.t.Fatalf("the program did not start: %v", errors.Join(err, child.Wait()))
	}
	address := "http://" + strings.TrimSpace(line)
	p.address.Store(&address)
}

func (p *program) kill() {
	p.t.Helper()
	if err := p.child.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.child.Wait(); !errors.As(err, &exit) || exit.Exited() {
		p.t.Fatalf("the program ended before it was killed: %v", err)
	}
	_ = p.alive.Close()
}

// stop lets the program end by itself.
func (p *program) stop() {
	p.t.Helper()
	if err := errors.Join(p.alive.Close(), p.child.Wait()); err != nil {
		p.t.Errorf("the program did not stop well: %v", err)
	}
}

// awaitCalls waits until the services have applied so many calls more: a life is
// measured in work and not in time, so that a busy machine is no different.
func (s *services) awaitCalls(n int, most time.Duration) {
	total := func() int { return s.payments.Total() + s.crm.Total() + s.chat.Total() }
	until := total() + n
	for end := time.Now().Add(most); total() < until && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// source delivers at least once: again and again, until it is told not to.
type source struct {
	t       *testing.T
	program *program
	client  http.Client
	ctx     context.Context
	cancel  context.CancelFunc
	ending  atomic.Bool
	workers sync.WaitGroup

	orders     atomic.Int64 // from 1 to this one
	deliveries atomic.Int64
}

func newSource(t *testing.T, p *program) *source {
	s := &source{t: t, program: p, client: http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second,
	}}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	t.Cleanup(func() {
		s.cancel()
		s.workers.Wait()
	})
	return s
}

// start lets orders come in, so many at a time.
func (s *source) start(atOnce int) {
	for range atOnce {
		s.workers.Go(func() {
			time.Sleep(rand.N(time.Second)) // not all at the same moment
			for !s.ending.Load() && s.ctx.Err() == nil {
				n := int(s.orders.Add(1))
				var twice sync.WaitGroup
				for range 2 {
					twice.Go(func() { s.deliver(n) })
				}
				twice.Wait()
			}
		})
	}
}

// finish lets no more orders come in, and waits until all are acknowledged, or
// wait for a person.
func (s *source) finish(patience time.Duration) {
	s.ending.Store(true)
	stop := time.AfterFunc(patience, s.cancel)
	defer stop.Stop()
	s.workers.Wait()
}

// deliver delivers an order until it is acknowledged.
func (s *source) deliver(n int) {
	for s.ctx.Err() == nil {
		pause, settled := s.deliverOnce(n)
		if settled {
			return
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
		}
	}
}

// deliverOnce makes one delivery. A status of 500 says that a person has to look:
// a real source would go on for hours and then give up.
func (s *source) deliverOnce(n int) (pause time.Duration, settled bool) {
	s.deliveries.Add(1)
	const shortly = 20 * time.Millisecond
	address := s.program.address.Load()
	if address == nil {
		return shortly, false // not started for the first time
	}
	body, err := json.Marshal(order(n))
	if err != nil {
		s.t.Error(err)
		return 0, true
	}
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, *address+"/webhooks/order-paid", bytes.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0, true
	}
	r.Header.Set(invoicing.SignatureHeader, invoicing.Sign(s.program.job.Config.Secret, body))
	answer, err := s.client.Do(r)
	if err != nil {
		return backoff(), false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return backoff(), false
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusInternalServerError:
		return 0, true
	case http.StatusConflict, http.StatusServiceUnavailable:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return max(shortly, time.Duration(seconds)*time.Second), false
	}
	s.t.Errorf("order %d: status %d: %s", n, answer.StatusCode, text)
	return 0, true
}

// backoff is how long the source waits if nobody answered. It is spread over a
// lease and more, so that not all orders come back in one life.
func backoff() time.Duration { return rand.N(6 * time.Second) }

// audit holds what happened against what the guards promise, and logs the sums.
func audit(t *testing.T, path string, s *services, source *source, kills int, took time.Duration) {
	t.Helper()
	db, ledger, err := invoicing.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(ledger.Close(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	}()
	contracts := invoicing.New(ledger, new(invoicing.Orders))
	works, drafts := readWorks(t, db), readDrafts(t, db)
	var sum sums
	for n := range int(source.orders.Load()) {
		in := order(n + 1)
		id, err := contracts.OrderPaid.ID(in)
		if err != nil {
			t.Fatal(err)
		}
		work := works[id.String()]
		got := counts{drafts[in.OrderID], s.payments.Applied(in.OrderID), s.crm.Applied(in.Customer), s.chat.Applied(strconv.Itoa(n + 1))}
		sum.add(work, got)
		for _, broken := range brokenPromises(work, got) {
			t.Errorf("%s is %q after %d lost leases, with %+v: %s", in.OrderID, work.state, work.lostLeases, got, broken)
		}
	}
	if len(works) != sum.orders {
		t.Errorf("%d works for %d orders", len(works), sum.orders)
	}
	// The promise allows one per lost lease. But a killed process sends nothing any
	// more and the search lags less than declared, so that hardly any is due.
	if extra := sum.notes - sum.orders; extra > 1+sum.lostLeases/50 {
		t.Errorf("%d extra notes for %d lost leases: they are not looked for", extra, sum.lostLeases)
	}
	if sum.lostLeases == 0 {
		t.Error("no process died while it worked: the test shows nothing")
	}
	t.Logf(`%d kills in %s
	orders       %6d   each delivered twice at once, %d deliveries in all
	done         %6d
	unknown      %6d   of them with a message %d
	lost         %6d   after %d attempts at most
	drafts       %6d
	intents      %6d
	notes        %6d   for %d lost leases
	messages     %6d`,
		kills, took.Round(time.Second), sum.orders, source.deliveries.Load(), sum.done, sum.unknown, sum.unknownSent,
		sum.orders-sum.done-sum.unknown, sum.attempts, sum.drafts, sum.intents, sum.notes, sum.lostLeases, sum.messages)
}

// work is what the ledger says of an order.
type work struct {
	state          idem.State
	attempts       int
	lostLeases     int
	messageUnknown bool
}

// brokenPromises compares the effects of one order with the promise of each guard.
func brokenPromises(w work, got counts) (broken []string) {
	check := func(kept bool, promise string) {
		if !kept {
			broken = append(broken, promise)
		}
	}
	check(w.state == idem.StateDone || w.state == idem.StateUnknown, "work is done, or waits for a person: none is lost")
	check(got.drafts == 1, "transaction: exactly once")
	check(got.intents == 1, "idempotency_key: exactly once")
	check(got.notes >= 1 && got.notes <= 1+w.lostLeases, "find_first: once, and at most one extra per lost lease")
	check(got.messages <= 1, "once: never twice")
	check((w.state == idem.StateUnknown) == w.messageUnknown, "once: the message alone can be unknown")
	check(got.messages == 1 || w.state == idem.StateUnknown, "once: what was not sent is unknown")
	return broken
}

type sums struct {
	counts
	orders, done, unknown, unknownSent, lostLeases, attempts int
}

func (s *sums) add(w work, got counts) {
	s.orders++
	switch w.state {
	case idem.StateDone:
		s.done++
	case idem.StateUnknown:
		s.unknown++
		s.unknownSent += got.messages
	}
	s.lostLeases += w.lostLeases
	s.attempts = max(s.attempts, w.attempts)
	s.drafts += got.drafts
	s.intents += got.intents
	s.notes += got.notes
	s.messages += got.messages
}

func readWorks(t *testing.T, db *sql.DB) map[string]work {
	t.Helper()
	works := make(map[string]work)
	rows, err := db.QueryContext(t.Context(), `select work_id, state, attempt,
		(select count(*) from attempt_log a where a.work_id = w.work_id and a.outcome = 'abandoned'),
		exists (select 1 from effect_log e where e.work_id = w.work_id and e.effect = 'notify' and e.state = 'unknown')
		from work_log w`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var w work
		if err := rows.Scan(&id, &w.state, &w.attempts, &w.lostLeases, &w.messageUnknown); err != nil {
			t.Fatal(err)
		}
		works[id] = w
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return works
}

func readDrafts(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	drafts := make(map[string]int)
	rows, err := db.QueryContext(t.Context(), `select reference, count(*) from invoice_drafts group by reference`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var reference string
		var n int
		if err := rows.Scan(&reference, &n); err != nil {
			t.Fatal(err)
		}
		drafts[reference] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return drafts
}
