package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// atOnce runs fn n times at once.
func atOnce(n int, fn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { fn(i) })
	}
	all.Wait()
}

// transactions counts those that have written a table's rows as they are now.
func transactions(t *testing.T, pool *pgxpool.Pool, schema, table string) int {
	t.Helper()
	return scalar[int](t, pool, `SELECT count(DISTINCT xmin::text) FROM `+pgx.Identifier{schema, table}.Sanitize())
}

// In every mode of pgx, or what is written alone would go unnoticed.
func TestConcurrentWritesShareTransactions(t *testing.T) {
	const n, most = 300, 100
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeCacheDescribe,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			pool := newPool(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			schema := newSchema(t, pool)
			s := openStore(t, pool, postgres.WithSchema(schema))
			ctx := t.Context()
			claims := make([]idem.Claim, n)
			want := func(what, table string) {
				t.Helper()
				if got := transactions(t, pool, schema, table); got == 0 || got > most {
					t.Errorf("%d %s were made in %d transactions, want at most %d", n, what, got, most)
				}
			}
			atOnce(n, func(i int) {
				claims[i] = claimOf(fmt.Sprint(i), 1)
				claims[i].Token[0], claims[i].Token[1] = byte(i), byte(i>>8)
				if claimed, err := s.Claim(ctx, claims[i]); err != nil || !claimed.Won {
					t.Errorf("claim: won %t, %v", claimed.Won, err)
				}
			})
			want("claims", "work_log")
			atOnce(n, func(i int) {
				if _, err := s.WriteEffect(ctx, startOf(claims[i].Fence)); err != nil {
					t.Error(err)
				}
			})
			want("effects", "effect_log")
			atOnce(n, func(i int) {
				if _, err := s.End(ctx, doneOf(claims[i].Fence)); err != nil {
					t.Error(err)
				}
			})
			want("ends", "work_log")
		})
	}
}

// The database's integers have 32 bits. A number that has more is an error, in a crowd
// as well as alone, and no other number.
func TestANumberThatDoesNotFitIsNotCut(t *testing.T) {
	const n, tooMuch = 60, 1<<32 + 5
	s := openStore(t, newPool(t), postgres.WithSchema(newSchema(t, newPool(t))))
	ctx := t.Context()
	claims := make([]idem.Claim, n)
	atOnce(n, func(i int) {
		claims[i] = claimOf(fmt.Sprint(i), 1)
		claims[i].Token[0] = byte(i)
		if i%10 == 0 {
			claims[i].Budget = tooMuch
		}
		claimed, err := s.Claim(ctx, claims[i])
		if i%10 == 0 {
			if err == nil {
				t.Errorf("a budget of %d was taken, and %d are left", tooMuch, claimed.Work.BudgetLeft)
			}
		} else if err != nil || !claimed.Won {
			t.Errorf("claim: won %t, %v", claimed.Won, err)
		}
	})
	atOnce(n, func(i int) {
		if i%10 == 0 {
			return
		}
		e := startOf(claims[i].Fence)
		if i%10 == 1 {
			e.Calls = tooMuch
		}
		if _, err := s.WriteEffect(ctx, e); (err != nil) != (i%10 == 1) {
			t.Errorf("an effect of %d calls: %v", e.Calls, err)
		}
	})
}

// Where the connection's transactions are of another kind the ledger begins its own.
func TestConcurrentWritesShareTransactionsOfAnyDefault(t *testing.T) {
	for setting, value := range map[string]string{"default_transaction_isolation": "serializable", "default_transaction_read_only": "on"} {
		t.Run(setting, func(t *testing.T) {
			pool := newPool(t, func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams[setting] = value })
			schema := newSchema(t, newPool(t))
			s := openStore(t, pool, postgres.WithSchema(schema))
			mustWin(t, s, claimOf("first", 1))
			const n, most = 200, 70
			atOnce(n, func(i int) {
				c := claimOf(fmt.Sprint(i), 1)
				c.Token[0], c.Token[1] = byte(i), byte(i>>8)
				mustWin(t, s, c)
			})
			if got := transactions(t, pool, schema, "work_log"); got > most {
				t.Errorf("%d claims were made in %d transactions, want at most %d", n, got, most)
			}
		})
	}
}

// What is refused at the commit is refused, whatever the statements before have said.
func TestWhatCannotBeCommittedWasNotWritten(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec} {
		t.Run(mode.String(), func(t *testing.T) {
			pool := newPool(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			schema := newSchema(t, pool)
			s := openStore(t, pool, postgres.WithSchema(schema))
			quoted := pgx.Identifier{schema}.Sanitize()
			for _, text := range []string{
				`CREATE FUNCTION ` + quoted + `.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$`,
				`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON ` + quoted + `.work_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ` + quoted + `.refuse()`,
			} {
				mustExec(t, pool, text)
			}
			atOnce(20, func(i int) {
				c := claimOf(fmt.Sprint(i), byte(i))
				if _, err := s.Claim(t.Context(), c); err == nil {
					t.Errorf("claim %d was made", i)
				}
			})
			if n := scalar[int](t, pool, `SELECT count(*) FROM `+quoted+`.work_log`); n != 0 {
				t.Errorf("%d rows are there", n)
			}
		})
	}
}

func startOf(f idem.Fence) idem.EffectWrite {
	return idem.EffectWrite{
		Fence: f, EffectID: idem.EffectID{Name: "mail"}, Guard: idem.GuardOnce, State: idem.EffectStarted, Key: "key", Live: true, Restart: true,
		Input: idem.Body{Codec: idem.CodecJSON, Data: []byte(`{}`)},
	}
}

// A transaction that lasts keeps nobody waiting but those who want the same.
func TestABatchDoesNotWaitForATransactionOfTheApplication(t *testing.T) {
	pool := newPool(t)
	s := openStore(t, pool, postgres.WithSchema(newSchema(t, pool)), postgres.WithLockTimeout(time.Minute))
	var held []idem.Claim // as many as there could be batches that wait for them
	for i := range 4 {
		held = append(held, claimOf(fmt.Sprint("held ", i), 1))
		if _, err := s.Claim(t.Context(), held[i]); err != nil {
			t.Fatal(err)
		}
	}
	taken := claimOf("new", 1)
	inside, leave := make(chan struct{}), make(chan struct{})
	over := make(chan error, 1)
	go func() {
		over <- s.InTx(context.Background(), func(ctx context.Context, tx idem.Session[pgx.Tx]) error {
			var err error
			for _, c := range held {
				_, failed := tx.WriteEffect(ctx, startOf(c.Fence)) // locks its row
				err = errors.Join(err, failed)
			}
			_, failed := tx.Claim(ctx, taken) // makes a row that nobody sees
			close(inside)
			<-leave
			return errors.Join(err, failed)
		})
	}()
	<-inside
	waiting := make(chan error, len(held)+1)
	for _, c := range held {
		go func() {
			_, err := s.End(context.Background(), doneOf(c.Fence))
			waiting <- err
		}()
		time.Sleep(20 * time.Millisecond) // in a batch of its own
	}
	go func() {
		claimed, err := s.Claim(context.Background(), claimOf("new", 2))
		if claimed.Won {
			err = errors.New("work that a transaction was about to make was claimed")
		}
		waiting <- err
	}()
	start := time.Now()
	atOnce(50, func(i int) {
		c := claimOf(fmt.Sprint("other ", i), 1)
		if claimed, err := s.Claim(t.Context(), c); err != nil || !claimed.Won {
			t.Errorf("claim: won %t, %v", claimed.Won, err)
		}
		if _, err := s.End(t.Context(), doneOf(c.Fence)); err != nil {
			t.Error(err)
		}
	})
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("others took %v", took)
	}
	select {
	case err := <-waiting:
		t.Errorf("a write that wants the same did not wait: %v", err)
	default:
	}
	close(leave)
	for range cap(waiting) {
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// A batch whose connection breaks says nothing of what it has come to.
func TestABrokenBatchIsWrittenAlone(t *testing.T) {
	own := newPool(t) // whose connections make no batch
	s := openStore(t, newPool(t), postgres.WithSchema(newSchema(t, own)))
	stop := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				// The statements of batches are what begins like this.
				mustExec(t, own, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%WITH given%' AND pid <> pg_backend_pid()`)
			}
		}
	})
	var failed sync.Map
	atOnce(200, func(i int) {
		c := claimOf(fmt.Sprint(i), 1)
		c.Token[0], c.Token[1] = byte(i), byte(i>>8)
		claimed, err := s.Claim(t.Context(), c)
		if err != nil {
			failed.Store(c.ID, err) // its own connection was cut as well
			return
		}
		if !claimed.Won {
			t.Errorf("work is %s, and its own claim did not win", claimed.Work.State)
		}
	})
	close(stop)
	killer.Wait()
	failures := 0
	failed.Range(func(_, err any) bool {
		failures++
		if !errors.Is(err.(error), idem.ErrLedger) {
			t.Error(err)
		}
		return true
	})
	if failures > 100 {
		t.Errorf("%d of 200 claims failed", failures)
	}
}

// A claim whose caller has left may be made all the same, and is given back then: to
// find none yet would leave the work to nobody until the lease is over, with an
// attempt less.
func TestAClaimWhoseCallerHasLeftIsGivenBackAfterItsBatch(t *testing.T) {
	pool := newPool(t)
	schema := newSchema(t, pool)
	s := openStore(t, pool, postgres.WithSchema(schema), postgres.WithLockTimeout(time.Minute))
	mustWin(t, s, claimOf("other", 1))
	slow := claimOf("slow", 2)

	// Somebody is about to make the row, and thinks better of it.
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }() // if the test has failed
	table := pgx.Identifier{schema, "work_log"}.Sanitize()
	for _, text := range []string{
		`CREATE TEMPORARY TABLE row ON COMMIT DROP AS SELECT * FROM ` + table,
		`UPDATE row SET work_id = '` + slow.ID.String() + `'`,
		`INSERT INTO ` + table + ` SELECT * FROM row`,
	} {
		if _, err := tx.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	claimed := make(chan error, 1)
	go func() {
		_, err := s.Claim(ctx, slow)
		claimed <- err
	}()
	for pid := tx.Conn().PgConn().PID(); scalar[int](t, pool, fmt.Sprintf(`SELECT count(*) FROM pg_stat_activity WHERE %d = ANY (pg_blocking_pids(pid))`, pid)) == 0; {
		time.Sleep(time.Millisecond)
	}
	leave()
	if err := <-claimed; !errors.Is(err, context.Canceled) {
		t.Fatalf("claim: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.End(context.Background(), idem.End{Fence: slow.Fence, State: idem.StateFailed, Refund: true})
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("it was given back with %v while it was made", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ended) == 0 && !t.Failed() {
		if err := <-ended; err != nil {
			t.Errorf("given back: %v", err)
		}
	}
	work, err := s.Lookup(t.Context(), slow.ID)
	if err != nil || work.State != idem.StateFailed || work.BudgetLeft != slow.Budget {
		t.Errorf("the work is %q with %d attempts left, want it failed with %d: %v", work.State, work.BudgetLeft, slow.Budget, err)
	}
}

// A duplicate is told where its work stands, and leaves no trace: not even a lock, which
// would be a write to the row.
func TestAClaimOfWorkThatStandsWritesNothing(t *testing.T) {
	a := newApp(t)
	if !a.store.ClaimTells() {
		t.Fatal("it says that it writes something")
	}
	done, running := claimOf("done", 1), claimOf("running", 2)
	mustWin(t, a.store, done)
	if _, err := a.store.End(t.Context(), doneOf(done.Fence)); err != nil {
		t.Fatal(err)
	}
	mustWin(t, a.store, running)
	rows := func() string {
		return scalar[string](t, a.pool, a.sql(`SELECT string_agg(concat_ws(' ', work_id, ctid, xmin, xmax), ';' ORDER BY work_id) FROM $.work_log`))
	}
	before := rows()
	duplicates := []idem.Claim{claimOf("done", 3), claimOf("running", 4)}
	for _, c := range duplicates { // one by one
		claimed, err := a.store.Claim(t.Context(), c)
		if err != nil || claimed.Won || claimed.Work.ID != c.ID {
			t.Errorf("claimed %+v, %v", claimed, err)
		}
	}
	atOnce(40, func(i int) { // in batches
		c := duplicates[i%2]
		c.Token[1] = byte(i)
		claimed, err := a.store.Claim(t.Context(), c)
		if err != nil || claimed.Won || claimed.Work.ID != c.ID {
			t.Errorf("claimed %+v, %v", claimed, err)
		}
	})
	if after := rows(); after != before {
		t.Errorf("rows were\n%s\nand are\n%s", before, after)
	}
}

// The indexes of work that is due, runs or needs somebody hold a lot when there is a lot
// of it. Whatever is asked for by its ID goes by its ID.
func TestNothingLooksThroughAllThatRuns(t *testing.T) {
	own, err := pgxpool.ParseConfig(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	pool := newPool(t, func(c *pgxpool.Config) { c.ConnConfig = own.ConnConfig })
	s := openStore(t, pool)
	const works = 60
	step := func(i int) {
		c := claimOf(fmt.Sprint(i), 1)
		c.Token[1] = byte(i)
		if claimed, err := s.Claim(t.Context(), c); err != nil || !claimed.Won {
			t.Errorf("claim: won %t, %v", claimed.Won, err)
		}
		e := startOf(c.Fence)
		e.Calls = 1
		if _, err := s.WriteEffect(t.Context(), e); err != nil {
			t.Error(err)
		}
		e.State, e.Live, e.Restart, e.Input = idem.EffectDone, false, false, idem.Body{}
		if _, err := s.WriteEffect(t.Context(), e); err != nil {
			t.Error(err)
		}
		if _, err := s.Renew(t.Context(), []idem.Lease{{Fence: c.Fence, For: time.Hour}}); err != nil {
			t.Error(err)
		}
		if i%2 == 0 { // the others run on
			if _, err := s.End(t.Context(), doneOf(c.Fence)); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Lookup(t.Context(), c.ID); err != nil {
			t.Error(err)
		}
	}
	for i := range works {
		step(i) // alone
	}
	atOnce(works, func(i int) { step(works + i) })
	pool.Reset() // a connection that ends tells what it has done
	scans := func(what string) int64 {
		return scalar[int64](t, pool, `SELECT coalesce(sum(`+what+`), 0)::bigint FROM pg_stat_user_tables JOIN pg_stat_user_indexes USING (relid) WHERE pg_stat_user_tables.relname IN ('work_log', 'effect_log')`)
	}
	for deadline := time.Now().Add(20 * time.Second); scans("pg_stat_user_indexes.idx_scan") < 8*works; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d scans are in the statistics", scans("pg_stat_user_indexes.idx_scan"))
		}
	}
	if got := scalar[string](t, pool, `SELECT coalesce(string_agg(indexrelname || ' ' || idx_scan, ', '), '') FROM pg_stat_user_indexes WHERE relname IN ('work_log', 'effect_log') AND idx_scan > 0 AND indexrelname NOT LIKE '%pkey'`); got != "" {
		t.Errorf("beside the keys there were scans of %s", got)
	}
	if got := scalar[string](t, pool, `SELECT coalesce(string_agg(relname || ' ' || seq_scan, ', '), '') FROM pg_stat_user_tables WHERE relname IN ('work_log', 'effect_log') AND seq_scan > 20`); got != "" {
		t.Errorf("tables were read as a whole: %s", got)
	}
}
