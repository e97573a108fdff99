package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// app is an application's database with a ledger in it, and a table of its own.
type app struct {
	pool   *pgxpool.Pool
	store  *postgres.Store
	schema string // quoted
}

func newApp(t testing.TB, opts ...postgres.Option) app {
	t.Helper()
	pool := newPool(t)
	schema := newSchema(t, pool)
	store := openStore(t, pool, append(opts, postgres.WithSchema(schema))...)
	a := app{pool, store, pgx.Identifier{schema}.Sanitize()}
	mustExec(t, pool, a.sql(`CREATE TABLE $.orders (id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, note text UNIQUE)`))
	return a
}

// sql puts the schema where $. stands.
func (a app) sql(text string) string { return strings.ReplaceAll(text, "$.", a.schema+".") }

func claimOf(name string, token byte) idem.Claim {
	return idem.Claim{
		Fence: idem.Fence{ID: idem.HashWorkID([]byte(name)), Token: idem.Token{token}},
		Kind:  "kind", Version: 1, Lease: time.Minute, Budget: 3, Window: idem.For(time.Hour),
		Payload: idem.Body{Codec: idem.CodecJSON, Data: []byte(`{"n":1}`)},
	}
}

func mustWin(t testing.TB, s *postgres.Store, c idem.Claim) idem.Claimed {
	t.Helper()
	claimed, err := s.Claim(t.Context(), c)
	if err != nil || !claimed.Won {
		t.Fatalf("claim: won %t, %v", claimed.Won, err)
	}
	return claimed
}

func effectOf(f idem.Fence, state idem.EffectState) idem.EffectWrite {
	return idem.EffectWrite{Fence: f, EffectID: idem.EffectID{Name: "draft"}, Guard: idem.GuardTransaction, State: state, Key: "key", Live: true}
}

func doneOf(f idem.Fence) idem.End {
	return idem.End{Fence: f, State: idem.StateDone, Window: idem.For(time.Hour)}
}

func TestApplicationsWritesCommitWithTheEffectOrNotAtAll(t *testing.T) {
	a := newApp(t)
	c := claimOf("a", 1)
	mustWin(t, a.store, c)
	insert := func(fail error) error {
		return a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
			if _, err := s.WriteEffect(ctx, effectOf(c.Fence, idem.EffectDone)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Tx().Exec(ctx, a.sql(`INSERT INTO $.orders (note) VALUES ('draft')`)); err != nil {
				t.Fatal(err)
			}
			return fail
		})
	}
	rows := func() string {
		return scalar[string](t, a.pool, a.sql(`SELECT (SELECT count(*) FROM $.orders) || ' ' || (SELECT count(*) FROM $.effect_log)`))
	}
	if err := insert(errors.New("no")); err == nil || rows() != "0 0" {
		t.Errorf("after an error: %v, %s rows, want 0 0", err, rows())
	}
	if err := insert(nil); err != nil || rows() != "1 1" {
		t.Errorf("after a success: %v, %s rows, want 1 1", err, rows())
	}
}

func TestApplicationCannotEndTheLedgersTransaction(t *testing.T) {
	a := newApp(t)
	for what, end := range map[string]func(ctx context.Context, tx pgx.Tx) error{
		"Commit":   func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		"Rollback": func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) },
	} {
		err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
			if err := end(ctx, s.Tx()); !errors.Is(err, idem.ErrInTransaction) {
				t.Errorf("%s: got %v, want ErrInTransaction", what, err)
			}
			_, err := s.Tx().Exec(ctx, a.sql(`INSERT INTO $.orders (note) VALUES ($1)`), what)
			return err
		})
		if err != nil {
			t.Errorf("%s: the transaction did not go on: %v", what, err)
		}
	}
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		c := claimOf(end, 1)
		err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
			if _, err := s.Tx().Exec(ctx, end); err != nil {
				t.Fatal(err)
			}
			return nil
		})
		if !errors.Is(err, idem.ErrLedger) {
			t.Errorf("%s: got %v, want ErrLedger", end, err)
		}
		mustWin(t, a.store, c) // the pool works as before
	}
}

// PostgreSQL takes nothing more after an error, and answers COMMIT by rolling back.
func TestNothingCommitsAfterAStatementThatFailed(t *testing.T) {
	a := newApp(t)
	mustExec(t, a.pool, a.sql(`INSERT INTO $.orders (note) VALUES ('first')`))
	c := claimOf("a", 1)
	err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
		if _, err := s.Claim(ctx, c); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Tx().Exec(ctx, a.sql(`INSERT INTO $.orders (note) VALUES ('first')`)); err == nil {
			t.Error("the statement did not fail")
		}
		return nil // an application that does not look at the error
	})
	if !errors.Is(err, idem.ErrLedger) {
		t.Errorf("got %v, want ErrLedger", err)
	}
	mustWin(t, a.store, c)
}

func TestASavepointOutlivesAStatementThatFailed(t *testing.T) {
	a := newApp(t)
	mustExec(t, a.pool, a.sql(`INSERT INTO $.orders (note) VALUES ('first')`))
	err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
		err := s.Savepoint(ctx, func(ctx context.Context) error {
			_, err := s.Tx().Exec(ctx, a.sql(`INSERT INTO $.orders (note) VALUES ('first')`))
			return err
		})
		var cause *pgconn.PgError
		if !errors.As(err, &cause) || cause.Code != "23505" {
			t.Errorf("got %v, want the unique violation", err)
		}
		_, err = s.Tx().Exec(ctx, a.sql(`INSERT INTO $.orders (note) VALUES ('second')`))
		return err
	})
	if n := scalar[int](t, a.pool, a.sql(`SELECT count(*) FROM $.orders`)); err != nil || n != 2 {
		t.Errorf("%d orders, %v, want 2", n, err)
	}
}

func TestStoreCalledInsideItsOwnTransactionIsRefused(t *testing.T) {
	a := newApp(t)
	err := a.store.InTx(t.Context(), func(ctx context.Context, session idem.Session[pgx.Tx]) error {
		_, claimErr := a.store.Claim(ctx, claimOf("a", 1))
		_, renewErr := a.store.Renew(context.WithoutCancel(ctx), []idem.Lease{{Fence: claimOf("a", 1).Fence, For: time.Second}})
		txErr := a.store.InTx(ctx, func(context.Context, idem.Session[pgx.Tx]) error { return nil })
		for i, err := range []error{claimErr, renewErr, txErr} {
			if !errors.Is(err, idem.ErrInTransaction) {
				t.Errorf("call %d: got %v, want ErrInTransaction", i, err)
			}
		}
		_, err := a.store.Lookup(ctx, claimOf("a", 1).ID)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestGoexitInsideATransactionGivesTheConnectionBack(t *testing.T) {
	a := newApp(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
			runtime.Goexit() // as a failing assertion of the testing package does
			return nil
		})
	}()
	<-done
	if n := a.pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections were not given back", n)
	}
}

// held claims work in a transaction that stays open until the function it returns
// is called, with how it ends.
func (a app) held(t *testing.T, c idem.Claim) (release func(error)) {
	t.Helper()
	claimed, end, over := make(chan bool), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		_ = a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
			_, err := s.Claim(ctx, c)
			claimed <- err == nil
			select {
			case ended := <-end:
				return errors.Join(err, ended)
			case <-ctx.Done(): // the test has failed
				return ctx.Err()
			}
		})
	}()
	if !<-claimed {
		t.Fatal("the claim failed")
	}
	return func(err error) {
		end <- err
		<-over
	}
}

func TestWaitingForALockEnds(t *testing.T) {
	a := newApp(t, postgres.WithLockTimeout(50*time.Millisecond))
	release := a.held(t, claimOf("a", 1))
	_, err := a.store.Claim(t.Context(), claimOf("a", 2))
	var cause *pgconn.PgError
	if !errors.Is(err, idem.ErrLedger) || !errors.As(err, &cause) || cause.Code != "55P03" {
		t.Errorf("got %v, want ErrLedger with lock_not_available", err)
	}
	release(errors.New("undone"))
	mustWin(t, a.store, claimOf("a", 2))
}

// A clock that takes its time makes every statement of a claim take as long.
func TestASlowStatementEnds(t *testing.T) {
	pool := newPool(t)
	schema := postgres.WithSchema(newSchema(t, pool))
	c := claimOf("a", 1)
	slow := openStore(t, pool, schema, postgres.WithLockTimeout(time.Millisecond), postgres.WithStatementTimeout(100*time.Millisecond),
		postgres.WithClock(`(SELECT clock_timestamp() FROM pg_sleep(5))`))
	start := time.Now()
	_, err := slow.Claim(t.Context(), c)
	var cause *pgconn.PgError
	if !errors.Is(err, idem.ErrLedger) || !errors.As(err, &cause) || cause.Code != "57014" {
		t.Errorf("got %v, want ErrLedger with query_canceled", err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
	mustWin(t, openStore(t, pool, schema), c)
}

// To compile one takes longer than a thousand of them.
func TestTheLedgersStatementsAreNotCompiled(t *testing.T) {
	pool := newPool(t)
	schema := postgres.WithSchema(newSchema(t, pool))
	// A time that there is not, where they might be.
	s := openStore(t, pool, schema, postgres.WithClock(`(SELECT CASE current_setting('jit') WHEN 'off' THEN clock_timestamp() END)`))
	mustWin(t, s, claimOf("in a batch", 1))
	alone := claimOf("alone", 1)
	alone.Mark = idem.NewMark([]byte("series"), 1)
	mustWin(t, s, alone)
}

func TestTimeoutsOfNothingAreRefused(t *testing.T) {
	pool := newPool(t)
	for what, option := range map[string]postgres.Option{
		"locks": postgres.WithLockTimeout(0), "statements": postgres.WithStatementTimeout(time.Microsecond),
	} {
		if _, err := postgres.Open(t.Context(), pool, option); err == nil || !strings.Contains(err.Error(), "the timeout for "+what+" is at least a millisecond") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// The time was read before the wait: see claimedNew.
func TestAClaimThatWaitedHasItsWholeLease(t *testing.T) {
	a := newApp(t)
	for what, end := range map[string]error{"rolled back": errors.New("undone"), "committed": nil} {
		holder := claimOf(what, 1)
		holder.Lease = time.Millisecond
		release := a.held(t, holder)
		waiter := claimOf(what, 2)
		waiter.Lease = 300 * time.Millisecond
		result := make(chan idem.Claimed)
		go func() {
			claimed, err := a.store.Claim(t.Context(), waiter)
			if err != nil {
				t.Error(err)
			}
			result <- claimed
		}()
		a.waitForWaiters(t, 1)
		time.Sleep(400 * time.Millisecond) // longer than the lease
		release(end)
		claimed := <-result
		left := claimed.Work.LockedUntil.Sub(scalar[time.Time](t, a.pool, `SELECT clock_timestamp()`))
		if !claimed.Won || left <= 0 {
			t.Errorf("%s: won %t, and the lease lasts %v more", what, claimed.Won, left)
		}
	}
}

// waitForWaiters waits until so many backends wait for a lock.
func (a app) waitForWaiters(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		waiting := scalar[int](t, a.pool, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
		if waiting >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d wait for a lock, want %d", waiting, n)
		}
	}
}

func TestARenewalSkipsWhatIsLocked(t *testing.T) {
	a := newApp(t)
	locked, free := claimOf("locked", 1), claimOf("free", 2)
	mustWin(t, a.store, locked)
	mustWin(t, a.store, free)
	err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
		if _, err := s.WriteEffect(ctx, effectOf(locked.Fence, idem.EffectStarted)); err != nil {
			return err
		}
		renewals, err := a.store.Renew(t.Context(), []idem.Lease{{Fence: locked.Fence, For: time.Hour}, {Fence: free.Fence, For: time.Hour}})
		if err != nil || renewals[0] != idem.RenewalUnknown || renewals[1] != idem.Renewed {
			t.Errorf("got %v (%v), want the first left as it is", renewals, err)
		}
		renewals, err = s.Renew(ctx, []idem.Lease{{Fence: locked.Fence, For: time.Hour}})
		if err == nil && renewals[0] != idem.Renewed {
			t.Errorf("inside the transaction: got %v", renewals)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// In a transaction what was read of a series must hold until the commit.
func TestNewerWorkWaitsForATransactionThatHasSeenNone(t *testing.T) {
	a := newApp(t)
	six, seven := claimOf("six", 1), claimOf("seven", 2)
	six.Mark, seven.Mark = idem.NewMark([]byte("invoice"), 6), idem.NewMark([]byte("invoice"), 7)
	mustWin(t, a.store, seven)
	release := a.held(t, six)
	ended := make(chan error, 1)
	go func() {
		end := doneOf(seven.Fence)
		end.Mark = seven.Mark
		_, err := a.store.End(t.Context(), end)
		ended <- err
	}()
	a.waitForWaiters(t, 1)
	select {
	case err := <-ended:
		t.Errorf("newer work was done meanwhile: %v", err)
	default:
	}
	release(nil)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	claimed, err := a.store.Claim(t.Context(), func() idem.Claim { c := claimOf("five", 3); c.Mark = idem.NewMark([]byte("invoice"), 5); return c }())
	if err != nil || claimed.Work.SupersededBy != seven.ID {
		t.Errorf("older work: %+v, %v, want it superseded by the seventh", claimed.Work, err)
	}
}

// Pieces of what was one work: with another's claim half done neither may be taken
// for the other, nor get a row of its own and the other's too.
func TestClaimsUnderOneFormerNameTakeTurns(t *testing.T) {
	a := newApp(t)
	claims := make([]idem.Claim, 12)
	for i := range claims {
		claims[i] = claimOf(fmt.Sprint("line ", i), byte(i+1))
		claims[i].Version = 2
		claims[i].Predecessors = []idem.Predecessor{{ID: claimOf("order", 0).ID, Version: 1}}
	}
	rows := make(chan idem.WorkID, len(claims))
	for _, c := range claims {
		go func() {
			claimed, err := a.store.Claim(t.Context(), c)
			if err != nil || !claimed.Won {
				t.Errorf("claim: won %t, %v", claimed.Won, err)
			}
			rows <- claimed.Work.ID
		}()
	}
	seen := map[idem.WorkID]bool{}
	for range claims {
		seen[<-rows] = true
	}
	if len(seen) != len(claims) {
		t.Errorf("%d rows for %d works", len(seen), len(claims))
	}
}

// A name is given to a row while a program that knows nothing of it claims under
// that name.
func TestANameIsNeverARowToo(t *testing.T) {
	a := newApp(t)
	for i := range 40 {
		name, old := fmt.Sprint("new ", i), fmt.Sprint("old ", i)
		plain, honours := claimOf(name, 1), claimOf(name, 2)
		plain.Version, honours.Version = 2, 2
		honours.Predecessors = []idem.Predecessor{{ID: claimOf(old, 0).ID, Version: 1}}
		var winners atomic.Int64
		done := make(chan struct{}, 2)
		for _, c := range []idem.Claim{plain, honours} {
			go func() {
				defer func() { done <- struct{}{} }()
				claimed, err := a.store.Claim(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				if claimed.Won {
					winners.Add(1)
				}
			}()
		}
		<-done
		<-done
		if n := winners.Load(); n != 1 {
			t.Fatalf("round %d: %d claims of one work were won", i, n)
		}
	}
}

// cutter loses the connection after the server has got a COMMIT, or a batch, which is
// committed when it is over, before the answer.
type cutter struct {
	net.Conn
	armed *atomic.Bool
	cut   bool
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	commits := strings.Contains(string(b), "commit\x00") || strings.Contains(string(b), "'transaction_isolation'")
	if commits && c.armed.CompareAndSwap(true, false) {
		c.cut = true
	}
	return n, err
}

func (c *cutter) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.cut {
		c.Conn.Close()
		return 0, errors.New("connection reset by the test")
	}
	return n, err
}

func TestLostAcknowledgementOfACommit(t *testing.T) {
	var armed atomic.Bool
	a := newApp(t)
	pool := newPool(t, func(c *pgxpool.Config) {
		// So that a batch's commit is sent by its text, with all that comes before it.
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			return &cutter{Conn: conn, armed: &armed}, err
		}
	})
	schema := strings.ReplaceAll(strings.Trim(a.schema, `"`), `""`, `"`)
	store, err := postgres.Open(t.Context(), pool, postgres.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	lose := func(what string, write func() error, want error) {
		t.Helper()
		armed.Store(true)
		if err := write(); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
		if armed.Load() {
			t.Fatalf("%s: nothing was cut", what)
		}
	}
	// What a batch may have done is tried again alone, and recognised.
	c := claimOf("a", 1)
	lose("claim", func() error { mustWin(t, store, c); return nil }, nil)
	claimed := mustWin(t, store, c) // by its token
	if claimed.Work.Attempt != 1 || claimed.Work.BudgetLeft != c.Budget-1 {
		t.Errorf("attempt %d with %d left, want that it was counted once", claimed.Work.Attempt, claimed.Work.BudgetLeft)
	}
	e := effectOf(c.Fence, idem.EffectStarted)
	e.Calls = 1
	lose("effect", func() error { _, err := store.WriteEffect(t.Context(), e); return err }, nil)
	if n := scalar[string](t, a.pool, a.sql(`SELECT count(*) || ' ' || max(calls) FROM $.effect_log`)); n != "1 1" {
		t.Errorf("effects and calls: %s, want 1 1", n)
	}
	lose("end", func() error { _, err := store.End(t.Context(), doneOf(c.Fence)); return err }, idem.ErrLeaseLost)
	if work, err := store.Lookup(t.Context(), c.ID); err != nil || work.State != idem.StateDone {
		t.Errorf("the work is %q, %v", work.State, err)
	}
	honours := claimOf("b", 1) // which is claimed alone
	honours.Version, honours.Predecessors = 2, []idem.Predecessor{{ID: claimOf("former", 0).ID, Version: 1}}
	lose("claim alone", func() error { _, err := store.Claim(t.Context(), honours); return err }, idem.ErrLedger)
	if again := mustWin(t, store, honours); again.Work.Attempt != 1 {
		t.Errorf("attempt %d, want that it was counted once", again.Work.Attempt)
	}
	lose("transaction", func() error {
		return store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
			_, err := s.Tx().Exec(ctx, a.sql(`INSERT INTO $.orders (note) VALUES ('once')`))
			return err
		})
	}, idem.ErrLedger)
}

// A connection that the server ends is an error of the ledger, and the next call
// has another.
func TestAConnectionThatWasEndedIsReplaced(t *testing.T) {
	a := newApp(t)
	err := a.store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
		var pid int
		if err := s.Tx().QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
			t.Fatal(err)
		}
		mustExec(t, a.pool, `SELECT pg_terminate_backend($1)`, pid)
		_, err := s.Claim(ctx, claimOf("a", 1))
		if !errors.Is(err, idem.ErrLedger) {
			t.Errorf("claim: got %v, want ErrLedger", err)
		}
		return nil
	})
	if !errors.Is(err, idem.ErrLedger) {
		t.Errorf("got %v, want ErrLedger", err)
	}
	mustWin(t, a.store, claimOf("a", 1))
}

func TestTheServersDefaultsDoNotWeakenTheLedger(t *testing.T) {
	pool := newPool(t, func(c *pgxpool.Config) {
		for name, value := range map[string]string{
			"synchronous_commit": "off", "default_transaction_isolation": "serializable", "default_transaction_read_only": "on",
			"search_path": "nowhere", "TimeZone": "Asia/Kathmandu",
		} {
			c.ConnConfig.RuntimeParams[name] = value
		}
	})
	admin := newPool(t)
	schema := newSchema(t, admin)
	store := openStore(t, pool, postgres.WithSchema(schema))
	err := store.InTx(t.Context(), func(ctx context.Context, s idem.Session[pgx.Tx]) error {
		var durable, isolation string
		err := s.Tx().QueryRow(ctx, `SELECT current_setting('synchronous_commit'), current_setting('transaction_isolation')`).Scan(&durable, &isolation)
		if durable != "on" || isolation != "read committed" {
			t.Errorf("synchronous_commit is %s at %s", durable, isolation)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c := claimOf("a", 1)
	claimed := mustWin(t, store, c)
	if at := claimed.Work.CreatedAt; at.Location() != time.UTC || time.Since(at).Abs() > time.Minute {
		t.Errorf("created at %v", at)
	}
	if _, err := store.End(t.Context(), doneOf(c.Fence)); err != nil {
		t.Error(err)
	}
	if got := scalar[string](t, pool, `SELECT current_setting('synchronous_commit')`); got != "off" {
		t.Errorf("the session's synchronous_commit was left %s", got)
	}
}
